"""Reductions of a tile along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.dtypes import i32
from xdsl_core.ir.core import Region
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type, tile_or_scalar
from xdsl_core.opdef import (
    Contraction,
    ErrorSample,
    Exact,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    region,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyNumber, IntegerOrBool, Numeric, tile
from xdsl_core.ops._regions import COMBINE_CONSTRAINTS, COMBINE_ERRORS, combining, welford_combine
from xdsl_core.ops._shared import few_values, integers, within
from xdsl_core.ops.arithmetic import Add, Max, Mul

REDUCTION = (Trait.PURE, Trait.REDUCTION)
AXIS = constraint(
    "C1",
    "0 <= axis < len(source.shape)",
    "there is no such axis",
    help="axes count from 0 to the rank less 1",
    code="X0212",
)
AXIS_ERRORS = (
    ErrorSample("C1", {"source": "tile<4x8xi32>"}, {"axis": 2}),
    ErrorSample("C1", {"source": "tile<4xi32>"}, {"axis": -1}),
)
_INTEGER_USES = (
    *(("tile<48xi32>", 0), ("tile<3x7xi64>", 0), ("tile<3x7xi8>", 1), ("tile<5xu8>", 0), ("tile<1xi16>", 0)),
    *(("tile<2x3x4xu32>", 1), ("tile<4x1xu64>", 1), ("tile<9xu16>", 0)),
)
_FLOAT_USES = (
    *(
        ("tile<100xf32>", 0),
        ("tile<3x7xf32>", 0),
        ("tile<3x7xf32>", 1),
        ("tile<2x3x5xf32>", 2),
        ("tile<1xf32>", 0),
    ),
    *(
        ("tile<33xf64>", 0),
        ("tile<4x6xf16>", 1),
        ("tile<48xbf16>", 0),
        ("tile<7xf8e4m3fn>", 0),
        ("tile<7x2xf8e5m2>", 0),
    ),
)


def _uses(*uses: tuple[str, int], data: Any = None, **attributes: Any) -> tuple[Sample, ...]:
    values = {} if data is None else {"source": data}
    return tuple(Sample({"source": kind}, {"axis": axis, **attributes}, values) for kind, axis in uses)


def without_axis(kind: Type, axis: int) -> Type:
    """The type after a reduction: the axis is gone; of rank 1 a scalar remains."""
    shape = kind.shape[:axis] + kind.shape[axis + 1 :]
    return tile_or_scalar(shape, kind.element)  # type: ignore[union-attr]


class _Reduction:
    source = operand(tile(Numeric), doc="the tile to reduce")
    axis = attribute(int, doc="the axis that goes away, from 0 to the rank less 1")
    result = result(doc="tile without the axis, or a scalar where the rank was 1; the element stays")
    constraints = (AXIS,)
    error_samples = AXIS_ERRORS

    @type_rule
    def _(source: Type, axis: int) -> Type:
        return without_axis(source, axis)


@op("tile.reduce_sum", since="0.1", profile="core", traits=REDUCTION)
class ReduceSum(_Reduction):
    """The sum along an axis, in the source's dtype and in any order. Integers wrap around.

    The sign of a zero sum is free.
    """

    sign_of_zero_is_free = True
    samples = (*_uses(*_INTEGER_USES), *_uses(*_FLOAT_USES, data=within(-1, 2)))
    budget = Contraction(over="source.shape[axis]")

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return np.sum(source, axis=axis, dtype=source.dtype)


@op("tile.reduce_prod", since="0.1", profile="tile", traits=REDUCTION)
class ReduceProd(_Reduction):
    """The product along an axis, in the source's dtype and in any order. Integers wrap around.

    Whether an intermediate product overflows or underflows depends on the order, and is not tested.
    """

    samples = (*_uses(*_INTEGER_USES), *_uses(*_FLOAT_USES, data=within(0.7, 1.4)))
    budget = Contraction(over="source.shape[axis]")

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return np.prod(source, axis=axis, dtype=source.dtype)


class _ExtremeReduction(_Reduction):
    propagate_nan = attribute(
        bool, doc="NaN if any element is; otherwise numbers win over NaN", default=False
    )
    samples = (
        *_uses(*_INTEGER_USES),
        *_uses(*_FLOAT_USES),
        *_uses(*_FLOAT_USES, data=few_values),
        *_uses(*_FLOAT_USES, data=few_values, propagate_nan=True),
    )
    budget = Exact()


@op("tile.reduce_max", since="0.1", profile="core", traits=REDUCTION)
class ReduceMax(_ExtremeReduction):
    """The largest number along an axis. NaN is skipped unless all are NaN, or `propagate_nan`; the sign of
    zero is free.
    """

    sign_of_zero_is_free = True

    @reference
    def _compute(source: Any, axis: int, propagate_nan: bool) -> Any:
        return (np.maximum if propagate_nan else np.fmax).reduce(source, axis=axis)


@op("tile.reduce_min", since="0.1", profile="core", traits=REDUCTION)
class ReduceMin(_ExtremeReduction):
    """The smallest number along an axis. NaN is skipped unless all are NaN, or `propagate_nan`; the sign of
    zero is free.
    """

    sign_of_zero_is_free = True

    @reference
    def _compute(source: Any, axis: int, propagate_nan: bool) -> Any:
        return (np.minimum if propagate_nan else np.fmin).reduce(source, axis=axis)


class _LogicReduction(_Reduction):
    source = operand(tile(IntegerOrBool), doc="the tile to reduce")
    samples = (*_uses(*_INTEGER_USES), *_uses(("tile<7xi1>", 0), ("tile<3x5xi1>", 1)))
    budget = Exact()


@op("tile.reduce_xor", since="0.1", profile="core", traits=REDUCTION)
class ReduceXor(_LogicReduction):
    """The exclusive or along an axis, bit by bit; of bools, whether an odd number is true."""

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return np.bitwise_xor.reduce(source, axis=axis)


@op("tile.reduce_or", since="0.1", profile="core", traits=REDUCTION)
class ReduceOr(_LogicReduction):
    """The or along an axis, bit by bit; of bools, whether any is true."""

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return np.bitwise_or.reduce(source, axis=axis)


@op("tile.reduce_and", since="0.1", profile="core", traits=REDUCTION)
class ReduceAnd(_LogicReduction):
    """The and along an axis, bit by bit; of bools, whether all are true."""

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return np.bitwise_and.reduce(source, axis=axis)


class _ArgumentReduction:
    source = operand(tile(Numeric), doc="the tile to search")
    axis = attribute(int, doc="the axis that goes away, from 0 to the rank less 1")
    tie_break_left = attribute(bool, doc="of equal elements the one with the lowest index wins", default=True)
    value = result(doc="the element that won, in the shape without the axis")
    index = result(doc="its index along the axis, i32")
    constraints = (AXIS,)
    samples = (
        *_uses(*_INTEGER_USES),
        *_uses(*_FLOAT_USES),
        *_uses(*_FLOAT_USES, data=few_values),
        *_uses(*_INTEGER_USES[:3], data=integers(0, 2)),
        Sample(
            {"source": "tile<7xf32>"},
            {"axis": 0, "tie_break_left": False},
            {"source": [3, -1, 4, 2, 9, 0, 5]},
            "no ties",
        ),
    )
    error_samples = AXIS_ERRORS
    budget = Exact()

    @type_rule
    def _(source: Type, axis: int) -> tuple[Type, Type]:
        kind = without_axis(source, axis)
        return kind, tile_or_scalar(kind.shape, i32)


def _winner(source: Any, axis: int, best: Any) -> tuple[Any, Any]:
    """The leftmost element that equals the best one; the first of all if all are NaN."""
    best = np.expand_dims(best, axis)
    index = np.argmax((source == best) | np.isnan(best.astype(np.float64)), axis=axis)
    return np.take_along_axis(source, np.expand_dims(index, axis), axis).squeeze(axis), index


@op("tile.argmax", since="0.1", profile="core", traits=REDUCTION)
class ArgMax(_ArgumentReduction):
    """The largest element along an axis and its index. NaN never wins unless all are NaN; then index 0 does.

    -0.0 and 0.0 are equal. Without `tie_break_left` any of the winners' indices may be the result, as on
    Triton's GPUs; the reference takes the lowest then too.
    """

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return _winner(source, axis, np.fmax.reduce(source, axis=axis))


@op("tile.argmin", since="0.1", profile="core", traits=REDUCTION)
class ArgMin(_ArgumentReduction):
    """The smallest element along an axis and its index. NaN never wins unless all are NaN; then index 0 does.

    -0.0 and 0.0 are equal. Without `tie_break_left` any of the winners' indices may be the result, as on
    Triton's GPUs; the reference takes the lowest then too.
    """

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return _winner(source, axis, np.fmin.reduce(source, axis=axis))


@op("tile.reduce", since="0.1", profile="core", traits=REDUCTION)
class Reduce:
    """Combines tiles along an axis with code of the author's own, several tiles at once where that is needed.

    `combine` takes the accumulated elements, then the next ones, one scalar a source, and yields the new
    accumulated elements. Going from left to right, starting from the first element, defines the result; a
    backend may bracket otherwise, which gives the same if `combine` is associative.
    """

    sources = operand(tile(AnyNumber), doc="tiles of one shape", variadic=True)
    axis = attribute(int, doc="the axis that goes away, from 0 to the rank less 1")
    combine = region(doc="(accumulated..., next...) -> accumulated..., all scalars; without effects")
    results = result(doc="one for each source, without the axis", variadic=True)
    constraints = COMBINE_CONSTRAINTS
    samples = (
        *(
            Sample(
                {"sources": (kind,)},
                {"axis": axis},
                {"sources": (data,)},
                regions={"combine": combining(kind, Add)},
            )
            for kind, axis, data in (
                *((kind, axis, within(-1, 2)) for kind, axis in _FLOAT_USES),
                *((kind, axis, integers(0, 9)) for kind, axis in _INTEGER_USES),
            )
        ),
        Sample({"sources": ("tile<6xi32>",)}, {"axis": 0}, regions={"combine": combining("i32", Max)}),
        Sample(
            {"sources": ("tile<3x5xf32>",)},
            {"axis": 1},
            {"sources": (within(0.5, 1.5),)},
            regions={"combine": combining("f32", Mul)},
        ),
        Sample(
            {"sources": ("tile<4x6xf32>", "tile<4x6xf32>", "tile<4x6xf32>")},
            {"axis": 1},
            {"sources": (within(-1, 2), within(0, 0), within(1, 1))},
            "mean and variance",
            {"combine": welford_combine},
        ),
        Sample({"sources": ("tile<5xi1>",)}, {"axis": 0}, regions={"combine": combining("i1")}),
    )
    error_samples = COMBINE_ERRORS
    budget = Contraction(over="sources[0].shape[axis]")

    @type_rule
    def _(sources: tuple[Type, ...], axis: int) -> tuple[Type, ...]:
        return tuple(without_axis(source, axis) for source in sources)

    @reference
    def _compute(machine: Any, sources: Any, axis: int, combine: Region) -> Any:
        lanes = [np.moveaxis(source, axis, 0) for source in sources]
        accumulated = tuple(lane[0] for lane in lanes)
        for position in range(1, len(lanes[0])):
            accumulated = machine.run_lanes(combine, (*accumulated, *(lane[position] for lane in lanes)))
        return accumulated
