"""Cases from people who write tile kernels, with the outputs they expect."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.language.running import build, run
from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.python.source import JitSource

NAN, INF = float("nan"), float("inf")


def divide(v, d, quotient, rest):
    i = tl.arange(0, 8)
    x = tl.load(v + i)
    y = tl.load(d)
    tl.store(quotient + i, x // y)
    tl.store(rest + i, x % y)


@pytest.mark.parametrize(
    ("divisor", "quotient", "rest"),
    [
        (2, [-3, -3, 0, 0, 0, 3, 3, 4], [-1, 0, -1, 0, 1, 0, 1, 0]),
        (-2, [3, 3, 0, 0, 0, -3, -3, -4], [-1, 0, -1, 0, 1, 0, 1, 0]),
        (3, [-2, -2, 0, 0, 0, 2, 2, 2], [-1, 0, -1, 0, 1, 0, 1, 2]),
    ],
)
def test_division_rounds_toward_zero(divisor: int, quotient: list[int], rest: list[int]) -> None:
    values = np.array([-7, -6, -1, 0, 1, 6, 7, 8], np.int32)
    found = np.zeros((2, 8), np.int32)
    run(divide, values, np.array([divisor], np.int32), found[0], found[1])
    assert found.tolist() == [quotient, rest]


def test_cdiv_divides_toward_zero_too() -> None:
    def kernel(a, out):
        tl.store(out, tl.cdiv(tl.load(a), 5))

    out = np.zeros(1, np.int32)
    run(kernel, np.array([-36], np.int32), out)
    assert out[0] == -6


def test_narrow_integers_and_bools_are_summed_wide() -> None:
    def kernel(x, u, s, out):
        i = tl.arange(0, 16)
        tl.store(out, tl.sum(tl.load(x + i)))
        tl.store(out + 1, tl.sum(tl.load(u + i)))
        tl.store(out + 2, tl.sum(tl.load(s + i) > 0))

    out = np.zeros(3, np.int32)
    signs = np.array([1, 2, -3, 4] * 4, np.int32)
    run(kernel, np.full(16, 100, np.int8), np.full(16, 200, np.uint8), signs, out)
    assert out.tolist() == [1600, 3200, 12]


def test_python_numbers_do_not_widen() -> None:
    def kernel(u, s, w, out_u, out_s, half, shifted_u, shifted_s, out_w):
        i = tl.arange(0, 4)
        tl.store(out_u + i, tl.load(u + i) + 100)
        tl.store(out_s + i, tl.load(s + i) + 100)
        tl.static_assert((tl.load(u + i) + 0.5).dtype == tl.float32)
        tl.store(half + i, tl.load(u + i) + 0.5)
        tl.store(shifted_u + i, (tl.load(u + i) << 4) >> 4)
        tl.store(shifted_s + i, (tl.load(s + i) << 4) >> 4)
        v = tl.load(w + i)
        tl.store(out_w + i, v // 2)
        tl.store(out_w + 4 + i, v % 10)

    u, s = np.array([200, 0, 155, 156], np.uint8), np.array([100, 0, 27, 28], np.int8)
    w = np.array([4294967295, 2147483648, 7, 0], np.uint32)
    out_u, out_s, half = np.zeros(4, np.uint8), np.zeros(4, np.int8), np.zeros(4, np.float32)
    shifted_u, shifted_s, out_w = np.zeros(4, np.uint8), np.zeros(4, np.int8), np.zeros(8, np.uint32)
    run(kernel, u, s, w, out_u, out_s, half, shifted_u, shifted_s, out_w)
    assert out_u.tolist() == [44, 100, 255, 0]
    assert out_s.tolist() == [-56, 100, 127, -128]
    assert half.tolist() == [200.5, 0.5, 155.5, 156.5]
    assert out_w.tolist() == [2147483647, 1073741824, 3, 0, 5, 8, 7, 0]
    s[:] = [8, 7, -1, 16]
    u[:] = [48, 0xF5, 15, 255]
    run(kernel, u, s, w, out_u, out_s, half, shifted_u, shifted_s, out_w)
    assert shifted_u.tolist() == [0, 5, 15, 15]
    assert shifted_s.tolist() == [-8, 7, -1, 0]


def test_products_of_int32_wrap_until_one_side_is_wide() -> None:
    def kernel(x, stride, out):
        i = tl.load(x)
        tl.store(out, (i * stride).to(tl.int64))
        tl.store(out + 1, i.to(tl.int64) * stride)

    out = np.zeros(2, np.int64)
    run(kernel, np.array([319], np.int32), np.int32(7864320), out)
    assert out.tolist() == [-1786249216, 2508718080]


def test_bools_in_memory() -> None:
    def kernel(v, positive, nonzero, m, seen):
        i = tl.arange(0, 4)
        x = tl.load(v + i)
        tl.store(positive + i, x > 0)
        tl.store(nonzero + i, x)
        acc = tl.full([4], 0, tl.int1)
        for r in range(2):
            acc = acc | tl.load(m + r * 4 + i)
        tl.store(seen + i, acc)

    outs = [np.zeros(4, np.bool_) for _ in range(3)]
    rows = np.array([[0, 1, 0, 0], [0, 0, 0, 1]], np.bool_)
    run(kernel, np.array([256, -1, 0, 3], np.int32), outs[0], outs[1], rows, outs[2])
    assert [out.view(np.uint8).tolist() for out in outs] == [[1, 0, 0, 1], [1, 1, 0, 1], [0, 1, 0, 1]]


def test_float_to_integer() -> None:
    def kernel(x, y, z, out, portable, unsigned):
        i, j = tl.arange(0, 4), tl.arange(0, 8)
        tl.store(out + i, tl.load(x + i).to(tl.int32))
        v = tl.load(y + j)
        v = tl.clamp(tl.where(v == v, v, 0.0), -128.0, 127.0)
        tl.store(portable + j, v.to(tl.int8))
        tl.store(unsigned + i, tl.load(z + i).to(tl.int8).to(tl.uint8))

    x = np.array([-2.9, 2.9, -0.5, 7], np.float32)
    y = np.array([510, -200, INF, -INF, NAN, 1.9, -1.9, 127.4], np.float32)
    out, portable, unsigned = np.zeros(4, np.int32), np.zeros(8, np.int8), np.zeros(4, np.uint8)
    run(kernel, x, y, np.array([-1, -128, 5, 127], np.int32), out, portable, unsigned)
    assert out.tolist() == [-2, 2, 0, 7]
    assert portable.tolist() == [127, -128, 127, -128, 0, 1, -1, 127]
    assert unsigned.tolist() == [255, 128, 5, 127]


def test_nan_loses_unless_asked_to_win() -> None:
    def kernel(a, b, c, out):
        i = tl.arange(0, 4)
        x, y = tl.load(a + i), tl.load(b + i)
        tl.store(out + i, tl.maximum(x, y))
        tl.store(out + 4 + i, tl.minimum(x, y))
        tl.store(out + 8 + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
        tl.store(out + 12, tl.max(tl.load(c + i), axis=0))
        tl.store(out + 13, tl.min(tl.load(c + i), axis=0))

    out = np.zeros(14, np.float32)
    a, b = np.array([NAN, 1, NAN, 2], np.float32), np.array([1, NAN, NAN, 3], np.float32)
    run(kernel, a, b, np.array([NAN, 6, 8, 2], np.float32), out)
    expected = [1, 1, NAN, 3, 1, 1, NAN, 2, NAN, NAN, NAN, 3, 8, 2]
    np.testing.assert_array_equal(out, np.array(expected, np.float32))


def test_bfloat16_rounds_to_nearest_even() -> None:
    def kernel(x, out):
        i = tl.arange(0, 8)
        tl.store(out + i, tl.load(x + i).to(tl.bfloat16).to(tl.float32))

    x = np.array([3.14, 1.00390625, 1.01171875, 1.005, -3.14, 3.4e38, 1e-40, NAN], np.float32)
    out = np.zeros(8, np.float32)
    run(kernel, x, out)
    expected = [3.140625, 1.0, 1.015625, 1.0078125, -3.140625, INF, 9.18355e-41, NAN]
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert x.astype(ml_dtypes.bfloat16).astype(np.float32).tobytes() == out.tobytes()


def test_other_fills_masked_lanes() -> None:
    def kernel(x, n, out, filled):
        i = tl.arange(0, 8)
        tl.store(out, tl.max(tl.load(x + i, mask=i < n, other=-float("inf")), axis=0))
        tl.store(filled + i, tl.load(x + i, mask=i < n, other=float("nan")))

    x = np.array([-5, -3, -9, -4, -7, 99, 99, 99], np.float32)
    out, filled = np.zeros(1, np.float32), np.zeros(8, np.float32)
    run(kernel, x, 5, out, filled)
    assert out[0] == -3
    np.testing.assert_array_equal(filled, [-5, -3, -9, -4, -7, NAN, NAN, NAN])


def test_mask_with_an_extent_of_one() -> None:
    def kernel(x, out):
        r = tl.program_id(0) + tl.arange(0, 1)[:, None]
        c = tl.arange(0, 8)[None, :]
        mask = (r < 2) & (c < 6)
        tl.store(out + r * 8 + c, tl.load(x + r * 8 + c, mask=mask), mask=mask)

    out = np.full((3, 8), -1.0, np.float32)
    run(kernel, np.arange(24, dtype=np.float32).reshape(3, 8), out, grid=(3,))
    assert out.tolist() == [[0, 1, 2, 3, 4, 5, -1, -1], [8, 9, 10, 11, 12, 13, -1, -1], [-1.0] * 8]


def test_gather_with_a_garbage_tail() -> None:
    def kernel(idx, x, out):
        i = tl.arange(0, 8)
        j = tl.load(idx + i, mask=i < 5, other=0)
        tl.store(out + i, tl.load(x + j * 3, mask=i < 5, other=-1))

    idx = np.array([9, 0, 0, 4, 2, 777777, 777777, 777777], np.int32)
    out = np.zeros(8, np.float32)
    run(kernel, idx, np.arange(100, 130, dtype=np.float32), out)
    assert out.tolist() == [127, 100, 100, 112, 106, -1, -1, -1]


def test_the_same_buffer_twice() -> None:
    def kernel(a, b):
        i = tl.arange(0, 4)
        tl.store(a + i, tl.load(b + i) + 1)

    x = np.array([1, 2, 3, 4], np.float32)
    run(kernel, x, x)
    assert x.tolist() == [2, 3, 4, 5]


def test_reverse_cumulative_sum() -> None:
    def kernel(x, y, out, wide):
        i, j = tl.arange(0, 4), tl.arange(0, 8)
        tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0, reverse=True))
        tl.store(wide + j, tl.cumsum(tl.load(y + j), 0, reverse=True))

    out, wide = np.zeros(4, np.int32), np.zeros(8, np.float32)
    run(kernel, np.array([1, 2, 3, 4], np.int32), np.array([1e8] * 4 + [1] * 4, np.float32), out, wide)
    assert out.tolist() == [10, 9, 7, 4]
    assert wide[4:].tolist() == [4, 3, 2, 1]


def test_axes_of_reductions() -> None:
    def kernel(x, y, last, kept, total, rows, everything):
        r = tl.arange(0, 4)
        a = tl.load(x + r[:, None])
        b = tl.load(y + r[:, None] * 2 + tl.arange(0, 2)[None, :])
        tl.store(last + r, tl.sum(a, axis=-1))
        tl.store(kept + r[:, None], tl.sum(a, axis=1, keep_dims=True))
        tl.store(total, tl.sum(a))
        tl.store(rows + r, b.sum(axis=1))
        tl.store(everything, tl.sum(b))

    outs = [np.zeros(n, np.int32) for n in (4, 4, 1, 4, 1)]
    run(kernel, np.array([3, -1, 7, 0], np.int32), np.arange(8, dtype=np.int32), *outs)
    assert [out.tolist() for out in outs] == [[3, -1, 7, 0], [3, -1, 7, 0], [9], [1, 5, 9, 13], [28]]


def test_int8_dot_sums_in_int32() -> None:
    def kernel(a, b, out):
        i = tl.arange(0, 16)
        where = i[:, None] * 16 + i[None, :]
        c = tl.dot(tl.load(a + where), tl.load(b + where))
        tl.static_assert(c.dtype == tl.int32)
        tl.store(out + where, c)

    a, b, out = np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int32)
    a[:2, :2] = [[-44, -20], [-126, 6]]
    b[:2, :2] = [[24, -75], [127, -101]]
    run(kernel, a, b, out)
    assert out[:2, :2].tolist() == [[-3596, 5320], [-2262, 8844]]
    assert not out[2:].any()


@pytest.mark.parametrize("extents", [(1, 1, 1), (2, 4, 8), (4, 8, 2), (8, 8, 8)])
def test_small_dot(extents: tuple[int, int, int]) -> None:
    def kernel(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
        m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
        x = tl.load(a + m[:, None] * K + k[None, :])
        y = tl.load(b + k[:, None] * N + n[None, :])
        tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision="ieee"))

    m, n, k = extents
    a, b = np.arange(m * k, dtype=np.float32).reshape(m, k), np.arange(k * n, dtype=np.float32).reshape(k, n)
    out = np.zeros((m, n), np.float32)
    run(kernel, a, b, out, m, n, k)
    np.testing.assert_array_equal(out, a @ b)


@pytest.mark.parametrize(
    ("n", "expected", "last"),
    [(0, [7, 7, 7, 7], -1), (-3, [7, 7, 7, 7], -1), (1, [7, 8, 9, 10], 0), (2, [11, 13, 15, 17], 1)],
)
def test_loop_that_runs_no_time(n: int, expected: list[float], last: int) -> None:
    def kernel(x, n, out, out_last):
        i = tl.arange(0, 4)
        acc = tl.full([4], 7.0, tl.float32)
        last = -1
        for k in range(n):
            acc += tl.load(x + k * 4 + i)
            last = k
        tl.store(out + i, acc)
        tl.store(out_last, last)

    out, out_last = np.zeros(4, np.float32), np.zeros(1, np.int32)
    run(kernel, np.arange(8, dtype=np.float32), n, out, out_last)
    assert out.tolist() == expected
    assert out_last[0] == last


def test_carried_variable_must_keep_its_type() -> None:
    def kernel(x, n):
        acc = tl.zeros([8], tl.float16)
        for k in range(n):
            acc += tl.load(x + k * 8 + tl.arange(0, 8))
        tl.store(x + tl.arange(0, 8), acc)

    with pytest.raises(CompilationError) as caught:
        build(kernel, np.zeros(8, np.float32), 2)
    (problem,) = caught.value.diagnostics
    assert problem.code == "X0125"
    assert problem.label == "acc is tile<8xf32> here, but tile<8xf16> before the loop"
    text = str(caught.value)
    assert "acc += tl.load" in text
    assert "acc = tl.zeros([8], tl.float16)" in text


def test_early_return() -> None:
    def kernel(x, n, out, B: tl.constexpr):
        pid = tl.program_id(0)
        if pid * B >= n:
            return
        i = pid * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    out = np.full(16, -1, np.float32)
    run(kernel, np.arange(16, dtype=np.float32), 6, out, 4, grid=(4,))
    assert out.tolist() == [1, 2, 3, 4, 5, 6] + [-1] * 10


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 0, 0], -1), ([1, 0, 2], 1), ([0, 0, 0], 1), ([1, 5, 0], 1)]
)
def test_chained_or(values: list[int], expected: int) -> None:
    def kernel(x, out):
        a, b, c = tl.load(x) != 1, tl.load(x + 1) != 0, tl.load(x + 2) != 0
        if not (a or b or c):
            tl.store(out, -1)
        else:
            tl.store(out, 1)

    out = np.zeros(1, np.int32)
    run(kernel, np.array(values, np.int32), out)
    assert out[0] == expected


def test_none_arguments_and_short_circuit() -> None:
    def kernel(x, bias, out):
        i = tl.arange(0, 4)
        v = tl.load(x + i)
        if (bias is not None) and (bias.dtype.element_ty == tl.float32):
            v += tl.load(bias + i)
        tl.store(out + i, v)

    x, out = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    run(kernel, x, None, out)
    assert out.tolist() == [1, 2, 3, 4]
    run(kernel, x, np.full(4, 10, np.float32), out)
    assert out.tolist() == [11, 12, 13, 14]


def _divide_helper(a, b=3, W: tl.constexpr = 1):
    return a // b, (a % b) * W


divide_helper = JitSource(_divide_helper)


def test_helpers_with_defaults_and_keywords() -> None:
    def kernel(x, out):
        i = tl.arange(0, 4)
        v = tl.load(x + i)
        first, second = divide_helper(v)
        tl.store(out + i, 100 * first + second)
        pair = divide_helper(v, W=10, b=4)
        tl.store(out + 4 + i, 100 * pair[0] + pair[1])
        divide_helper(v)

    out = np.zeros(8, np.int32)
    run(kernel, np.array([0, 5, 7, 11], np.int32), out)
    assert out.tolist() == [0, 102, 201, 302, 0, 110, 130, 230]


def test_extents_that_are_no_powers_of_two() -> None:
    def kernel(x, out, total):
        i = tl.arange(0, 48)
        tl.store(out + i, i * 2)
        tl.store(total, tl.sum(tl.load(x + i), axis=0))

    out, total = np.zeros(48, np.int32), np.zeros(1, np.float32)
    run(kernel, np.ones(48, np.float32), out, total)
    assert out[-1] == 94
    assert total[0] == 48


def test_atomic_add_with_equal_indices() -> None:
    def kernel(bins, count, old):
        i = tl.arange(0, 8)
        tl.store(old + i, tl.atomic_add(count + tl.load(bins + i), 1))

    bins = np.array([0, 1, 0, 0, 3, 1, 0, 3], np.int32)
    count, old = np.zeros(4, np.int32), np.zeros(8, np.int32)
    run(kernel, bins, count, old)
    assert count.tolist() == [4, 2, 0, 2]
    assert [sorted(old[bins == k].tolist()) for k in (0, 1, 3)] == [[0, 1, 2, 3], [0, 1], [0, 1]]


def test_masked_atomic() -> None:
    def kernel(memory, out):
        i = tl.arange(0, 8)
        m = i < 5
        old = tl.atomic_add(memory + i, 10, mask=m)
        tl.store(out + i, tl.where(m, old, -1))

    memory, out = np.arange(1, 9, dtype=np.int32), np.zeros(8, np.int32)
    run(kernel, memory, out)
    assert memory.tolist() == [11, 12, 13, 14, 15, 6, 7, 8]
    assert out.tolist() == [1, 2, 3, 4, 5, -1, -1, -1]
