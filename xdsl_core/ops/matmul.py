"""The matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type
from xdsl_core.opdef import (
    Contraction,
    ErrorSample,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
    undefined_lanes,
)
from xdsl_core.opdef.patterns import TypePattern, tile
from xdsl_core.ops import numerics
from xdsl_core.ops._shared import within

FACTOR = TypePattern(
    "f16, bf16, f32, f64, an fp8 kind, i8 or u8",
    tuple(dtype for dtype in dtypes.ALL if dtype.is_float or dtype in (dtypes.i8, dtypes.u8)),
)
ACCUMULATOR = TypePattern("f32, f64 or i32", (dtypes.f32, dtypes.f64, dtypes.i32))

_MODERATE = {"lhs": within(-1, 2), "rhs": within(-2, 1), "accumulator": within(-1, 1)}


def _product(shape: tuple[int, ...], element: str, accumulator: str = "f32", **attributes: Any) -> Sample:
    *batch, m, n, k = shape
    sizes = ((*batch, m, k, element), (*batch, k, n, element), (*batch, m, n, accumulator))
    types = tuple(f"tile<{'x'.join(map(str, size))}>" for size in sizes)
    values = {} if element in ("i8", "u8") else _MODERATE
    return Sample(dict(zip(("lhs", "rhs", "accumulator"), types, strict=True)), attributes, values)


_ACCUMULATORS = (
    *(("f32", "f32"), ("f16", "f32"), ("bf16", "f32"), ("f64", "f64"), ("i8", "i32"), ("u8", "i32")),
    *(
        ("f8e4m3fn", "f32"),
        ("f8e5m2", "f32"),
        ("f8e4m3fnuz", "f32"),
        ("f8e5m2fnuz", "f32"),
        ("f8e4m3b11fnuz", "f32"),
    ),
)


@op("tile.dot", since="0.1", profile="core", traits=(Trait.PURE,))
class Dot:
    """The matrix product of two tiles added to an accumulator: M x K times K x N plus M x N.

    All three may be batched, with one more axis in front. Products and sums are of the accumulator's
    precision: f32 for all floats but f64, i32 (which wraps) for 8-bit integers; the order of summation is
    free, and so is the sign of a zero. NaN and infinities follow from the terms'. `precision` concerns f32
    factors alone: "ieee" keeps all their bits, "tf32" allows rounding or cutting them to 11 significant bits,
    "tf32x3" allows splitting them into three such terms. Any extent from 1 on is meaningful.
    """

    sign_of_zero_is_free = True
    lhs = operand(tile(FACTOR), rank=(2, 3), doc="M x K, or batch x M x K")
    rhs = operand(tile(FACTOR), rank=(2, 3), doc="K x N, or batch x K x N")
    accumulator = operand(
        tile(ACCUMULATOR), rank=(2, 3), doc="what the product is added to: M x N, or batch x M x N"
    )
    precision = attribute(
        str, doc="how f32 factors may be rounded", choices=("ieee", "tf32", "tf32x3"), default="ieee"
    )
    result = result(doc="tile of the type of the accumulator")
    constraints = (
        constraint(
            "C1",
            "len(lhs.shape) == len(rhs.shape) and lhs.shape[:-2] == rhs.shape[:-2]",
            "the factors differ in rank or batch",
            help="both factors are matrices, or both are batches of as many matrices",
            code="X0210",
        ),
        constraint(
            "C2",
            "lhs.shape[-1] == rhs.shape[-2]",
            "inner dimensions differ",
            help="lhs is M x K and rhs is K x N; transpose one with tl.trans",
            code="X0211",
        ),
        constraint(
            "C3",
            "lhs.element == rhs.element or lhs.element.is_float and rhs.element.is_float "
            "and lhs.element.bits == rhs.element.bits == 8",
            "the factors differ in dtype",
            help="cast one factor; only fp8 kinds can be mixed",
            code="X0209",
        ),
        constraint(
            "C4",
            "accumulator.element.name == "
            "('f64' if lhs.element.name == 'f64' else 'f32' if lhs.element.is_float else 'i32')",
            "the accumulator has the wrong dtype",
            help="f64 for f64, f32 for other floats, i32 for integers",
            code="X0220",
        ),
        constraint(
            "C5",
            "accumulator.shape == (*lhs.shape[:-1], rhs.shape[-1])",
            "the accumulator has not the shape of the product",
            help="the product of M x K and K x N is M x N",
            code="X0210",
        ),
    )
    samples = (
        *(_product((16, 16, 16), element, accumulator) for element, accumulator in _ACCUMULATORS),
        *(_product((5, 7, 3), element, accumulator) for element, accumulator in _ACCUMULATORS),
        *(_product(shape, "f32") for shape in ((1, 1, 1), (2, 8, 4), (1, 48, 33), (48, 1, 5), (64, 32, 100))),
        *(_product((3, 4, 5, 6), element, accumulator) for element, accumulator in _ACCUMULATORS[:6]),
        *(_product((16, 8, 24), "f32", precision=precision) for precision in ("tf32", "tf32x3")),
        Sample(
            {"lhs": "tile<4x4xf8e4m3fn>", "rhs": "tile<4x4xf8e5m2>", "accumulator": "tile<4x4xf32>"},
            values=_MODERATE,
            name="mixed fp8",
        ),
        Sample(
            {"lhs": "tile<2x2xi8>", "rhs": "tile<2x2xi8>", "accumulator": "tile<2x2xi32>"},
            values={
                "lhs": [[-44, -20], [-126, 6]],
                "rhs": [[24, -75], [127, -101]],
                "accumulator": [[0, 0], [0, 0]],
            },
            name="wider than its factors",
        ),
    )
    error_samples = (
        ErrorSample("C1", {"lhs": "tile<4x8xf16>", "rhs": "tile<2x8x4xf16>", "accumulator": "tile<4x4xf32>"}),
        ErrorSample("C2", {"lhs": "tile<4x8xf16>", "rhs": "tile<4x2xf16>", "accumulator": "tile<4x2xf32>"}),
        ErrorSample("C3", {"lhs": "tile<4x8xf16>", "rhs": "tile<8x2xbf16>", "accumulator": "tile<4x2xf32>"}),
        ErrorSample("C4", {"lhs": "tile<4x8xi8>", "rhs": "tile<8x2xi8>", "accumulator": "tile<4x2xf32>"}),
        ErrorSample("C5", {"lhs": "tile<4x8xf16>", "rhs": "tile<8x2xf16>", "accumulator": "tile<2x4xf32>"}),
    )
    budget = Contraction(
        over="lhs.shape[-1]",
        term_error="2**-9 if precision == 'tf32' and lhs.element.name == 'f32' else 0",
    )

    @type_rule
    def _(accumulator: Type) -> Type:
        return accumulator

    @reference
    def _compute(lhs: Any, rhs: Any, accumulator: Any) -> Any:
        if accumulator.dtype.kind == "f":
            return numerics.matmul(lhs, rhs) + accumulator
        # whole numbers of 8 bits multiply and add exactly in float64
        exact = numerics.matmul(lhs.astype(np.float64), rhs.astype(np.float64))
        return (exact.astype(np.int64) + accumulator).astype(np.int32)

    @undefined_lanes
    def _undefined(undefined: Any) -> Any:
        rows = undefined["lhs"].any(axis=-1, keepdims=True)
        columns = undefined["rhs"].any(axis=-2, keepdims=True)
        return rows | columns | undefined["accumulator"]
