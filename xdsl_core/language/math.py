"""Math functions. Like Triton's they take float32 and float64, unless they say otherwise."""

from __future__ import annotations

from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import dtype_of, element_of
from xdsl_core.language.builtin import Builtin, builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics import arithmetic
from xdsl_core.language.semantics.conversion import bitcast, to_tensor
from xdsl_core.language.types import dtype_of_row
from xdsl_core.language.values import Operand, tensor

WIDE_FLOATS = (dtypes.f32, dtypes.f64)
FLOATS = tuple(row for row in dtypes.ALL if row.is_float)
WIDE_INTEGERS = (dtypes.i32, dtypes.i64, dtypes.u32, dtypes.u64)


def accept(function: str, value: Operand, known: tuple[DType, ...]) -> None:
    """X0131 where a tensor is of a dtype the function does not take."""
    if not isinstance(value, tensor) or element_of(value.handle.type) in known:
        return
    words = " or ".join(row.triton for row in known)
    raise fail(
        "X0131",
        f"tl.{function} takes {words}",
        label=describe(value),
        help=f"cast it: x.to({dtype_of_row(known[0])!r})",
    )


def _function(name: str, definition: Any, doc: str, *, known: tuple[DType, ...] = WIDE_FLOATS) -> Builtin:
    """A function of one argument over one op; Python numbers are floats to it."""

    def apply(context: Context, x: Operand) -> tensor:
        accept(name, x, known)
        return context.emit(definition, to_tensor(context, x if isinstance(x, tensor) else float(x)))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return Builtin(apply, member=True)


def _function_of_two(
    name: str, definition: Any, doc: str, *, known: tuple[DType, ...] = WIDE_FLOATS
) -> Builtin:
    """A function of two arguments over one op, with promotion and broadcasting."""

    def apply(context: Context, x: Operand, y: Operand) -> tensor:
        for value in (x, y):
            accept(name, value, known)
        left, right = arithmetic.unify(context, x, y)
        accept(name, left, known)
        return context.emit(definition, left, right)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return Builtin(apply)


exp = _function("exp", ops.Exp, "e to the power of x.")
exp2 = _function("exp2", ops.Exp2, "2 to the power of x.")
expm1 = _function("expm1", ops.Expm1, "e to the power of x, minus 1, exact near 0.")
log = _function("log", ops.Log, "The natural logarithm.")
log2 = _function("log2", ops.Log2, "The logarithm to base 2.")
log1p = _function("log1p", ops.Log1p, "The natural logarithm of 1 + x, exact near 0.")
sin = _function("sin", ops.Sin, "The sine; x in radians.")
cos = _function("cos", ops.Cos, "The cosine; x in radians.")
tan = _function("tan", ops.Tan, "The tangent; x in radians.")
asin = _function("asin", ops.Asin, "The arc sine, in radians.")
acos = _function("acos", ops.Acos, "The arc cosine, in radians.")
atan = _function("atan", ops.Atan, "The arc tangent, in radians.")
sinh = _function("sinh", ops.Sinh, "The hyperbolic sine.")
cosh = _function("cosh", ops.Cosh, "The hyperbolic cosine.")
tanh = _function("tanh", ops.Tanh, "The hyperbolic tangent.")
sqrt = _function("sqrt", ops.Sqrt, "The square root, correctly rounded.")
sqrt_rn = _function(
    "sqrt_rn", ops.Sqrt, "The square root, correctly rounded; float32 only.", known=(dtypes.f32,)
)
rsqrt = _function("rsqrt", ops.Rsqrt, "One over the square root.")
erf = _function("erf", ops.Erf, "The error function.")
floor = _function("floor", ops.Floor, "The largest whole number not above x.")
ceil = _function("ceil", ops.Ceil, "The smallest whole number not below x.")
trunc = _function("trunc", ops.Trunc, "The whole number next to x toward zero.")
rint = _function("rint", ops.Round, "The nearest whole number, ties to even.")
atan2 = _function_of_two("atan2", ops.Atan2, "The angle of the point (y, x), in radians.")
pow = _function_of_two("pow", ops.Pow, "x to the power of y.")
div_rn = _function_of_two("div_rn", ops.Div, "x / y, correctly rounded; float32 only.", known=(dtypes.f32,))


@builtin
def umulhi(context: Context, x: Operand, y: Operand) -> tensor:
    """The high half of the product of two integers of 32 or 64 bits, whose bits are read as unsigned ones."""
    for value in (x, y):
        accept("umulhi", value, WIDE_INTEGERS)
    left, right = arithmetic.unify(context, x, y)
    row = dtype_of(left.handle.type)
    unsigned = dtypes.u32 if row.bits == 32 else dtypes.u64
    left, right = (bitcast(context, value, unsigned) for value in (left, right))
    return bitcast(context, context.emit(ops.MulHi, left, right), row)


@builtin(member=True)
def abs(context: Context, x: tensor) -> tensor:
    """The magnitude; the least integer of a signed dtype stays what it is."""
    row = element_of(x.handle.type)
    if not isinstance(row, DType):
        accept("abs", x, (*WIDE_INTEGERS, *WIDE_FLOATS))
    return x if isinstance(row, DType) and row.is_integer and not row.is_signed else context.emit(ops.Abs, x)


@builtin
def fdiv(
    context: Context, x: Operand, y: Operand, ieee_rounding: bool = False, approx: bool = False
) -> tensor:
    """x / y for floats. The quotient is correctly rounded whatever `ieee_rounding` and `approx` allow."""
    if ieee_rounding and approx:
        raise fail("X0138", "tl.fdiv: approx and ieee_rounding exclude each other", help="set one of them")
    left, right = arithmetic.unify(context, x, y, division=True)
    if not dtype_of(left.handle.type).is_float:
        raise fail(
            "X0131",
            "tl.fdiv takes floats",
            label=f"{describe(left)}, {describe(right)}",
            help="use x / y, which divides integers as floats",
        )
    return context.emit(ops.Div, left, right)


@builtin
def fma(context: Context, x: Operand, y: Operand, z: Operand) -> tensor:
    """x * y + z, rounded once."""
    operands = arithmetic.unify(context, x, y, z)
    accept("fma", operands[0], FLOATS)
    return context.emit(ops.Fma, *operands)
