"""Runs a module's kernel over a grid with the numpy meaning of its ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from xdsl_core.diagnostics import ExecutionError
from xdsl_core.interp.machine import Machine
from xdsl_core.interp.memory import Memory, Segment, segment_of
from xdsl_core.interp.plan import Plan, make_plan
from xdsl_core.interp.races import Races
from xdsl_core.ir.core import Function, Module
from xdsl_core.ir.types import PointerType, Type, dtype_of
from xdsl_core.ops.numerics import round_to

Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A kernel that can run any number of times."""

    plan: Plan

    def run(self, grid: Sequence[int], arguments: Sequence[Any], *, output: TextIO | None = None) -> None:
        """Run every program of the grid (1 to 3 extents, the first one fastest), one after the other.

        `arguments` has one entry a parameter: for a pointer a numpy array (of any strides; the pointer is its
        first element and may reach all of the array it is a view of) or an object with the attributes of a
        backend's `Pointer`, for a scalar a number. Prints go to `output`, by default to standard output.
        ExecutionError names what a program did wrong: an access outside an argument's memory (X0401, X0402),
        writing to a read-only argument (X0406), a failed assertion (X0405) and, if prepared with `check`, the
        use of undefined lanes (X0403) and races between programs (X0404). Nothing is ever accessed outside an
        argument's memory.
        """
        extents = _three(grid)
        function = self.plan.function
        segments, values = _bind(function, arguments)
        races = Races.watching(segments, extents) if self.plan.checks else None
        machine = Machine(self.plan, Memory(segments), extents, races=races, output=output)
        with np.errstate(all="ignore"):
            for number, program in enumerate(_programs(extents), 1):
                if races is not None:
                    races.start(number)
                try:
                    machine.run_program(program, values)
                except ExecutionError as problem:
                    raise _in_program(problem, program) from None


def prepare(module: Module, *, kernel: str = "", check: bool = False) -> Prepared:
    """Make a kernel of a module ready to run; `kernel` may be left out where there is one.

    With `check`, races between programs and the use of undefined lanes are errors.
    """
    if not kernel and len(module.functions) != 1:
        raise ValueError(
            f"the module has {len(module.functions)} kernels; name one of {', '.join(module.functions)}"
        )
    function = module.functions[kernel] if kernel else next(iter(module.functions.values()))
    return Prepared(make_plan(function, checks=check))


def run(
    module: Module,
    grid: Sequence[int],
    arguments: Sequence[Any],
    *,
    kernel: str = "",
    check: bool = False,
    output: TextIO | None = None,
) -> None:
    """Run a kernel of a module once; see `prepare` and `Prepared.run`."""
    prepare(module, kernel=kernel, check=check).run(grid, arguments, output=output)


def _three(grid: Sequence[int]) -> Grid:
    extents = (*map(int, grid), 1, 1, 1)[: max(3, len(grid))]
    if len(extents) != 3 or min(extents) < 0:
        raise ValueError(f"a grid has one to three extents of 0 or more, not {tuple(grid)}")
    return extents[0], extents[1], extents[2]


def _programs(grid: Grid) -> Iterator[Grid]:
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                yield x, y, z


def _bind(function: Function, arguments: Sequence[Any]) -> tuple[list[Segment | None], list[Any]]:
    """The memory of pointer arguments, and the values of all parameters."""
    if len(arguments) != len(function.parameters):
        raise ValueError(
            f"kernel {function.name} has {len(function.parameters)} parameters, not {len(arguments)}"
        )
    segments: list[Segment | None] = []
    values: list[Any] = []
    for number, (parameter, argument) in enumerate(zip(function.parameters, arguments, strict=True)):
        segment = None
        if isinstance(parameter.type, PointerType):
            segment = segment_of(argument, parameter.name or f"argument {number}", number)
            values.append(np.asarray(segment.base, np.int64))
        else:
            values.append(_scalar(argument, parameter.type))
        segments.append(segment)
    return segments, values


def _scalar(argument: Any, kind: Type) -> Any:
    dtype = dtype_of(kind)
    if dtype.is_float:
        return np.asarray(round_to(dtype, np.float64(argument)))
    if dtype.is_bool:
        return np.asarray(bool(argument))
    wrapped = int(argument) & (1 << dtype.bits) - 1
    return np.asarray(wrapped, f"u{dtype.bytes}").astype(dtype.numpy)


def _in_program(problem: ExecutionError, program: Grid) -> ExecutionError:
    found = problem.diagnostics[0].with_note("note", f"in program {program}")
    return ExecutionError((found, *problem.diagnostics[1:]))
