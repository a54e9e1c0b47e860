"""Random programs about values whose results are the same to the last bit wherever they are right.

Floats are added, subtracted, multiplied, compared and rooted, one rounding each; sums along an axis are of
integers. What depends on the sign of a zero that the language leaves open is left out.
"""

from __future__ import annotations

from xdsl_conformance.random_programs.choices import Choices
from xdsl_conformance.random_programs.writer import I32, LENGTH, OUTPUT, Writer, arguments, finished
from xdsl_core import ops
from xdsl_core.ir import Module
from xdsl_core.ir.types import dtype_of

__all__ = ["PROGRAMS", "ExactWriter", "arguments", "exact_program"]

# How many programs run it.
PROGRAMS = 2


class ExactWriter(Writer):
    """Writes no op whose result may be rounded in more than one way.

    Two programs have the memory they write for themselves: otherwise it would be open who writes last.
    """

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.room = OUTPUT // PROGRAMS
        program = self.builder.value(ops.ProgramId, axis=0)
        for name, parameter in self.parameters.items():
            if name == "memory" or name.startswith("out_"):
                share = (LENGTH if name == "memory" else OUTPUT) // PROGRAMS
                start = self.builder.value(
                    ops.Mul, program, self.builder.value(ops.Constant, value=share, type=I32)
                )
                self.parameters[name] = self.builder.value(ops.Offset, parameter, start)

    def arithmetic(self) -> None:
        value = self.pick(self.pool[-12:])
        dtype = dtype_of(value.type)
        if dtype.is_bool:
            self.make(self.pick((ops.And, ops.Or, ops.Xor)), *self.in_any_order(value))
        elif dtype.is_float:
            if self.choices.integer(0, 3):
                self.make(self.pick((ops.Add, ops.Sub, ops.Mul, ops.Max, ops.Min)), *self.in_any_order(value))
            else:
                self.make(self.pick((ops.Neg, ops.Abs, ops.Sqrt)), value)
        else:
            self.integer_arithmetic(value, dtype)

    def reduction(self) -> None:
        value = self.value_of(lambda value: bool(value.type.shape) and not dtype_of(value.type).is_bool)
        if value is None:
            return
        axis = self.choices.integer(0, len(value.type.shape) - 1)
        of_floats = (ops.ReduceMax, ops.ReduceMin)
        of_integers = (ops.ReduceSum, ops.ReduceMax, ops.ReduceMin, ops.ReduceXor)
        self.make(self.pick(of_floats if dtype_of(value.type).is_float else of_integers), value, axis=axis)


def exact_program(choices: Choices, *, longest: int = 14) -> Module:
    """A module with one function `random` that stores some of the values it computes."""
    return finished(ExactWriter(choices), choices.integer(4, longest))
