"""Waivers: failures that are known and excused for a time, as data with a reason and a last day."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.backend.types import Waiver
from xdsl_core.diagnostics import BackendError, error

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FIELDS = {"case": str, "reason": str, "expires": datetime.date}


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a TOML file: a list of tables `waiver`. BackendError X0813 if it is none."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("waiver", [])
    except (OSError, tomllib.TOMLDecodeError) as problem:
        raise _unreadable(path, str(problem)) from problem
    if not isinstance(entries, list):
        raise _unreadable(path, "`waiver` is not a list of tables; write [[waiver]]")
    return tuple(_waiver(path, number, entry) for number, entry in enumerate(entries, 1))


def _waiver(path: Path, number: int, entry: object) -> Waiver:
    fields = entry if isinstance(entry, dict) else {}
    for name, kind in _FIELDS.items():
        if not isinstance(fields.get(name), kind):
            raise _unreadable(path, f"waiver {number} has no `{name}` ({kind.__name__})")
    unknown = sorted(set(fields) - set(_FIELDS))
    if unknown:
        raise _unreadable(path, f"waiver {number} has an unknown field {unknown[0]!r}")
    if not fields["reason"].strip():
        raise _unreadable(path, f"waiver {number} gives no reason")
    return Waiver(fields["case"], fields["reason"], fields["expires"])


def _unreadable(path: Path, why: str) -> BackendError:
    hint = "`xdslc explain X0813` shows a waiver"
    return BackendError(error("X0813", f"{path} is no list of waivers: {why}", help=hint))


def waiver_of(case_id: str, waivers: Iterable[Waiver], today: datetime.date) -> Waiver | None:
    """The first waiver for a case that holds today; its last day is included."""
    for waiver in waivers:
        if waiver.expires >= today and fnmatchcase(case_id, waiver.case):
            return waiver
    return None


def apply_waiver(outcome: Outcome, waiver: Waiver | None) -> Outcome:
    """WAIVED for what is wrong and excused, UNEXPECTED_PASS for what is excused and right."""
    if waiver is None or outcome.verdict in (Verdict.NOT_SUPPORTED, Verdict.SUITE_ERROR):
        return outcome
    if outcome.verdict.is_good:
        detail = f"passes; remove the waiver ({waiver.reason})"
        return Outcome(Verdict.UNEXPECTED_PASS, detail, outcome.budget_use, outcome.seconds)
    detail = f"waived until {waiver.expires}: {waiver.reason}\n{outcome.verdict.value}: {outcome.detail}"
    return Outcome(Verdict.WAIVED, detail, outcome.budget_use, outcome.seconds)
