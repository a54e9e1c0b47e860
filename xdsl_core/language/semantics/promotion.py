"""Which dtype an operation computes in: Triton's rules.

https://triton-lang.org/main/python-api/triton-semantics.html states them. A Python number (a literal or a
constexpr) of a kind not above the other operand's kind (bool < integer < float) takes part in the computation
without widening it.
"""

from __future__ import annotations

from math import isfinite

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.language.context import fail
from xdsl_core.language.values import Number

_KINDS = {"bool": 0, "int": 1, "uint": 1, "float": 2}
_LEAST_NORMAL_F32 = 2.0**-126
_LARGEST_F32 = (2 - 2**-23) * 2.0**127
_INTEGER_LITERALS = (dtypes.i32, dtypes.u32, dtypes.i64, dtypes.u64)


def literal_dtype(value: Number) -> DType:
    """The dtype a Python number has on its own.

    i1 for bools; the first of i32, u32, i64, u64 that holds an integer; f32 for floats, or f64 where f32
    would overflow or be subnormal.

    X0121 for integers beyond 64 bits.
    """
    if isinstance(value, bool):
        return dtypes.i1
    if isinstance(value, int):
        for dtype in _INTEGER_LITERALS:
            if dtype.lowest <= value <= dtype.highest:
                return dtype
        raise fail(
            "X0121", f"the integer {value} does not fit in 64 bits", help="use a float, or split the number"
        )
    magnitude = abs(value)
    special = magnitude == 0.0 or not isfinite(value)
    return dtypes.f32 if special or _LEAST_NORMAL_F32 <= magnitude <= _LARGEST_F32 else dtypes.f64


def promote_integers(left: DType, right: DType) -> DType:
    """C's usual arithmetic conversions without the promotion to int: the wider one, unsigned on a tie."""
    if left.is_signed == right.is_signed:
        return left if left.bits > right.bits else right
    unsigned, signed = (right, left) if left.is_signed else (left, right)
    return unsigned if unsigned.bits >= signed.bits else signed


def computation_dtype(
    left: DType, right: DType, *, weak_left: bool = False, weak_right: bool = False, division: bool = False
) -> DType:
    """The dtype a binary operation computes in. `weak` marks Python numbers, `division` the operators / // %.

    X0120 where signed and unsigned integers meet in a division.
    """
    if weak_left != weak_right:
        weak, strong = (left, right) if weak_left else (right, left)
        if _KINDS[weak.kind] <= _KINDS[strong.kind]:
            left = right = strong
    if left.is_float or right.is_float:
        return _float_dtype(left, right, division)
    if division and left.is_signed != right.is_signed:
        raise fail(
            "X0120",
            f"/, // and % cannot mix {left} and {right}: one is signed, the other is not",
            help="cast one of them, for example with .to(tl.int32)",
        )
    return promote_integers(left, right)


def _float_dtype(left: DType, right: DType, division: bool) -> DType:
    pair = (left, right)
    if dtypes.f64 in pair:
        return dtypes.f64
    if division or dtypes.f32 in pair:
        return dtypes.f32
    if dtypes.f16 in pair:
        return dtypes.f16
    if dtypes.bf16 in pair:
        return dtypes.bf16 if left is right else dtypes.f32
    if left.is_float and right.is_float:
        return left if left is right else dtypes.f16
    raise fail(
        "X0119",
        f"{left} and {right} have no common type",
        help="cast the fp8 operand first, for example with .to(tl.float32)",
    )
