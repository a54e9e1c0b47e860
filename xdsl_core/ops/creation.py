"""Ops that make values from nothing: constants and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import PointerType, ScalarType, TileType, Type, dtype_of, element_of
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyValue, scalar
from xdsl_core.ops._shared import ONE_OF_EACH


@op("tile.constant", since="0.1", profile="core", traits=(Trait.PURE, Trait.CONSTANT))
class Constant:
    """A number known when compiling, as a scalar or as a tile with the same number in every lane.

    Floats keep the sign of zero; NaN and infinities are allowed. Integers must lie in the range of the
    element.
    """

    value = attribute(bool, int, float, doc="the number: bool for i1, int for integers, float for floats")
    type = attribute(ScalarType, TileType, doc="the type of the result")
    result = result(doc="the constant")
    constraints = (
        constraint(
            "C1",
            "kind_of(value) == constant_kind(type)",
            "the value is not of the kind of the element",
            help="bool for i1, int for integers, float for floats; pointers come from parameters",
            code="X0208",
        ),
        constraint(
            "C2",
            "type.element.is_float or type.element.lowest <= value <= type.element.highest",
            "the constant is out of range",
            help="use a wider element type, or cast the value so that it wraps on purpose",
            code="X0205",
        ),
    )
    samples = (
        Sample({}, {"value": 7, "type": ScalarType(dtypes.i32)}),
        Sample({}, {"value": True, "type": TileType((4,), dtypes.i1)}),
        Sample({}, {"value": 200, "type": TileType((3,), dtypes.u8)}),
        Sample({}, {"value": -0.0, "type": TileType((2, 4), dtypes.f32)}),
        Sample({}, {"value": float("inf"), "type": TileType((8,), dtypes.bf16)}),
    )
    error_samples = (
        ErrorSample("C1", {}, {"value": 1, "type": TileType((3,), dtypes.f32)}),
        ErrorSample("C1", {}, {"value": 1.5, "type": ScalarType(dtypes.i32)}),
        ErrorSample("C1", {}, {"value": 0, "type": TileType((3,), PointerType(dtypes.f32))}),
        ErrorSample("C2", {}, {"value": 300, "type": TileType((3,), dtypes.u8)}),
    )
    budget = Exact()

    @type_rule
    def _(type: Type) -> Type:
        return type

    @reference
    def _compute(value: Any, type: Type) -> Any:
        dtype = dtype_of(type)
        wide = np.float64 if dtype.is_float else dtype.numpy
        return np.full(type.shape, value, wide)


@op("tile.arange", since="0.1", profile="core", traits=(Trait.PURE, Trait.CONSTANT))
class Arange:
    """The integers start, start + 1, ..., end - 1 as a tile of i32. The extent need not be a power of two."""

    start = attribute(int, doc="the first value")
    end = attribute(int, doc="one past the last value")
    result = result(doc="tile of rank 1 and extent end - start")
    constraints = (
        constraint(
            "C1",
            "end > start",
            "the range is empty",
            help="arange(start, end) needs end > start",
            code="X0206",
        ),
    )
    samples = (
        Sample({}, {"start": 0, "end": 16}),
        Sample({}, {"start": 0, "end": 48}),
        Sample({}, {"start": 5, "end": 6}),
        Sample({}, {"start": -3, "end": 4}),
    )
    error_samples = (ErrorSample("C1", {}, {"start": 4, "end": 0}),)
    budget = Exact()

    @type_rule
    def _(start: int, end: int) -> Type:
        return TileType((end - start,), dtypes.i32)

    @reference
    def _compute(start: int, end: int) -> Any:
        return np.arange(start, end, dtype=np.int32)


@op("tile.splat", since="0.1", profile="core", traits=(Trait.PURE, Trait.MOVEMENT))
class Splat:
    """A tile with the same scalar, or pointer, in every lane."""

    source = operand(scalar(AnyValue), doc="the value to repeat")
    shape = attribute(tuple, doc="extents of the tile, at least one, all positive")
    result = result(doc="the tile")
    constraints = (
        constraint(
            "C1",
            "len(shape) >= 1 and all([extent >= 1 for extent in shape])",
            "a tile needs positive extents",
            help="give at least one extent, each 1 or more",
            code="X0207",
        ),
    )
    samples = (
        *(Sample({"source": kind}, {"shape": (5, 3)}) for kind in ONE_OF_EACH),
        Sample({"source": "i1"}, {"shape": (8,)}),
        Sample({"source": "u16"}, {"shape": (1,)}),
        Sample({"source": "f32"}, {"shape": (2, 3, 4)}),
        Sample({"source": "ptr<f32>"}, {"shape": (4,)}),
    )
    error_samples = (ErrorSample("C1", {"source": "f32"}, {"shape": (4, 0)}),)
    budget = Exact()

    @type_rule
    def _(source: Type, shape: tuple[int, ...]) -> Type:
        return TileType(shape, element_of(source))

    @reference
    def _compute(source: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(source, shape)
