"""Scans: every prefix of a reduction along one axis, the element itself included."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.ir.core import Region
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type
from xdsl_core.opdef import (
    Contraction,
    Sample,
    attribute,
    op,
    operand,
    reference,
    region,
    result,
    type_rule,
    undefined_lanes,
)
from xdsl_core.opdef.patterns import AnyNumber, Numeric, tile
from xdsl_core.ops._regions import COMBINE_CONSTRAINTS, COMBINE_ERRORS, combining, welford_combine
from xdsl_core.ops._shared import integers, within
from xdsl_core.ops.arithmetic import Add, Max
from xdsl_core.ops.reduction import AXIS, AXIS_ERRORS

_INTEGER_USES = (
    *(("tile<48xi32>", 0), ("tile<3x7xi64>", 0), ("tile<3x7xi8>", 1), ("tile<5xu8>", 0), ("tile<1xi16>", 0)),
    *(("tile<2x3x4xu32>", 1), ("tile<4x1xu64>", 1)),
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
        ("tile<5x2xf8e5m2>", 0),
    ),
)


def _uses(low: float, high: float) -> tuple[Sample, ...]:
    found = []
    for reverse in (False, True):
        attributes = {"reverse": reverse}
        found += [Sample({"source": kind}, {"axis": axis, **attributes}) for kind, axis in _INTEGER_USES]
        found += [
            Sample({"source": kind}, {"axis": axis, **attributes}, {"source": within(low, high)})
            for kind, axis in _FLOAT_USES
        ]
    return tuple(found)


def _along(array: Any, axis: int, reverse: bool) -> Any:
    """The array as a scan walks it: backwards along the axis if it is reversed."""
    return np.flip(array, axis) if reverse else array


class _Cumulative:
    source = operand(tile(Numeric), doc="the tile")
    axis = attribute(int, doc="the axis to walk along, from 0 to the rank less 1")
    reverse = attribute(bool, doc="start from the end: element k holds what k to the end give", default=False)
    result = result(doc="tile of the type of the source")
    constraints = (AXIS,)
    error_samples = AXIS_ERRORS
    budget = Contraction(over="source.shape[axis]")

    @type_rule
    def _(source: Type) -> Type:
        return source

    @undefined_lanes
    def _undefined(undefined: Any, axis: int, reverse: bool) -> Any:
        lanes = np.logical_or.accumulate(_along(undefined["source"], axis, reverse), axis=axis)
        return _along(lanes, axis, reverse)


@op("tile.cumsum", since="0.1", profile="tile", traits=(Trait.PURE,))
class CumSum(_Cumulative):
    """Sums of the elements up to each one, itself included, in the source's dtype. Integers wrap around.

    The sign of a zero sum is free.
    """

    sign_of_zero_is_free = True
    samples = _uses(-1, 2)

    @reference
    def _compute(source: Any, axis: int, reverse: bool) -> Any:
        return _along(np.cumsum(_along(source, axis, reverse), axis=axis, dtype=source.dtype), axis, reverse)


@op("tile.cumprod", since="0.1", profile="tile", traits=(Trait.PURE,))
class CumProd(_Cumulative):
    """Products of the elements up to each one, itself included, in the source's dtype. Integers wrap."""

    samples = _uses(0.7, 1.4)

    @reference
    def _compute(source: Any, axis: int, reverse: bool) -> Any:
        return _along(np.cumprod(_along(source, axis, reverse), axis=axis, dtype=source.dtype), axis, reverse)


@op("tile.scan", since="0.1", profile="tile", traits=(Trait.PURE,))
class Scan:
    """Combinations of the elements up to each one with code of the author's own, several tiles at once where
    needed.

    `combine` is as in `tile.reduce`. Element k of the results is what reducing the elements 0 to k gives,
    with `reverse` the elements from the end down to k, the last one being where the accumulation starts.
    """

    sources = operand(tile(AnyNumber), doc="tiles of one shape", variadic=True)
    axis = attribute(int, doc="the axis to walk along, from 0 to the rank less 1")
    reverse = attribute(bool, doc="walk from the end to the start", default=False)
    combine = region(doc="(accumulated..., next...) -> accumulated..., all scalars; without effects")
    results = result(doc="one for each source, of its type", variadic=True)
    constraints = COMBINE_CONSTRAINTS
    samples = (
        *(
            Sample(
                {"sources": (kind,)},
                {"axis": axis, "reverse": reverse},
                {"sources": (data,)},
                regions={"combine": combining(kind, Add)},
            )
            for reverse in (False, True)
            for kind, axis, data in (
                *((kind, axis, within(-1, 2)) for kind, axis in _FLOAT_USES),
                *((kind, axis, integers(0, 9)) for kind, axis in _INTEGER_USES),
            )
        ),
        Sample({"sources": ("tile<6xi32>",)}, {"axis": 0}, regions={"combine": combining("i32", Max)}),
        Sample({"sources": ("tile<6xi1>",)}, {"axis": 0}, regions={"combine": combining("i1")}),
        Sample(
            {"sources": ("tile<4x6xf32>", "tile<4x6xf32>", "tile<4x6xf32>")},
            {"axis": 1},
            {"sources": (within(-1, 2), within(0, 0), within(1, 1))},
            "mean and variance",
            {"combine": welford_combine},
        ),
    )
    error_samples = COMBINE_ERRORS
    budget = Contraction(over="sources[0].shape[axis]")

    @type_rule
    def _(sources: tuple[Type, ...]) -> tuple[Type, ...]:
        return sources

    @reference
    def _compute(machine: Any, sources: Any, axis: int, reverse: bool, combine: Region) -> Any:
        lanes = [np.moveaxis(_along(source, axis, reverse), axis, 0) for source in sources]
        prefixes = [tuple(lane[0] for lane in lanes)]
        for position in range(1, len(lanes[0])):
            prefixes.append(machine.run_lanes(combine, (*prefixes[-1], *(lane[position] for lane in lanes))))
        stacked = (np.stack(np.broadcast_arrays(*parts)) for parts in zip(*prefixes, strict=True))
        return tuple(_along(np.moveaxis(array, 0, axis), axis, reverse) for array in stacked)

    @undefined_lanes
    def _undefined(undefined: Any, axis: int, reverse: bool) -> Any:
        lanes = np.logical_or.reduce(undefined["sources"])
        return _along(np.logical_or.accumulate(_along(lanes, axis, reverse), axis=axis), axis, reverse)
