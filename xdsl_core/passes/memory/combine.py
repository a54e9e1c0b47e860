"""Reductions and scans with code of the author's own, as trees of vector instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_core.ir import Block, Op, Region, ScalarType, Trait, Value, dtype_of
from xdsl_core.ops import Constant, If, Select
from xdsl_core.passes.memory.computation import define
from xdsl_core.passes.memory.places import Held, Lowering, Place, Uniform, refuse


@dataclass(frozen=True, slots=True)
class Rows:
    """Tiles cut along an axis: each piece starts where vector instructions may start.

    `held` has the axis first; `rest` are the other extents, one of 1 where there are none.
    """

    held: Held

    @property
    def count(self) -> int:
        return self.held.shape[0]

    def part(self, start: int, count: int, step: int = 1) -> Held:
        """Every `step`-th piece from `start` on."""
        stride = self.held.strides[0]
        return Held(
            self.held.base,
            (count, *self.held.shape[1:]),
            (stride * step, *self.held.strides[1:]),
            self.held.offset + start * stride,
        )


def lower_reduce(state: Lowering, op: Op) -> None:
    """Combine neighbours until one piece is left: the order of elements is kept, and associativity used."""
    rows = [_cut(state, value, op.attributes["axis"]) for value in op.operands]
    while rows[0].count > 1:
        rows = _halve(state, op, rows)
    for value, row in zip(op.results, rows, strict=True):
        shape = value.type.shape
        held = row.held
        whole = Held(held.base, shape, held.strides[1:][: len(shape)], held.offset)
        define(state, value, whole)


def lower_scan(state: Lowering, op: Op) -> None:
    """Combine each piece with the one 1, 2, 4, ... before it (W. D. Hillis, G. L. Steele, 1986)."""
    axis, reverse = op.attributes["axis"], bool(op.attribute("reverse"))
    rows = [_cut(state, value, axis) for value in op.operands]
    count, distance = rows[0].count, 1
    while distance < count:
        rows = _step(state, op, rows, distance, reverse)
        distance *= 2
    for value, row in zip(op.results, rows, strict=True):
        define(state, value, _join(row, axis, len(value.type.shape)))


def _cut(state: Lowering, value: Value, axis: int) -> Rows:
    """A tile with the axis first and every piece aligned."""
    kind = value.type
    element = dtype_of(kind)
    source = state.hold(state.place(value), kind.shape, element)
    order = [axis, *(dim for dim in range(len(kind.shape)) if dim != axis)]
    shape = tuple(source.shape[dim] for dim in order)
    strides = tuple(source.strides[dim] for dim in order)
    if len(shape) == 1:
        shape, strides = (*shape, 1), (*strides, 1)
    made = state.new(shape, element, pad=True)
    state.move(made, Held(source.base, shape, strides, source.offset))
    return Rows(made)


def _join(row: Rows, axis: int, rank: int) -> Held:
    """The tile with its axis where it was."""
    shape, strides = list(row.held.shape), list(row.held.strides)
    first, step = shape.pop(0), strides.pop(0)
    if rank == 1:
        shape, strides = [], []
    shape.insert(axis, first)
    strides.insert(axis, step)
    return Held(row.held.base, tuple(shape), tuple(strides), row.held.offset)


def _halve(state: Lowering, op: Op, rows: Sequence[Rows]) -> list[Rows]:
    count = rows[0].count
    pairs, odd = divmod(count, 2)
    left = [row.part(0, pairs, 2) for row in rows]
    right = [row.part(1, pairs, 2) for row in rows]
    made = [_like(state, row, pairs + odd) for row in rows]
    combined = _combine(state, op, [*left, *right])
    for target, place, row in zip(made, combined, rows, strict=True):
        state.put(target.part(0, pairs), place)
        if odd:
            state.move(target.part(pairs, 1), row.part(count - 1, 1))
    return made


def _step(state: Lowering, op: Op, rows: Sequence[Rows], distance: int, reverse: bool) -> list[Rows]:
    count = rows[0].count
    left = count - distance
    low = [row.part(0, left) for row in rows]
    high = [row.part(distance, left) for row in rows]
    made = [_like(state, row, count) for row in rows]
    first, second = (high, low) if reverse else (low, high)
    combined = _combine(state, op, [*first, *second])
    start, kept = (0, left) if reverse else (distance, 0)
    for target, place, row in zip(made, combined, rows, strict=True):
        state.put(target.part(start, left), place)
        state.move(target.part(kept, distance), row.part(kept, distance))
    return made


def _like(state: Lowering, row: Rows, count: int) -> Rows:
    return Rows(state.new((count, *row.held.shape[1:]), dtype_of(row.held.base.type), pad=True))


def _combine(state: Lowering, op: Op, arguments: Sequence[Held]) -> list[Place]:
    """The author's code on whole tiles of accumulated and next elements."""
    block = op.region("combine").block
    env: dict[Value, Place] = dict(zip(block.arguments, arguments, strict=True))
    _run(state, block, env, arguments[0].shape)
    return [_look(state, env, value) for value in block.ops[-1].operands]


def _look(state: Lowering, env: dict[Value, Place], value: Value) -> Place:
    found = env.get(value)
    return Uniform(state.scalar(value)) if found is None else found


def _run(state: Lowering, block: Block, env: dict[Value, Place], shape: tuple[int, ...]) -> None:
    for op in block.ops:
        if op.has(Trait.TERMINATOR):
            return
        if op.definition is Constant:
            env[op.result] = Uniform(state.builder.create(Constant, [], op.attributes).result)
        elif op.has(Trait.ELEMENTWISE) and op.has(Trait.PURE):
            env[op.result] = _lanes(state, op, [_look(state, env, value) for value in op.operands], shape)
        elif op.definition is If:
            _both_sides(state, op, env, shape)
        else:
            raise refuse(
                op,
                f"{op.name} inside a combine function has no vector form",
                help="compute without loops in the combine function",
            )


def _lanes(state: Lowering, op: Op, operands: list[Place], shape: tuple[int, ...]) -> Place:
    scalars = [place.value for place in operands if isinstance(place, Uniform)]
    if len(scalars) == len(operands):
        groups, left = [], iter(scalars)
        for group in op.groups():
            groups.append([next(left) for _ in group])
        return Uniform(state.builder.create(op.definition, groups, op.attributes).result)
    made = state.new(shape, dtype_of(op.result.type))
    state.compute(op.name, [made], operands, op.attributes)
    return made


def _both_sides(state: Lowering, op: Op, env: dict[Value, Place], shape: tuple[int, ...]) -> None:
    """A branch inside lanes: both sides are computed, the condition picks."""
    sides: list[list[Place]] = []
    regions: tuple[Region, ...] = op.regions
    for region in regions:
        _run(state, region.block, env, shape)
        sides.append([_look(state, env, value) for value in region.block.ops[-1].operands])
    condition = _look(state, env, op.operand("condition"))
    for value, *choices in zip(op.results, *sides, strict=True):
        assert isinstance(value.type, ScalarType)
        made = state.new(shape, dtype_of(value.type))
        state.compute(Select.name, [made], [condition, *choices])
        env[value] = made
