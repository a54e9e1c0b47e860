"""Loads and stores as base + strides + bounds: the second half of access analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl_core.analysis.index_analysis import IndexAnalysis, dimension_map
from xdsl_core.analysis.polynomial import Opaque, Polynomial, number
from xdsl_core.analysis.sign import never_negative
from xdsl_core.ir import Op, TileType, Value, dtype_of
from xdsl_core.ops import And, Constant, Ge, Gt, Le, Lt, Splat


@dataclass(frozen=True, slots=True)
class Bounds:
    """A mask as bounds: lane `d` is active where lane < every polynomial of `upper[d]` and every condition
    holds.

    A polynomial of `upper[d]` may depend on lanes of other dimensions. `conditions` are scalars; a uniform
    polynomial of `negative` must be below 0. `never` says that no lane is active.
    """

    upper: dict[int, tuple[Polynomial, ...]] = field(default_factory=dict)
    conditions: tuple[Value, ...] = ()
    negative: tuple[Polynomial, ...] = ()
    never: bool = False

    def merge(self, other: Bounds) -> Bounds:
        """The bounds that hold where both do."""
        upper = dict(self.upper)
        for dim, limits in other.upper.items():
            known = upper.get(dim, ())
            upper[dim] = (*known, *(limit for limit in limits if limit not in known))
        fresh = tuple(value for value in other.conditions if value not in self.conditions)
        below = tuple(limit for limit in other.negative if limit not in self.negative)
        return Bounds(upper, (*self.conditions, *fresh), (*self.negative, *below), self.never or other.never)

    @property
    def rectangular(self) -> bool:
        """True if no bound depends on another dimension's lane."""
        return all(limit.is_uniform for limits in self.upper.values() for limit in limits)


@dataclass(frozen=True, slots=True)
class Access:
    """A structured access: element address = base + offset(lanes), active within `bounds`.

    `base` is a scalar pointer, `offset` counts elements. `bounds` is None where the mask is no conjunction of
    bounds; `reason` then says why.
    """

    base: Value
    offset: Polynomial
    bounds: Bounds | None
    reason: str = ""

    def stride(self, dim: int) -> Polynomial | None:
        """Elements between neighbours along `dim`; None if the step is not the same everywhere."""
        parts = self.offset.split(dim)
        return None if parts is None else parts[0]

    def is_injective(self, shape: tuple[int, ...]) -> bool:
        """True if it is certain that no two lanes of a tile of this shape have the same address.

        Each stride has to be a number, and larger than all that the smaller ones reach together.
        """
        reach = 0
        steps = []
        for dim, extent in enumerate(shape):
            stride = self.stride(dim)
            if stride is None or stride.constant is None:
                return False
            if extent > 1:
                steps.append((abs(stride.constant), extent))
        for step, extent in sorted(steps):
            if step <= reach:
                return False
            reach += step * (extent - 1)
        return True


@dataclass(frozen=True, slots=True)
class Irregular:
    """An access that stays a gather or scatter, and why."""

    reason: str


def access_of(op: Op, analysis: IndexAnalysis) -> Access | Irregular:
    """How the load or store `op` (operands `pointer` and optional `mask`) reaches memory."""
    pointer = op.operand("pointer")
    split = analysis.pointer(pointer)
    if split is None:
        return Irregular(
            "the lanes of the pointer tile have no common base (selected or loop-carried pointers)"
        )
    base, offset = split
    mask = op.optional("mask")
    if mask is None:
        return Access(base, offset, Bounds())
    bounds = bounds_of(mask, analysis)
    return Access(base, offset, bounds, "" if bounds else "the mask is no conjunction of lane < bound")


def bounds_of(mask: Value, analysis: IndexAnalysis) -> Bounds | None:
    """The mask as bounds, or None if it is not a conjunction of comparisons of one lane with a bound."""
    op = mask.defining_op
    if not isinstance(mask.type, TileType):
        return _scalar_bounds(mask)
    if op is None:
        return None
    if op.definition is And:
        left, right = (bounds_of(value, analysis) for value in op.operands)
        return None if left is None or right is None else left.merge(right)
    if op.definition is Splat:
        return _scalar_bounds(op.operands[0])
    if op.definition is Constant:
        return Bounds(never=not op.attributes["value"])
    mapping = dimension_map(op)
    if mapping is not None:
        inner = bounds_of(op.operands[0], analysis)
        return None if inner is None else _remap(inner, mapping)
    difference = _difference(op, analysis)
    if difference is None:
        return None
    # difference < 0 everywhere: the comparison holds in every lane, as `offset + lane >= 0` mostly does
    return Bounds() if never_negative(-difference - number(1)) else _solve(difference, mask.type)


def _scalar_bounds(condition: Value) -> Bounds:
    op = condition.defining_op
    if op is not None and op.definition is Constant:
        return Bounds(never=not op.attributes["value"])
    return Bounds(conditions=(condition,))


def _remap(bounds: Bounds, mapping: Callable[[int], int]) -> Bounds | None:
    upper: dict[int, tuple[Polynomial, ...]] = {}
    for dim, limits in bounds.upper.items():
        target = mapping(dim)
        if target < 0:
            return None
        upper[target] = tuple(limit.map_dims(mapping) for limit in limits)
    return Bounds(upper, bounds.conditions, bounds.negative, bounds.never)


def _difference(op: Op, analysis: IndexAnalysis) -> Polynomial | None:
    """D such that the comparison holds exactly where D < 0; None if it is no comparison of indexes."""
    make = _COMPARISONS.get(op.definition)
    if make is None or str(dtype_of(op.operands[0].type)) not in ("i32", "i64"):
        return None
    swap, slack = make
    left, right = (analysis.of(value) for value in op.operands)
    return (right - left if swap else left - right) - number(slack)


_COMPARISONS: dict[object, tuple[bool, int]] = {Lt: (False, 0), Le: (False, 1), Gt: (True, 0), Ge: (True, 1)}


def _solve(difference: Polynomial, type: TileType) -> Bounds | None:
    """`difference < 0` as an upper bound of one lane: the last dimension that enters with coefficient 1."""
    if difference.is_uniform:
        return Bounds(negative=(difference,))
    for dim in reversed(range(type.rank)):
        parts = difference.split(dim)
        if parts is None:
            return None
        stride, rest = parts
        if stride.constant == 1:
            looked_up = any(isinstance(symbol, Opaque) for symbol in rest.symbols())
            return None if looked_up else Bounds({dim: (-rest,)})
        if stride.terms:
            return None
    return None
