"""Rounding done once and right: float64 numbers to any float dtype, integers to floats, and back."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType

Array = Any  # numpy.ndarray of any dtype; 0-d arrays and numpy scalars count


def round_to(dtype: DType, values: Array, rounding: str = "rtne", *, saturate: bool = False) -> Array:
    """The numbers of `dtype` nearest to float64 `values`, as float64; one rounding, subnormals included.

    `rounding` is "rtne" (nearest, ties to even) or "rtz" (toward zero). Beyond the finite range the result is
    an infinity, or with "rtz" the largest finite number (IEEE 754-2019, 4.3). fp8 kinds and `saturate` give
    the largest finite number instead; an infinity stays one where the dtype has it, unless `saturate`. NaN
    stays NaN; kinds without a negative zero give zero.
    """
    with np.errstate(all="ignore"):
        if rounding == "rtne" and not saturate and dtype.name in _NATIVE:
            return (
                values if dtype is dtypes.f64 else np.asarray(values).astype(dtype.numpy).astype(np.float64)
            )
        return _round(dtype, np.asarray(values, np.float64), rounding, saturate)


# numpy rounds float64 to these once, in hardware or in software that is exact (tested against _round).
_NATIVE = frozenset({"f64", "f32", "f16"})


def _round(dtype: DType, values: Array, rounding: str, saturate: bool) -> Array:
    if dtype is dtypes.f64:
        rounded = values
    else:
        _, exponent = np.frexp(values)
        step = np.maximum(exponent - dtype.precision, _smallest_step(dtype))
        to_whole = np.rint if rounding == "rtne" else np.trunc
        rounded = np.ldexp(to_whole(np.ldexp(values, -step)), step)
    rounded = np.where(np.isfinite(values), rounded, values)
    overflowed = np.abs(rounded) > dtype.highest
    if overflowed.any():
        keeps_infinity = has_infinity(dtype) and not saturate
        clamped = np.copysign(float(dtype.highest), values)
        if keeps_infinity:
            to_infinity = np.isinf(values) | (rounding == "rtne" and dtype.bits > 8)
            clamped = np.where(to_infinity, np.copysign(np.inf, values), clamped)
        rounded = np.where(overflowed, clamped, rounded)
    return rounded if has_negative_zero(dtype) else rounded + 0.0


@cache
def _smallest_step(dtype: DType) -> int:
    """Exponent of the distance between neighbouring subnormals."""
    import ml_dtypes

    return int(np.log2(float(ml_dtypes.finfo(dtype.numpy).smallest_subnormal)))


def has_infinity(dtype: DType) -> bool:
    """Whether a float dtype can represent infinities."""
    return not dtype.name.endswith(("fn", "fnuz"))


def has_negative_zero(dtype: DType) -> bool:
    """Whether a float dtype tells -0.0 from 0.0."""
    return not dtype.name.endswith("fnuz")


def integer_to_float(values: Array, dtype: DType, rounding: str = "rtne", *, saturate: bool = False) -> Array:
    """Integers (or bools) as numbers of a float dtype, rounded once from all their 64 bits; float64 array."""
    values = np.asarray(values)
    if values.dtype.itemsize < 8:
        return round_to(dtype, values.astype(np.float64), rounding, saturate=saturate)
    wide = values.dtype.type
    high = (values >> wide(32)).astype(np.float64) * 2.0**32
    low = (values & wide(0xFFFFFFFF)).astype(np.float64)
    total = high + low
    error = low - (total - high)
    if dtype is dtypes.f64:
        return total if rounding == "rtne" else toward_zero(total, error)
    return round_to(dtype, to_odd(total, error), rounding, saturate=saturate)


def float_to_integer(values: Array, dtype: DType, *, saturate: bool = False) -> Array:
    """Floats truncated toward zero as integers of `dtype`; out of range undefined, or with `saturate` the
    nearest bound.

    NaN is undefined, or with `saturate` 0. Exact for all 64 bits; never warns.
    """
    with np.errstate(all="ignore"):
        whole = np.trunc(np.asarray(values, np.float64))
        low, high = float(dtype.lowest), float(dtype.highest)
        inside = (whole >= low) & (whole <= high) & (whole < 2.0 ** (dtype.bits - dtype.is_signed))
        safe = np.where(inside, whole, 0.0).astype(dtype.numpy)
        if not saturate:
            return safe
        bound = np.where(whole < low, dtype.numpy.type(dtype.lowest), dtype.numpy.type(dtype.highest))
        return np.where(inside | np.isnan(whole), safe, bound)


def saturate_integer(values: Array, dtype: DType) -> Array:
    """Integers clamped to the range of another integer dtype."""
    values = np.asarray(values)
    bounds = np.iinfo(values.dtype)
    low, high = max(int(dtype.lowest), int(bounds.min)), min(int(dtype.highest), int(bounds.max))
    return np.clip(values, values.dtype.type(low), values.dtype.type(high)).astype(dtype.numpy)


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error (Knuth's TwoSum; The Art of Computer Programming vol. 2, 4.2.2)."""
    total = x + y
    from_y = total - x
    return total, (x - (total - from_y)) + (y - from_y)


def to_odd(total: Array, error: Array) -> Array:
    """total + error rounded to odd, so that a later rounding to fewer bits is as good as one alone.

    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
    odd", 2008.
    """
    bits = np.asarray(total, np.float64).view(np.int64)
    away = (error > 0) == (total > 0)
    moved = np.where(away, bits | 1, np.where(bits & 1, bits, bits - 1))
    inexact = (error != 0) & np.isfinite(total) & np.isfinite(error)
    return np.where(inexact, moved, bits).view(np.float64)


def toward_zero(total: Array, error: Array) -> Array:
    """total + error rounded toward zero."""
    return np.where((error != 0) & ((error > 0) != (total > 0)), np.nextafter(total, 0.0), total)


def fused_multiply_add(x: Array, y: Array, z: Array, *, dtype: DType) -> Array:
    """x * y + z in float64, such that rounding the result to `dtype` is the only rounding."""
    with np.errstate(all="ignore"):
        if dtype is dtypes.f64:
            return _fused_f64(x, y, z)
        product = x * y  # exact: twice the bits of f32 fit in a float64
        total, error = two_sum(product, z)
        return to_odd(total, error)


def _fused_f64(x: Array, y: Array, z: Array) -> Array:
    """The correctly rounded float64 x * y + z, by exact rational arithmetic where it is finite."""
    from fractions import Fraction

    x, y, z = np.broadcast_arrays(x, y, z)
    # an infinite z decides, even where the product of finite factors overflows
    plain = np.where(np.isfinite(x) & np.isfinite(y) & np.isinf(z), z, x * y + z)
    for place in np.ndindex(plain.shape):
        terms = x[place], y[place], z[place]
        if all(map(np.isfinite, terms)):
            exact = Fraction(float(terms[0])) * Fraction(float(terms[1])) + Fraction(float(terms[2]))
            if exact:  # a zero keeps the sign that IEEE arithmetic gave it
                plain[place] = _nearest_float(exact)
    return plain


def _nearest_float(exact: Any) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


# Up to this many multiply-adds OpenBLAS stays on the calling thread (65536 times GEMM_MULTITHREAD_THRESHOLD,
# which is 4: interface/gemm.c and Makefile.rule of OpenBLAS 0.3).
_ONE_THREAD = 1 << 18
_PANEL_ROWS = 32


def matmul(lhs: Array, rhs: Array) -> Array:
    """The product of float64 matrices, or of batches of them, on the calling thread.

    In panels so small that the BLAS starts no threads: where several processes share the cores its threads
    wait for each other (a product of 128 x 64 and 64 x 128 took 48 ms instead of 0.14 ms).
    """
    rows, inner, columns = lhs.shape[-2], lhs.shape[-1], rhs.shape[-1]
    if rows * inner * columns <= _ONE_THREAD:
        return np.matmul(lhs, rhs)
    high = min(rows, _PANEL_ROWS)
    wide = max(1, _ONE_THREAD // (high * inner))
    out = np.empty((*lhs.shape[:-1], columns))
    for top in range(0, rows, high):
        for left in range(0, columns, wide):
            panel = lhs[..., top : top + high, :], rhs[..., left : left + wide]
            out[..., top : top + high, left : left + wide] = np.matmul(*panel)
    return out
