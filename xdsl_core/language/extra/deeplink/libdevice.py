"""DLCompiler's device library: functions of float32, and of narrower floats through float32."""

from __future__ import annotations

from typing import Any

from xdsl_core.language import math
from xdsl_core.language.builtin import constexpr_function, standard
from xdsl_core.language.creation import to_tensor
from xdsl_core.language.elementwise import maximum, where
from xdsl_core.language.iterators import static_range
from xdsl_core.language.standard import flip
from xdsl_core.language.types import float32


@constexpr_function
def _narrow(dtype: Any) -> bool:
    return bool(dtype.is_floating() and dtype.primitive_bitwidth < 32)


@constexpr_function
def _bits(dtype: Any) -> int:
    return int(dtype.primitive_bitwidth)


@constexpr_function
def _is_integer(dtype: Any) -> bool:
    return bool(dtype.is_int())


@standard
def _wide(x: Any) -> Any:
    if _narrow(x.dtype):
        return x.to(float32)
    return x


@standard
def reciprocal(arg0: Any) -> Any:
    """1 / x."""
    return (1.0 / _wide(arg0)).to(arg0.dtype)


@standard
def log1p(arg0: Any) -> Any:
    """The natural logarithm of 1 + x, exact near 0."""
    return math.log1p(_wide(arg0)).to(arg0.dtype)


@standard
def relu(arg0: Any) -> Any:
    """x where it is positive, else 0."""
    return maximum(arg0, 0.0).to(arg0.dtype)


@standard
def isinf(arg0: Any) -> Any:
    """Whether x is an infinity."""
    return math.abs(_wide(arg0)) == float("inf")


@standard
def isnan(arg0: Any) -> Any:
    """Whether x is no number."""
    return arg0 != arg0  # noqa: PLR0124 (true of NaN alone)


@standard
def tan(arg0: Any) -> Any:
    """The tangent; x in radians."""
    return math.tan(_wide(arg0)).to(arg0.dtype)


@standard
def atan(arg0: Any) -> Any:
    """The arc tangent, in radians."""
    return math.atan(_wide(arg0)).to(arg0.dtype)


@standard
def atan2(arg0: Any, arg1: Any) -> Any:
    """The angle of the point (arg1, arg0), in radians."""
    return math.atan2(_wide(arg0), _wide(arg1)).to(arg0.dtype)


@standard
def rint(arg0: Any) -> Any:
    """The nearest whole number, ties to even."""
    return math.rint(_wide(arg0)).to(arg0.dtype)


@standard
def isfinited(arg0: Any) -> Any:
    """Whether x is a number and no infinity."""
    return math.abs(_wide(arg0)) < float("inf")


finitef = isfinited


@standard
def tanh(arg0: Any) -> Any:
    """The hyperbolic tangent."""
    return math.tanh(_wide(arg0)).to(arg0.dtype)


@standard
def ilogb(arg0: Any) -> Any:
    """The exponent of x as a number of its dtype: the largest k with 2**k <= |x|."""
    x = math.abs(_wide(arg0))
    exponent = math.floor(math.log2(x))
    # log2 rounds: the power next to it tells which side of a power of two x is on
    exponent = where(math.exp2(exponent + 1) <= x, exponent + 1, exponent)
    return where(math.exp2(exponent) > x, exponent - 1, exponent).to(arg0.dtype)


@standard
def ldexp(arg0: Any, arg1: Any) -> Any:
    """x * 2**y."""
    arg1 = to_tensor(arg1)
    return (_wide(arg0) * math.exp2(_wide(arg1.to(float32)))).to(arg0.dtype)


@standard
def pow(arg0: Any, arg1: Any) -> Any:
    """x to the power of y: of floats, or of integers by y >= 0 (they wrap)."""
    arg0 = to_tensor(arg0)
    arg1 = to_tensor(arg1)
    if _is_integer(arg0.dtype) and _is_integer(arg1.dtype):
        return _integer_power(arg0, arg1)
    return math.pow(_wide(arg0), _wide(arg1).to(_wide(arg0).dtype)).to(arg0.dtype)


@standard
def _integer_power(x: Any, y: Any) -> Any:
    result = x * 0 + 1
    for k in static_range(_bits(y.dtype)):
        result = where((y >> k) & 1 != 0, result * x, result).to(x.dtype)
        x = (x * x).to(x.dtype)
    return result


@standard
def round(arg0: Any) -> Any:
    """The nearest whole number, ties away from 0."""
    x = _wide(arg0)
    whole = math.trunc(x)
    away = where(x < 0, whole - 1.0, whole + 1.0)
    return where(math.abs(x - whole) >= 0.5, away, whole).to(arg0.dtype)


__all__ = [
    "atan",
    "atan2",
    "finitef",
    "flip",
    "ilogb",
    "isfinited",
    "isinf",
    "isnan",
    "ldexp",
    "log1p",
    "pow",
    "reciprocal",
    "relu",
    "rint",
    "round",
    "tan",
    "tanh",
]
