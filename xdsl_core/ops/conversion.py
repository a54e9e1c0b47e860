"""Conversions between element types: by value and by bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type, dtype_of, with_element
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
from xdsl_core.opdef.patterns import AnyNumber, Numeric
from xdsl_core.ops import numerics
from xdsl_core.ops._shared import ELEMENTWISE, within


def _cast_samples() -> tuple[Sample, ...]:
    """Every pair of dtypes once, in shapes that take turns; floats stay in the range of an integer result."""
    found: list[Sample] = []
    shapes = ("", "19x", "3x5x", "1x", "2x3x2x")
    for number, source in enumerate(dtypes.ALL):
        for target in dtypes.ALL:
            if source is not target:
                shape = shapes[(number + len(found)) % len(shapes)]
                kind = f"tile<{shape}{source}>" if shape else str(source)
                values = {"operand": _castable(target)} if source.is_float and not target.is_float else {}
                found.append(Sample({"operand": kind}, {"to": target}, values))
    return tuple(found)


def _castable(target: DType) -> Any:
    """Floats whose truncation lies in the range of `target`."""
    if target.is_bool:
        return within(-1.0, 1.0)

    def draw(generator: np.random.Generator, kind: Type) -> Any:
        magnitude = min(float(target.highest), float(dtype_of(kind).highest), 2.0**20)
        return within(-magnitude if target.is_signed else 0.0, magnitude)(generator, kind)

    return draw


_ODD_FLOATS = [3.14, 1.00390625, 1.01171875, 1.005, -3.14, 3.4e38, 1e-40, float("nan"), float("inf"), -0.0]
_OUT_OF_RANGE = [510.0, -200.0, float("inf"), float("-inf"), float("nan"), 1.9, -1.9, 127.4]


@op("tile.cast", since="0.1", profile="core", traits=ELEMENTWISE)
class Cast:
    """The same numbers as elements of another dtype.

    To a float: one rounding, from all 64 bits of an integer too; subnormals are kept. `rounding` is to
    nearest with ties to even, or toward zero. A float beyond the finite range becomes an infinity (toward
    zero: the largest finite number). The fp8 kinds saturate: too large a number becomes the largest finite
    one; an infinity stays one in e5m2 and becomes the largest finite number in the kinds without infinities.
    NaN stays NaN; its sign and payload are free.

    To an integer: floats are truncated toward zero; NaN and what lies out of range give an undefined value,
    which is not tested, and no trap. Integers wrap around. To bool: whether the number is not zero (NaN is
    not). Bools are 0 and 1.

    With `saturate` what lies out of range, infinities included, becomes the nearest finite number of the
    result's dtype, and NaN becomes 0 in an integer.
    """

    operand = operand(AnyNumber, doc="the numbers, a scalar or a tile")
    to = attribute(DType, doc="the dtype of the result")
    rounding = attribute(
        str, doc="how floats are rounded: rtne or rtz (toward zero)", choices=("rtne", "rtz"), default="rtne"
    )
    saturate = attribute(
        bool, doc="clamp to the finite range of the result instead of overflowing", default=False
    )
    result = result(doc="the numbers in the dtype `to`, in the shape of the operand")
    constraints = (
        constraint(
            "C1",
            "operand.element != to",
            "the operand has that dtype already",
            help="leave the cast out",
            code="X0215",
        ),
    )
    samples = (
        *_cast_samples(),
        *(
            Sample({"operand": "tile<10xf32>"}, {"to": to}, {"operand": _ODD_FLOATS}, "ties")
            for to in dtypes.ALL[9:16]
        ),
        *(
            Sample(
                {"operand": "tile<10xf64>"},
                {"to": to, "rounding": "rtz"},
                {"operand": _ODD_FLOATS},
                "toward zero",
            )
            for to in dtypes.ALL[9:17]
        ),
        *(
            Sample(
                {"operand": "tile<8xf32>"},
                {"to": to, "saturate": True},
                {"operand": _OUT_OF_RANGE},
                "saturating",
            )
            for to in (dtypes.i8, dtypes.u8, dtypes.i32, dtypes.u64, dtypes.f16, dtypes.f8e5m2)
        ),
        Sample(
            {"operand": "tile<4xi32>"}, {"to": dtypes.i8, "saturate": True}, {"operand": [300, -300, 5, -128]}
        ),
        Sample({"operand": "tile<3xi64>"}, {"to": dtypes.f32}, {"operand": [2**53 + 1, 2**24 + 1, -(2**63)]}),
    )
    error_samples = (ErrorSample("C1", {"operand": "tile<4xf32>"}, {"to": dtypes.f32}),)
    budget = Exact()

    @type_rule
    def _(operand: Type, to: DType) -> Type:
        return with_element(operand, to)

    @reference
    def _compute(operand: Any, to: DType, rounding: str, saturate: bool) -> Any:
        from_float = operand.dtype.kind == "f"
        if to.is_bool:
            return operand != 0
        if to.is_float:
            if from_float:
                return numerics.round_to(to, operand, rounding, saturate=saturate)
            return numerics.integer_to_float(operand, to, rounding, saturate=saturate)
        if from_float:
            return numerics.float_to_integer(operand, to, saturate=saturate)
        if saturate and operand.dtype.kind != "b":
            return numerics.saturate_integer(operand, to)
        return operand.astype(to.numpy)


_SAME_WIDTH = (
    *(
        ("tile<8xf32>", dtypes.i32),
        ("tile<3x3xi32>", dtypes.f32),
        ("f32", dtypes.u32),
        ("tile<5xu32>", dtypes.i32),
    ),
    *(("tile<6xf16>", dtypes.i16), ("tile<6xi16>", dtypes.bf16), ("tile<4xbf16>", dtypes.u16)),
    *(("tile<9xf64>", dtypes.i64), ("tile<2x2x3xu64>", dtypes.f64), ("tile<7xi64>", dtypes.u64)),
    *(
        ("tile<7xi8>", dtypes.u8),
        ("tile<5xf8e4m3fn>", dtypes.u8),
        ("tile<1xu8>", dtypes.f8e5m2),
        ("tile<7xu16>", dtypes.f16),
    ),
)


@op("tile.bitcast", since="0.1", profile="core", traits=(Trait.PURE, Trait.ELEMENTWISE))
class BitCast:
    """The same bits read as another dtype of the same width. Sign and payload of NaN are free."""

    operand = operand(Numeric, doc="the bits, a scalar or a tile")
    to = attribute(DType, doc="the dtype of the result, as wide as the operand's")
    result = result(doc="the bits as `to`, in the shape of the operand")
    constraints = (
        constraint(
            "C1",
            "operand.element.bits == to.bits",
            "the dtypes differ in width",
            help="use a dtype of the same width, or tile.cast to convert the value",
            code="X0216",
        ),
    )
    samples = tuple(Sample({"operand": kind}, {"to": to}) for kind, to in _SAME_WIDTH)
    error_samples = (ErrorSample("C1", {"operand": "tile<4xf32>"}, {"to": dtypes.i64}),)
    budget = Exact()

    @type_rule
    def _(operand: Type, to: DType) -> Type:
        return with_element(operand, to)

    @reference
    def _compute(op: Op, operand: Any, to: DType) -> Any:
        stored = np.asarray(operand).astype(dtype_of(op.operand("operand").type).numpy)
        bits = np.ascontiguousarray(stored).reshape(stored.shape).view(to.numpy)
        return bits.astype(np.float64) if to.is_float else bits
