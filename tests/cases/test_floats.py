"""Cases O06 to O08: floats to integers, NaN in extrema, rounding to narrow formats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl

NAN, INF = float("nan"), float("inf")
NARROW = [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@xdsl.jit
def float_to_integer_kernel(x, y, z, out, portable, unsigned):
    i, j = tl.arange(0, 4), tl.arange(0, 8)
    tl.store(out + i, tl.load(x + i).to(tl.int32))
    v = tl.load(y + j)
    v = tl.clamp(tl.where(v == v, v, 0.0), -128.0, 127.0)
    tl.store(portable + j, v.to(tl.int8))
    tl.store(unsigned + i, tl.load(z + i).to(tl.int8).to(tl.uint8))


def test_o06_float_to_integer(run: Any) -> None:
    x = np.array([-2.9, 2.9, -0.5, 7], np.float32)
    y = np.array([510, -200, INF, -INF, NAN, 1.9, -1.9, 127.4], np.float32)
    out, portable, unsigned = np.zeros(4, np.int32), np.zeros(8, np.int8), np.zeros(4, np.uint8)
    run(float_to_integer_kernel, x, y, np.array([-1, -128, 5, 127], np.int32), out, portable, unsigned)
    assert out.tolist() == [-2, 2, 0, 7]
    assert portable.tolist() == [127, -128, 127, -128, 0, 1, -1, 127]
    assert unsigned.tolist() == [255, 128, 5, 127]


@xdsl.jit
def cast_to_all_kernel(x, b, i8, u8, i16, u16, i32, u32, i64, u64, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(b + i, v, mask=i < n)
    tl.store(i8 + i, v, mask=i < n)
    tl.store(u8 + i, v, mask=i < n)
    tl.store(i16 + i, v, mask=i < n)
    tl.store(u16 + i, v, mask=i < n)
    tl.store(i32 + i, v, mask=i < n)
    tl.store(u32 + i, v, mask=i < n)
    tl.store(i64 + i, v, mask=i < n)
    tl.store(u64 + i, v, mask=i < n)
    first = tl.load(x + 1)
    tl.store(i8 + n, first)
    tl.store(u16 + n, first)
    tl.store(i64 + n, first)


INTEGERS = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_o06_truncation_for_every_pair_of_types(run: Any, dtype: Any) -> None:
    x = np.array([0, 2.9, 0.5, 7, 100.25, 127, 0.0001, 63.75, 1], np.float64).astype(dtype)
    outs = [np.zeros(10, integer) for integer in INTEGERS]
    run(cast_to_all_kernel, x, *outs, 9, B=16)
    for out, integer in zip(outs, INTEGERS, strict=True):
        exact = x.astype(np.float64)
        assert out[:9].tolist() == (exact != 0 if integer is np.bool_ else np.trunc(exact)).tolist()
    assert [outs[k][9] for k in (1, 4, 7)] == [2, 2, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_o06_what_is_out_of_range_does_no_harm(run: Any, dtype: Any) -> None:
    x = np.array([-2.9, -0.5, -128, INF, -INF, NAN, 60000, -60000, -1], dtype)
    outs = [np.zeros(10, integer) for integer in INTEGERS]
    run(cast_to_all_kernel, x, *outs, 9, B=16)
    inside = [0, 1, 2, 6, 7, 8]
    for out in (outs[5], outs[7]):
        assert out[inside].tolist() == np.trunc(x[inside].astype(np.float64)).tolist()
    assert outs[0][:9].tolist() == [True] * 9
    assert outs[1][[0, 1, 2, 8]].tolist() == [-2, 0, -128, -1]


def test_o06_integers_wrap_between_widths(run: Any) -> None:
    x = np.array([0, -1, -128, 255, 32768, 2**31, 2**40 + 5, -(2**63), 2**63 - 1], np.int64)
    outs = [np.zeros(10, integer) for integer in INTEGERS]
    run(cast_to_all_kernel, x, *outs, 9, B=16)
    for out, integer in zip(outs, INTEGERS, strict=True):
        np.testing.assert_array_equal(out[:9], x.astype(integer))


@xdsl.jit
def extrema_kernel(a, b, c, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(out + i, tl.maximum(x, y))
    tl.store(out + N + i, tl.minimum(x, y))
    tl.store(out + 2 * N + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 3 * N + i, tl.minimum(y, x, propagate_nan=tl.PropagateNan.ALL))
    z = tl.load(c + i)
    tl.store(out + 4 * N, tl.max(z, axis=0))
    tl.store(out + 4 * N + 1, tl.min(z, axis=0))
    tl.store(out + 4 * N + 2, tl.maximum(tl.load(a), tl.load(b)))
    tl.store(out + 4 * N + 3, tl.minimum(tl.load(b), tl.load(a), propagate_nan=tl.PropagateNan.ALL))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_o07_nan_loses_unless_asked_to_win(run: Any, dtype: Any) -> None:
    a, b = np.array([NAN, 1, NAN, 2], dtype), np.array([1, NAN, NAN, 3], dtype)
    c, out = np.array([NAN, 6, 8, 2], dtype), np.zeros(20, dtype)
    run(extrema_kernel, a, b, c, out, N=4)
    expected = [1, 1, NAN, 3, 1, 1, NAN, 2, NAN, NAN, NAN, 3, NAN, NAN, NAN, 2, 8, 2, 1, NAN]
    np.testing.assert_array_equal(out.astype(np.float64), expected)


@xdsl.jit
def extrema_of_rows_kernel(x, rows, columns, places, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(rows + r, tl.max(v, axis=1))
    tl.store(rows + M + r, tl.min(v, axis=1))
    tl.store(columns + c, tl.max(v, axis=0))
    tl.store(columns + N + c, tl.min(v, axis=0))
    tl.store(places + r, tl.argmax(v, axis=1))
    tl.store(places + M + r, tl.argmin(v, axis=1))
    tl.store(places + 2 * M + c, tl.argmax(v, axis=0))
    tl.store(places + 2 * M + N + c, tl.argmin(v, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_o07_rows_and_columns_skip_nan(run: Any, dtype: Any) -> None:
    m, n = 5, 41
    x = np.random.default_rng(0).integers(-9, 9, (m, n)).astype(dtype)
    x[:, ::3] = NAN
    x[2] = NAN
    x[:, 7] = NAN
    x[3, 11], x[4, 13] = INF, -INF
    rows, columns, places = np.zeros((2, m), dtype), np.zeros((2, n), dtype), np.zeros(2 * (m + n), np.int32)
    run(extrema_of_rows_kernel, x, rows, columns, places, M=m, N=n)
    np.testing.assert_array_equal(rows[0], np.fmax.reduce(x, axis=1))
    np.testing.assert_array_equal(rows[1], np.fmin.reduce(x, axis=1))
    np.testing.assert_array_equal(columns[0], np.fmax.reduce(x, axis=0))
    np.testing.assert_array_equal(columns[1], np.fmin.reduce(x, axis=0))
    low, high = np.where(np.isnan(x), -INF, x), np.where(np.isnan(x), INF, x)
    whole_rows, whole_columns = ~np.isnan(x).all(axis=1), ~np.isnan(x).all(axis=0)
    by_row, by_column = places[: 2 * m].reshape(2, m), places[2 * m :].reshape(2, n)
    np.testing.assert_array_equal(
        by_row[:, whole_rows], [low.argmax(1)[whole_rows], high.argmin(1)[whole_rows]]
    )
    np.testing.assert_array_equal(
        by_column[:, whole_columns], [low.argmax(0)[whole_columns], high.argmin(0)[whole_columns]]
    )


@xdsl.jit
def special_values_kernel(x, out, flags, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    # what arithmetic on numbers would simplify, and arithmetic on these must not
    tl.store(out + i, v + 0.0)
    tl.store(out + B + i, v * 0.0)
    tl.store(out + 2 * B + i, 0.0 - v)
    tl.store(out + 3 * B + i, v - v)
    tl.store(out + 4 * B + i, v / v)
    tl.store(out + 5 * B + i, (v - 0.0) * 1.0 + (-0.0))
    tl.store(out + 6 * B + i, -(-v))  # noqa: B002
    tl.store(out + 7 * B + i, tl.maximum(v, float("nan")))
    tl.store(flags + i, v == v)
    tl.store(flags + B + i, v != v)
    tl.store(flags + 2 * B + i, ~(v < 1.0))
    tl.store(flags + 3 * B + i, (v < 1.0) | (v >= 1.0))
    nan = tl.load(x + 3)
    tl.store(out + 8 * B, nan * 0.0)
    tl.store(out + 8 * B + 1, tl.load(x + 1) + 0.0)
    if nan < 1.0 or nan >= 1.0:
        tl.store(out + 8 * B + 2, 1.0)
    else:
        tl.store(out + 8 * B + 2, 2.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_o07_zeros_infinities_and_nan_in_arithmetic(run: Any, dtype: Any) -> None:
    x = np.array([0.0, -0.0, 1.0, NAN, INF, -INF, 6e-8, -2.5, 6e4], dtype)
    out, flags = np.zeros(8 * 9 + 3, dtype), np.zeros((4, 9), np.bool_)
    run(special_values_kernel, x, out, flags, B=9)
    zero = dtype(0)
    with np.errstate(all="ignore"):
        rows = [x + zero, x * zero, zero - x, x - x, x / x, x - zero + -zero, x, x]
    expected = np.concatenate([*rows, np.array([NAN, 0.0, 2.0], dtype)])
    np.testing.assert_array_equal(out, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[numbers]), np.signbit(expected[numbers]))
    np.testing.assert_array_equal(flags, [x == x, x != x, ~(x < 1), (x < 1) | (x >= 1)])


@xdsl.jit
def round_trip_kernel(x, narrow, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(narrow.dtype.element_ty)
    tl.store(narrow + i, v, mask=i < n)
    tl.store(out + i, v.to(tl.float32), mask=i < n)
    tl.store(out + n, tl.load(x + 1).to(narrow.dtype.element_ty).to(tl.float32))


def test_o08_bfloat16_rounds_to_nearest_even(run: Any) -> None:
    x = np.array([3.14, 1.00390625, 1.01171875, 1.005, -3.14, 3.4e38, 1e-40, NAN], np.float32)
    narrow, out = np.zeros(8, ml_dtypes.bfloat16), np.zeros(9, np.float32)
    run(round_trip_kernel, x, narrow, out, 8, B=8)
    expected = [3.140625, 1.0, 1.015625, 1.0078125, -3.140625, INF, 9.18355e-41, NAN]
    np.testing.assert_allclose(out[:8], expected, rtol=1e-6)
    np.testing.assert_array_equal(out[:8], x.astype(ml_dtypes.bfloat16).astype(np.float32))
    assert out[8] == 1.0


def neighbours(narrow: Any) -> tuple[Any, Any]:
    """Numbers of a format and the next larger ones, as float64: all of them, or some hundreds."""
    bits = f"u{np.dtype(narrow).itemsize}"
    every = np.arange(2 ** (8 * np.dtype(narrow).itemsize), dtype=np.uint32).astype(bits).view(narrow)
    with np.errstate(invalid="ignore"):
        found = np.unique(every.astype(np.float64)[np.isfinite(every)])
    chosen = np.arange(len(found) - 1)
    if len(found) > 300:
        middle = len(found) // 2
        chosen = np.r_[:80, middle // 3 : middle // 3 + 40, middle - 60 : middle + 60]
    return found[chosen], found[chosen + 1]


@pytest.mark.parametrize(("source", "little"), [(np.float32, 2.0**-11), (np.float64, 2.0**-40)])
@pytest.mark.parametrize("narrow", NARROW)
def test_o08_every_narrow_format_rounds_to_nearest_even(
    run: Any, narrow: Any, source: Any, little: float
) -> None:
    low, high = neighbours(narrow)
    ties = (low + high) / 2
    odd = low.astype(narrow).view(f"u{np.dtype(narrow).itemsize}") % 2 == 1
    further, nearer = np.where(low >= 0, high, low), np.where(low >= 0, low, high)
    x = np.concatenate([low, ties, ties * (1 + little), ties * (1 - little)])
    expected = np.concatenate([low, np.where(odd, high, low), further, nearer])
    exact = x.astype(source) == x
    x, expected = x[exact].astype(source), expected[exact]
    count = len(x)
    assert count > 500
    stored, out = np.zeros(count, narrow), np.zeros(count + 1, np.float32)
    run(round_trip_kernel, x, stored, out, count, B=1024)
    np.testing.assert_array_equal(stored.astype(np.float64), expected)
    np.testing.assert_array_equal(out[:-1].astype(np.float64), expected)
    assert out[-1] == expected[1]


@pytest.mark.parametrize("source", [np.int32, np.uint32, np.int64, np.uint64])
def test_o08_integers_are_rounded_once(run: Any, source: Any) -> None:
    bits = np.iinfo(source).bits - (np.iinfo(source).min < 0)
    # 256 is the first power of two whose bfloat16 neighbours are two apart
    powers = [2**k for k in range(8, bits)]
    x = [n for p in powers for n in (p + p // 256, p + p // 256 + 1, p + 3 * p // 256 - 1, p + 3 * p // 256)]
    x += [-n for n in x] if np.iinfo(source).min else []
    nearest = []
    for n in x:
        step = 1 << max(abs(n).bit_length() - 8, 0)
        below, rest = abs(n) // step, abs(n) % step
        up = 2 * rest > step or (2 * rest == step and below % 2 == 1)
        nearest.append(float((below + up) * step) * (1 if n > 0 else -1))
    count = len(x)
    stored, out = np.zeros(count, ml_dtypes.bfloat16), np.zeros(count + 1, np.float32)
    run(round_trip_kernel, np.array(x, source), stored, out, count, B=512)
    assert stored.astype(np.float64).tolist() == nearest
    assert out[-1] == nearest[1]


@pytest.mark.parametrize("narrow", NARROW)
def test_o08_infinities_nan_and_zeros(run: Any, narrow: Any) -> None:
    x = np.array([NAN, INF, -INF, 0.0, -0.0, 1e30, -1e30, 1e-30], np.float32)
    stored, out = np.zeros(8, narrow), np.zeros(9, np.float32)
    run(round_trip_kernel, x, stored, out, 8, B=8)
    np.testing.assert_array_equal(out[:8], stored.astype(np.float32))
    assert np.isnan(out[0])
    assert out[3:5].tobytes() == x[3:5].tobytes()
    if narrow is not ml_dtypes.float8_e4m3fn:
        assert out[[1, 2]].tolist() == [INF, -INF]


@xdsl.jit
def narrow_arithmetic_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v, w = tl.load(x + i, mask=i < n, other=1), tl.load(y + i, mask=i < n, other=1)
    tl.static_assert((v + w).dtype == v.dtype)
    tl.store(out + i, v + w, mask=i < n)
    tl.store(out + n + i, v * w, mask=i < n)
    tl.store(out + 2 * n + i, v - w, mask=i < n)
    tl.store(out + 3 * n + i, -v, mask=i < n)
    tl.store(out + 4 * n + i, (v + w) * v, mask=i < n)
    first, second = tl.load(x), tl.load(y)
    tl.store(out + 5 * n, (first + second) * first)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_o08_arithmetic_rounds_after_every_step(run: Any, dtype: Any) -> None:
    n = 53
    x, y = np.random.default_rng(1).standard_normal((2, n)).astype(dtype)
    out = np.zeros(5 * n + 1, dtype)
    run(narrow_arithmetic_kernel, x, y, out, n, B=64)
    expected = np.concatenate([x + y, x * y, x - y, -x, (x + y) * x, ((x + y) * x)[:1]])
    np.testing.assert_array_equal(out.astype(np.float32), expected.astype(np.float32))


@xdsl.jit
def scalars_kernel(
    out, a: tl.float16, b: tl.bfloat16, c: tl.float32, d: tl.float64, e: tl.int8, f: tl.uint64, g: tl.int1
):
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, d)
    tl.store(out + 4, e)
    tl.store(out + 5, f)
    tl.store(out + 6, g)
    tl.store(out + 7, a + 1)
    tl.store(out + 8, e * 2)
    tl.store(out + 9, f // 2)


def test_o08_scalar_arguments_are_numbers_of_their_type(run: Any) -> None:
    third = 1 / 3
    for value, integer, large, flag in ((third, 100, 2**64 - 1, True), (1 + 2**-8 + 2**-40, -128, 0, False)):
        out = np.zeros(10, np.float64)
        run(scalars_kernel, out, value, value, value, value, integer, large, flag)
        half = np.float16(value)
        brain = ml_dtypes.bfloat16(third) if value == third else 1 + 2.0**-7
        doubled = np.array(integer * 2).astype(np.int8)
        expected = [
            half,
            brain,
            np.float32(value),
            value,
            integer,
            large,
            flag,
            half + np.float16(1),
            doubled,
            large // 2,
        ]
        assert out.tolist() == [float(number) for number in expected]
