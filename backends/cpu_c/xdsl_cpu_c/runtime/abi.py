"""What a launcher and its caller agree on: parameters, statuses, the error for an argument that does not fit.

A kernel's shared object exports one function, `body(slots, first_program, last_program)`. Slots are 8 bytes
each: slot 0 points to the three grid extents, slot 1 to the function that hands out scratch memory, slots
2.. are the parameters in order: addresses, integers extended to 64 bits, floats as double, booleans as 0 or
1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

ParameterKind = Literal["pointer", "int", "float", "bool"]

OK = 0
ALIASED = 1

GRID = -1
"""`ArgumentFault.index` of a fault of the grid instead of an argument."""

GRID_LIMIT = (1 << 31) - 1
"""Largest extent of one grid dimension."""

BODY_SYMBOL = "body"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One run-time parameter of a kernel.

    `written` and `read` say how the kernel uses a pointer, `itemsize` is the size in bytes of the element
    it points to (0: not checked), `bits` and `signed` give an integer's range. `dtype` names the element or
    number in the IR, `divisor` is what the kernel was promised that an address in bytes, or a number, is a
    multiple of.
    """

    name: str
    kind: ParameterKind
    written: bool = False
    read: bool = True
    itemsize: int = 0
    bits: int = 64
    signed: bool = True
    dtype: str = ""
    divisor: int = 1


class ArgumentFault(Exception):
    """An argument does not fit its parameter; nothing ran.

    `index` counts the run-time parameters from 0, or is GRID; `reason` completes "argument NAME ...".
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


class Launcher(Protocol):
    """Checks arguments and runs one kernel.

    Calling it returns OK, or ALIASED if a written argument overlaps another one and the kernel was not made
    for that; raises ArgumentFault. Only OK means that anything ran. `threads` is the number of threads (0:
    the pool's default), `ns_per_program` the running estimate that keeps tiny launches on one thread (0:
    none yet).
    """

    threads: int
    ns_per_program: float

    def __call__(self, grid: tuple[int, int, int], args: tuple[Any, ...]) -> int: ...


def integer_range(bits: int, signed: bool) -> tuple[int, int]:
    """Smallest and largest integer of a width."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
