"""Where the lanes of a structured access lie: row pointer, stride, end of the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl_core.analysis.access import Access, Bounds
from xdsl_core.analysis.polynomial import Polynomial
from xdsl_core.ir import Op, Value, pointee_of
from xdsl_cpu_c.codegen.index_text import displaced
from xdsl_cpu_c.codegen.memory_order import parameter_of
from xdsl_cpu_c.codegen.op_tables import C_TYPES
from xdsl_cpu_c.codegen.text import grouped

if TYPE_CHECKING:
    from xdsl_cpu_c.codegen.nest import Index, NestWriter


@dataclass(frozen=True, slots=True)
class Place:
    """Where the lanes of one access are: C pointer to lane 0 of the row, C stride, lane count ("" if all are
    active).

    `end` is the C name of the row's end if the access has one.
    """

    row: str
    stride: str
    count: str
    end: str


def place_of(nest: NestWriter, access: Access, index: Index) -> Place | None:
    """The lanes of a structured access as row pointer, stride and count; None if that is not what they
    are.
    """
    assert nest.vector is not None
    assert access.bounds is not None
    parts = nest.in_iteration(access.offset, index).split(nest.vector)
    if parts is None or (not parts[0].is_uniform and nest.vector in parts[0].lane_dims()):
        return None
    stride, rest = parts
    if stride.constant == 0:
        return None
    end = row_end(nest, access.bounds, index)
    if end is None:
        return None
    row = row_pointer(nest, access.base, rest)
    stride_text = "1"
    if stride.constant != 1:
        stride_text = nest.name(nest.polynomial_scope(stride), "int64_t", nest.polynomial(stride), "stride")
    if nest.resting and end == nest.resting:
        return Place(row, stride_text, "0", end)
    return Place(row, stride_text, nest.count_until(end) if end else nest.count, end)


def row_pointer(nest: NestWriter, base: Value, rest: Polynomial) -> str:
    """C pointer to lane 0 of a row: the base and what of the offset does not change along it."""
    name = nest.context.scalar(base)
    if not rest.terms:
        return name
    pointee = C_TYPES[pointee_of(base.type).name]
    text = displaced(name, nest.polynomial(rest))
    return nest.name(nest.polynomial_scope(rest), f"{pointee} *", text, f"{name}_row")


def row_end(nest: NestWriter, bounds: Bounds, index: Index) -> str | None:
    """C name of the first inactive lane of a row, "" if all are active, None if the bounds are no such
    thing.
    """
    if bounds.never:
        return "0"
    limits: list[str] = []
    conditions = conditions_of(nest, bounds)
    scopes = [0, *(nest.polynomial_scope(limit) for limit in bounds.negative)]
    for dim, polynomials in bounds.upper.items():
        for polynomial in polynomials:
            limit = nest.in_iteration(polynomial, index)
            if nest.vector in limit.lane_dims():
                return None
            if (index[dim], limit) in nest.kept:
                continue
            scopes += [
                nest.polynomial_scope(limit),
                0 if index[dim] == nest.vector else nest.scope((index[dim],)),
            ]
            if index[dim] == nest.vector:
                limits.append(nest.polynomial(limit))
            else:
                lane = nest.variables[index[dim]] if index[dim] >= 0 else "0"
                conditions.append(f"{lane} < {nest.polynomial(limit)}")
    return _named_end(nest, limits, conditions, max(scopes)) if limits or conditions else ""


def _named_end(nest: NestWriter, limits: list[str], conditions: list[str], scope: int) -> str:
    """The variable that holds the end of a row: the smallest limit, 0 where a condition fails."""
    text, *others = [*limits, str(nest.extent)] if nest.count or not limits else limits
    for other in others:
        nest.context.helpers["smaller"] = SMALLER
        text = f"smaller({text}, {other})"
    if conditions:
        text = f"{' && '.join(conditions)} ? {grouped(text)} : 0"
    name = nest.name(scope, "int64_t", text, "row_end")
    if limits:
        nest.row_ends[name] = scope
    return name


SMALLER = """\
static inline int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}
"""


LARGER = """\
static inline int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}
"""


def conditions_of(nest: NestWriter, bounds: Bounds) -> list[str]:
    """C conditions that hold for all lanes or for none."""
    found = [nest.context.scalar(value) for value in bounds.conditions]
    return found + [f"{nest.polynomial(limit)} < 0" for limit in bounds.negative]


def active_lanes(nest: NestWriter, count: str) -> str:
    """Mask of the first `count` lanes."""
    prefix = f"i32x{nest.lanes}"
    numbers = nest.name(0, prefix, nest.context.call(f"{prefix}_iota"), "i32_lanes")
    text = nest.context.call(f"{prefix}_lt", numbers, nest.context.call(f"{prefix}_splat", count))
    return nest.name(len(nest.levels), prefix, text, "active")


def value_name(op: Op) -> str:
    """A name for what is loaded: its own, or one after the pointer."""
    origin = parameter_of(op.operand("pointer"))
    return op.result.name or (f"{origin.name}_value" if origin is not None and origin.name else "value")
