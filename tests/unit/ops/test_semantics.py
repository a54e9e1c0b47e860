"""Numbers that say what the ops mean: the rules that implementations get wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xdsl_core import dtypes, ops
from xdsl_core.ops._regions import combining

Apply = Callable[..., Any]
nan, inf = float("nan"), float("inf")


def i32(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def f32(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def test_integers_wrap(apply: Apply) -> None:
    assert apply(ops.Add, i32(2**31 - 1), i32(1)).tolist() == [-(2**31)]
    assert apply(ops.Sub, np.array([0], np.uint8), np.array([1], np.uint8)).tolist() == [255]
    assert apply(ops.Mul, i32(319), i32(7864320)).tolist() == [-1786249216]
    assert apply(ops.Neg, np.array([-128], np.int8)).tolist() == [-128]
    assert apply(ops.Abs, np.array([-128, -5], np.int8)).tolist() == [-128, 5]


def test_scalars_stay_scalars(apply: Apply) -> None:
    found = apply(ops.Add, np.int64(2**62), np.int64(2**62))
    assert found.shape == ()
    assert found == -(2**63)


def test_integer_division_truncates(apply: Apply) -> None:
    left, right = i32(-7, 7, -7, 7, -(2**31), 0), i32(2, -2, -2, 2, -1, 5)
    assert apply(ops.Div, left, right).tolist() == [-3, -3, 3, 3, -(2**31), 0]
    assert apply(ops.Rem, left, right).tolist() == [-1, 1, -1, 1, 0, 0]
    unsigned = np.array([2**32 - 1, 2**31, 7, 0], np.uint32)
    assert apply(ops.Div, unsigned, np.full(4, 2, np.uint32)).tolist() == [2**31 - 1, 2**30, 3, 0]
    assert apply(ops.Rem, unsigned, np.full(4, 10, np.uint32)).tolist() == [5, 8, 7, 0]


def test_division_by_zero(apply: Apply) -> None:
    assert apply(ops.Div, i32(5), i32(0)).shape == (1,)  # undefined, but no trap
    found = apply(ops.Div, f32(1, -1, 0), f32(0, 0, 0))
    assert found[:2].tolist() == [inf, -inf]
    assert np.isnan(found[2])
    assert np.isnan(apply(ops.Rem, f32(1), f32(0))).all()


def test_shifts(apply: Apply) -> None:
    assert apply(ops.Shr, i32(-8, 8), i32(1, 1)).tolist() == [-4, 4]
    assert apply(ops.Shr, np.array([2**31], np.uint32), np.array([31], np.uint32)).tolist() == [1]
    assert apply(ops.Shl, np.array([1, -1], np.int8), np.array([7, 1], np.int8)).tolist() == [-128, -2]


def test_high_half_of_a_product(apply: Apply) -> None:
    top = np.array([2**64 - 1], np.uint64)
    assert apply(ops.MulHi, top, top).tolist() == [2**64 - 2]
    assert apply(ops.MulHi, np.array([-(2**63)], np.int64), np.array([2], np.int64)).tolist() == [-1]
    assert apply(ops.MulHi, np.uint32(0xD2511F53), np.uint32(0xFFFFFFFF)) == 0xD2511F52


def test_minimum_and_maximum_of_nan(apply: Apply) -> None:
    a, b = f32(nan, 1, nan, 2), f32(1, nan, nan, 3)
    np.testing.assert_array_equal(apply(ops.Max, a, b), [1, 1, nan, 3])
    np.testing.assert_array_equal(apply(ops.Min, a, b), [1, 1, nan, 2])
    np.testing.assert_array_equal(apply(ops.Max, a, b, propagate_nan=True), [nan, nan, nan, 3])
    np.testing.assert_array_equal(apply(ops.Min, a, b, propagate_nan=True), [nan, nan, nan, 2])


def test_clamp(apply: Apply) -> None:
    low, high = np.full(6, -128, np.float32), np.full(6, 127, np.float32)
    numbers = f32(510, -200, inf, -inf, nan, 1.5)
    np.testing.assert_array_equal(apply(ops.Clamp, numbers, low, high), [127, -128, 127, -128, -128, 1.5])
    kept = apply(ops.Clamp, numbers, low, high, propagate_nan=True)
    np.testing.assert_array_equal(kept, [127, -128, 127, -128, nan, 1.5])


def test_comparisons_of_nan_and_zeros(apply: Apply) -> None:
    a, b = f32(nan, 0.0, 1, nan), f32(nan, -0.0, nan, 1)
    results = {d.name: apply(d, a, b).tolist() for d in (ops.Eq, ops.Ne, ops.Lt, ops.Le, ops.Gt, ops.Ge)}
    assert results == {
        "tile.eq": [False, True, False, False],
        "tile.ne": [True, False, True, True],
        "tile.lt": [False, False, False, False],
        "tile.le": [False, True, False, False],
        "tile.gt": [False, False, False, False],
        "tile.ge": [False, True, False, False],
    }
    assert apply(ops.Gt, np.array([2**31], np.uint32), np.array([1], np.uint32)).tolist() == [True]


def test_float32_to_bfloat16(apply: Apply) -> None:
    numbers = f32(3.14, 1.00390625, 1.01171875, 1.005, -3.14, 3.4e38, 1e-40, nan)
    found = apply(ops.Cast, numbers, to=dtypes.bf16).astype(np.float32)
    expected = f32(3.140625, 1.0, 1.015625, 1.0078125, -3.140625, inf, 9.18355e-41, nan)
    np.testing.assert_array_equal(found, expected)


def test_float_to_integer(apply: Apply) -> None:
    assert apply(ops.Cast, f32(-2.9, 2.9, -0.5, 7), to=dtypes.i32).tolist() == [-2, 2, 0, 7]
    assert apply(ops.Cast, np.array([-1, -128, 5, 127], np.int8), to=dtypes.u8).tolist() == [255, 128, 5, 127]


def test_to_bool_means_not_zero(apply: Apply) -> None:
    assert apply(ops.Cast, i32(256, -1, 0, 3), to=dtypes.i1).tolist() == [True, True, False, True]
    assert apply(ops.Cast, f32(0.5, -0.0, nan), to=dtypes.i1).tolist() == [True, False, True]
    assert apply(ops.Cast, np.array([True, False]), to=dtypes.f32).tolist() == [1.0, 0.0]


def test_fp8_saturates(apply: Apply) -> None:
    numbers = f32(1e6, -1e6, inf, nan, 448, 465)
    found = apply(ops.Cast, numbers, to=dtypes.f8e4m3fn).astype(np.float32)
    np.testing.assert_array_equal(found, f32(448, -448, 448, nan, 448, 448))
    wide = apply(ops.Cast, numbers, to=dtypes.f8e5m2).astype(np.float32)
    np.testing.assert_array_equal(wide, f32(57344, -57344, inf, nan, 448, 448))


def test_round_toward_zero(apply: Apply) -> None:
    numbers = f32(1.9999, -1.9999, 3.4e38)
    found = apply(ops.Cast, numbers, to=dtypes.f16, rounding="rtz").astype(np.float64)
    assert found.tolist() == [1.9990234375, -1.9990234375, 65504.0]


def test_bits(apply: Apply) -> None:
    assert apply(ops.BitCast, f32(1.0, -0.0), to=dtypes.u32).tolist() == [0x3F800000, 0x80000000]
    assert apply(ops.BitCast, np.array([0x7C00], np.uint16), to=dtypes.f16).tolist() == [inf]
    found = apply(ops.BitCast, np.array([1.5], ml_dtypes.bfloat16), to=dtypes.i16)
    assert found.tolist() == [0x3FC0]


def test_f16_arithmetic_rounds_once(apply: Apply) -> None:
    a, b = np.array([2048], np.float16), np.array([1], np.float16)
    assert apply(ops.Add, a, b).tolist() == [2048]
    assert apply(ops.Mul, np.array([60000], np.float16), np.array([2], np.float16)).tolist() == [inf]


def test_functions_at_their_edges(apply: Apply) -> None:
    np.testing.assert_array_equal(apply(ops.Log, f32(0, -1, inf)), [-inf, nan, inf])
    np.testing.assert_array_equal(apply(ops.Rsqrt, f32(0.0, -0.0, inf, 4, -1)), [inf, -inf, 0, 0.5, nan])
    np.testing.assert_array_equal(apply(ops.Exp, f32(-inf, inf, 1000, -1000)), [0, inf, inf, 0])
    rounded = apply(ops.Round, f32(0.5, 1.5, 2.5, -0.5))
    assert rounded.tolist() == [0, 2, 2, 0]
    assert np.signbit(rounded[3])
    assert np.signbit(apply(ops.Erf, f32(-0.0)))[0]
    assert apply(ops.Pow, f32(1.0, nan), f32(nan, 0.0)).tolist() == [1.0, 1.0]


def test_reductions_skip_nan(apply: Apply) -> None:
    numbers = f32(nan, 6, 8, 2)
    assert apply(ops.ReduceMax, numbers, axis=0) == 8
    assert apply(ops.ReduceMin, numbers, axis=0) == 2
    assert np.isnan(apply(ops.ReduceMax, numbers, axis=0, propagate_nan=True))
    assert np.isnan(apply(ops.ReduceMax, f32(nan, nan), axis=0))
    assert np.isnan(apply(ops.ReduceSum, numbers, axis=0))


def test_reductions_along_axes(apply: Apply) -> None:
    table = np.arange(8, dtype=np.int32).reshape(4, 2)
    assert apply(ops.ReduceSum, table, axis=1).tolist() == [1, 5, 9, 13]
    assert apply(ops.ReduceSum, table, axis=0).tolist() == [12, 16]
    assert apply(ops.ReduceSum, i32(3, -1, 7, 0).reshape(4, 1), axis=1).tolist() == [3, -1, 7, 0]
    assert apply(ops.ReduceSum, np.full(300, 1, np.int8), axis=0) == 44
    assert apply(ops.ReduceXor, np.array([True, True, True]), axis=0)


def test_arguments_of_extremes(apply: Apply) -> None:
    value, index = apply(ops.ArgMax, f32(nan, 3, 7, 7, -inf), axis=0)
    assert (value, index) == (7, 2)
    value, index = apply(ops.ArgMin, f32(nan, 0.0, -0.0), axis=0)
    assert (value, index) == (0, 1)
    value, index = apply(ops.ArgMax, f32(nan, nan), axis=0)
    assert np.isnan(value)
    assert index == 0
    value, index = apply(ops.ArgMax, f32(nan, -inf), axis=0)
    assert (value, index) == (-inf, 1)


def test_reduce_goes_from_left_to_right(apply: Apply) -> None:
    table = np.array([[1, 2, 3], [10, 20, 30]], np.int32)
    found = apply(ops.Reduce, table, axis=1, regions={"combine": combining("i32", ops.Sub)})
    assert found.tolist() == [1 - 2 - 3, 10 - 20 - 30]


def test_scans(apply: Apply) -> None:
    assert apply(ops.CumSum, i32(1, 2, 3, 4), axis=0, reverse=True).tolist() == [10, 9, 7, 4]
    suffixes = apply(ops.CumSum, f32(*[1e8] * 4, *[1] * 4), axis=0, reverse=True)
    assert suffixes[4:].tolist() == [4, 3, 2, 1]
    table = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    assert apply(ops.CumProd, table, axis=0).tolist() == [[1, 2, 3], [4, 10, 18]]
    regions = {"combine": combining("i32", ops.Sub)}
    assert apply(ops.Scan, table, axis=1, regions=regions).tolist() == [[1, -1, -4], [4, -1, -7]]
    backwards = apply(ops.Scan, table, axis=1, reverse=True, regions=regions)
    assert backwards.tolist() == [[0, 1, 3], [-3, 1, 6]]


def test_dot_of_bytes_accumulates_in_i32(apply: Apply) -> None:
    a = np.array([[-44, -20], [-126, 6]], np.int8)
    b = np.array([[24, -75], [127, -101]], np.int8)
    zero = np.zeros((2, 2), np.int32)
    assert apply(ops.Dot, a, b, zero).tolist() == [[-3596, 5320], [-2262, 8844]]
    large = np.full((2, 2), 2**31 - 1, np.int32)
    assert apply(ops.Dot, a, b, large).tolist() == [[2147480051, -2147478329], [2147481385, -2147474805]]


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (2, 4, 8), (4, 8, 2), (8, 8, 8)])
def test_small_dots_are_exact(apply: Apply, m: int, n: int, k: int) -> None:
    a = np.arange(m * k, dtype=np.float32).reshape(m, k)
    b = np.arange(k * n, dtype=np.float32).reshape(k, n)
    np.testing.assert_array_equal(apply(ops.Dot, a, b, np.zeros((m, n), np.float32)), a @ b)


def test_batched_dot(apply: Apply) -> None:
    a = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    b = np.arange(40, dtype=np.float64).reshape(2, 4, 5)
    np.testing.assert_array_equal(apply(ops.Dot, a, b, np.ones((2, 3, 5))), a @ b + 1)


def test_shape_ops(apply: Apply) -> None:
    table = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    np.testing.assert_array_equal(apply(ops.Permute, table, order=(2, 0, 1)), table.transpose(2, 0, 1))
    np.testing.assert_array_equal(apply(ops.Reshape, table, shape=(4, 6)), table.reshape(4, 6))
    np.testing.assert_array_equal(apply(ops.ExpandDims, table, axis=3), table[..., None])
    row = table[:1, :1]
    np.testing.assert_array_equal(apply(ops.Broadcast, row, shape=(5, 2, 4)), np.broadcast_to(row, (5, 2, 4)))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16], ids=["f32", "f64", "f16"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "sqrt"])
def test_arithmetic_is_that_of_numpy_in_the_dtype(apply: Apply, name: str, kind: type) -> None:
    generator = np.random.default_rng(4)
    numbers = [
        (generator.normal(0, 1, 500) * 10.0 ** generator.integers(-7, 3, 500)).astype(kind) for _ in "ab"
    ]
    native = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}[name]
    operands = [np.abs(numbers[0])] if name == "sqrt" else numbers
    with np.errstate(all="ignore"):
        expected = native(*operands)
    np.testing.assert_array_equal(apply(ops.CORE[f"tile.{name}"], *operands), expected)
