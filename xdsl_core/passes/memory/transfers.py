"""Loads, stores and atomics of tiles: copies along data paths, or single elements by their addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import Block, Op, Region, ScalarType, TileType, Value, dtype_of, element_of
from xdsl_core.ir.types import pointee_of
from xdsl_core.ops import AtomicCas, Constant, For, If, Le, Load, Ne, Store, Yield
from xdsl_core.ops.buffer import Atomic, Copy, Gather, Scatter, Window
from xdsl_core.passes.memory.access_plans import CopyPlan, Unwrapped
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.places import Held, Lowering, Place, Uniform
from xdsl_core.passes.memory.scalars import Lanes
from xdsl_core.target import DataPath

Move = Callable[[Value, Lanes, Sequence[Value]], None]


def lower_load(state: Lowering, op: Op) -> None:
    """A load: into a register, into vector memory, into the memory that feeds the matrix unit."""
    if not isinstance(op.result.type, TileType):
        groups = [[state.scalar(value) for value in group] for group in op.groups()]
        state.scalars[op.result] = state.builder.create(Load, groups, op.attributes).result
        return
    if op.result in state.facts.held or op.attributes.get("volatile"):
        state.places[op.result] = _load_tile(state, op)


def _load_tile(state: Lowering, op: Op) -> Held:
    kind = op.result.type
    element = dtype_of(kind)
    stored = dtypes.u8 if element.is_bool else element
    plan = state.facts.plans[op]
    fill = _filler(state, op, element)
    if plan is None:
        made = state.new(kind.shape, stored, name=op.result.name)
        _gather(state, op, made, fill)
    elif plan.unwrapped is not None:
        made = _load_wrapped(state, op, plan, fill, stored)
    else:
        made = _memory_for(state, plan, kind.shape, stored, op.result.name)
        _copy_in(state, op, plan, made, fill)
    if not element.is_bool:
        return made
    truth = state.new(kind.shape, element, name=op.result.name)
    zero = state.builder.value(Constant, value=0, type=ScalarType(stored))
    state.compute(Ne.name, [truth], [made, Uniform(zero)])
    return truth


def _load_wrapped(
    state: Lowering, op: Op, plan: CopyPlan, fill: Place | int | float | None, element: DType
) -> Held:
    """A load whose indexes may wrap around: one copy where they do not, else row by row."""
    shape, unwrapped = op.result.type.shape, plan.unwrapped
    assert unwrapped is not None
    made = state.new(shape, element, name=op.result.name, pad=True)

    def rows() -> None:
        pieces = _memory_for(state, plan, shape, element, op.result.name)
        _copy_in(state, op, plan, pieces, fill)
        state.move(made, pieces)

    under_guards(state, unwrapped, lambda: _copy_in(state, op, unwrapped.plan, made, fill), rows)
    return made


def load_by_rows(state: Lowering, op: Op) -> Held:
    """A tile of numbers in vector memory, by the plan that always holds."""
    plan, element = state.facts.plans[op], dtype_of(op.result.type)
    assert plan is not None
    made = _memory_for(state, plan, op.result.type.shape, element, op.result.name)
    _copy_in(state, op, plan, made, _filler(state, op, element))
    return made


def _memory_for(
    state: Lowering, plan: CopyPlan | None, shape: tuple[int, ...], element: DType, name: str
) -> Held:
    """Memory for a tile such that every copy of the plan starts at an aligned place."""
    if plan is None or not plan.loops:
        return state.new(shape, element, name=name, pad=plan is not None)
    order = (*plan.loops, *plan.inner)
    extents = [shape[dim] for dim in order]
    if not plan.inner:
        extents.append(1)
    made = state.new(extents, element, name=name, pad=True)
    strides = tuple(made.strides[order.index(dim)] for dim in range(len(shape)))
    return Held(made.base, shape, strides)


def under_guards(
    state: Lowering, unwrapped: Unwrapped, then: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """Do one thing where no index wraps around, else another."""
    code, holds = state.code, []
    for guard in unwrapped.guards:
        low, high, limit = (code.polynomial(each) for each in (guard.low, guard.high, guard.limit))
        holds += [
            state.builder.value(Le, code.number(0), low),
            state.builder.value(Le, high, limit),
        ]
    condition = code.both(holds)
    assert condition is not None
    sides = []
    for work in (then, otherwise):
        block = Block()
        with state.inside(block):
            work()
            state.builder.build(Yield, ())
        sides.append(Region([block]))
    state.builder.build(If, condition, regions=sides)


def _filler(state: Lowering, op: Op, element: DType) -> Place | int | float | None:
    """What lanes that are masked off hold: a number, a place to copy from, 0 where it is free."""
    other = op.optional("other")
    if other is None:
        return None
    place = state.place(other)
    if isinstance(place, Uniform):
        definer = place.value.defining_op
        if definer is not None and definer.definition is Constant:
            number: int | float = definer.attributes["value"]
            return int(number) if element.is_bool else number
    return place


def _copy_in(state: Lowering, op: Op, plan: CopyPlan, made: Held, fill: Place | int | float | None) -> None:
    number = fill if isinstance(fill, int | float) else 0 if fill is None else None
    element = dtype_of(made.base.type)
    if plan.is_partial and (number is None or plan.loops):
        place = fill if isinstance(fill, Uniform | Held) else _constant(state, number or 0, element)
        state.put(made, _as_bytes(state, place, made, element))
        number = None
    path = _path(state.machine, state.machine.global_space, state.machine.local)
    place_of = _engine(state.machine, path)
    typed = number if not element.is_float or number is None else float(number)
    attributes: dict[str, Any] = {"fill": typed if plan.is_partial else None, "cache": _cache(op)}

    def copy(window: Value, lanes: Lanes, extents: Sequence[Value]) -> None:
        target = _slice(state, made, plan, lanes)
        state.builder.build(Copy, target, window, extents, **attributes, **place_of)

    copy_blocks(state, op, plan, element, copy)


def _cache(op: Op) -> str:
    """The hint for caches that the author gave."""
    return str(op.attribute("cache") or op.attribute("eviction"))


def _as_bytes(state: Lowering, place: Place, made: Held, element: DType) -> Place:
    """Bools as the bytes that memory holds."""
    value = place.base if isinstance(place, Held) else place.value if isinstance(place, Uniform) else None
    assert value is not None
    kind = element_of(value.type)
    if not (isinstance(kind, DType) and kind.is_bool):
        return place
    held = state.new(made.shape, element)
    state.compute("tile.cast", [held], [place], {"to": element})
    return held


def _constant(state: Lowering, value: int | float, element: DType) -> Uniform:
    number = float(value) if element.is_float else int(value)
    return Uniform(state.builder.value(Constant, value=number, type=ScalarType(element)))


def _path(machine: Machine, source: str, destination: str) -> DataPath:
    """The one path that makes up the way between global and vector memory."""
    (path,) = machine.route(source, destination)
    return path


def _engine(machine: Machine, path: DataPath) -> dict[str, Any]:
    return {"engine": path.engine, "core": machine.core_of(path)}


def _slice(state: Lowering, held: Held, plan: CopyPlan, lanes: Lanes) -> Value:
    """The part of a tile that one copy of the plan covers."""
    if not plan.loops:
        return state.view(held)
    inner = plan.inner
    part = Held(
        held.base,
        tuple(held.shape[dim] for dim in inner) or (1,),
        tuple(held.strides[dim] for dim in inner) or (1,),
        held.offset,
    )
    code = state.code
    shape = held.base.type.shape
    start = code.number(0)
    for dim in plan.loops:
        start = code.add(start, code.multiply(code.wide(lanes[dim]), code.number(held.strides[dim])))
    return state.view(part, origins=[code.number(0)] * (len(shape) - 1) + [start])


def copy_blocks(state: Lowering, op: Op, plan: CopyPlan, element: DType, copy: Move) -> None:
    """Call `copy` with the window, lane numbers and extents of every block that the plan copies."""
    _loop(state, op, plan, element, copy, plan.loops, {})


def _loop(  # noqa: PLR0917
    state: Lowering,
    op: Op,
    plan: CopyPlan,
    element: DType,
    copy: Move,
    loops: tuple[int, ...],
    lanes: dict[int, Value],
) -> None:
    if not loops:
        window, extents = block_window(state, op, plan, element, lanes)
        copy(window, lanes, extents)
        return
    dim, *rest = loops
    code = state.code
    limits = [
        code.polynomial(limit, lanes)
        for limit in plan.bounds.upper.get(dim, ())
        if all(other in lanes for other in limit.lane_dims())
    ]
    upper = code.least([code.number(plan.shape[dim]), *limits])
    body = Block([ScalarType(dtypes.i64)], ["lane"])
    state.builder.build(For, code.number(0), upper, code.number(1), (), regions=(Region([body]),))
    with state.inside(body):
        inner = {**lanes, dim: body.arguments[0]}
        _loop(state, op, plan, element, copy, tuple(rest), inner)
        state.builder.build(Yield, ())


def block_window(
    state: Lowering, op: Op, plan: CopyPlan, element: DType, lanes: Lanes
) -> tuple[Value, list[Value]]:
    """The window of one block, and how many elements of it are active along each dimension (none: all)."""
    code = state.code
    rest, strides = plan.access.offset, []
    for dim in plan.inner:
        parts = rest.split(dim)
        assert parts is not None
        stride, rest = parts
        strides.append(code.polynomial(stride, lanes))
    shape = tuple(plan.shape[dim] for dim in plan.inner) or (1,)
    strides = strides or [code.number(1)]
    pointer = code.pointer(state.scalar(plan.access.base), code.polynomial(rest, lanes))
    window = state.builder.value(
        Window, pointer, strides, shape=shape, space=state.machine.global_space, element=element
    )
    return window, extents_of(state, plan, lanes)


def extents_of(state: Lowering, plan: CopyPlan, lanes: Lanes) -> list[Value]:
    """How many lanes are active along each dimension of one block; none where all are."""
    if not plan.is_partial:
        return []
    code, found = state.code, []
    for dim in plan.inner:
        limits = [code.polynomial(limit, lanes) for limit in plan.bounds.upper.get(dim, ())]
        found.append(code.not_negative(code.least([code.number(plan.shape[dim]), *limits])))
    found = found or [code.number(1)]
    if plan.bounds.never:
        return [code.number(0)] * len(found)
    holds = [state.scalar(condition) for condition in plan.bounds.conditions]
    holds += [code.negative(code.polynomial(limit, lanes)) for limit in plan.bounds.negative]
    # conditions on dimensions that are looped over and given by other lanes too
    for dim in plan.loops:
        for limit in plan.bounds.upper.get(dim, ()):
            if limit.lane_dims():
                below = code.add(
                    code.wide(lanes[dim]), code.multiply(code.polynomial(limit, lanes), code.number(-1))
                )
                holds.append(code.negative(below))
    active = code.both(holds)
    if active is not None:
        found[0] = code.where(active, found[0])
    return found


def _addresses(state: Lowering, pointer: Value) -> Held:
    """The addresses of a tile of pointers in vector memory."""
    return state.dense(state.place(pointer), pointer.type.shape, dtypes.i64, name="addresses")


def _mask(state: Lowering, op: Op) -> Value | None:
    mask = op.optional("mask")
    if mask is None:
        return None
    return state.view(state.dense(state.place(mask), mask.type.shape, dtypes.i1))


def _number(fill: Place | int | float | None) -> int | float:
    """The number that fills lanes, 0 where any will do."""
    return fill if isinstance(fill, int | float) else 0


def _gather(state: Lowering, op: Op, made: Held, fill: Place | int | float | None) -> None:
    element = dtype_of(made.base.type)
    if op.optional("mask") is not None:
        place = fill if isinstance(fill, Uniform | Held) else _constant(state, _number(fill), element)
        state.put(made, _as_bytes(state, place, made, element))
    path = _path(state.machine, state.machine.global_space, state.machine.local)
    addresses = state.view(_addresses(state, op.operand("pointer")))
    mask = _mask(state, op)
    state.builder.build(Gather, state.view(made), addresses, mask, **_engine(state.machine, path))


def lower_store(state: Lowering, op: Op) -> None:
    """A store: from a register, from vector memory, or from the matrix unit's accumulator."""
    value = op.operand("value")
    if op in state.facts.drained:
        from xdsl_core.passes.memory.products import drain

        drain(state, op)
    elif isinstance(value.type, TileType):
        _store_tile(state, op)
    elif value in state.places:
        _store_single(state, op)
    else:
        groups = [[state.scalar(each) for each in group] for group in op.groups()]
        state.builder.create(Store, groups, op.attributes)


def _out(machine: Machine) -> dict[str, Any]:
    return _engine(machine, _path(machine, machine.local, machine.global_space))


def _store_single(state: Lowering, op: Op) -> None:
    """A scalar that vector instructions made: one element is copied."""
    held = state.places[op.operand("value")]
    assert isinstance(held, Held)
    code = state.code
    window = state.builder.value(
        Window, state.scalar(op.operand("pointer")), [code.number(1)], shape=(1,),
        space=state.machine.global_space,
    )  # fmt: skip
    mask = op.optional("mask")
    extents = [] if mask is None else [code.where(state.scalar(mask), code.number(1))]
    state.builder.build(Copy, window, state.view(held), extents, cache=_cache(op), **_out(state.machine))


def _store_tile(state: Lowering, op: Op) -> None:
    value, plan = op.operand("value"), state.facts.plans[op]
    element = dtype_of(value.type)
    place = state.place(value)
    if plan is None:
        source = place if isinstance(place, Uniform) else state.dense(place, value.type.shape, element)
        addresses = state.view(_addresses(state, op.operand("pointer")))
        state.builder.build(
            Scatter, addresses, state.operand(source), _mask(state, op), **_out(state.machine)
        )
        return
    unwrapped = plan.unwrapped
    if unwrapped is None:
        _copy_out(state, op, plan, place)
    else:
        under_guards(
            state,
            unwrapped,
            lambda: _copy_out(state, op, unwrapped.plan, place),
            lambda: _copy_out(state, op, plan, place),
        )


def _copy_out(state: Lowering, op: Op, plan: CopyPlan, place: Place) -> None:
    kind = op.operand("value").type
    element = dtype_of(kind)
    held = _for_copies(state, plan, place, kind.shape, element)
    attributes: dict[str, Any] = {"cache": _cache(op), **_out(state.machine)}

    def copy(window: Value, lanes: Lanes, extents: Sequence[Value]) -> None:
        state.builder.build(Copy, window, _slice(state, held, plan, lanes), extents, **attributes)

    copy_blocks(state, op, plan, element, copy)


def _for_copies(
    state: Lowering, plan: CopyPlan, place: Place, shape: tuple[int, ...], element: DType
) -> Held:
    """The tile such that every copy of the plan starts aligned and reads neighbouring elements."""
    if not plan.loops and isinstance(place, Held) and state.starts_rows_aligned(place, element):
        return place
    made = _memory_for(state, plan, shape, element, "staged")
    state.put(made, place)
    return made


def lower_atomic(state: Lowering, op: Op) -> None:
    """An atomic update of single elements; a scalar one is a tile of one lane."""
    pointer = op.operand("pointer")
    element = pointee_of(pointer.type)
    shape = pointer.type.shape or (1,)
    single = not pointer.type.shape

    if single:
        addresses = state.new(shape, dtypes.i64, name="address")
        state.fill(addresses, state.code.address(state.scalar(pointer)))
    else:
        addresses = _addresses(state, pointer)
    old = state.new(shape, element, name=op.result.name) if op.result.uses else None
    compares = op.definition is AtomicCas
    mask = op.optional("mask") if not compares else None
    value = op.operand("value")
    state.builder.build(
        Atomic,
        None if old is None else state.view(old),
        state.view(addresses),
        _atomic_operand(state, value, shape, element, single),
        _atomic_operand(state, op.operand("compare"), shape, element, single) if compares else None,
        None if mask is None else _lane_mask(state, mask, shape, single),
        kind="xchg" if compares else op.attributes["kind"],
        **_out(state.machine),
    )
    if old is None:
        return
    if single:
        state.scalars[op.result] = state.read(Held(old.base, (), ()))
    else:
        state.places[op.result] = old


def _lane_mask(state: Lowering, mask: Value, shape: tuple[int, ...], single: bool) -> Value:
    """A mask as one bool a lane."""
    place = Uniform(state.scalar(mask)) if single else state.place(mask)
    return state.view(state.dense(place, shape, dtypes.i1))


def _atomic_operand(
    state: Lowering, value: Value, shape: tuple[int, ...], element: DType, single: bool
) -> Value:
    place = Uniform(state.scalar(value)) if single else state.place(value)
    if isinstance(place, Uniform):
        return state.operand(place)
    return state.view(state.dense(place, shape, element))


__all__ = [
    "block_window",
    "copy_blocks",
    "extents_of",
    "lower_atomic",
    "lower_load",
    "lower_store",
]
