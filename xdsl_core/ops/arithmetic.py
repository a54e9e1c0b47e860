"""Arithmetic lane by lane: sums, products, quotients, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.ir.core import Op
from xdsl_core.ir.types import Type, dtype_of
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    Sample,
    Ulp,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import Float
from xdsl_core.ops._shared import (
    COMMUTATIVE,
    COMPUTE_FLOATS,
    ELEMENTWISE,
    FLOATS,
    INTEGERS,
    NARROW_FLOATS,
    NUMBERS,
    Binary,
    Unary,
    nonzero,
    samples,
)
from xdsl_core.ops.numerics import fused_multiply_add


@op("tile.add", since="0.1", profile="core", traits=COMMUTATIVE)
class Add(Binary):
    """The sum. Integers wrap around; floats round to nearest, ties to even, and follow IEEE 754 for NaN and
    infinities.

    A sum of fp8 numbers that is too large becomes the largest finite number, as in `tile.cast`.
    """

    samples = samples("lhs rhs", *NUMBERS)
    budget = Ulp(0.5)

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs + rhs


@op("tile.sub", since="0.1", profile="core", traits=ELEMENTWISE)
class Sub(Binary):
    """The difference lhs - rhs. Integers wrap around; floats round to nearest, ties to even, with IEEE 754
    NaN rules.
    """

    samples = samples("lhs rhs", *NUMBERS)
    budget = Ulp(0.5)

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs - rhs


@op("tile.mul", since="0.1", profile="core", traits=COMMUTATIVE)
class Mul(Binary):
    """The product. Integers keep the low half and so wrap around; floats round to nearest, ties to even."""

    samples = samples("lhs rhs", *NUMBERS)
    budget = Ulp(0.5)

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs * rhs


@op("tile.div", since="0.1", profile="core", traits=ELEMENTWISE)
class Div(Binary):
    """The quotient lhs / rhs: rounded to nearest for floats, truncated toward zero for integers.

    Floats follow IEEE 754: x/0 is an infinity, 0/0 is NaN. An integer divided by zero gives an undefined
    value and must not trap, so it is not tested; the lowest integer divided by -1 wraps around to itself.
    """

    samples = (
        *samples("lhs rhs", *FLOATS),
        *samples("lhs rhs", *INTEGERS, values={"rhs": nonzero}),
        Sample(
            {"lhs": "tile<4xi32>", "rhs": "tile<4xi32>"},
            values={"lhs": [-7, 7, -(2**31), 5], "rhs": [2, -2, -1, 7]},
            name="toward zero",
        ),
    )
    budget = Ulp(0.5)

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        if lhs.dtype.kind == "f":
            return np.true_divide(lhs, rhs)
        rounded_down = lhs // rhs
        inexact_and_negative = (lhs % rhs != 0) & ((lhs < 0) != (rhs < 0))
        return rounded_down + inexact_and_negative.astype(lhs.dtype)


@op("tile.rem", since="0.1", profile="core", traits=ELEMENTWISE)
class Rem(Binary):
    """The remainder with the sign of lhs, as C's `%` and `fmod`: lhs - trunc(lhs / rhs) * rhs, always exact.

    x % 0 is NaN for floats; for integers its value is undefined and it must not trap. The lowest integer % -1
    is 0.
    """

    samples = (
        *samples("lhs rhs", *FLOATS),
        *samples("lhs rhs", *INTEGERS, values={"rhs": nonzero}),
        Sample(
            {"lhs": "tile<4xi32>", "rhs": "tile<4xi32>"},
            values={"lhs": [-7, 7, -(2**31), 5], "rhs": [2, -2, -1, 7]},
            name="sign of the dividend",
        ),
    )
    budget = Exact()

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return np.fmod(lhs, rhs)


@op("tile.neg", since="0.1", profile="core", traits=ELEMENTWISE)
class Neg(Unary):
    """The negative. The lowest signed integer stays itself, unsigned integers wrap; floats change sign, zeros
    too.
    """

    samples = samples("operand", *NUMBERS)
    budget = Exact()

    @reference
    def _compute(operand: Any) -> Any:
        return np.negative(operand)


@op("tile.abs", since="0.1", profile="core", traits=ELEMENTWISE)
class Abs(Unary):
    """The magnitude. The lowest signed integer stays itself; a float loses its sign, -0.0 becomes 0.0, NaN
    stays NaN.
    """

    samples = samples("operand", *NUMBERS)
    budget = Exact()

    @reference
    def _compute(operand: Any) -> Any:
        return np.abs(operand)


class _Extreme(Binary):
    propagate_nan = attribute(
        bool, doc="NaN if either operand is; otherwise the number wins over NaN", default=False
    )
    samples = (*samples("lhs rhs", *NUMBERS), *samples("lhs rhs", *FLOATS, propagate_nan=True))
    budget = Exact()


@op("tile.min", since="0.1", profile="core", traits=COMMUTATIVE)
class Min(_Extreme):
    """The smaller number. Of a number and NaN the number, unless `propagate_nan`; of zeros of both signs
    either one.
    """

    sign_of_zero_is_free = True

    @reference
    def _compute(lhs: Any, rhs: Any, propagate_nan: bool) -> Any:
        return np.minimum(lhs, rhs) if propagate_nan else np.fmin(lhs, rhs)


@op("tile.max", since="0.1", profile="core", traits=COMMUTATIVE)
class Max(_Extreme):
    """The larger number. Of a number and NaN the number, unless `propagate_nan`; of zeros of both signs
    either one.
    """

    sign_of_zero_is_free = True

    @reference
    def _compute(lhs: Any, rhs: Any, propagate_nan: bool) -> Any:
        return np.maximum(lhs, rhs) if propagate_nan else np.fmax(lhs, rhs)


@op("tile.clamp", since="0.1", profile="core", traits=ELEMENTWISE)
class Clamp:
    """min(max(operand, low), high) for floats.

    A NaN operand gives low, unless `propagate_nan`. The result is undefined, and not tested, where low > high
    or a bound is NaN. Of zeros of both signs either one may be the result.
    """

    sign_of_zero_is_free = True
    operand, low, high = (
        operand(Float, doc="the number, a scalar or a tile"),
        operand(Float, doc="lower bound, of the same type"),
        operand(Float, doc="upper bound, of the same type"),
    )
    propagate_nan = attribute(bool, doc="a NaN operand stays NaN", default=False)
    result = result(doc="scalar or tile of the type of the operand")
    constraints = (
        constraint(
            "C1",
            "operand == low and operand == high",
            "the operand and its bounds differ in type",
            help="cast and broadcast the bounds to the type of the operand",
            code="X0209",
        ),
    )
    samples = tuple(
        Sample(
            dict.fromkeys(("operand", "low", "high"), kind),
            {"propagate_nan": propagate},
            {
                "low": lambda _, kind: np.full(kind.shape, -1.5),
                "high": lambda _, kind: np.full(kind.shape, 2),
            },
        )
        for kind in FLOATS
        for propagate in (False, True)
    )
    error_samples = (ErrorSample("C1", {"operand": "tile<4xf32>", "low": "f32", "high": "tile<4xf32>"}),)
    budget = Exact()

    @type_rule
    def _(operand: Type) -> Type:
        return operand

    @reference
    def _compute(operand: Any, low: Any, high: Any, propagate_nan: bool) -> Any:
        larger, smaller = (np.maximum, np.minimum) if propagate_nan else (np.fmax, np.fmin)
        return smaller(larger(operand, low), high)


@op("tile.fma", since="0.1", profile="core", traits=ELEMENTWISE)
class Fma:
    """x * y + z, rounded once (to nearest, ties to even). IEEE 754 rules for NaN and infinities.

    Floats narrower than f32 may be computed in f32 and rounded once more.
    """

    x = operand(Float, doc="first factor, a scalar or a tile")
    y = operand(Float, doc="second factor, of the same type")
    z = operand(Float, doc="what is added to the product, of the same type")
    result = result(doc="scalar or tile of the type of x")
    constraints = (
        constraint(
            "C1",
            "x == y and x == z",
            "the operands differ in type",
            help="cast and broadcast all three to one type",
            code="X0209",
        ),
    )
    samples = (
        *samples("x y z", *COMPUTE_FLOATS, *NARROW_FLOATS),
        Sample(
            dict.fromkeys("xyz", "tile<2xf32>"),
            values={"x": [1 + 2**-12, 1 + 2**-23], "y": [1 - 2**-12, 1 + 2**-23], "z": [-1.0, 2.0**-60]},
            name="one rounding",
        ),
    )
    error_samples = (ErrorSample("C1", {"x": "tile<4xf32>", "y": "tile<4xf32>", "z": "tile<4xf16>"}),)
    budget = Ulp(0.5, {dtype.name: 0.51 for dtype in Float.dtypes if dtype.bits < 32})

    @type_rule
    def _(x: Type) -> Type:
        return x

    @reference
    def _compute(op: Op, x: Any, y: Any, z: Any) -> Any:
        return fused_multiply_add(x, y, z, dtype=dtype_of(op.result.type))
