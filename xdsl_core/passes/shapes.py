"""Patterns that merge movements of elements, and compute on scalars what is the same in every lane."""

from __future__ import annotations

from xdsl_core.ir.core import Op, Value
from xdsl_core.ir.rewriter import Pattern, Rewriter
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import TileType, dtype_of, element_of, tile_or_scalar
from xdsl_core.ops.creation import Constant, Splat
from xdsl_core.ops.pointer import Offset
from xdsl_core.ops.shape import Broadcast, ExpandDims, Permute, Reshape
from xdsl_core.passes.definitions import made_by, name_of
from xdsl_core.passes.evaluation import Evaluator


def shape_patterns(evaluator: Evaluator) -> dict[str, list[Pattern]]:
    """The patterns of this module, by op name; those for any op under ""."""
    return {
        name_of(Broadcast): [merge_broadcasts],
        name_of(Reshape): [merge_reshapes],
        name_of(Permute): [merge_permutes],
        name_of(Offset): [merge_offsets(evaluator)],
        "": [move_splat, compute_on_scalars(evaluator)],
    }


def merge_broadcasts(op: Op, rewriter: Rewriter) -> bool:
    """A broadcast to the same shape is its source; one of a broadcast takes the inner one's source."""
    source = op.operands[0]
    if source.type == op.result.type:
        rewriter.replace_op(op, source)
        return True
    inner = made_by(source, Broadcast)
    if inner is None:
        return False
    rewriter.set_operand(op, 0, inner.operands[0])
    return True


def merge_reshapes(op: Op, rewriter: Rewriter) -> bool:
    """A reshape to the same shape is its source; one of a reshaped tile takes that one's source."""
    source = op.operands[0]
    if source.type == op.result.type:
        rewriter.replace_op(op, source)
        return True
    inner = made_by(source, Reshape) or made_by(source, ExpandDims)
    if inner is None:
        return False
    rewriter.set_operand(op, 0, inner.operands[0])
    return True


def merge_permutes(op: Op, rewriter: Rewriter) -> bool:
    """Axes left in place are no permutation; two permutations are one."""
    order: tuple[int, ...] = op.attribute("order")
    if order == tuple(range(len(order))):
        rewriter.replace_op(op, op.operands[0])
        return True
    inner = made_by(op.operands[0], Permute)
    if inner is None:
        return False
    first = inner.attribute("order")
    merged = tuple(first[axis] for axis in order)
    rewriter.replace_op(op, rewriter.before(op).value(Permute, inner.operands[0], order=merged))
    return True


def merge_offsets(evaluator: Evaluator) -> Pattern:
    """The pattern for offset(offset(p, a), b) = offset(p, a + b) of constants.

    Offsets are widened to 64 bits before they are added to the address, so a + b must not wrap in their own
    dtype: of constants this is known.
    """

    def merge(op: Op, rewriter: Rewriter) -> bool:
        inner = made_by(op.operands[0], Offset)
        if inner is None:
            return False
        first, second = inner.operands[1], op.operands[1]
        if first.type != second.type:
            return False
        one, other, dtype = evaluator.number(first), evaluator.number(second), dtype_of(first.type)
        if one is None or other is None or not dtype.lowest <= one + other <= dtype.highest:
            return False
        total = rewriter.before(op).value(Constant, value=int(one + other), type=second.type)
        rewriter.replace_op(op, rewriter.before(op).value(Offset, inner.operands[0], total))
        return True

    return merge


def move_splat(op: Op, rewriter: Rewriter) -> bool:
    """Moving the elements of a splat gives a splat: of any op with the trait MOVEMENT."""
    if len(op.operands) != 1 or Trait.MOVEMENT not in op.definition.traits:
        return False
    splat = made_by(op.operands[0], Splat)
    if splat is None or not isinstance(op.result.type, TileType):
        return False
    rewriter.replace_op(op, rewriter.before(op).value(Splat, splat.operands[0], shape=op.result.type.shape))
    return True


def compute_on_scalars(evaluator: Evaluator) -> Pattern:
    """The pattern for elementwise ops of splats: one scalar op, then one splat."""

    def compute_once(op: Op, rewriter: Rewriter) -> bool:
        if not any(made_by(value, Splat) for value in op.operands):
            return False
        if Trait.ELEMENTWISE not in op.definition.traits or not isinstance(op.results[0].type, TileType):
            return False
        if not all(made_by(value, Splat) or evaluator.number(value) is not None for value in op.operands):
            return False
        scalars = [_scalar(value, op, rewriter, evaluator) for value in op.operands]
        groups, start = [], 0
        for count in op.segments:
            groups.append(scalars[start : start + count])
            start += count
        once = rewriter.before(op).create(op.definition, groups, op.attributes)
        splats = [
            rewriter.before(op).value(Splat, scalar, shape=value.type.shape)
            for scalar, value in zip(once.results, op.results, strict=True)
        ]
        rewriter.replace_op(op, splats)
        return True

    return compute_once


def _scalar(value: Value, op: Op, rewriter: Rewriter, evaluator: Evaluator) -> Value:
    """The scalar that fills a tile."""
    splat = made_by(value, Splat)
    if splat is not None:
        return splat.operands[0]
    type = tile_or_scalar((), element_of(value.type))
    return rewriter.before(op).value(Constant, value=evaluator.number(value), type=type)
