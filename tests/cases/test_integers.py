"""Cases O01 to O05: division, narrow integers, wrap-around, bools in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl

SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)


@xdsl.jit
def divide_kernel(x, divisor, quotient, rest, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    d = tl.load(divisor)
    tl.store(quotient + i, v // d, mask=i < n)
    tl.store(rest + i, v % d, mask=i < n)


@pytest.mark.parametrize("dtype", SIGNED)
def test_o01_division_rounds_toward_zero(run: Any, dtype: Any) -> None:
    x = np.array([-7, -6, -1, 0, 1, 6, 7, 8], dtype)
    for divisor, quotients, rests in (
        (2, [-3, -3, 0, 0, 0, 3, 3, 4], [-1, 0, -1, 0, 1, 0, 1, 0]),
        (-2, [3, 3, 0, 0, 0, -3, -3, -4], [-1, 0, -1, 0, 1, 0, 1, 0]),
        (3, [-2, -2, 0, 0, 0, 2, 2, 2], [-1, 0, -1, 0, 1, 0, 1, 2]),
    ):
        found = np.zeros((2, 8), dtype)
        run(divide_kernel, x, np.array([divisor], dtype), found[0], found[1], 8, B=8)
        assert found.tolist() == [quotients, rests]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_o01_division_over_the_whole_range(run: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min + 1, info.max // 3, info.max - 1, info.max, 100, 7], dtype)
    for divisor in (1, 3, 7, info.max, info.max // 2 + 1, *((info.min, -5) if info.min else ())):
        found = np.zeros((2, 7), dtype)
        run(divide_kernel, x, np.array([divisor], dtype), found[0], found[1], 7, B=8)
        exact = [abs(v) // abs(divisor) * (1 if (v < 0) == (divisor < 0) else -1) for v in x.tolist()]
        assert found[0].tolist() == exact
        assert found[1].tolist() == [v - divisor * q for v, q in zip(x.tolist(), exact, strict=True)]


@xdsl.jit
def divide_lanes_kernel(x, y, quotient, rest, scalar_quotient, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v, d = tl.load(x + i, mask=i < n, other=7), tl.load(y + i, mask=i < n, other=0)
    tl.store(quotient + i, v // d, mask=i < n)
    tl.store(rest + i, v % d, mask=i < n)
    if n > 4:
        first, last = tl.load(x), tl.load(y + 1)
        tl.store(scalar_quotient, first // last)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_o01_dividing_lanes_that_do_not_count_by_zero_is_harmless(run: Any, dtype: Any) -> None:
    x, y = np.array([9, -9, 10, 100, 3], np.int64).astype(dtype), np.array([4, 4, 3, 7, 5], dtype)
    quotient, rest, scalar = np.zeros(5, dtype), np.zeros(5, dtype), np.zeros(1, dtype)
    run(divide_lanes_kernel, x, y, quotient, rest, scalar, 5, B=16)
    whole = np.trunc(x.astype(np.longdouble) / y.astype(np.longdouble)).astype(dtype)
    np.testing.assert_array_equal(quotient, whole)
    np.testing.assert_array_equal(rest, x - whole * y)
    assert scalar[0] == 2


@xdsl.jit
def cdiv_kernel(a, b, out):
    tl.store(out, tl.cdiv(tl.load(a), tl.load(b)))


def test_o01_cdiv_rounds_toward_zero_where_the_sum_is_negative(run: Any) -> None:
    for a, b, expected in ((-36, 5, -6), (36, 5, 8), (35, 5, 7), (0, 5, 0), (1, 5, 1)):
        out = np.zeros(1, np.int32)
        run(cdiv_kernel, np.array([a], np.int32), np.array([b], np.int32), out)
        assert out[0] == expected


@xdsl.jit
def narrow_sums_kernel(x, out, rows, columns, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out, tl.sum(v))
    tl.store(out + 1, tl.sum(v > 1))
    grid = tl.load(x + tl.arange(0, N // 4)[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.store(rows + tl.arange(0, N // 4), tl.sum(grid, axis=1))
    tl.store(columns + tl.arange(0, 4), tl.sum(grid, axis=0))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64])
def test_o02_narrow_integers_and_bools_are_summed_in_32_bits(run: Any, dtype: Any) -> None:
    wide: Any = dtype if np.dtype(dtype).itemsize > 4 else np.int32 if dtype in SIGNED else np.uint32
    for x in (
        np.full(16, 100, dtype),
        np.full(16, 200, np.int64).astype(dtype),
        np.array([1, 2, -3, 4] * 4, np.int64).astype(dtype),
    ):
        out, rows, columns = np.zeros(2, wide), np.zeros(4, wide), np.zeros(4, wide)
        run(narrow_sums_kernel, x, out, rows, columns, N=16)
        assert out.tolist() == [x.sum(dtype=wide), (x > 1).sum()]
        assert rows.tolist() == x.reshape(4, 4).sum(axis=1, dtype=wide).tolist()
        assert columns.tolist() == x.reshape(4, 4).sum(axis=0, dtype=wide).tolist()


@xdsl.jit
def sums_of_the_case_kernel(x, u, s, out):
    i = tl.arange(0, 16)
    tl.store(out, tl.sum(tl.load(x + i)))
    tl.store(out + 1, tl.sum(tl.load(u + i)))
    tl.store(out + 2, tl.sum(tl.load(s + i) > 0))
    tl.store(out + 3, tl.sum(tl.load(x + i), dtype=tl.int8))


def test_o02_values_of_the_case(run: Any) -> None:
    out, signs = np.zeros(4, np.int32), np.array([1, 2, -3, 4] * 4, np.int32)
    run(sums_of_the_case_kernel, np.full(16, 100, np.int8), np.full(16, 200, np.uint8), signs, out)
    assert out.tolist() == [1600, 3200, 12, 1600 - 6 * 256]


@xdsl.jit
def python_numbers_kernel(x, added, half, shifted, quotient, rest, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.static_assert((v + 100).dtype == v.dtype)
    tl.static_assert((v << 4).dtype == v.dtype)
    tl.static_assert((v + 0.5).dtype == tl.float32)
    tl.store(added + i, v + 100)
    tl.store(half + i, v + 0.5)
    tl.store(shifted + i, (v << 4) >> 4)
    tl.store(quotient + i, v // 2)
    tl.store(rest + i, v % 10)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_o03_python_numbers_do_not_widen(run: Any, dtype: Any) -> None:
    bits = np.dtype(dtype).itemsize * 8
    x = np.array([200, 0, 155, 156, 48, 0xF5, 15, 255, 8, 7, -1, 16, 100, 27, 28], np.int64).astype(dtype)
    added, shifted, quotient, rest = (np.zeros(15, dtype) for _ in range(4))
    half = np.zeros(15, np.float32)
    run(python_numbers_kernel, x, added, half, shifted, quotient, rest, N=15)
    assert (
        added.tolist() == (x.astype(object) + 100 & (1 << bits) - 1).astype(np.uint64).astype(dtype).tolist()
    )
    np.testing.assert_array_equal(half, (x.astype(np.float32) + np.float32(0.5)))
    assert shifted.tolist() == ((x << dtype(4)) >> dtype(4)).tolist()
    truncated = [abs(v) // 2 * (-1 if v < 0 else 1) for v in x.tolist()]
    assert quotient.tolist() == truncated
    assert rest.tolist() == [abs(v) % 10 * (-1 if v < 0 else 1) for v in x.tolist()]


def test_o03_values_of_the_case(run: Any) -> None:
    def outputs(values: list[int], dtype: Any) -> list[Any]:
        x = np.array(values, np.int64).astype(dtype)
        outs = [np.zeros(4, d) for d in (dtype, np.float32, dtype, dtype, dtype)]
        run(python_numbers_kernel, x, *outs, N=4)
        return [out.tolist() for out in outs]

    added, half, *_ = outputs([200, 0, 155, 156], np.uint8)
    assert (added, half) == ([44, 100, 255, 0], [200.5, 0.5, 155.5, 156.5])
    assert outputs([100, 0, 27, 28], np.int8)[0] == [-56, 100, 127, -128]
    assert outputs([48, 0xF5, 15, 255], np.uint8)[2] == [0, 5, 15, 15]
    assert outputs([8, 7, -1, 16], np.int8)[2] == [-8, 7, -1, 0]
    quotient, rest = outputs([4294967295, 2147483648, 7, 0], np.uint32)[3:]
    assert (quotient, rest) == ([2147483647, 1073741824, 3, 0], [5, 8, 7, 0])


@xdsl.jit
def narrow_chain_kernel(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v, w = tl.load(x + i), tl.load(y + i)
    # a C compiler would compute each of these in int if nothing cut it back
    tl.store(out + i, (v + w) // 3)
    tl.store(out + B + i, (v * w) >> 1)
    tl.store(out + 2 * B + i, tl.where(v - w < 0, v - w, w - v))
    tl.store(out + 3 * B + i, (-v) // 2)
    tl.store(out + 4 * B + i, (~v) % 7)
    tl.store(out + 5 * B + i, tl.maximum(v + w, v) - tl.minimum(v * 3, w))
    first, second = tl.load(x), tl.load(y)
    tl.store(out + 6 * B, (first + second) // 3)
    tl.store(out + 6 * B + 1, (first * second) >> 1)
    tl.store(out + 6 * B + 2, (-first) // 2)
    tl.store(out + 6 * B + 3, (~first) % 7)


def c_quotient(x: Any, y: int) -> Any:
    """Division rounding toward zero in x's own dtype."""
    return np.array([abs(v) // y * (-1 if v < 0 else 1) for v in x.tolist()]).astype(x.dtype)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_o03_every_step_is_cut_back_to_the_narrow_type(run: Any, dtype: Any) -> None:
    info, n = np.iinfo(dtype), 37
    generator = np.random.default_rng(3)
    x, y = generator.integers(info.min, info.max, (2, n), dtype, endpoint=True)
    x[0], y[0] = info.max, info.max // 2 + 5
    out = np.zeros(6 * n + 4, dtype)
    run(narrow_chain_kernel, x, y, out, B=n)
    with np.errstate(all="ignore"):
        expected = [
            c_quotient(x + y, 3),
            (x * y) >> dtype(1),
            np.where(x - y < 0, x - y, y - x),
            c_quotient(np.negative(x), 2),
            np.fmod(~x, dtype(7)),
            np.maximum(x + y, x) - np.minimum(x * dtype(3), y),
        ]
    np.testing.assert_array_equal(out[: 6 * n].reshape(6, n), expected)
    assert out[6 * n :].tolist() == [expected[k][0] for k in (0, 1, 3, 4)]


@xdsl.jit
def wrap_kernel(x, stride, out):
    i = tl.load(x)
    tl.store(out, (i * stride).to(tl.int64))
    tl.store(out + 1, i.to(tl.int64) * stride)
    tile = tl.load(x + tl.arange(0, 1))
    tl.store(out + 2 + tl.arange(0, 1), (tile * stride).to(tl.int64))
    tl.store(out + 3 + tl.arange(0, 1), tile.to(tl.int64) * stride)


def test_o04_products_of_int32_wrap_until_one_side_is_wide(run: Any) -> None:
    out = np.zeros(4, np.int64)
    run(wrap_kernel, np.array([319], np.int32), 7864320, out)
    assert out.tolist() == [-1786249216, 2508718080] * 2


@xdsl.jit
def wide_index_kernel(x, out, stride, start, n, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.program_id(0)
    # start and row * stride are far outside of 32 bits, their sum is not
    wide_rows = tl.full([B], 1, tl.int64) * (row + 3)
    tl.store(out + row * B + i, tl.load(x + (start + wide_rows * stride + i), mask=i < n, other=-1.0))
    offset = start + (row.to(tl.int64) + 3) * stride
    tl.store(out + (row + 2) * B + i, tl.load(x + offset + i, mask=i < n, other=-1.0))


def test_o04_indices_of_64_bits(run: Any) -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros((4, 8), np.float32)
    for stride in (2**33, -(2**33)):
        run(wide_index_kernel, x, out, stride + 9, 1 - 3 * stride, 7, grid=(1,), B=8)
        assert out[::2].tolist() == [[*range(28, 35), -1]] * 2


@xdsl.jit
def bools_kernel(v, positive, nonzero, m, seen, scalar, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(v + i)
    tl.store(positive + i, x > 0)
    tl.store(nonzero + i, x)
    acc = tl.full([B], 0, tl.int1)
    for r in range(2):
        acc = acc | tl.load(m + r * B + i)
    tl.store(seen + i, acc)
    tl.store(scalar, tl.load(v))
    tl.store(scalar + 1, tl.load(v + 2))
    tl.store(scalar + 2, tl.load(m + 1) & (tl.load(v) > 0))


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint64, np.float32, np.float16])
def test_o05_bools_are_bytes_of_0_and_1(run: Any, dtype: Any) -> None:
    outs = [np.zeros(4, np.bool_) for _ in range(3)]
    scalars = np.ones(3, np.bool_)
    rows = np.array([[0, 1, 0, 0], [0, 0, 0, 1]], np.bool_)
    values = np.array([256 if np.dtype(dtype).itemsize > 1 else 16, -1, 0, 3], np.float64)
    with np.errstate(invalid="ignore"):
        x = values.astype(np.int64).astype(dtype)
    run(bools_kernel, x, *outs[:2], rows, outs[2], scalars, B=4)
    found = [out.view(np.uint8).tolist() for out in (*outs, scalars)]
    assert found == [[1, int(x[1] > 0), 0, 1], [1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 1]]


@xdsl.jit
def foreign_bools_kernel(m, copied, negated, counted, n, B: tl.constexpr):
    i = tl.arange(0, B)
    b = tl.load(m + i, mask=i < n, other=True)
    tl.store(copied + i, b, mask=i < n)
    tl.store(negated + i, ~b, mask=i < n)
    tl.store(counted + i, b.to(tl.int8) + 1, mask=i < n)
    tl.store(counted + n, tl.sum(b & (i < n)))


def test_o05_any_nonzero_byte_is_true(run: Any) -> None:
    m = np.array([255, 0, 2, 1, 128], np.uint8).view(np.bool_)
    copied, negated, counted = np.zeros(5, np.bool_), np.zeros(5, np.bool_), np.zeros(6, np.int8)
    run(foreign_bools_kernel, m, copied, negated, counted, 5, B=8)
    assert copied.view(np.uint8).tolist() == [1, 0, 1, 1, 1]
    assert negated.view(np.uint8).tolist() == [0, 1, 0, 0, 0]
    assert counted.tolist() == [2, 1, 2, 2, 2, 4]


@xdsl.jit
def high_product_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.umulhi(tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n)), mask=i < n)
    tl.store(out + n, tl.umulhi(tl.load(x + 1), tl.load(y + 2)))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_high_halves_of_products_are_unsigned(run: Any, dtype: Any) -> None:
    info, n = np.iinfo(dtype), 21
    x, y = np.random.default_rng(0).integers(info.min, info.max, (2, n), dtype)
    out = np.zeros(n + 1, dtype)
    run(high_product_kernel, x, y, out, n, B=32)
    pairs = [*zip(x.tolist(), y.tolist(), strict=True), (x.tolist()[1], y.tolist()[2])]
    modulus = 1 << info.bits
    assert [v % modulus for v in out.tolist()] == [
        (a % modulus) * (b % modulus) >> info.bits for a, b in pairs
    ]
