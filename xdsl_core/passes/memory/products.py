"""Matrix products: on the matrix unit, fed along its data paths; or, where it lacks the dtype, on the vector
unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from xdsl_core import dtypes
from xdsl_core.dtypes import DType, i32
from xdsl_core.ir import Block, BufferType, Op, PointerType, Region, ScalarType, Value, dtype_of
from xdsl_core.ops import Constant, Eq, If, IntToPointer, Yield
from xdsl_core.ops.buffer import Copy, Multiply, View, Window, dense_strides
from xdsl_core.passes.memory.access_plans import CopyPlan
from xdsl_core.passes.memory.facts import Factor
from xdsl_core.passes.memory.layouts import blocks_of, bytes_of_buffer
from xdsl_core.passes.memory.outer_products import on_vector_unit
from xdsl_core.passes.memory.places import Accumulated, Held, Lowering, space_of
from xdsl_core.passes.memory.scalars import Lanes, known
from xdsl_core.passes.memory.transfers import block_window, copy_blocks, load_by_rows, under_guards
from xdsl_core.target import ComputeUnit, DataPath

_ROLES = ("lhs", "rhs")


@dataclass(frozen=True, slots=True)
class Feed:
    """How a factor reaches the matrix unit: `space` is where it is multiplied, `stage` the memory before
    that.

    `last` is the path from the stage, None where factors are multiplied where they arrive.
    """

    space: str
    stage: str
    last: DataPath | None


def lower_dot(state: Lowering, op: Op) -> None:
    """A matrix product."""
    if op in state.facts.products:
        _on_matrix_unit(state, op)
    elif op.result.uses:
        state.places[op.result] = on_vector_unit(state, op)


def _matrix(state: Lowering) -> ComputeUnit:
    unit = state.machine.matrix
    assert unit is not None
    return unit


def _feed(state: Lowering, role: str) -> Feed:
    """The way of a factor from global memory."""
    space = _matrix(state).operands[role]
    way = state.machine.route(state.machine.global_space, space)
    if len(way) == 1:
        return Feed(space, space, None)
    return Feed(space, way[-1].source, way[-1])


def _layout(state: Lowering, role: str, element: DType) -> str:
    """The layout of an operand of the matrix unit: letters, rows and columns of a block."""
    letters = _matrix(state).layouts.get(role, "")
    if not letters:
        return "row_major"
    unit = _matrix(state)
    fractal = unit.fractal(element.name) or unit.fractals[0]
    rows, columns = {
        "lhs": (fractal.m, fractal.k),
        "rhs": (fractal.k, fractal.n),
        "accumulator": (fractal.m, fractal.n),
    }[role]
    return f"{letters}{rows}x{columns}"


def _stage_layout(state: Lowering, role: str, feed: Feed, element: DType) -> str:
    """The layout in the memory before the matrix unit's own: columns of blocks, if it works on blocks."""
    if feed.last is None:
        return _layout(state, role, element)
    if not _matrix(state).layouts.get(role):
        return "row_major"
    return f"Nz16x{max(1, 32 // element.bytes)}"


def _place_of(state: Lowering, path: DataPath) -> dict[str, Any]:
    return {"engine": path.engine, "core": state.machine.core_of(path)}


def bring(state: Lowering, load: Op) -> None:
    """The load of a factor: from global memory to the memory before the matrix unit."""
    for dot in state.facts.direct.get(load, ()):
        for role, factor in zip(_ROLES, state.facts.products[dot], strict=True):
            if factor.load is load:
                _bring_as(state, load, role)


def _bring_as(state: Lowering, load: Op, role: str) -> None:
    feed = _feed(state, role)
    if (load, feed.stage) in state.staged:
        return
    element = dtype_of(load.result.type)
    plan = state.facts.plans[load]
    assert plan is not None
    layout = _stage_layout(state, role, feed, element)
    name = load.result.name
    buffer = state.allocate(plan.shape, element, name=name, space=feed.stage, layout=layout)
    state.staged[load, feed.stage] = buffer

    def by_rows() -> None:
        if not plan.loops or (plan.loops == (0,) and _rows_start_aligned(state, buffer)):
            _copy_blocks_to(state, load, plan, buffer)
        else:
            held = load_by_rows(state, load)
            rows = state.new(plan.shape, element, pad=True)
            state.move(rows, held)
            _along_route(state, state.view(rows), feed, buffer, role)

    if plan.unwrapped is None:
        by_rows()
        return
    direct = plan.unwrapped.plan
    under_guards(state, plan.unwrapped, lambda: _copy_blocks_to(state, load, direct, buffer), by_rows)


def _rows_start_aligned(state: Lowering, buffer: Value) -> bool:
    """Whether data paths can write any row of a factor: in blocks each begins one, else if it is aligned."""
    kind = buffer.type
    assert isinstance(kind, BufferType)
    unit = state.machine.space(kind.space).alignment
    return blocks_of(kind.layout) is not None or kind.shape[1] * kind.element.bytes % unit == 0


def _copy_blocks_to(state: Lowering, load: Op, plan: CopyPlan, buffer: Value) -> None:
    """Copy a factor from global memory; rows one by one where the plan loops over them."""
    element = dtype_of(load.result.type)
    (path,) = state.machine.route(state.machine.global_space, space_of(buffer))
    attributes = {
        "fill": (0.0 if element.is_float else 0) if plan.is_partial else None,
        "cache": str(load.attribute("cache") or load.attribute("eviction")),
        **_place_of(state, path),
    }

    def copy(window: Value, lanes: Lanes, extents: Sequence[Value]) -> None:
        target = buffer
        if plan.loops:
            columns = plan.shape[1]
            origins = [state.code.wide(lanes[0]), state.code.number(0)]
            target = state.builder.value(
                View, buffer, origins, shape=(1, columns), strides=(columns, 1), offset=0
            )
            window, extents = _as_row(state, load, lanes)
        state.builder.build(Copy, target, window, extents, **attributes)

    copy_blocks(state, load, plan, element, copy)


def _as_row(state: Lowering, load: Op, lanes: Lanes) -> tuple[Value, list[Value]]:
    """The window of one row as a matrix of one row."""
    plan = state.facts.plans[load]
    assert plan is not None
    window, extents = block_window(state, load, plan, dtype_of(load.result.type), lanes)
    op = window.defining_op
    assert op is not None
    code = state.code
    matrix = state.builder.value(
        Window, op.operand("pointer"), [code.number(0), *op.group("strides")],
        shape=(1, plan.shape[1]), space=state.machine.global_space, element=op.attribute("element"),
    )  # fmt: skip
    return matrix, [code.number(1), *extents] if extents else []


def _staged(state: Lowering, factor: Factor, role: str) -> tuple[Value, bool]:
    """A factor in the memory before the matrix unit, and whether it is transposed there."""
    feed = _feed(state, role)
    if factor.load is not None:
        return state.staged[factor.load, feed.stage], factor.transposed
    kind = factor.value.type
    element = dtype_of(kind)
    here = state.view(_rows(state, factor.value))
    if state.machine.local == feed.stage:
        return here, False
    layout = _stage_layout(state, role, feed, element)
    there = state.allocate(kind.shape, element, name=factor.value.name, space=feed.stage, layout=layout)
    _along_route(state, here, feed, there, role)
    return there, False


def _rows(state: Lowering, value: Value) -> Held:
    """A matrix in vector memory as copies take it: row after row, each aligned."""
    element, place = dtype_of(value.type), state.place(value)
    if isinstance(place, Held) and state.starts_rows_aligned(place, element):
        return place
    made = state.new(value.type.shape, element, name=value.name, pad=True)
    state.put(made, place)
    return made


def _along_route(state: Lowering, here: Value, feed: Feed, target: Value, role: str) -> None:
    """Copy a factor from vector memory to the memory before the matrix unit, through others if need be."""
    kind = target.type
    if state.machine.local == feed.stage:
        state.builder.build(Copy, target, here, (), **state.unit("move"))
    for path in state.machine.route(state.machine.local, feed.stage):
        there = target
        if path.destination != feed.stage:
            there = state.allocate(
                kind.shape, dtype_of(kind), name=target.name or role, space=path.destination
            )
        state.builder.build(Copy, there, here, (), **_place_of(state, path))
        here = there


def new_accumulator(state: Lowering, value: Value) -> Accumulated:
    """An accumulator to which nothing has been added."""
    element = dtype_of(value.type)
    unit = _matrix(state)
    buffer = state.allocate(
        value.type.shape, element, name=value.name or "accumulator",
        space=unit.operands["accumulator"], layout=_layout(state, "accumulator", element),
    )  # fmt: skip
    zero = state.builder.value(Constant, value=0, type=ScalarType(i32))
    return Accumulated(buffer, zero)


def _on_matrix_unit(state: Lowering, op: Op) -> None:
    target = state.accumulated.get(op.operand("accumulator")) or new_accumulator(state, op.result)
    factors = [
        _staged(state, factor, role) for factor, role in zip(state.facts.products[op], _ROLES, strict=True)
    ]
    _multiply(state, op, target, factors)
    one = state.builder.value(Constant, value=1, type=ScalarType(i32))
    done = Accumulated(target.buffer, one)
    state.accumulated[op.result] = done
    state.places[op.result] = to_vector(state, done) if op.result in state.facts.held else done


def _multiply(state: Lowering, op: Op, target: Accumulated, factors: Sequence[tuple[Value, bool]]) -> None:
    """The product in pieces that fit into the matrix unit's memories, the sum over pieces of K in order."""
    m, k = op.operand("lhs").type.shape
    n = op.operand("rhs").type.shape[1]
    element = dtype_of(op.operand("lhs").type)
    sizes = _pieces(state, element, (m, n, k))
    pieces = [[(start, min(size, whole - start)) for start in range(0, whole, size)]
              for whole, size in zip((m, n, k), sizes, strict=True)]  # fmt: skip
    feeder = _Feeder(state, element, {role: _feed(state, role) for role in _ROLES}, factors)
    unit = _matrix(state)
    one = state.builder.value(Constant, value=1, type=ScalarType(i32))
    for (n0, nt), (m0, mt), (k0, kt) in product(pieces[1], pieces[0], pieces[2]):
        lhs = feeder.piece("lhs", (m0, k0), (mt, kt))
        rhs = feeder.piece("rhs", (k0, n0), (kt, nt))
        total = _part(state, target.buffer, (m0, n0), (mt, nt))
        state.builder.build(
            Multiply, total, lhs, rhs, target.started if k0 == 0 else one,
            precision=op.attribute("precision"), engine=unit.queue, core=state.machine.core_of(unit),
        )  # fmt: skip


def _pieces(state: Lowering, element: DType, whole: tuple[int, int, int]) -> tuple[int, int, int]:
    """Extents m, n, k of the largest product whose factors fit twice into their memories, so that one can be
    brought while the other is multiplied. k is halved first: its pieces need no accumulator of their own.
    """
    unit = _matrix(state)
    fractal = unit.fractal(element.name)
    assert fractal is not None
    sizes = list(whole)
    least = (fractal.m, fractal.n, fractal.k)
    while True:
        over = [
            role
            for role, (rows, columns) in (("lhs", (0, 2)), ("rhs", (2, 1)))
            if _feed(state, role).last is not None
            and _too_large(state, role, element, (sizes[rows], sizes[columns]))
        ]
        if not over:
            return sizes[0], sizes[1], sizes[2]
        other = 0 if over[0] == "lhs" else 1
        axis = 2 if sizes[2] > least[2] else other
        if sizes[axis] <= least[axis]:
            return sizes[0], sizes[1], sizes[2]
        units = -(-sizes[axis] // least[axis])
        sizes[axis] = -(-units // 2) * least[axis]


def _too_large(state: Lowering, role: str, element: DType, shape: tuple[int, int]) -> bool:
    space = state.machine.space(_matrix(state).operands[role])
    return 2 * bytes_of_buffer(shape, element, _layout(state, role, element)) > space.capacity


@dataclass
class _Feeder:
    """Brings pieces of both factors to where they are multiplied, into two memories in turn."""

    state: Lowering
    element: DType
    feeds: dict[str, Feed]
    factors: Sequence[tuple[Value, bool]]

    def __post_init__(self) -> None:
        self.last: dict[str, tuple[tuple[int, int], Value]] = {}
        self.memories: dict[tuple[str, tuple[int, int]], list[Value]] = {}

    def piece(self, role: str, start: tuple[int, int], shape: tuple[int, int]) -> Value:
        """The piece of a factor with this corner, brought if it is not there."""
        known_start, here = self.last.get(role, ((-1, -1), None))
        if here is not None and known_start == start and here.type.shape == shape:
            return here
        source, transposed = self.factors[_ROLES.index(role)]
        part = _part(self.state, source, start, shape, transposed=transposed)
        feed = self.feeds[role]
        if feed.last is not None:
            target = self._memory(role, shape)
            self.state.builder.build(Copy, target, part, (), **_place_of(self.state, feed.last))
            part = target
        self.last[role] = start, part
        return part

    def _memory(self, role: str, shape: tuple[int, int]) -> Value:
        """One of two memories for pieces of this shape, the one that was used less recently."""
        ring = self.memories.setdefault((role, shape), [])
        if len(ring) < 2:
            layout = _layout(self.state, role, self.element)
            space = self.feeds[role].space
            ring.append(self.state.allocate(shape, self.element, name=role, space=space, layout=layout))
            return ring[-1]
        ring.reverse()
        return ring[-1]


def _part(
    state: Lowering,
    buffer: Value,
    start: tuple[int, int],
    shape: tuple[int, int],
    *,
    transposed: bool = False,
) -> Value:
    """The part of a matrix with a corner and extents, both in the matrix after transposition."""
    columns = buffer.type.shape[1]
    strides = (1, columns) if transposed else (columns, 1)
    if start == (0, 0) and shape == buffer.type.shape and not transposed:
        return buffer
    offset = start[0] * strides[0] + start[1] * strides[1]
    return state.builder.value(View, buffer, (), shape=shape, strides=strides, offset=offset)


def _ensure_started(state: Lowering, place: Accumulated) -> None:
    """Make an accumulator to which no product may have been added hold zeros."""
    constant = known(place.started)
    if constant:
        return
    if constant == 0:
        _clear(state, place)
        return
    then, otherwise = Block(), Block()
    zero = state.builder.value(Constant, value=0, type=ScalarType(i32))
    empty = state.builder.value(Eq, place.started, zero)
    with state.inside(then):
        _clear(state, place)
        state.builder.build(Yield, ())
    with state.inside(otherwise):
        state.builder.build(Yield, ())
    state.builder.build(If, empty, regions=(Region([then]), Region([otherwise])))


def _clear(state: Lowering, place: Accumulated) -> None:
    """Zeros in an accumulator: the product of two matrices of zeros, one fractal deep."""
    unit = _matrix(state)
    m, n = place.buffer.type.shape
    total = dtype_of(place.buffer.type)
    fractal = next(f for f in unit.fractals if (f.dtype[0] in "iu") == (not total.is_float))
    element = dtypes.BY_NAME[fractal.dtype]
    factors = [_zeros(state, role, shape, element)
               for role, shape in (("lhs", (m, fractal.k)), ("rhs", (fractal.k, n)))]  # fmt: skip
    zero = state.builder.value(Constant, value=0, type=ScalarType(i32))
    state.builder.build(
        Multiply, place.buffer, *factors, zero, engine=unit.queue, core=state.machine.core_of(unit)
    )


def _zeros(state: Lowering, role: str, shape: tuple[int, int], element: DType) -> Value:
    """A factor of zeros: a copy of nothing, filled up."""
    feed, code = _feed(state, role), state.code
    nowhere = state.builder.value(IntToPointer, code.number(0), pointee=element)
    assert isinstance(nowhere.type, PointerType)
    window = state.builder.value(
        Window,
        nowhere,
        [code.number(shape[1]), code.number(1)],
        shape=shape,
        space=state.machine.global_space,
    )
    layout = _stage_layout(state, role, feed, element)
    here = state.allocate(shape, element, name="zeros", space=feed.stage, layout=layout)
    (path,) = state.machine.route(state.machine.global_space, feed.stage)
    fill = 0.0 if element.is_float else 0
    none = [code.number(0), code.number(0)]
    state.builder.build(Copy, here, window, none, fill=fill, **_place_of(state, path))
    if feed.last is None:
        return here
    there = state.allocate(
        shape, element, name="zeros", space=feed.space, layout=_layout(state, role, element)
    )
    state.builder.build(Copy, there, here, (), **_place_of(state, feed.last))
    return there


def to_vector(state: Lowering, place: Accumulated) -> Held:
    """What has been accumulated, in vector memory."""
    _ensure_started(state, place)
    shape, element = place.buffer.type.shape, dtype_of(place.buffer.type)
    here, space = place.buffer, space_of(place.buffer)
    held = None
    if space == state.machine.local:
        # the next product overwrites the accumulator: take the numbers out of it
        held = state.new(shape, element, name=place.buffer.name, pad=True)
        state.move(held, Held(place.buffer, shape, dense_strides(shape)))
    for path in state.machine.route(space, state.machine.local):
        if path.destination == state.machine.local:
            held = state.new(shape, element, name=place.buffer.name, pad=True)
            there = state.view(held)
        else:
            there = state.allocate(shape, element, name=place.buffer.name, space=path.destination)
        state.builder.build(Copy, there, here, (), **_place_of(state, path))
        here = there
    assert held is not None
    return held


def drain(state: Lowering, store: Op) -> None:
    """A store that copies from the accumulator, converting on the way."""
    place = state.accumulated[state.facts.drained[store]]
    _ensure_started(state, place)
    plan = state.facts.plans[store]
    assert plan is not None
    path = state.machine.target.path(space_of(place.buffer), state.machine.global_space)
    assert path is not None
    attributes = {"cache": str(store.attribute("cache")), **_place_of(state, path)}

    def copy(window: Value, lanes: Lanes, extents: Sequence[Value]) -> None:
        state.builder.build(Copy, window, place.buffer, extents, **attributes)

    copy_blocks(state, store, plan, dtype_of(store.operand("value").type), copy)


__all__ = ["Feed", "bring", "drain", "lower_dot", "new_accumulator", "to_vector"]
