"""Computed values of a loop: one scalar or one vector of lanes, and their C types."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_cpu_c.codegen.op_tables import C_TYPES


@dataclass(frozen=True, slots=True)
class Lanes:
    """A computed value: C expression (a name), number of lanes (1: a scalar), register element.

    `boolean` marks truth values (a vector of them is a mask of 0 and -1, a scalar is 0 or 1); `pointee` is
    the C type that a scalar pointer points to (vectors of pointers are i64 byte addresses); `literal` marks
    C constants.
    """

    text: str
    lanes: int
    element: str
    boolean: bool = False
    pointee: str = ""
    literal: bool = False

    @property
    def c_type(self) -> str:
        """C type of a variable that holds this."""
        if self.lanes > 1:
            return f"{self.element}x{self.lanes}"
        if self.pointee:
            return f"{self.pointee} *"
        return "bool_t" if self.boolean else C_TYPES[self.element]


def vector_name(element: str, lanes: int) -> str:
    """Prefix of the library's functions, and C type for more than one lane."""
    return element if lanes == 1 else f"{element}x{lanes}"
