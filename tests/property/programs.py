"""Random programs as Hypothesis strategies, and a way to run and compare them.

The conformance suite writes the programs; here Hypothesis makes the choices, and shrinks them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from xdsl_conformance.random_programs.access import access_program
from xdsl_conformance.random_programs.writer import arguments, program
from xdsl_core import interp
from xdsl_core.ir import Module


class Drawn:
    """Choices that Hypothesis makes."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def boolean(self) -> bool:
        return self.draw(st.booleans())

    def permutation(self, count: int) -> tuple[int, ...]:
        return tuple(self.draw(st.permutations(range(count))))


@st.composite
def programs(draw: Callable[[Any], Any], *, longest: int = 18) -> Module:
    """Modules with one function `random` that stores some of the values it computes."""
    return program(Drawn(draw), longest=longest)


@st.composite
def access_programs(draw: Callable[[Any], Any], *, longest: int = 10) -> Module:
    """Modules with one function `random` that is about memory."""
    return access_program(Drawn(draw), longest=longest)


def run(module: Module, *, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """The outputs of a random program by parameter, from the reference interpreter and a grid of two."""
    found = arguments(seed)
    interp.run(module, (2,), list(found.values()))
    return {name: value for name, value in found.items() if name.startswith("out_") or name == "memory"}


def same(first: dict[str, np.ndarray[Any, Any]], second: dict[str, np.ndarray[Any, Any]]) -> str:
    """Where two runs differ, in words; empty if nowhere. NaNs are equal, zeros of different sign are not."""
    for name, expected in first.items():
        actual = second[name]
        wide = expected.astype(np.float64) if expected.dtype.kind == "f" else expected
        other = actual.astype(np.float64) if expected.dtype.kind == "f" else actual
        equal = (
            (wide == other) & (np.signbit(wide) == np.signbit(other))
            if wide.dtype.kind == "f"
            else wide == other
        )
        if wide.dtype.kind == "f":
            equal |= np.isnan(wide) & np.isnan(other)
        if not equal.all():
            place = int(np.argmin(equal))
            return f"{name}[{place}] is {actual[place]!r}, was {expected[place]!r}"
    return ""
