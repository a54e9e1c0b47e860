"""Work of the vector unit: lane by lane, moving lanes, along an axis; and what is printed or asserted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, PointerType, ScalarType, TileType, Value, dtype_of
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import element_of, pointee_of
from xdsl_core.ops import (
    Add,
    BitCast,
    Cast,
    Constant,
    IntToPointer,
    Mul,
    Offset,
    PointerCast,
    PointerToInt,
    Reshape,
)
from xdsl_core.ops.buffer import Assert, Iota, Print, dense_strides
from xdsl_core.passes.memory.places import Held, Lowering, Place, Uniform, stored_element


def wanted(state: Lowering, op: Op) -> bool:
    """Whether a tile that the op makes has to be anywhere."""
    return any(value in state.facts.held for value in op.results)


def lower_constant(state: Lowering, op: Op) -> None:
    """A constant is a scalar for all lanes."""
    kind = op.result.type
    if isinstance(kind, TileType):
        scalar = state.builder.value(Constant, value=op.attributes["value"], type=ScalarType(dtype_of(kind)))
        state.places[op.result] = Uniform(scalar)
    else:
        state.scalars[op.result] = state.builder.create(Constant, [], op.attributes).result


def lower_arange(state: Lowering, op: Op) -> None:
    """Numbers in the lanes."""
    if not wanted(state, op):
        return
    kind = op.result.type
    made = state.new(kind.shape, dtype_of(kind), name=op.result.name)
    start = state.builder.value(Constant, value=op.attributes["start"], type=ScalarType(dtype_of(kind)))
    state.builder.build(Iota, state.view(made), start, axis=0, **state.unit("iota"))
    state.places[op.result] = made


def lower_splat(state: Lowering, op: Op) -> None:
    """A scalar for all lanes, where it is."""
    place = state.place(op.operands[0])
    if isinstance(place, Held):
        shape = op.result.type.shape
        place = Held(place.base, shape, (0,) * len(shape), place.offset)
    state.places[op.result] = place


def lower_elementwise(state: Lowering, op: Op) -> None:
    """One instruction, or scalar code where all lanes are the same or there are none."""
    kind = op.result.type
    if isinstance(kind, TileType) and not wanted(state, op):
        return
    operands = [state.place(value) for value in op.operands]
    if all(isinstance(place, Uniform) for place in operands):
        scalars = iter([place.value for place in operands if isinstance(place, Uniform)])
        groups = [[next(scalars) for _ in group] for group in op.groups()]
        made = state.builder.create(op.definition, groups, op.attributes).result
        made.name = op.result.name
        if isinstance(kind, TileType):
            state.places[op.result] = Uniform(made)
        else:
            state.scalars[op.result] = made
        return
    rule = _POINTER_RULES.get(op.definition)
    if rule is not None:
        state.places[op.result] = rule(state, op, operands)
        return
    target = state.new(kind.shape or (1,), stored_element(kind), name=op.result.name)
    state.compute(op.name, [target], operands, op.attributes)
    state.places[op.result] = _single(target) if not kind.shape else target


def _single(held: Held) -> Held:
    """A scalar in vector memory."""
    return Held(held.base, (), (), held.offset)


def _offset(state: Lowering, op: Op, operands: list[Place]) -> Place:
    """Addresses: pointers plus offsets times the size of what they point to."""
    shape = op.result.type.shape
    size = pointee_of(op.result.type).bytes
    offset = operands[1]
    kind = dtype_of(op.operand("offset").type)
    if isinstance(offset, Uniform):
        code = state.code
        scaled: Place = Uniform(code.multiply(code.wide(offset.value), code.number(size)))
    else:
        if kind is not dtypes.i64:
            wide = state.new(shape, dtypes.i64)
            state.compute(Cast.name, [wide], [offset], {"to": dtypes.i64})
            offset = wide
        factor = Uniform(state.code.number(size))
        product = state.new(shape, dtypes.i64)
        state.compute(Mul.name, [product], [offset, factor])
        scaled = product
    made = state.new(shape, dtypes.i64, name=op.result.name)
    state.compute(Add.name, [made], [operands[0], scaled])
    return made


def _same_bits(state: Lowering, op: Op, operands: list[Place]) -> Place:
    """Pointers are numbers already."""
    if isinstance(operands[0], Held) and dtype_of(operands[0].base.type) is not dtypes.i64:
        made = state.new(op.result.type.shape, dtypes.i64)
        state.compute(BitCast.name, [made], operands, {"to": dtypes.i64})
        return made
    return operands[0]


_POINTER_RULES: Mapping[object, Callable[[Lowering, Op, list[Place]], Place]] = {
    Offset: _offset,
    PointerCast: _same_bits,
    PointerToInt: _same_bits,
    IntToPointer: _same_bits,
}


def lower_movement(state: Lowering, op: Op) -> None:
    """Another look at the same lanes; only a reshape of lanes with gaps moves them."""
    if not wanted(state, op):
        return
    source = state.place(op.operands[0])
    if isinstance(source, Held):
        source = _MOVES[op.name](state, op, source)
    state.places[op.result] = source


def _permute(state: Lowering, op: Op, source: Held) -> Held:
    order = op.attributes["order"]
    return Held(
        source.base,
        tuple(source.shape[axis] for axis in order),
        tuple(source.strides[axis] for axis in order),
        source.offset,
    )


def _expand(state: Lowering, op: Op, source: Held) -> Held:
    axis = op.attributes["axis"]
    shape, strides = list(source.shape), list(source.strides)
    shape.insert(axis, 1)
    strides.insert(axis, 0)
    return Held(source.base, tuple(shape), tuple(strides), source.offset)


def _broadcast(state: Lowering, op: Op, source: Held) -> Held:
    shape = op.attributes["shape"]
    pairs = zip(source.strides, source.shape, shape, strict=True)
    strides = tuple(stride if extent == wide else 0 for stride, extent, wide in pairs)
    return Held(source.base, shape, strides, source.offset)


def _reshape(state: Lowering, op: Op, source: Held) -> Held:
    shape = op.attributes["shape"]
    wide = [
        (extent, stride) for extent, stride in zip(source.shape, source.strides, strict=True) if extent > 1
    ]
    if [extent for extent, _ in wide] == [extent for extent in shape if extent > 1]:
        left = iter(stride for _, stride in wide)
        return Held(source.base, shape, tuple(next(left) if e > 1 else 0 for e in shape), source.offset)
    if not source.is_dense:
        element = dtype_of(source.base.type)
        dense = state.new(source.shape, element)
        state.move(dense, source)
        source = dense
    return Held(source.base, shape, dense_strides(shape), source.offset)


_MOVES = {
    "tile.permute": _permute,
    "tile.expand_dims": _expand,
    "tile.broadcast": _broadcast,
    Reshape.name: _reshape,
}


def lower_along_axis(state: Lowering, op: Op) -> None:
    """A reduction or scan that the vector unit has an instruction for."""
    if not any(value.uses for value in op.results):
        return
    source = op.operands[0]
    held = state.hold(state.place(source), source.type.shape, dtype_of(source.type))
    targets = [
        state.new(value.type.shape or (1,), dtype_of(value.type), name=value.name) for value in op.results
    ]
    state.compute(op.name, targets, [held], op.attributes)
    for value, target in zip(op.results, targets, strict=True):
        define(state, value, target)


def define(state: Lowering, value: Value, held: Held) -> None:
    """Say where a result is; a scalar that scalar code needs is read into a register."""
    if value.type.shape:
        state.places[value] = held
    elif value in state.facts.registers:
        state.scalars[value] = state.read(_single(held))
    else:
        state.places[value] = _single(held)


def lower_print(state: Lowering, op: Op) -> None:
    """One print an operand; pointers as numbers in base 16."""
    values = op.group("values")
    shared = {"prefix": op.attributes["prefix"], **state.scalar_unit()}
    if not values:
        state.builder.build(Print, None, **shared)
    for value in values:
        pointer = isinstance(element_of(value.type), PointerType)
        operand = _readable(state, value)
        state.builder.build(Print, operand, hex=pointer or bool(op.attribute("hex")), **shared)


def _readable(state: Lowering, value: Value) -> Value:
    """A value as something to print or check: all lanes in order, or a scalar."""
    if not isinstance(value.type, TileType):
        return state.operand(Uniform(state.scalar(value)))
    kind: DType = stored_element(value.type)
    return state.view(state.dense(state.place(value), value.type.shape, kind))


def lower_assert(state: Lowering, op: Op) -> None:
    """A check by the scalar unit."""
    mask = op.optional("mask")
    state.builder.build(
        Assert,
        _readable(state, op.operand("condition")),
        None if mask is None else _readable(state, mask),
        message=op.attributes["message"],
        **state.scalar_unit(),
    )


def is_lanewise(op: Op) -> bool:
    """Whether the op works lane by lane."""
    return op.has(Trait.PURE) and op.has(Trait.ELEMENTWISE)
