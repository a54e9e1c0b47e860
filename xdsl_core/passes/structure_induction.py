"""Loop-carried index tiles become scalars: the tile moves as a whole, so only its step is carried."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_core.dtypes import i64
from xdsl_core.ir import (
    Builder,
    Function,
    Module,
    Op,
    PointerType,
    ScalarType,
    TileType,
    Type,
    Value,
    dtype_of,
)
from xdsl_core.ir.types import is_pointer
from xdsl_core.ops import Add, Broadcast, Cast, Constant, ExpandDims, For, Offset, Splat


@dataclass(frozen=True, slots=True)
class StructureInduction:
    """Carries a scalar distance instead of a tile of pointers or indexes that moves by the same step in every
    lane.

    Before:
        %r = control.for %lo, %hi, %c1, inits = [%p0] body (%k: i32, %p: tile<64xptr<f32>>) {
          %s = tile.splat %step {shape = (64)}
          %n = tile.offset %p, %s
          control.yield [%n]
        }
    After:
        %r = control.for %lo, %hi, %c1, inits = [%zero] body (%k: i32, %distance: i64) {
          %p = tile.offset %p0, (splat %distance)
          %n = tile.add %distance, %step
          control.yield [%n]
        }
    """

    name: str = "structure-induction"

    def run(self, module: Module) -> None:
        """Change the module in place."""
        for function in module.functions.values():
            for op in list(function.walk()):
                if op.definition is For:
                    _structure(function, op)


def _structure(function: Function, loop: Op) -> None:
    block = loop.region("body").block
    carried = block.arguments[1:]
    first = len(loop.operands) - len(carried)
    for position, argument in enumerate(carried):
        if not isinstance(argument.type, TileType) or not _is_index(argument.type):
            continue
        steps = _steps(block.ops[-1].operands[position], argument)
        if steps is not None:
            _rewrite(loop, position, first + position, argument, steps)


def _is_index(type: Type) -> bool:
    return is_pointer(type) or dtype_of(type).name in ("i32", "i64")


def _steps(value: Value, argument: Value) -> list[Value] | None:
    """The uniform tiles that are added to `argument` on the way to `value`; None if anything else happens to
    it.
    """
    steps: list[Value] = []
    while value is not argument:
        op = value.defining_op
        if op is None or op.definition not in (Offset, Add):
            return None
        left, right = op.operands
        if op.definition is Add and _uniform(left) is not None:
            left, right = right, left
        if _uniform(right) is None:
            return None
        steps.append(right)
        value = left
    return steps


def _uniform(value: Value) -> Op | None:
    """The splat or constant behind a tile with the same number in every lane."""
    op = value.defining_op
    while op is not None and op.definition in (Broadcast, ExpandDims):
        op = op.operands[0].defining_op
    return op if op is not None and op.definition in (Splat, Constant) else None


def _rewrite(loop: Op, position: int, operand: int, argument: Value, steps: list[Value]) -> None:
    type, init = argument.type, loop.operands[operand]
    assert isinstance(type, TileType)
    assert loop.block is not None
    pointer = isinstance(type.element, PointerType)
    distance = ScalarType(i64) if pointer else ScalarType(dtype_of(type))
    move = Offset if pointer else Add
    block = loop.region("body").block
    before = Builder(loop.block, before=loop, location=loop.location)
    loop.set_operand(operand, before.value(Constant, value=0, type=distance))
    terminator = block.ops[-1]
    end = Builder(block, before=terminator, location=terminator.location)
    scalars = [_scalar_step(end, step, distance) for step in steps]
    argument.type = distance
    inside = Builder(block, before=block.ops[0], location=loop.location)
    spread = inside.value(Splat, argument, shape=type.shape)
    moved = inside.value(move, init, spread)
    moved.name, argument.name = argument.name, f"{argument.name}_distance" if argument.name else ""
    for (_, index), user in list(argument.uses.items()):
        if user is not spread.defining_op:
            user.set_operand(index, moved)
    total = argument
    for step in scalars:
        total = end.value(Add, total, step)
    terminator.set_operand(position, total)
    _rewrite_result(loop, loop.results[position], init, move, distance)


def _scalar_step(builder: Builder, step: Value, distance: ScalarType) -> Value:
    op = _uniform(step)
    assert op is not None
    if op.definition is Constant:
        return builder.value(Constant, value=op.attributes["value"], type=distance)
    scalar = op.operands[0]
    return scalar if scalar.type == distance else builder.value(Cast, scalar, to=distance.element)


def _rewrite_result(loop: Op, result: Value, init: Value, move: object, distance: ScalarType) -> None:
    type = result.type
    assert isinstance(type, TileType)
    assert loop.block is not None
    uses = list(result.uses.items())
    result.type = distance
    if not uses:
        return
    following = loop.block.ops[loop.block.ops.index(loop) + 1]
    after = Builder(loop.block, before=following, location=loop.location)
    moved = after.value(move, init, after.value(Splat, result, shape=type.shape))
    for (_, index), user in uses:
        user.set_operand(index, moved)
