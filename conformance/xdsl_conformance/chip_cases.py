"""Cases about chips whose cores have memories of their own: what fits runs, what does not is refused.

Sizes come from the target's description. Whether a tile too large is split or refused is the backend's
choice; wrong numbers, another exception, or a crash are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.kernels import streams
from xdsl_conformance.numerics import Array
from xdsl_conformance.requirements import own_memories
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import XdslError
from xdsl_core.target import TargetDescription

# No tile is larger than this, in elements, however much memory a core has.
_MOST = 1 << 17
_ROWS = 8
_FAULT = "X0609"  # an exception of the backend that is no diagnostic


@dataclass(frozen=True, slots=True)
class Use:
    """A kernel, the share of the largest memory that one tile of it takes, and what it computes from rows of
    x; `rows` is how many the kernel is unrolled for, `must_run` if a refusal is no answer.
    """

    what: str
    kernel: Any
    share: float
    expected: Callable[[Array], Array]
    extra: tuple[Any, ...] = ()
    rows: int = 0
    must_run: bool = True


USES: Mapping[str, Use] = MappingProxyType(
    {
        "fits": Use("a tile of an eighth of a core's memory", streams.scale, 1 / 8, lambda x: x[0] * 2),
        "too_large": Use(
            "a tile of twice a core's memory", streams.scale, 2.0, lambda x: x[0] * 2, must_run=False
        ),
        "alive_together": Use(
            "eight tiles alive at once that take all of a core's memory and more",
            streams.alive_together,
            1 / 4,
            lambda x: ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])),
            must_run=False,
        ),
        "one_after_the_other": Use(
            "tiles that would not fit together, few of them alive at once",
            streams.one_after_the_other,
            1 / 6,
            lambda x: x * x,
            rows=_ROWS,
        ),
        "streamed": Use(
            "a loop that loads a tile in every turn",
            streams.streamed,
            1 / 16,
            lambda x: np.add.accumulate(x)[-1],
            extra=(_ROWS,),
        ),
    }
)


def chip_cases() -> Iterator[Case]:
    """One case a way to use memory, and what descriptions and profiles have to hold."""
    for name, use in USES.items():
        yield Case(f"chip/{name}", "ext-dsa", use.what, partial(ask, name), {"kernel": name},
                   requires=("own_memory",))  # fmt: skip
    yield Case("chip/paths", "ext-dsa", "every memory of a core can be filled from global memory",
               ask_paths, requires=("own_memory",))  # fmt: skip
    yield Case("chip/profile", "ext-dsa", "a profile counts cycles and shares of them", ask_profile,
               requires=("own_memory",))  # fmt: skip


def elements(target: TargetDescription, share: float) -> int:
    """The elements of f32 that take a share of the largest memory, down to a power of two."""
    capacity = max(space.capacity for space in own_memories(target))
    wanted = min(int(capacity * share) // 4, _MOST)
    return 1 << (max(wanted, 1).bit_length() - 1)


def ask(name: str, subject: Subject) -> Outcome:
    """Launch and compare: the sums are exact, the numbers being small whole ones."""
    use = USES[name]
    n = elements(subject.target, use.share)
    x = np.random.default_rng(n).integers(-99, 100, (_ROWS, n)).astype(np.float32)
    expected = use.expected(x)
    out = np.full(expected.shape, np.nan, np.float32)
    meta = {"TILES": use.rows} if use.rows else {}
    try:
        use.kernel.on(subject.name)[(1,)](x, out, n, *use.extra, BLOCK=n, **meta)
    except XdslError as problem:
        refused = problem.code != _FAULT and not use.must_run
        return Outcome(Verdict.NOT_SUPPORTED if refused else Verdict.FAIL, str(problem))
    wrong = np.flatnonzero(out != expected)
    if len(wrong):
        at = int(wrong[0])
        detail = f"out[{at}] is {out.flat[at]!r}, expected {expected.flat[at]!r}; {len(wrong)} wrong, n = {n}"
        return Outcome(Verdict.FAIL, detail)
    return Outcome(Verdict.PASS)


def ask_paths(subject: Subject) -> Outcome:
    """Walk from global memory along data paths, and through units whose operands are reached."""
    target = subject.target
    start = {space.name for space in target.memory_spaces if space.portable == "GLOBAL"}
    steps = [(path.source, {path.destination}) for path in target.data_paths]
    steps += [(space, set(unit.operands.values())) for unit in target.compute_units
              for space in unit.operands.values()]  # fmt: skip
    reached, before = set(start), 0
    while len(reached) > before:
        before = len(reached)
        reached |= {space for source, found in steps if source in reached for space in found}
    unreached = [space.name for space in own_memories(target) if space.name not in reached]
    if target.data_paths and unreached:
        return Outcome(Verdict.FAIL, f"no data path from global memory leads to {', '.join(unreached)}")
    if target.data_paths and not any(path.destination in start for path in target.data_paths):
        return Outcome(Verdict.FAIL, "no data path leads back to global memory")
    return Outcome(Verdict.PASS)


def ask_profile(subject: Subject) -> Outcome:
    """Profile a kernel of 16 programs: results are as without, and the numbers can be."""
    n = 64
    x, out = np.arange(16 * n, dtype=np.float32), np.full(16 * n, np.nan, np.float32)
    try:
        profile = streams.scale.on(subject.name).profile((16,), x, out, 16 * n, BLOCK=n)
    except XdslError as problem:
        return Outcome(Verdict.FAIL, str(problem))
    if profile is None:
        return Outcome(Verdict.FAIL, "there is no profile")
    if not np.array_equal(out, 2 * x):
        return Outcome(Verdict.FAIL, "results differ when profiled")
    shares = {name: share for name, share in profile.utilisation.items() if not 0 <= share <= 1}
    if shares:
        return Outcome(Verdict.FAIL, f"shares outside 0 to 1: {shares}")
    if profile.cycles is None and profile.seconds is None:
        return Outcome(Verdict.FAIL, "neither cycles nor seconds are known")
    if (profile.cycles or 1) <= 0 or (profile.seconds or 1) <= 0:
        return Outcome(Verdict.FAIL, f"cycles {profile.cycles}, seconds {profile.seconds}")
    return Outcome(Verdict.PASS)
