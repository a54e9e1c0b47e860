"""XDSL_DEBUG: whether errors show the compiler's own Python frames."""

from __future__ import annotations

import os
from typing import TypeVar

from xdsl_core.diagnostics.diagnostic import XdslError

VARIABLE = "XDSL_DEBUG"
Problem = TypeVar("Problem", bound=XdslError)


def is_debugging() -> bool:
    """True if XDSL_DEBUG is set to anything but 0: somebody works on the compiler."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def without_frames(problem: Problem) -> Problem:
    """The error without the compiler's own frames, unless debugging: its diagnostics say where in the kernel
    it lies.
    """
    return problem if is_debugging() else problem.with_traceback(None)
