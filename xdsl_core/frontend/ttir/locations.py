"""Locations of MLIR's text: `loc("kernel.py":12:9)`, names around them, call sites, aliases."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from xdsl_core.diagnostics import UNKNOWN, Location

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_FILE = re.compile(r'"((?:\\.|[^"\\])*)":(\d+):(\d+)')
_NAMED = re.compile(r'"((?:\\.|[^"\\])*)"\((.*)\)', re.DOTALL)
_CALL = re.compile(r"callsite\((.*)\)", re.DOTALL)
_FUSED = re.compile(r"fused(?:<.*>)?\[(.*)\]", re.DOTALL)


class Locations:
    """Reads the locations of one text; aliases may stand after their use."""

    def __init__(self, text: str) -> None:
        self._aliases = dict(_ALIAS.findall(text))
        self.read = cache(self._read)

    def _read(self, text: str) -> Location:
        """The place that `loc(...)`, or what stands inside, names."""
        text = text.strip()
        if text.startswith("loc("):
            text = text[4:-1]
        if text in self._aliases:
            return self.read(self._aliases[text])
        if match := _FILE.fullmatch(text):
            return Location(match[1], int(match[2]), int(match[3]) - 1)
        if match := _NAMED.fullmatch(text):
            return self.read(match[2])
        if match := _CALL.fullmatch(text):
            callee, caller = _split(match[1], " at ")
            inner, outer = self.read(callee), self.read(caller)
            return outer if inner is UNKNOWN else replace(inner, callers=(*inner.callers, outer))
        if match := _FUSED.fullmatch(text):
            return self.read(_split(match[1], ",")[0])
        return UNKNOWN


def _split(text: str, separator: str) -> tuple[str, str]:
    """The text before and after the first separator outside of brackets."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and text.startswith(separator, place):
            return text[:place], text[place + len(separator) :]
    return text, ""
