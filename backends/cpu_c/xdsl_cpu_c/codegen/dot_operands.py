"""Where the operands of a dot come from: straight from memory where a load is regular enough, else from a
buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl_core.analysis.access import Access, Bounds, Irregular
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.analysis.polynomial import Opaque, Polynomial, number
from xdsl_core.analysis.uniform import fills_with_zero
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, Trait, Value, dtype_of, pointee_of
from xdsl_core.ops import Cast, Load, Permute, Rem

if TYPE_CHECKING:
    from xdsl_cpu_c.codegen.plan import Planner

_DIRECT = ("f32", "f16", "bf16")


@dataclass(frozen=True, slots=True)
class Guard:
    """`0 <= low` and `low + extent <= limit`: under it a wrapped index (`x % limit`) is the index itself.

    `extent` is how much of dimension `dim` of the operand is in use.
    """

    low: Polynomial
    dim: int
    limit: Polynomial


@dataclass(frozen=True, slots=True)
class MemoryOperand:
    """A rank-2 operand read from memory: element [i, j] at base + rest + i*strides[0] + j*strides[1].

    `limits[d]` bound the valid part of dimension d (none: all of it); outside, elements are 0. `guards` must
    hold when the kernel runs; where they do not, `value` is evaluated into a buffer instead.
    """

    value: Value
    load: Op
    element: DType
    base: Value
    rest: Polynomial
    strides: tuple[Polynomial, Polynomial]
    limits: tuple[tuple[Polynomial, ...], tuple[Polynomial, ...]]
    guards: tuple[Guard, ...]


def memory_operand(value: Value, planner: Planner) -> MemoryOperand | None:
    """The operand as a read from memory, or None if it needs a buffer."""
    load, order = _source_load(value, planner)
    if load is None:
        return None
    access = planner.order.access(load)
    if isinstance(access, Irregular) or access.bounds is None or not _is_plain(access.bounds):
        return None
    unwrapped = _unwrap(access, order, planner.analysis)
    if unwrapped is None:
        return None
    offset, guards = unwrapped
    rows = offset.split(order[0])
    columns = None if rows is None else rows[1].split(order[1])
    if rows is None or columns is None or not rows[0].is_uniform or not columns[0].is_uniform:
        return None
    return MemoryOperand(
        value,
        load,
        pointee_of(load.operand("pointer").type),
        access.base,
        columns[1],
        (rows[0], columns[0]),
        (access.bounds.upper.get(order[0], ()), access.bounds.upper.get(order[1], ())),
        guards,
    )


def dot_sources(op: Op, planner: Planner) -> list[Value]:
    """The values a dot needs: its accumulator, and for each operand the load's inputs or the buffered
    tile.
    """
    lhs, rhs = memory_operands(op, planner)
    for value, direct in ((op.operand("lhs"), lhs), (op.operand("rhs"), rhs)):
        if direct is None:
            planner.force_if_inline(value)
    accumulator = op.operand("accumulator")
    definer = accumulator.defining_op
    if definer is None or not definer.has(Trait.CONSTANT):
        planner.force_if_inline(accumulator)
    return list(op.operands)


def memory_operands(op: Op, planner: Planner) -> tuple[MemoryOperand | None, MemoryOperand | None]:
    """Both operands of a dot as reads from memory, where they are.

    Operands whose valid extents along the summed dimension differ are buffered: there a 0 meets an element
    that may be infinite, and the product counts.
    """
    lhs, rhs = (memory_operand(op.operand(name), planner) for name in ("lhs", "rhs"))
    if not _same_depth(lhs, rhs):
        return None, None
    return lhs, rhs


def _same_depth(lhs: MemoryOperand | None, rhs: MemoryOperand | None) -> bool:
    depths = (lhs.limits[1] if lhs else (), rhs.limits[0] if rhs else ())
    return set(depths[0]) == set(depths[1])


def _source_load(value: Value, planner: Planner) -> tuple[Op | None, tuple[int, int]]:
    """The load behind permutes and widening casts, and the load's dimension for each of the operand's two."""
    order = [0, 1]
    if len(value.type.shape) != 2:
        return None, (0, 1)
    while True:
        op = value.defining_op
        if op is None or value in planner.materialised:
            return None, (0, 1)
        if op.definition is Permute:
            order = [op.attributes["order"][dim] for dim in order]
        elif op.definition is Load:
            break
        elif (
            not (op.definition is Cast and dtype_of(op.result.type).name == "f32")
            or dtype_of(op.operands[0].type).name not in _DIRECT
        ):
            return None, (0, 1)
        value = op.operands[0]
    packed = dtype_of(op.result.type).name in (*_DIRECT, "f64", "i8")
    if not packed or not fills_with_zero(op.optional("other")):
        return None, (0, 1)
    return op, (order[0], order[1])


def _is_plain(bounds: Bounds) -> bool:
    return bounds.rectangular and not bounds.conditions and not bounds.negative and not bounds.never


def _unwrap(
    access: Access, order: tuple[int, int], analysis: IndexAnalysis
) -> tuple[Polynomial, tuple[Guard, ...]] | None:
    """The offset with every `x % limit` replaced by x, and the guards under which that is right.

    `order` has the load's dimension for each one of the operand.
    """
    guards: list[Guard] = []
    offset = number(0)
    for monomial, coefficient in access.offset.terms.items():
        term = number(coefficient)
        for symbol in monomial:
            if not isinstance(symbol, Opaque):
                term = term * Polynomial({(symbol,): 1})
                continue
            found = _remainder(symbol, order, analysis)
            if found is None:
                return None
            inner, guard = found
            term = term * inner
            if guard not in guards:
                guards.append(guard)
        offset = offset + term
    return offset, tuple(guards)


def _remainder(
    symbol: Opaque, order: tuple[int, int], analysis: IndexAnalysis
) -> tuple[Polynomial, Guard] | None:
    op = symbol.value.defining_op
    if op is None or op.definition is not Rem or len(symbol.dims) != 1:
        return None
    numerator, limit = (analysis.of(operand) for operand in op.operands)
    parts = numerator.split(0)
    if parts is None or parts[0].constant != 1 or not limit.is_uniform:
        return None
    target = symbol.dims[0]
    guard = Guard(parts[1], order.index(target), limit)
    return numerator.map_dims(lambda _: target), guard
