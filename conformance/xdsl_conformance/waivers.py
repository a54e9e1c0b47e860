"""What waivers do to verdicts."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from fnmatch import fnmatchcase

from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.backend.types import Waiver


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
