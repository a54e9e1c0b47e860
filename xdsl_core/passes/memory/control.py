"""Loops and branches: scalars stay values, tiles that cross a border live in memory of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl_core.dtypes import i32
from xdsl_core.ir import Block, Op, Region, ScalarType, TileType, Value, dtype_of
from xdsl_core.ops import Condition, Constant, For, If, While, Yield
from xdsl_core.passes.memory.places import (
    Accumulated,
    Held,
    Lowering,
    Place,
    Uniform,
    stored_element,
)

Body = Callable[[Lowering, Block], None]


def lower_for(state: Lowering, op: Op, body: Body) -> None:
    """A loop. What it carries in vector memory is copied there before, and overwritten at the end of the
    body.
    """
    old = op.region("body").block
    first = len(op.operands) - len(op.results)
    starts = op.operands[first:]
    carried = [_start(state, value, old.arguments[n + 1]) for n, value in enumerate(starts)]
    inits = [scalar for place in carried if (scalar := _scalar_of(place)) is not None]
    block = Block([state.scalar(op.operands[0]).type, *(value.type for value in inits)])
    block.arguments[0].name = old.arguments[0].name
    bounds = [state.scalar(value) for value in op.operands[:3]]
    state.scalars[old.arguments[0]] = block.arguments[0]
    _bind(state, old.arguments[1:], carried, block.arguments[1:])
    with state.inside(block):
        body(state, old)
        ends = old.ops[-1].operands
        yielded = _finish(state, ends, carried)
        state.builder.build(Yield, yielded)
    loop = state.builder.build(
        For, *bounds, inits, regions=(Region([block]),), num_stages=op.attribute("num_stages")
    )
    loop.location = op.location
    _bind(state, op.results, carried, loop.results)
    _drain_results(state, op)


def _start(state: Lowering, value: Value, argument: Value) -> Place:
    """The place of a carried value as the loop begins."""
    if not isinstance(value.type, TileType):
        return Uniform(state.scalar(value))
    if argument in state.facts.resident:
        from xdsl_core.passes.memory.products import new_accumulator

        return state.accumulated.get(value) or new_accumulator(state, value)
    held = state.new(value.type.shape, stored_element(value.type), name=argument.name or value.name)
    state.put(held, state.place(value))
    return held


def _scalar_of(place: Place) -> Value | None:
    """The scalar that a loop carries for a place."""
    if isinstance(place, Uniform):
        return place.value
    return place.started if isinstance(place, Accumulated) else None


def _bind(
    state: Lowering, values: Sequence[Value], carried: Sequence[Place], scalars: Sequence[Value]
) -> None:
    """Say where carried values are, given the scalars that stand for them at this point."""
    left = iter(scalars)
    for value, place in zip(values, carried, strict=True):
        if isinstance(place, Held):
            state.places[value] = place
            continue
        scalar = next(left)
        scalar.name = value.name
        if isinstance(place, Accumulated):
            state.places[value] = state.accumulated[value] = Accumulated(place.buffer, scalar)
        else:
            state.scalars[value] = scalar


def _finish(state: Lowering, ends: Sequence[Value], carried: Sequence[Place]) -> list[Value]:
    """Bring the next values of what is carried to their places; the scalars to yield."""
    targets: list[tuple[Held, Place]] = []
    yielded: list[Value] = []
    for value, place in zip(ends, carried, strict=True):
        if isinstance(place, Held):
            targets.append((place, state.place(value)))
        elif isinstance(place, Accumulated):
            yielded.append(state.accumulated[value].started)
        else:
            yielded.append(state.scalar(value))
    put_all(state, targets)
    return yielded


def put_all(state: Lowering, pairs: Sequence[tuple[Held, Place]]) -> None:
    """Put places into memories as if at once: one that is overwritten and still read is copied first."""
    pending = [(target, place) for target, place in pairs if target != place]
    overwritten = {target.base for target, _ in pending}
    for index, (target, place) in enumerate(pending):
        if isinstance(place, Held) and place.base in overwritten:
            aside = state.new(place.shape, dtype_of(place.base.type))
            state.move(aside, place)
            pending[index] = target, aside
    for target, place in pending:
        state.put(target, place)


def _drain_results(state: Lowering, op: Op) -> None:
    """Bring accumulated results to vector memory where something else works on them."""
    from xdsl_core.passes.memory.products import to_vector

    for value in op.results:
        place = state.places.get(value)
        if isinstance(place, Accumulated) and value in state.facts.held:
            state.places[value] = to_vector(state, place)


def lower_if(state: Lowering, op: Op, body: Body) -> None:
    """A branch. Tiles that it gives are copied to memory that both sides share."""
    shared = [
        state.new(value.type.shape, stored_element(value.type), name=value.name) if value.type.shape else None
        for value in op.results
    ]
    blocks = []
    for region in op.regions:
        block = Block()
        blocks.append(block)
        with state.inside(block):
            body(state, region.block)
            ends = region.block.ops[-1].operands
            pairs = list(zip(ends, shared, strict=True))
            put_all(state, [(held, state.place(value)) for value, held in pairs if held is not None])
            state.builder.build(Yield, [state.scalar(value) for value, held in pairs if held is None])
    condition = state.scalar(op.operand("condition"))
    branch = state.builder.build(If, condition, regions=[Region([block]) for block in blocks])
    branch.location = op.location
    scalars = iter(branch.results)
    for value, held in zip(op.results, shared, strict=True):
        if held is None:
            state.scalars[value] = next(scalars)
        else:
            state.places[value] = held


def lower_while(state: Lowering, op: Op, body: Body) -> None:
    """A loop with a test: carried and forwarded tiles have memory of their own."""
    before, after = op.region("before").block, op.region("after").block
    carried = [
        _own(state, value, argument) for value, argument in zip(op.operands, before.arguments, strict=True)
    ]
    forwarded = [
        state.new(value.type.shape, stored_element(value.type), name=value.name) if value.type.shape else None
        for value in after.arguments
    ]
    inits = [place.value for place in carried if isinstance(place, Uniform)]
    test = Block([value.type for value in inits])
    _bind(state, before.arguments, carried, test.arguments)
    with state.inside(test):
        body(state, before)
        condition, *values = before.ops[-1].operands
        pairs = list(zip(values, forwarded, strict=True))
        proceed = state.scalar(condition)
        put_all(state, [(held, state.place(value)) for value, held in pairs if held is not None])
        passed = [state.scalar(value) for value, held in pairs if held is None]
        state.builder.build(Condition, proceed, passed)
    left = [value.type for value, held in zip(after.arguments, forwarded, strict=True) if held is None]
    work = Block(left)
    _bind_forwarded(state, after.arguments, forwarded, work.arguments)
    with state.inside(work):
        body(state, after)
        state.builder.build(Yield, _finish(state, after.ops[-1].operands, carried))
    loop = state.builder.build(While, inits, regions=(Region([test]), Region([work])))
    loop.location = op.location
    _bind_forwarded(state, op.results, forwarded, loop.results)


def _own(state: Lowering, value: Value, argument: Value) -> Place:
    if not isinstance(value.type, TileType):
        return Uniform(state.scalar(value))
    held = state.new(value.type.shape, stored_element(value.type), name=argument.name or value.name)
    state.put(held, state.place(value))
    return held


def _bind_forwarded(
    state: Lowering, values: Sequence[Value], held: Sequence[Held | None], scalars: Sequence[Value]
) -> None:
    left = iter(scalars)
    for value, place in zip(values, held, strict=True):
        if place is None:
            state.scalars[value] = next(left)
        else:
            state.places[value] = place


def one(state: Lowering) -> Value:
    """The i32 that says that an accumulator has been started."""
    return state.builder.value(Constant, value=1, type=ScalarType(i32))
