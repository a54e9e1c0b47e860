"""Properties of ops that generic code asks for instead of asking for names."""

from __future__ import annotations

from enum import Enum, auto


class Trait(Enum):
    """One property of every instance of an op."""

    __hash__ = object.__hash__  # members are singletons, and Enum's own hash runs in Python

    PURE = auto()  # no effects; equal operands and attributes give equal results
    ELEMENTWISE = auto()  # lane i of the result depends on lane i of each operand alone; all shapes are equal
    MOVEMENT = auto()  # moves elements without looking at them (shape ops)
    COMMUTATIVE = auto()  # the first two operands may change places
    REDUCTION = auto()  # combines lanes along the axis in its attribute `axis`
    CONSTANT = auto()  # no operands, value known when compiling
    READS_MEMORY = auto()
    WRITES_MEMORY = auto()
    ATOMIC = auto()  # its memory effects are indivisible
    EFFECT = auto()  # visible outside memory (prints, assertions)
    TERMINATOR = auto()  # ends a block
    CONTROL = auto()  # runs its regions
    POINTER_ARITHMETIC = auto()  # result points into what the first operand points into
