"""A run of the suite: which cases, in worker processes, with waivers, into a report."""

from __future__ import annotations

import datetime
import difflib
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

import numpy as np

from xdsl_conformance.case import PROFILES, Case, in_profile
from xdsl_conformance.catalogue import catalogue
from xdsl_conformance.report import Entry, Report
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_conformance.waivers import apply_waiver, waiver_of
from xdsl_conformance.worker import run_cases
from xdsl_core import __version__
from xdsl_core.backend.types import Waiver
from xdsl_core.diagnostics import BackendError, error

Tell = Callable[[str], None]
Show = Callable[[Entry], None]


def select(profile: str, patterns: Sequence[str] = ()) -> list[Case]:
    """The cases of a profile, or those whose ids match a pattern; BackendError X0812 if there is none."""
    cases = list(catalogue().values())
    if patterns:
        found = [case for case in cases if any(fnmatchcase(case.id, pattern) for pattern in patterns)]
        for pattern in patterns:
            if not any(fnmatchcase(case.id, pattern) for case in found):
                raise _unknown("case", pattern, [case.id for case in cases])
        return found
    if profile not in PROFILES:
        raise _unknown("profile", profile, PROFILES)
    return [case for case in cases if in_profile(case, profile)]


def _unknown(kind: str, wanted: str, known: Sequence[str]) -> BackendError:
    near = difflib.get_close_matches(wanted, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`xdslc conformance BACKEND --list` lists all"
    return BackendError(error("X0812", f"there is no conformance {kind} {wanted!r}", help=hint))


def sample(cases: Sequence[Case], count: int, *, seed: int) -> list[Case]:
    """At most `count` cases, the same ones for a seed, spread over all kinds of cases."""
    if count >= len(cases):
        return list(cases)
    chosen = np.random.default_rng(seed).permutation(len(cases))[:count]
    return [cases[index] for index in sorted(chosen)]


def subject_of(name: str) -> Subject:
    """The subject of this name, checked: BackendError if it does not exist or cannot run here."""
    subject = Subject(name)
    subject.backend.require_available()
    subject.target  # noqa: B018 - an unknown target is an error here and not in every case
    return subject


def examine(
    subject: Subject,
    cases: Sequence[Case],
    *,
    profile: str,
    workers: int,
    waivers: Iterable[Waiver] = (),
    timeout: float | None = None,
    command: str = "",
    tell: Tell = lambda _: None,
    show: Show = lambda _: None,
) -> Report:
    """Ask every case and collect the verdicts.

    `timeout` is in seconds a case, by default the backend's own. `tell` hears the id of each case that
    starts, `show` each entry as it comes. Waivers of the backend and of `waivers` count.
    """
    config = subject.backend.conformance(subject.target)
    known = {case.id: case for case in cases}
    excuses = (*config.waivers, *waivers)
    today = datetime.datetime.now(datetime.timezone.utc)
    start = time.perf_counter()
    entries: dict[str, Entry] = {}
    with own_kernel_cache():
        limit = config.timeout_seconds if timeout is None else timeout
        for name, outcome in run_cases(subject.name, known, workers=workers, timeout=limit, tell=tell):
            judged = apply_waiver(outcome, waiver_of(name, excuses, today.date()))
            entries[name] = entry_of(known[name], judged)
            show(entries[name])
    return Report(
        str(subject.target.target),
        profile,
        today.isoformat(timespec="seconds"),
        time.perf_counter() - start,
        versions(subject),
        command,
        tuple(entries[name] for name in sorted(entries)),
    )


def entry_of(case: Case, outcome: Outcome) -> Entry:
    """A case with its outcome; the kernel's text goes along where something is wrong."""
    quiet = outcome.verdict in (Verdict.PASS, Verdict.NOT_SUPPORTED)
    source = "" if quiet or case.source is None else case.source()
    return Entry(
        case.id, outcome.verdict, case.profile, case.summary, outcome.detail, outcome.budget_use,
        outcome.seconds, case.labels, str(outcome.extra.get("source", "")) or source,
    )  # fmt: skip


def versions(subject: Subject) -> dict[str, str]:
    """What the result depends on."""
    found = subject.backend.availability()
    return {
        "xdsl-core": __version__,
        subject.backend.name: subject.backend.info.version,
        "toolchain": getattr(found, "toolchain", ""),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


@contextmanager
def own_kernel_cache() -> Iterator[None]:
    """A cache of compiled kernels for the run alone, unless the user names one: what is examined is today's
    compiler.
    """
    if os.environ.get("XDSL_CACHE_DIR"):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="xdsl_conformance-cache-") as folder:
        os.environ["XDSL_CACHE_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["XDSL_CACHE_DIR"]
