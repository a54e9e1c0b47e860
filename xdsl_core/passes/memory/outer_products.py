"""Matrix products on the vector unit, for dtypes that the matrix unit does not multiply."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import Block, Op, Region, ScalarType, Value, dtype_of
from xdsl_core.ops import Add, Cast, Fma, For, Mul, Yield
from xdsl_core.ops.buffer import Compute, View
from xdsl_core.passes.memory.places import Held, Lowering


def on_vector_unit(state: Lowering, op: Op) -> Held:
    """A product as a sum of outer products, one for each k: for dtypes that the matrix unit does not
    multiply.
    """
    accumulator = op.operand("accumulator")
    shape, element = accumulator.type.shape, dtype_of(accumulator.type)
    lead = shape[:-2]
    m, n = shape[-2:]
    k = op.operand("lhs").type.shape[-1]
    total = state.new(shape, element, name=op.result.name, pad=True)
    state.put(total, state.place(accumulator))
    columns = _spread(state, op.operand("lhs"), (*lead, k, m), element, swap=True)
    rows = _spread(state, op.operand("rhs"), (*lead, k, n), element, swap=False)
    loops: list[tuple[int, Block]] = []
    code = state.code
    for extent in (*lead, k):
        body = Block([ScalarType(dtypes.i64)], ["k"])
        loops.append((extent, body))
        bounds = [code.number(value) for value in (0, extent, 1)]
        state.builder.build(For, *bounds, (), regions=(Region([body]),))
        state.builder.block = body
    indices = [body.arguments[0] for _, body in loops]
    _add_outer_product(state, total, columns, rows, indices)
    return total


def _spread(state: Lowering, value: Value, shape: tuple[int, ...], element: DType, *, swap: bool) -> Held:
    """A factor with k outermost, each of its rows aligned, in the accumulator's dtype."""
    kind = dtype_of(value.type)
    held = state.hold(state.place(value), value.type.shape, kind)
    if swap:
        held = Held(
            held.base,
            (*held.shape[:-2], held.shape[-1], held.shape[-2]),
            (*held.strides[:-2], held.strides[-1], held.strides[-2]),
            held.offset,
        )
    made = state.new(shape, element, pad=True)
    if kind is element:
        state.move(made, held)
    else:
        state.compute(Cast.name, [made], [held], {"to": element})
    return made


def _add_outer_product(
    state: Lowering, total: Held, columns: Held, rows: Held, indices: Sequence[Value]
) -> None:
    code = state.code
    m, n = total.shape[-2:]
    zero = code.number(0)
    inner = (*indices, zero)
    views = (
        state.builder.value(View, columns.base, inner, shape=(m, n), strides=(1, 0), offset=0),
        state.builder.value(View, rows.base, inner, shape=(m, n), strides=(0, 1), offset=0),
    )
    where = (*indices[:-1], zero, zero)
    target = state.builder.value(View, total.base, where, shape=(m, n), strides=total.strides[-2:], offset=0)
    multiply_add(state, target, views, dtype_of(total.base.type))
    for _ in range(len(indices)):
        state.builder.build(Yield, ())
        state.builder.block = _outside(state.builder.block)


def _outside(block: Block) -> Block:
    region = block.region
    assert region is not None
    loop = region.parent
    assert isinstance(loop, Op)
    assert loop.block is not None
    return loop.block


def multiply_add(state: Lowering, target: Value, factors: tuple[Value, Value], element: DType) -> None:
    """target += factors[0] * factors[1], rounded once for floats."""

    def emit(operation: str, destination: Value, sources: Sequence[Value]) -> None:
        state.builder.build(Compute, [destination], sources, operation=operation, **state.unit(operation))

    if element.is_float:
        emit(Fma.name, target, [*factors, target])
        return
    shape = target.type.shape
    scratch = state.allocate(shape, element)
    emit(Mul.name, scratch, factors)
    emit(Add.name, target, [target, scratch])
