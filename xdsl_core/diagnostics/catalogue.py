"""The catalogue of error codes: one entry a class of mistake, with the text `xdslc explain` prints.

The entries stand in one file a hundred: X01xx source and frontend, X02xx ops and types, X03xx IR text and
passes, X04xx run-time checks, X05xx arguments and launches, X06xx backends and plugins, X07xx code
generation, X08xx tools, X09xx programs and machines of the simulator.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType

FAMILIES = ("frontend", "ops", "ir", "execution", "launch", "backend", "codegen", "tools", "simulator")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A class of mistake: its code, a title of one line, and an explanation with an example and the fix."""

    code: str
    title: str
    explanation: str


@cache
def catalogue() -> MappingProxyType[str, ErrorCode]:
    """All known codes, in order."""
    found: dict[str, ErrorCode] = {}
    for family in FAMILIES:
        module = import_module(f"xdsl_core.diagnostics.codes.{family}")
        for code, (title, explanation) in module.CODES.items():
            if code in found:
                raise ValueError(f"error code {code} is defined twice")
            found[code] = ErrorCode(code, title, explanation.strip())
    return MappingProxyType(dict(sorted(found.items())))


def explain(code: str) -> ErrorCode:
    """The entry of `code`; KeyError with the nearest codes if there is none."""
    known = catalogue()
    entry = known.get(code.upper())
    if entry is None:
        near = ", ".join(difflib.get_close_matches(code.upper(), known, n=3)) or "see xdslc explain --list"
        raise KeyError(f"no error code {code}; did you mean: {near}")
    return entry
