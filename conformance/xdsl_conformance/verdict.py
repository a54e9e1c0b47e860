"""What can be said of a backend and a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Verdict(str, Enum):
    """The outcome of one case on one backend."""

    PASS = "pass"  # claimed, and right
    FAIL = "fail"  # claimed, and wrong
    NOT_SUPPORTED = "not_supported"  # not claimed, and refused with the right error
    WAIVED = "waived"  # fails, and a waiver that has not expired says why
    UNEXPECTED_PASS = "unexpected_pass"  # waived, but passes: the waiver should go
    OVER_CLAIM = "over_claim"  # claimed, but refused
    UNDER_CLAIM = "under_claim"  # not claimed, but runs and is right
    WRONG_REFUSAL = "wrong_refusal"  # refused, but with another error than it should be
    CRASH = "crash"  # the process died
    TIMEOUT = "timeout"  # no answer within the time limit
    SUITE_ERROR = "suite_error"  # the case itself is at fault

    @property
    def is_good(self) -> bool:
        """True if nothing has to be done about it."""
        return self in (Verdict.PASS, Verdict.NOT_SUPPORTED, Verdict.WAIVED, Verdict.UNDER_CLAIM)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict with its reason.

    `budget_use` is the largest error in units of the budget (0 where nothing was compared), `detail` the text
    for people: worst element, got, expected, inputs, seed. `extra` may hold "source", the kernel's text.
    """

    verdict: Verdict
    detail: str = ""
    budget_use: float = 0.0
    seconds: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)
