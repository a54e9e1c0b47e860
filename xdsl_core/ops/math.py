"""Mathematical functions lane by lane.

Error budgets follow the table "Relative error as ULPs" of the OpenCL C specification (section 7.4), except
where this project asks for more: 4 ulp where OpenCL allows more than that for exp, log, tanh and erf. f16 and
bf16 are computed in f32 and rounded once, hence 1 ulp.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xdsl_core.opdef import ErrorSample, Exact, Sample, Ulp, op, operand, reference
from xdsl_core.opdef.patterns import WideFloat
from xdsl_core.ops._shared import (
    COMPUTE_FLOATS,
    ELEMENTWISE,
    SAME_TYPE,
    Binary,
    FloatFunction,
    samples,
    within,
)

WIDE_TYPES = ("f32", "tile<100xf32>", "tile<3x5xf32>", "tile<1xf32>", "f64", "tile<7xf64>", "tile<2x3x4xf64>")
_erf = np.frompyfunc(math.erf, 1, 1)


def _near(low: float, high: float, *kinds: str) -> tuple[Sample, ...]:
    return samples("operand", *kinds, values={"operand": within(low, high)})


def _ulps(wide: float) -> Ulp:
    return Ulp(wide, {"f16": 1, "bf16": 1})


class _Rounding(FloatFunction):
    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(-4, 4, *COMPUTE_FLOATS))
    budget = Exact()


class _WideFunction(FloatFunction):
    operand = operand(WideFloat, doc="the argument, a scalar or a tile")


@op("tile.exp", since="0.1", profile="core", traits=ELEMENTWISE)
class Exp(FloatFunction):
    """e to the power of the operand. exp(-inf) is 0, exp(inf) is inf; subnormal results are kept."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(-88, 88, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.exp(operand)


@op("tile.exp2", since="0.1", profile="core", traits=ELEMENTWISE)
class Exp2(FloatFunction):
    """2 to the power of the operand. exp2(-inf) is 0, exp2(inf) is inf; subnormal results are kept."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(-126, 128, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.exp2(operand)


@op("tile.log", since="0.1", profile="core", traits=ELEMENTWISE)
class Log(FloatFunction):
    """The natural logarithm. log(0) is -inf, of numbers below zero NaN; subnormal operands count."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(0, 4, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.log(operand)


@op("tile.log2", since="0.1", profile="core", traits=ELEMENTWISE)
class Log2(FloatFunction):
    """The logarithm to base 2. log2(0) is -inf, of numbers below zero NaN; subnormal operands count."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(0, 4, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.log2(operand)


@op("tile.sqrt", since="0.1", profile="core", traits=ELEMENTWISE)
class Sqrt(FloatFunction):
    """The square root, correctly rounded (IEEE 754). NaN below zero; sqrt(-0.0) is -0.0."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(0, 4, *COMPUTE_FLOATS))
    budget = Ulp(0.5)

    @reference
    def _compute(operand: Any) -> Any:
        return np.sqrt(operand)


@op("tile.rsqrt", since="0.1", profile="core", traits=ELEMENTWISE)
class Rsqrt(FloatFunction):
    """1 / sqrt(operand). rsqrt(0.0) is inf, rsqrt(-0.0) is -inf, rsqrt(inf) is 0; NaN below zero."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(0, 4, *COMPUTE_FLOATS))
    budget = _ulps(2)

    @reference
    def _compute(operand: Any) -> Any:
        return 1.0 / np.sqrt(operand)


@op("tile.sin", since="0.1", profile="core", traits=ELEMENTWISE)
class Sin(FloatFunction):
    """The sine of radians. NaN for infinities. Arguments beyond 10000 are not tested."""

    samples = (*_near(-7, 7, *COMPUTE_FLOATS), *_near(-1e4, 1e4, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.sin(operand)


@op("tile.cos", since="0.1", profile="core", traits=ELEMENTWISE)
class Cos(FloatFunction):
    """The cosine of radians. NaN for infinities. Arguments beyond 10000 are not tested."""

    samples = (*_near(-7, 7, *COMPUTE_FLOATS), *_near(-1e4, 1e4, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.cos(operand)


@op("tile.tanh", since="0.1", profile="core", traits=ELEMENTWISE)
class Tanh(FloatFunction):
    """The hyperbolic tangent; near zero it keeps its relative precision and the sign of zero."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(-10, 10, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.tanh(operand)


@op("tile.erf", since="0.1", profile="core", traits=ELEMENTWISE)
class Erf(FloatFunction):
    """The error function 2/sqrt(pi) * integral of exp(-t*t) from 0 to the operand; keeps the sign of zero."""

    samples = (*samples("operand", *COMPUTE_FLOATS), *_near(-5, 5, *COMPUTE_FLOATS))
    budget = _ulps(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.asarray(_erf(operand)).astype(np.float64)


@op("tile.floor", since="0.1", profile="core", traits=ELEMENTWISE)
class Floor(_Rounding):
    """The largest whole number not above the operand. NaN, infinities and -0.0 stay."""

    @reference
    def _compute(operand: Any) -> Any:
        return np.floor(operand)


@op("tile.ceil", since="0.1", profile="core", traits=ELEMENTWISE)
class Ceil(_Rounding):
    """The smallest whole number not below the operand. NaN, infinities and -0.0 stay; -0.5 becomes -0.0."""

    @reference
    def _compute(operand: Any) -> Any:
        return np.ceil(operand)


@op("tile.trunc", since="0.1", profile="core", traits=ELEMENTWISE)
class Trunc(_Rounding):
    """The operand without its fraction. NaN, infinities and -0.0 stay; -0.5 becomes -0.0."""

    @reference
    def _compute(operand: Any) -> Any:
        return np.trunc(operand)


@op("tile.round", since="0.1", profile="core", traits=ELEMENTWISE)
class Round(_Rounding):
    """The nearest whole number, ties to even. NaN, infinities and -0.0 stay; -0.5 becomes -0.0."""

    @reference
    def _compute(operand: Any) -> Any:
        return np.rint(operand)


@op("tile.log1p", since="0.1", profile="tile", traits=ELEMENTWISE)
class Log1p(_WideFunction):
    """log(1 + operand) without the loss near zero. log1p(-1) is -inf, below that NaN."""

    samples = (*samples("operand", *WIDE_TYPES), *_near(-1, 3, *WIDE_TYPES), *_near(-1e-4, 1e-4, *WIDE_TYPES))
    budget = Ulp(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.log1p(operand)


@op("tile.expm1", since="0.1", profile="tile", traits=ELEMENTWISE)
class Expm1(_WideFunction):
    """exp(operand) - 1 without the loss near zero. expm1(-inf) is -1."""

    samples = (
        *samples("operand", *WIDE_TYPES),
        *_near(-20, 88, *WIDE_TYPES),
        *_near(-1e-4, 1e-4, *WIDE_TYPES),
    )
    budget = Ulp(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.expm1(operand)


@op("tile.tan", since="0.1", profile="tile", traits=ELEMENTWISE)
class Tan(_WideFunction):
    """The tangent of radians. NaN for infinities. Arguments beyond 10000 are not tested."""

    samples = (*_near(-7, 7, *WIDE_TYPES), *_near(-1e4, 1e4, *WIDE_TYPES))
    budget = Ulp(5)

    @reference
    def _compute(operand: Any) -> Any:
        return np.tan(operand)


@op("tile.asin", since="0.1", profile="tile", traits=ELEMENTWISE)
class Asin(_WideFunction):
    """The arc sine in radians, from -pi/2 to pi/2. NaN outside [-1, 1]."""

    samples = (*samples("operand", *WIDE_TYPES), *_near(-1, 1, *WIDE_TYPES))
    budget = Ulp(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.arcsin(operand)


@op("tile.acos", since="0.1", profile="tile", traits=ELEMENTWISE)
class Acos(_WideFunction):
    """The arc cosine in radians, from 0 to pi. NaN outside [-1, 1]."""

    samples = (*samples("operand", *WIDE_TYPES), *_near(-1, 1, *WIDE_TYPES))
    budget = Ulp(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.arccos(operand)


@op("tile.atan", since="0.1", profile="tile", traits=ELEMENTWISE)
class Atan(_WideFunction):
    """The arc tangent in radians, from -pi/2 to pi/2; infinities give the ends."""

    samples = (*samples("operand", *WIDE_TYPES), *_near(-6, 6, *WIDE_TYPES))
    budget = Ulp(5)

    @reference
    def _compute(operand: Any) -> Any:
        return np.arctan(operand)


@op("tile.sinh", since="0.1", profile="tile", traits=ELEMENTWISE)
class Sinh(_WideFunction):
    """The hyperbolic sine; keeps the sign of zero."""

    samples = (
        *samples("operand", *WIDE_TYPES),
        *_near(-88, 88, *WIDE_TYPES),
        *_near(-1e-3, 1e-3, *WIDE_TYPES),
    )
    budget = Ulp(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.sinh(operand)


@op("tile.cosh", since="0.1", profile="tile", traits=ELEMENTWISE)
class Cosh(_WideFunction):
    """The hyperbolic cosine."""

    samples = (*samples("operand", *WIDE_TYPES), *_near(-88, 88, *WIDE_TYPES))
    budget = Ulp(4)

    @reference
    def _compute(operand: Any) -> Any:
        return np.cosh(operand)


class _WideBinary(Binary):
    lhs = operand(WideFloat, doc="first argument, a scalar or a tile")
    rhs = operand(WideFloat, doc="second argument, of the same type")
    constraints = (SAME_TYPE,)
    error_samples = (ErrorSample("C1", {"lhs": "tile<4xf32>", "rhs": "tile<4xf64>"}),)


@op("tile.atan2", since="0.1", profile="tile", traits=ELEMENTWISE)
class Atan2(_WideBinary):
    """The angle of the point (rhs, lhs) in radians, from -pi to pi, as C's atan2(lhs, rhs) with its zeros and
    infinities.
    """

    samples = (
        *samples("lhs rhs", *WIDE_TYPES),
        *samples("lhs rhs", *WIDE_TYPES, values={"lhs": within(-3, 3), "rhs": within(-3, 3)}),
    )
    budget = Ulp(6)

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return np.arctan2(lhs, rhs)


@op("tile.pow", since="0.1", profile="tile", traits=ELEMENTWISE)
class Pow(_WideBinary):
    """lhs to the power of rhs, as C's pow: NaN for a negative base with a fractional exponent; pow(x, 0) and
    pow(1, y) are 1.
    """

    samples = (
        *samples("lhs rhs", *WIDE_TYPES),
        *samples("lhs rhs", *WIDE_TYPES, values={"lhs": within(0, 30), "rhs": within(-9, 9)}),
    )
    budget = Ulp(16)

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return np.power(lhs, rhs)
