"""What op definitions have in common: lists of sample types, data makers, and bodies of ops of one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xdsl_core.ir.traits import Trait
from xdsl_core.ir.type_text import parse_type
from xdsl_core.ir.types import Type, dtype_of
from xdsl_core.opdef import ErrorSample, Sample, constraint, operand, result, type_rule
from xdsl_core.opdef.patterns import ComputeFloat, Numeric

ELEMENTWISE = (Trait.PURE, Trait.ELEMENTWISE)
COMMUTATIVE = (*ELEMENTWISE, Trait.COMMUTATIVE)

INTEGERS = (
    *("i8", "tile<48xi8>", "tile<5xi16>", "i32", "tile<3x7xi32>", "tile<1xi64>", "tile<2x3x4xi64>"),
    *("tile<6xu8>", "u16", "tile<3xu32>", "tile<4x1xu64>"),
)
BOOLS = ("i1", "tile<7xi1>", "tile<2x3xi1>")
COMPUTE_FLOATS = (
    *("f16", "tile<48xf16>", "tile<3x5xbf16>", "f32", "tile<100xf32>", "tile<1xf32>"),
    *("tile<2x3x4xf32>", "tile<7xf64>"),
)
NARROW_FLOATS = (
    *("tile<7xf8e4m3fn>", "f8e5m2", "tile<3x3xf8e5m2>", "tile<5xf8e4m3fnuz>"),
    *("tile<4xf8e5m2fnuz>", "tile<6xf8e4m3b11fnuz>"),
)
FLOATS = (*COMPUTE_FLOATS, *NARROW_FLOATS)
NUMBERS = (*INTEGERS, *FLOATS)
# One of each family: for ops that treat all elements alike and vary in shapes instead.
ONE_OF_EACH = ("f32", "f64", "f16", "bf16", "f8e4m3fn", "i32", "i64", "i8", "u8", "u32", "i1")

SAME_TYPE = constraint(
    "C1",
    "lhs == rhs",
    "the operands differ in type",
    help="cast one side, or broadcast it to the shape of the other",
    code="X0209",
)
SAME_TYPE_ERRORS = (ErrorSample("C1", {"lhs": "tile<4xf32>", "rhs": "tile<4xi32>"}),)


def parse_types(*texts: str) -> tuple[Type, ...]:
    """The types that the texts name."""
    return tuple(parse_type(text) for text in texts)


def samples(
    names: str, *types: str, values: Mapping[str, Any] | None = None, **attributes: Any
) -> tuple[Sample, ...]:
    """One sample a type, the same for all operands in `names` (separated by blanks)."""
    return tuple(Sample(dict.fromkeys(names.split(), kind), attributes, values or {}) for kind in types)


def within(low: float, high: float) -> Callable[[np.random.Generator, Type], Any]:
    """Data drawn evenly between two bounds, in the operand's dtype."""

    def draw(generator: np.random.Generator, kind: Type) -> Any:
        with np.errstate(all="ignore"):  # narrow floats overflow to infinity
            return np.asarray(generator.uniform(low, high, kind.shape)).astype(dtype_of(kind).numpy)

    return draw


def integers(low: int, high: int) -> Callable[[np.random.Generator, Type], Any]:
    """Whole numbers from low to high, both included, in the operand's dtype."""

    def draw(generator: np.random.Generator, kind: Type) -> Any:
        return np.asarray(generator.integers(low, high, kind.shape, endpoint=True)).astype(
            dtype_of(kind).numpy
        )

    return draw


class Binary:
    """The body of an op of two numbers of one type with a result of that type."""

    lhs = operand(Numeric, doc="left operand, a scalar or a tile")
    rhs = operand(Numeric, doc="right operand, of the same type as lhs")
    result = result(doc="scalar or tile of the type of lhs")
    constraints = (SAME_TYPE,)
    error_samples = SAME_TYPE_ERRORS

    @type_rule
    def _(lhs: Type) -> Type:
        return lhs


class Unary:
    """The body of an op of one number with a result of its type."""

    operand = operand(Numeric, doc="the number, a scalar or a tile")
    result = result(doc="scalar or tile of the type of the operand")

    @type_rule
    def _(operand: Type) -> Type:
        return operand


class FloatFunction(Unary):
    """The body of a function of one float that is computed in at least f32."""

    operand = operand(ComputeFloat, doc="the argument, a scalar or a tile")


def nonzero(generator: np.random.Generator, kind: Type) -> Any:
    """Integers of the operand's dtype, small and large, none of them zero."""
    dtype = dtype_of(kind)
    small = generator.integers(1, 12, kind.shape)
    sign = generator.choice([-1, 1], kind.shape) if dtype.is_signed else 1
    large = generator.integers(1, int(dtype.highest) + 1, kind.shape, dtype=np.uint64)
    return np.where(
        generator.random(kind.shape) < 0.8, (small * sign).astype(dtype.numpy), large.astype(dtype.numpy)
    )


def shift_counts(generator: np.random.Generator, kind: Type) -> Any:
    """Shift counts from 0 to the width less 1, both ends included where there is room."""
    dtype = dtype_of(kind)
    counts = generator.integers(0, dtype.bits, kind.shape)
    flat = np.asarray(counts).reshape(-1)
    flat[:2] = (dtype.bits - 1, 0)[: flat.size]
    return flat.reshape(kind.shape).astype(dtype.numpy)


def few_values(generator: np.random.Generator, kind: Type) -> Any:
    """Numbers of few distinct values, so that comparing two such tiles finds equal lanes; floats with NaN and
    -0.0.
    """
    dtype = dtype_of(kind)
    choices = [0, 1, dtype.highest, dtype.lowest]
    if dtype.is_float:
        choices += [-0.0, float("nan"), float("inf"), 0.5]
    return np.array(choices, dtype=np.float64 if dtype.is_float else dtype.numpy)[
        generator.integers(0, len(choices), kind.shape)
    ].astype(dtype.numpy)


def permutation(generator: np.random.Generator, kind: Type) -> Any:
    """Element offsets for a pointer such that no two lanes meet."""
    size = int(np.prod(kind.shape, dtype=np.int64))
    return generator.permutation(size).reshape(kind.shape)
