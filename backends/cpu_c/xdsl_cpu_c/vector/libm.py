"""Functions computed lane by lane with the C library.

They are the rarely used ones, and those for arguments beyond a polynomial's range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl_cpu_c.vector.arithmetic import lanewise
from xdsl_cpu_c.vector.elements import ELEMENTS, FLOATS, LANES, Element, Vector
from xdsl_cpu_c.vector.emit import Definition, function, parameters


@dataclass(frozen=True, slots=True)
class Row:
    """A function of the C library (without suffix) and the name it has here."""

    name: str
    function: str
    arity: int
    elements: tuple[Element, ...]


F64 = (ELEMENTS["f64"],)
ROWS = (
    Row("erf", "erf", 1, F64),
    *(Row(name, name, 1, FLOATS) for name in ("tan", "sinh", "cosh", "asin", "acos", "atan", "erfc")),
    *(Row(name, name, 1, FLOATS) for name in ("asinh", "acosh", "atanh", "log10", "cbrt")),
    *(Row(name, name, 2, FLOATS) for name in ("pow", "atan2", "fmod", "hypot")),
    Row("sin_libm", "sin", 1, FLOATS),
    Row("cos_libm", "cos", 1, FLOATS),
)


def _scalar(row: Row, element: Element) -> str:
    body = f"return __builtin_{row.function}{element.suffix}({', '.join('xy'[: row.arity])});"
    return function(element.c, f"{element.name}_{row.name}", parameters(element.c, row.arity), body)


def definitions() -> Iterator[Definition]:
    """The functions of the C library, for every lane count."""
    for row in ROWS:
        for element in row.elements:
            yield Definition(f"{element.name}_{row.name}", partial(_scalar, row, element))
            for lanes in LANES:
                vector = Vector(element, lanes)
                yield Definition(f"{vector.name}_{row.name}", partial(lanewise, row.name, vector, row.arity))
