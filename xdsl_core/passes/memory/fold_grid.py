"""The loop over programs: each worker runs its share of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.dtypes import i32, i64
from xdsl_core.ir import Block, Builder, Function, Module, Op, Region, ScalarType, Trait, Value
from xdsl_core.ops import Cast, Constant, Div, For, Mul, NumPrograms, ProgramId, Rem, Yield
from xdsl_core.ops.task import GridExtent, Program, Worker, Workers


@dataclass(frozen=True)
class FoldGrid:
    """Puts the kernel into a loop over the programs of one worker: number w runs w, w + workers, ...

        %x = grid.program_id {axis = 0} : i32
        memory.store %p, %x
        control.return
    ->
        %worker = task.worker : i64
        %workers = task.workers : i64
        %programs = task.grid : i64
        control.for %worker, %programs, %workers body (%program: i64) {
          task.program %program
          %x = tile.cast (tile.rem %program, (task.grid {axis = 0})) {to = i32} : i32
          memory.store %p, %x
          control.yield []
        }
        control.return

    Any grid runs on any number of workers, shares differ by one program at most, and programs that run at the
    same time are neighbours, which share data in caches.
    """

    name: ClassVar[str] = "fold_grid"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            _fold(function)


def _fold(function: Function) -> None:
    outer = function.block
    *ops, end = outer.ops
    assert end.has(Trait.TERMINATOR)
    body = Block([ScalarType(i64)], ["program"])
    outer.ops.clear()
    builder = Builder(outer, location=function.location)
    lower, step, upper = (builder.value(definition) for definition in (Worker, Workers, GridExtent))
    builder.build(For, lower, upper, step, (), num_stages=0, regions=(Region([body]),))
    outer.append(end)
    inside = Builder(body, location=function.location)
    program = body.arguments[0]
    inside.build(Program, program)
    for op in ops:
        body.append(op)
    inside.build(Yield, ())
    for op in list(function.walk()):
        if op.definition is ProgramId or op.definition is NumPrograms:
            _replace(op, program)


def _replace(op: Op, program: Value) -> None:
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    axis = op.attributes["axis"]
    if op.definition is NumPrograms:
        wide = builder.value(GridExtent, axis=axis)
    else:
        wide = _coordinate(builder, program, axis)
    narrow = builder.value(Cast, wide, to=i32)
    op.result.replace_uses_with(narrow)
    op.erase()


def _coordinate(builder: Builder, program: Value, axis: int) -> Value:
    """The place of a program along an axis: axis 0 counts fastest."""
    if axis == 0:
        return builder.value(Rem, program, builder.value(GridExtent, axis=0))
    before = builder.value(GridExtent, axis=0)
    if axis == 1:
        return builder.value(Rem, builder.value(Div, program, before), builder.value(GridExtent, axis=1))
    before = builder.value(Mul, before, builder.value(GridExtent, axis=1))
    return builder.value(Div, program, before)


def constant(builder: Builder, value: int) -> Value:
    """An i64 constant."""
    return builder.value(Constant, value=value, type=ScalarType(i64))
