"""How each load and store reaches global memory: copies of whole blocks, copies in a loop, or single
elements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl_core.analysis.access import Access, Bounds, access_of
from xdsl_core.analysis.index_analysis import IndexAnalysis, dimension_map
from xdsl_core.analysis.polynomial import Opaque, Polynomial, number, symbol
from xdsl_core.ir import Op, TileType, Value
from xdsl_core.ops import Rem
from xdsl_core.passes.memory.scalars import is_index_code


@dataclass(frozen=True, slots=True)
class Guard:
    """`0 <= low` and `high <= limit`: then an index that wraps around, `x % limit`, is x itself."""

    low: Polynomial
    high: Polynomial
    limit: Polynomial


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The plan without loops that does where no index wraps around, and when that is."""

    plan: CopyPlan
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """Blocks that data paths can copy: over the dimensions `loops` scalar code loops, the others are strided.

    `unwrapped` is a better plan that holds under conditions known when the kernel runs.
    """

    access: Access
    loops: tuple[int, ...]
    shape: tuple[int, ...]
    unwrapped: Unwrapped | None = None

    @property
    def bounds(self) -> Bounds:
        assert self.access.bounds is not None
        return self.access.bounds

    @property
    def inner(self) -> tuple[int, ...]:
        """The dimensions that one copy covers."""
        return tuple(dim for dim in range(len(self.shape)) if dim not in self.loops)

    @property
    def is_partial(self) -> bool:
        """Whether some lanes may be inactive."""
        bounds = self.bounds
        return bool(bounds.conditions or bounds.negative or bounds.never) or any(
            not _covers(limit, self.shape[dim]) for dim, limits in bounds.upper.items() for limit in limits
        )


def _covers(limit: Polynomial, extent: int) -> bool:
    constant = limit.constant
    return constant is not None and constant >= extent


def copy_plan(op: Op, analysis: IndexAnalysis) -> CopyPlan | None:
    """The plan for a load or store of tiles, or None where elements go one by one."""
    access = access_of(op, analysis)
    if not isinstance(access, Access) or access.bounds is None:
        return None
    kind = op.operand("pointer").type
    assert isinstance(kind, TileType)
    loops = _loop_dims(access, access.bounds, kind.shape)
    wide = [dim for dim, extent in enumerate(kind.shape) if extent > 1]
    # a loop over every lane is what gathering does better
    unwrapped = _unwrapped(access, kind.shape, analysis) if loops else None
    if loops and all(dim in loops for dim in wide) and unwrapped is None:
        return None
    return CopyPlan(access, tuple(sorted(loops)), kind.shape, unwrapped)


def _loop_dims(access: Access, bounds: Bounds, shape: tuple[int, ...]) -> set[int]:
    """The dimensions along which addresses do not move by a step, or that steps and bounds depend on."""
    loops: set[int] = set()
    for dim, extent in enumerate(shape):
        parts = access.offset.split(dim)
        if parts is None:
            loops.add(dim)
        elif extent > 1:
            # the step of one dimension depends on the lane of another: loop over the other
            loops |= {other for other in parts[0].lane_dims() if other not in loops}
    for limits in bounds.upper.values():
        for limit in limits:
            loops |= limit.lane_dims()
    return loops


def _unwrapped(access: Access, shape: tuple[int, ...], analysis: IndexAnalysis) -> Unwrapped | None:
    """The access with every `x % limit` replaced by x, if a plan without loops comes of it."""
    guards: list[Guard] = []
    offset = number(0)
    for monomial, coefficient in access.offset.terms.items():
        term = number(coefficient)
        for factor in monomial:
            if not isinstance(factor, Opaque):
                term = term * symbol(factor)
                continue
            found = _remainder(factor, analysis)
            if found is None:
                return None
            term = term * found[0]
            if found[1] not in guards:
                guards.append(found[1])
        offset = offset + term
    plain = Access(access.base, offset, access.bounds)
    assert access.bounds is not None
    if not guards or _loop_dims(plain, access.bounds, shape):
        return None
    return Unwrapped(CopyPlan(plain, (), shape), tuple(guards))


def _remainder(factor: Opaque, analysis: IndexAnalysis) -> tuple[Polynomial, Guard] | None:
    """What is divided, in the dimensions of the tile at hand, if the lanes are neighbours and wrap around
    together.
    """
    op = factor.value.defining_op
    if op is None or op.definition is not Rem or len(factor.dims) != 1 or factor.dims[0] < 0:
        return None
    numerator, limit = (analysis.of(operand) for operand in op.operands)
    parts = numerator.split(0)
    if parts is None or parts[0].constant != 1 or not parts[1].is_uniform or not limit.is_uniform:
        return None
    high = parts[1] + number(op.result.type.shape[0])
    return numerator.map_dims(lambda _: factor.dims[0]), Guard(parts[1], high, limit)


def looked_up_values(plan: CopyPlan) -> set[Value]:
    """The tiles that scalar code reads lanes of to find addresses and bounds."""
    found: set[Value] = set()
    polynomials = [plan.access.offset, *plan.bounds.negative]
    polynomials += [limit for limits in plan.bounds.upper.values() for limit in limits]
    for polynomial in polynomials:
        for factor in polynomial.symbols():
            if isinstance(factor, Opaque):
                found |= _leaves(factor.value)
    return found


def _leaves(value: Value) -> set[Value]:
    """The tiles at the ends of index arithmetic that have to be in memory."""
    if not isinstance(value.type, TileType):
        return set()
    op = value.defining_op
    if op is None or not is_index_code(op):
        return {value}
    if dimension_map(op) is not None:
        return _leaves(op.operands[0])
    return set().union(*(_leaves(operand) for operand in op.operands))


def bytes_of(shape: tuple[int, ...], itemsize: int) -> int:
    """Bytes of a tile without gaps."""
    return math.prod(shape) * itemsize
