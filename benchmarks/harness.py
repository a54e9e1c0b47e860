"""Times candidates that do the same work: interleaved, noisy samples dropped, medians of ratios.

The method is described in docs/performance.md.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.noise import Quiet
from benchmarks.probe import Peak

ENOUGH = 3  # with fewer quiet rounds all rounds count, and the table says so
SAMPLE_SECONDS = 0.01  # short calls are repeated until a sample takes this long
SETTLE_STEP = (
    0.012  # seconds between looks at whether worker threads still spin; the clock ticks in 4 to 10 ms
)
SETTLE_LIMIT = 0.2  # OpenBLAS's spin for 2**26 cycles by default, libgomp's for some milliseconds


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that does the work when called."""

    name: str
    call: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: until `rounds` rounds were quiet, but at most `seconds`."""

    rounds: int = 15
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Result:
    """One comparison with one peer.

    `value` is ours and `peer_value` the peer's median time in `unit`; `ratio` is the median of the rounds'
    ratios, peer / ours: above 1 ours is faster. `kept` of `taken` rounds were quiet for both; if these are
    fewer than ENOUGH, the numbers are those of all rounds.
    """

    work: str
    metric: str
    value: float
    unit: str
    peer: str
    peer_value: float
    ratio: float
    kept: int
    taken: int
    rate: str = ""


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds of one call in each round, and whether the machine was quiet then."""

    name: str
    seconds: list[float]
    quiet: list[bool]

    def add(self, sample: tuple[float, bool]) -> None:
        """Adds a round."""
        self.seconds.append(sample[0])
        self.quiet.append(sample[1])

    def median(self) -> float:
        """The median of the quiet rounds, or of all if these are not enough."""
        return statistics.median(_usable(self.seconds, self.quiet))


def interleave(candidates: Sequence[Candidate], effort: Effort) -> list[Samples]:
    """Lets the candidates take turns, in an order that alternates from round to round."""
    samples = {candidate.name: Samples(candidate.name, [], []) for candidate in candidates}
    repetitions = {candidate.name: _repetitions(candidate) for candidate in candidates}
    deadline = time.perf_counter() + effort.seconds
    quiet_rounds = taken = 0
    gc.collect()
    gc.disable()
    try:
        while quiet_rounds < effort.rounds and (taken < 3 or time.perf_counter() < deadline):
            for candidate in candidates if taken % 2 == 0 else reversed(candidates):
                samples[candidate.name].add(_sample(candidate, repetitions[candidate.name]))
            taken += 1
            quiet_rounds += all(entry.quiet[-1] for entry in samples.values())
    finally:
        gc.enable()
    return list(samples.values())


def against_peers(
    work: str,
    ours: Candidate,
    peers: Sequence[Candidate],
    effort: Effort,
    *,
    amount: float = 0.0,
    amount_unit: str = "",
    limit: Peak | None = None,
) -> list[Result]:
    """Ours against each peer; `amount` (operations or bytes of one call) gives the rate, in units of 1e9.

    With `limit` the rate comes with its share of what the machine can do.
    """
    own, *others = interleave([ours, *peers], effort)
    rate = _rate(amount / own.median() / 1e9, amount_unit, limit) if amount else ""
    return [_result(work, own, other, rate) for other in others]


def _result(work: str, own: Samples, other: Samples, rate: str) -> Result:
    ratios = [theirs / mine for mine, theirs in zip(own.seconds, other.seconds, strict=True)]
    quiet = [mine and theirs for mine, theirs in zip(own.quiet, other.quiet, strict=True)]
    return Result(
        work=work, metric="time", value=own.median() * 1e3, unit="ms", peer=other.name,
        peer_value=other.median() * 1e3, ratio=statistics.median(_usable(ratios, quiet)),
        kept=sum(quiet), taken=len(quiet), rate=rate,
    )  # fmt: skip


def _rate(rate: float, unit: str, limit: Peak | None) -> str:
    share = limit.share(rate, unit) if limit is not None else None
    return f"{rate:.1f} {unit}" + (f", {share:.0%} of peak" if share is not None else "")


def _usable(values: list[float], quiet: list[bool]) -> list[float]:
    kept = [value for value, was_quiet in zip(values, quiet, strict=True) if was_quiet]
    return kept if len(kept) >= ENOUGH else values


def _repetitions(candidate: Candidate) -> int:
    candidate.call()
    start = time.perf_counter()
    candidate.call()
    return max(1, round(SAMPLE_SECONDS / max(time.perf_counter() - start, 1e-7)))


def _sample(candidate: Candidate, repetitions: int) -> tuple[float, bool]:
    """Seconds of one call, and whether the machine was quiet."""
    call = candidate.call
    _settle()
    call()
    before = Quiet.read()
    start = time.perf_counter()
    for _ in range(repetitions):
        call()
    seconds = time.perf_counter() - start
    return seconds / repetitions, not before.disturbed(Quiet.read(), seconds)


def _settle() -> None:
    """Waits until the worker threads of the candidate before no longer use a processor."""
    limit = time.perf_counter() + SETTLE_LIMIT
    busy = True
    while busy and time.perf_counter() < limit:
        used = time.process_time()
        time.sleep(SETTLE_STEP)
        busy = time.process_time() - used > 0.1 * SETTLE_STEP


def show(results: Sequence[Result], *, title: str) -> None:
    """Prints the results as a table."""
    table = Table(title=title, caption="ratio: peer / ours, median over the rounds; above 1 ours is faster")
    for column in ("work", "peer"):
        table.add_column(column)
    for column in ("ours", "peer", "ratio", "our rate", "quiet rounds"):
        table.add_column(column, justify="right")
    last = ""
    for result in results:
        if last and result.work != last:
            table.add_section()
        colour = "green" if result.ratio >= 1 else "yellow"
        table.add_row(
            result.work if result.work != last else "", result.peer,
            f"{result.value:.4g} {result.unit}", f"{result.peer_value:.4g} {result.unit}",
            f"[{colour}]{result.ratio:.2f}[/]", result.rate, _rounds(result),
        )  # fmt: skip
        last = result.work
    wide_console().print(table)


def _rounds(result: Result) -> str:
    text = f"{result.kept} of {result.taken}"
    return text if result.kept >= ENOUGH else f"[red]{text}, all used[/]"


def wide_console() -> Console:
    """A console whose tables are not cut when the output is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


def write_json(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Writes a list of objects with at least work, metric, value, unit, peer, peer_value and ratio."""
    file.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
