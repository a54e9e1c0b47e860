"""Which lanes of a tile anything asks for: the bounds of the stores that it reaches.

A ragged edge then costs nothing: what no store takes is not computed.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl_core.analysis.access import Irregular
from xdsl_core.analysis.polynomial import Polynomial
from xdsl_core.ir import Op, TileType, Trait, Value
from xdsl_core.ops import Dot, For, Store, Yield
from xdsl_cpu_c.codegen.memory_order import MemoryOrder

Demand: TypeAlias = "tuple[tuple[Polynomial, ...], ...] | None"
"""For each dimension bounds that every lane asked for is below; None where nothing asks for any lane."""


def demand_of(value: Value, order: MemoryOrder) -> tuple[tuple[Polynomial, ...], ...]:
    """Upper bounds of the lanes of a tile that are asked for, by dimension."""
    return _demand(value, order, set()) or _everything(value)


def _demand(value: Value, order: MemoryOrder, seen: set[Value]) -> Demand:
    """`seen` are the values being looked at: what a loop carries asks for nothing by itself."""
    if value in seen:
        return None
    seen.add(value)
    found: Demand = None
    for (_, index), user in value.uses.items():
        found = _either(found, _of_use(value, user, index, order, seen))
    return found


def _of_use(value: Value, user: Op, index: int, order: MemoryOrder, seen: set[Value]) -> Demand:
    loop = user.parent_op
    if user.definition is Store and user.operand("value") is value and user.operand("pointer") is not value:
        return _of_store(value, user, order)
    if user.definition is Dot and user.operand("accumulator") is value and _feeds_only(user, value):
        return _demand(user.result, order, seen)
    if user.has(Trait.ELEMENTWISE) and user.has(Trait.PURE) and len(user.results) == 1:
        return _demand(user.result, order, seen)
    if user.definition is Yield and loop is not None and loop.definition is For:
        carried = loop.region("body").block.arguments[1 + index]
        return _either(_demand(carried, order, seen), _demand(loop.results[index], order, seen))
    if user.definition is For and index >= len(user.operands) - len(user.results):
        place = index - (len(user.operands) - len(user.results))
        carried = user.region("body").block.arguments[1 + place]
        return _either(_demand(carried, order, seen), _demand(user.results[place], order, seen))
    return _everything(value)


def _feeds_only(dot: Op, value: Value) -> bool:
    """Whether the tile is the accumulator of a product and neither factor."""
    return value is not dot.operand("lhs") and value is not dot.operand("rhs")


def _of_store(value: Value, store: Op, order: MemoryOrder) -> Demand:
    access = order.access(store)
    if isinstance(access, Irregular) or access.bounds is None:
        return _everything(value)
    upper, dims = access.bounds.upper, range(len(_everything(value)))
    return tuple(tuple(limit for limit in upper.get(dim, ()) if limit.is_uniform) for dim in dims)


def _everything(value: Value) -> tuple[tuple[Polynomial, ...], ...]:
    return ((),) * (len(value.type.shape) if isinstance(value.type, TileType) else 0)


def _either(first: Demand, second: Demand) -> Demand:
    """Bounds of lanes that one or the other asks for."""
    if first is None or second is None:
        return second if first is None else first
    return tuple(
        tuple(limit for limit in one if limit in other) for one, other in zip(first, second, strict=True)
    )
