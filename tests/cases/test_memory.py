"""Cases O09 and O11 to O14: masks and `other`, gathers, strides of any sign, arguments that share memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import ExecutionError

NAN, INF = float("nan"), float("inf")
ELEMENTS = [
    np.float32,
    np.float64,
    np.float16,
    ml_dtypes.bfloat16,
    np.int8,
    np.uint16,
    np.int32,
    np.int64,
    np.bool_,
]


@xdsl.jit
def other_kernel(x, n, largest, filled, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(largest, tl.max(tl.load(x + i, mask=i < n, other=-float("inf")), axis=0))
    tl.store(filled + i, tl.load(x + i, mask=i < n, other=float("nan")))
    tl.store(filled + B, tl.load(x + n, mask=n < 0, other=float("nan")))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_o09_other_fills_the_masked_lanes(run: Any, dtype: Any) -> None:
    x = np.array([-5, -3, -9, -4, -7, 99, 99, 99], dtype)
    for n in (5, 8, 0):
        largest, filled = np.zeros(1, dtype), np.zeros(9, dtype)
        run(other_kernel, x, n, largest, filled, B=8)
        assert largest[0] == (-3 if n == 5 else 99 if n else -INF)
        np.testing.assert_array_equal(filled.astype(float), [*x[:n].astype(float), *[NAN] * (9 - n)])


@xdsl.jit
def no_other_kernel(x, n, largest, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(largest, tl.max(tl.load(x + i, mask=i < n), axis=0))


def test_o09_twin_without_other_is_reported_or_at_least_not_right_by_luck(backend: str, run: Any) -> None:
    x, largest = np.array([-5, -3, -9, -4, -7, 99, 99, 99], np.float32), np.zeros(1, np.float32)
    if backend != "reference":
        run(no_other_kernel, x, 5, largest, B=8)
        assert largest[0] != -3
        return
    with pytest.raises(ExecutionError) as caught:
        run(no_other_kernel, x, 5, largest, B=8)
    assert caught.value.diagnostics[0].code == "X0403"
    text = str(caught.value)
    assert "tl.store(largest, tl.max(tl.load(x + i, mask=i < n), axis=0))" in text
    assert "`other`" in text


def test_o09_no_other_needed_where_every_lane_is_read(run: Any) -> None:
    x, largest = np.array([-5, -3, -9, -4, -7, -1, -8, -6], np.float32), np.zeros(1, np.float32)
    run(no_other_kernel, x, 8, largest, B=8)
    assert largest[0] == -1


@xdsl.jit
def others_kernel(x, y, n, m, scale, out, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = r * N + c
    inside = (r < m) & (c < n)
    filler = tl.load(y + at)
    tl.store(out + at, tl.load(x + at, mask=inside, other=filler))
    tl.store(out + M * N + at, tl.load(x + at, mask=inside, other=scale))
    # a row and a column as `other`, and a mask that is no rectangle
    tl.store(out + 2 * M * N + at, tl.load(x + at, mask=inside, other=tl.load(y + c)))
    tl.store(out + 3 * M * N + at, tl.load(x + at, mask=c <= r, other=tl.load(y + r * N)))
    tl.store(out + 4 * M * N + at, tl.load(x + at, mask=(c + r) % 2 == 0, other=-r))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.float16])
@pytest.mark.parametrize("shape", [(3, 40), (5, 1), (1, 7)])
def test_o09_every_kind_of_other(run: Any, dtype: Any, shape: tuple[int, int]) -> None:
    m, n = shape
    x, y = np.random.default_rng(0).integers(0, 100, (2, m, n)).astype(dtype)
    rows, columns = max(m - 1, 1), max(n - 3, 1)
    out = np.zeros((5, m, n), dtype)
    run(others_kernel, x, y, columns, rows, 5, out, M=m, N=n)
    r, c = np.arange(m)[:, None], np.arange(n)[None, :]
    inside = (r < rows) & (c < columns)
    expected = [
        np.where(inside, x, y),
        np.where(inside, x, dtype(5)),
        np.where(inside, x, y[:1]),
        np.where(c <= r, x, y[:, :1]),
        np.where((c + r) % 2 == 0, x, (-r).astype(dtype)),
    ]
    np.testing.assert_array_equal(out, expected)


@xdsl.jit
def mask_of_ones_kernel(x, out, rows, columns, N: tl.constexpr):
    r = tl.program_id(0) + tl.arange(0, 1)[:, None]
    c = tl.arange(0, N)[None, :]
    mask = (r < rows) & (c < columns)
    tl.store(out + r * N + c, tl.load(x + r * N + c, mask=mask), mask=mask)


def test_o11_mask_with_an_extent_of_one(run: Any) -> None:
    x, out = np.arange(24, dtype=np.float32).reshape(3, 8), np.full((3, 8), -1.0, np.float32)
    run(mask_of_ones_kernel, x, out, 2, 6, grid=(3,), N=8)
    assert out.tolist() == [[0, 1, 2, 3, 4, 5, -1, -1], [8, 9, 10, 11, 12, 13, -1, -1], [-1] * 8]


@xdsl.jit
def masked_block_kernel(x, out, rows, columns, first, M: tl.constexpr, N: tl.constexpr):
    r = first + tl.arange(0, M)[:, None]
    c = tl.arange(0, N)[None, :]
    mask = (r >= 0) & (r < rows) & (c < columns) & (c >= 1)
    v = tl.load(x + r * N + c, mask=mask, other=0)
    tl.store(out + r * N + c, v + v, mask=mask)
    only_rows = (r >= 0) & (r < rows)
    tl.store(out + r * N, tl.sum(v, axis=1, keep_dims=True), mask=only_rows)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (8, 1), (1, 1000), (33, 1), (3, 5), (4, 37)])
def test_o11_masks_of_every_shape(run: Any, shape: tuple[int, int]) -> None:
    m, n = shape
    x = np.arange(1, m * n + 1, dtype=np.int32).reshape(m, n)
    for first in (0, -1, m - 1):
        out = np.full((m, n), -1, np.int32)
        run(masked_block_kernel, x, out, m, max(n - 1, 1), first, M=m, N=n)
        expected = np.full((m, n), -1, np.int32)
        rows, columns = slice(max(first, 0), m + min(first, 0)), slice(1, max(n - 1, 1))
        expected[rows, columns] = 2 * x[rows, columns]
        expected[rows, 0] = x[rows, columns].sum(axis=1)
        np.testing.assert_array_equal(out, expected)


@xdsl.jit
def gather_kernel(idx, x, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + j * stride, mask=i < n, other=-1))


@pytest.mark.parametrize("width", [np.int32, np.int64, np.uint32, np.int16, np.uint8])
def test_o12_gather_with_a_garbage_tail(run: Any, width: Any) -> None:
    garbage = min(777777, np.iinfo(width).max)
    idx = np.array([9, 0, 0, 4, 2, garbage, garbage, garbage], width)
    out = np.zeros(8, np.float32)
    run(gather_kernel, idx, np.arange(100, 130, dtype=np.float32), out, 5, 3, B=8)
    assert out.tolist() == [127, 100, 100, 112, 106, -1, -1, -1]


@xdsl.jit
def indirect_kernel(idx, x, gathered, scattered, rows, n, B: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, B)
    inside = i < n
    j = tl.load(idx + i, mask=inside, other=-(10**9))
    v = tl.load(x + j, mask=inside, other=0)
    tl.store(gathered + i, v, mask=inside)
    # the index follows a loaded value that follows an index
    k = tl.load(idx + tl.load(idx + i, mask=inside, other=0), mask=inside, other=10**9)
    tl.store(gathered + n + i, tl.load(x + k, mask=inside, other=0), mask=inside)
    tl.store(scattered + j, v, mask=inside)
    # whole rows by index
    c = tl.arange(0, N)[None, :]
    picked = tl.load(x + (j * N)[:, None] + c, mask=inside[:, None] & (j * N < n)[:, None], other=0)
    tl.store(rows + i[:, None] * N + c, picked, mask=inside[:, None])
    last = tl.load(idx + n - 1)
    tl.store(scattered + last, tl.load(x + last))


@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("n", [3, 40])
def test_o12_gather_and_scatter(run: Any, dtype: Any, n: int) -> None:
    block, width = 1 << (n - 1).bit_length(), 3
    generator = np.random.default_rng(n)
    idx = np.full(block, 2**30, np.int32)
    idx[:n] = generator.permutation(n)
    x = generator.integers(0, 100, n + width).astype(dtype)
    gathered, scattered = np.zeros((2, n), dtype), np.zeros(n, dtype)
    rows = np.zeros((n, width), dtype)
    run(indirect_kernel, idx, x, gathered, scattered, rows, n, B=block, N=width)
    j = idx[:n]
    np.testing.assert_array_equal(gathered, [x[j], x[j[j]]])
    expected = np.zeros(n, dtype)
    expected[j] = x[j]
    expected[j[-1]] = x[j[-1]]
    np.testing.assert_array_equal(scattered, expected)
    places = j[:, None] * width + np.arange(width)
    np.testing.assert_array_equal(
        rows, np.where(j[:, None] * width < n, x[np.minimum(places, n + 2)], dtype(0))
    )


@xdsl.jit
def strided_kernel(x, out, sm, sn, m, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    inside = (r < m) & (c < n)
    v = tl.load(x + r * sm + c * sn, mask=inside, other=0)
    tl.store(out + r * n + c, v * 10, mask=inside)


def elements(view: Any) -> tuple[int, ...]:
    return tuple(stride // view.itemsize for stride in view.strides)


def test_o13_transposed_and_reversed_views(run: Any) -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    out = np.zeros((4, 2), np.float32)
    run(strided_kernel, x.T, out, *elements(x.T), 4, 2, M=4, N=2)
    assert out.tolist() == [[0, 40], [10, 50], [20, 60], [30, 70]]
    reverse = np.arange(8, dtype=np.float32)[::-1].reshape(4, 2)
    assert elements(reverse) == (-2, -1)
    run(strided_kernel, reverse, out, -2, -1, 4, 2, M=4, N=2)
    assert out.tolist() == [[70, 60], [50, 40], [30, 20], [10, 0]]


VIEWS = {
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "rows reversed": lambda a: a[::-1],
    "columns reversed": lambda a: a[:, ::-1],
    "both reversed": lambda a: a[::-1, ::-1],
    "transposed and reversed": lambda a: a.T[::-1, ::-1],
    "every second": lambda a: a[::2, ::3],
    "every second backwards": lambda a: a[::-2, ::-3],
    "one row again and again": lambda a: np.broadcast_to(a[1], a.shape),
    "one column again and again": lambda a: np.broadcast_to(a[:, 1:2], a.shape),
}


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float64, np.float16])
def test_o13_views_of_every_kind(run: Any, dtype: Any) -> None:
    a = np.random.default_rng(0).integers(-12, 12, (9, 37)).astype(dtype)
    for name, view_of in VIEWS.items():
        view = view_of(a)
        out = np.zeros(view.shape, dtype)
        run(strided_kernel, view, out, *elements(view), *view.shape, M=64, N=64)
        np.testing.assert_array_equal(out, view * dtype(10), err_msg=name)


@xdsl.jit
def scatter_view_kernel(x, out, sm, sn, m, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    inside = (r < m) & (c < n)
    tl.store(out + r * sm + c * sn, tl.load(x + r * n + c, mask=inside, other=0), mask=inside)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float64])
def test_o13_stores_to_views_of_every_kind(run: Any, dtype: Any) -> None:
    for name, view_of in list(VIEWS.items())[:8]:
        out, expected = np.full((9, 37), -1, dtype), np.full((9, 37), -1, dtype)
        view = view_of(out)
        x = np.random.default_rng(1).integers(0, 100, view.shape).astype(dtype)
        run(scatter_view_kernel, x, view, *elements(view), *view.shape, M=64, N=64)
        view_of(expected)[...] = x
        np.testing.assert_array_equal(out, expected, err_msg=name)


@xdsl.jit
def write_one_name_kernel(a, b):
    tl.store(a, 1.0)


@xdsl.jit
def add_one_kernel(a, b, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(a + i, tl.load(b + i, mask=i < n) + 1, mask=i < n)


def test_o14_the_same_buffer_twice(run: Any) -> None:
    x = np.zeros(1, np.float32)
    run(write_one_name_kernel, x, x)
    assert x[0] == 1.0
    x = np.array([1, 2, 3, 4], np.float32)
    run(add_one_kernel, x, x, 4, B=4)
    assert x.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64])
def test_o14_overlapping_slices(run: Any, dtype: Any) -> None:
    for n, block in ((4, 4), (7, 8), (100, 128), (1000, 1024)):
        for shift in (1, 3):
            for reads_ahead in (False, True):
                base = np.random.default_rng(n).integers(0, 90, n + shift).astype(dtype)
                expected = base.copy()
                a, b = base[:-shift], base[shift:]
                if reads_ahead:
                    expected[:-shift] = base[shift:] + dtype(1)
                    run(add_one_kernel, a, b, n, B=block)
                else:
                    expected[shift:] = base[:-shift] + dtype(1)
                    run(add_one_kernel, b, a, n, B=block)
                np.testing.assert_array_equal(base, expected)


@xdsl.jit
def shift_kernel(x, n, by, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(x + by + i, v + 1, mask=i < n)
    # what the first store wrote is what this load sees
    w = tl.load(x + i, mask=i < n, other=0)
    tl.store(x + i, w + v, mask=i < n)


def test_o14_one_pointer_at_two_offsets(run: Any) -> None:
    for n in (5, 64, 100):
        for by in (1, 2, 40):
            x = np.arange(n + by, dtype=np.int32)
            expected = x.copy()
            v = expected[:n].copy()
            expected[by : by + n] = v + 1
            expected[:n] += v
            run(shift_kernel, x, n, by, B=128)
            np.testing.assert_array_equal(x, expected)


@xdsl.jit
def swap_kernel(a, b, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v, w = tl.load(a + i, mask=i < n), tl.load(b + i, mask=i < n)
    tl.store(a + i, w, mask=i < n)
    tl.store(b + i, v, mask=i < n)


@xdsl.jit
def transpose_in_place_kernel(x, n, N: tl.constexpr):
    r, c = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    inside = (r < n) & (c < n)
    v = tl.load(x + r * n + c, mask=inside, other=0)
    tl.store(x + c * n + r, v, mask=inside)


@xdsl.jit
def reverse_in_place_kernel(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + n - 1 - i, tl.load(x + i, mask=i < n), mask=i < n)


@xdsl.jit
def permute_in_place_kernel(x, idx, n, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    tl.store(x + i, tl.load(x + j, mask=i < n), mask=i < n)


def test_o14_a_tile_is_read_before_it_is_overwritten(run: Any) -> None:
    x = np.arange(100, dtype=np.int32)
    expected = x.copy()
    expected[:50], expected[50:] = x[50:], x[:50]
    run(swap_kernel, x[:50], x[50:], 50, B=64)
    np.testing.assert_array_equal(x, expected)

    x = np.arange(37 * 37, dtype=np.float32).reshape(37, 37)
    expected = x.T.copy()
    run(transpose_in_place_kernel, x, 37, N=64)
    np.testing.assert_array_equal(x, expected)

    x = np.arange(77, dtype=np.int16)
    expected = x[::-1].copy()
    run(reverse_in_place_kernel, x, 77, B=128)
    np.testing.assert_array_equal(x, expected)

    idx = np.random.default_rng(0).permutation(77).astype(np.int32)
    expected = x[idx]
    run(permute_in_place_kernel, x, idx, 77, B=128)
    np.testing.assert_array_equal(x, expected)


@xdsl.jit
def running_kernel(x, out, steps, B: tl.constexpr):
    i = tl.arange(0, B)
    # each pass reads what the one before wrote, one element further on
    for k in range(steps):
        tl.store(x + 1 + i, tl.load(x + i) + k)
    total = tl.sum(tl.load(x + i))
    tl.store(x, total)
    tl.store(out, tl.load(x + 1) + tl.load(x))


@pytest.mark.parametrize("aliased", [False, True])
def test_o14_loops_see_what_they_wrote(run: Any, aliased: bool) -> None:
    n, steps = 40, 5
    x = np.arange(n + 1, dtype=np.int32)
    out = x[n:] if aliased else np.zeros(1, np.int32)
    expected = x.copy()
    for k in range(steps):
        expected[1:] = expected[:-1] + k
    expected[0] = expected[:-1].sum()
    run(running_kernel, x, out, steps, B=n)
    if aliased:
        expected[n] = expected[1] + expected[0]
    else:
        assert out[0] == expected[1] + expected[0]
    np.testing.assert_array_equal(x, expected)


@xdsl.jit
def moving_pointers_kernel(x, y, out, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    p, q = x + i, y + i
    acc = tl.zeros([B], x.dtype.element_ty)
    for k in range(n):
        acc += (tl.load(p) * (k + 1)).to(acc.dtype)
        p, q = q + stride, p + stride
    tl.store(out + i, acc)
    # each lane may read from another array
    chosen = tl.where(i % 3 == 0, x + i, y + i * 2)
    tl.store(out + B + i, tl.load(chosen, mask=i < n * 4, other=5))
    row = x + 1
    if n > 2:
        row = y
    tl.store(out + 2 * B + i, tl.load(row + i) - tl.load(row))
    # two arrays take turns as source and destination
    source, destination = x, y
    for k in range(n):
        tl.store(destination + i, tl.load(source + i) + k)
        source, destination = destination, source
    step = x + n
    while step < x + B:
        tl.store(step, -1)
        step += stride + 1
    tl.store(chosen, acc, mask=i % 2 == 0)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
@pytest.mark.parametrize(("n", "aliased"), [(0, False), (1, False), (4, False), (3, True)])
def test_o12_pointers_that_move(run: Any, dtype: Any, n: int, aliased: bool) -> None:
    block, stride = 19, 2
    x = np.random.default_rng(0).integers(-4, 4, 64).astype(dtype)
    y = x[5:] if aliased else np.random.default_rng(1).integers(-4, 4, 64).astype(dtype)
    base = x.copy()
    a = base
    b = base[5:] if aliased else y.copy()
    out = np.zeros((3, block), dtype)
    run(moving_pointers_kernel, x, y, out, n, stride, B=block)

    i = np.arange(block)
    acc = np.zeros(block, dtype)
    for k in range(n):
        acc += (a, b)[k % 2][i + k * stride] * dtype(k + 1)
    first = i % 3 == 0
    chosen = np.where(i < n * 4, np.where(first, a[i], b[i * 2]), dtype(5))
    row = b if n > 2 else a[1:]
    np.testing.assert_array_equal(out, [acc, chosen, row[i] - row[0]])
    arrays = [a, b]
    for k in range(n):
        arrays[1][i] = arrays[0][i] + dtype(k)
        arrays.reverse()
    a[n:block:3] = -1
    even = i % 2 == 0
    a[i[first & even]] = acc[first & even]
    b[i[~first & even] * 2] = acc[~first & even]
    np.testing.assert_array_equal(x, a)
    np.testing.assert_array_equal(y, b)


@xdsl.jit
def scalar_memory_kernel(x, out, n):
    total = tl.load(x) * 0
    k = 0
    # follows a list of indices, one element after the other
    while k < n:
        value = tl.load(x + k)
        tl.store(out + k, value + total)
        total += tl.load(out + k)
        k += 1
    tl.store(x + n - 1, total)
    last = tl.load(x + n - 1, mask=n > 3, other=17)
    tl.store(out + n, last, mask=n > 1)
    tl.store(out + n + 10**6, last, mask=n < 0)
    for k in range(n):
        tl.store(x + k, tl.load(x + n - 1 - k))


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint64, np.float64, np.float32])
def test_o12_one_element_at_a_time(run: Any, dtype: Any) -> None:
    for n in (1, 2, 6):
        x, out = np.arange(1, n + 1, dtype=dtype), np.zeros(n + 1, dtype)
        a, b, total = x.copy(), out.copy(), dtype(0)
        run(scalar_memory_kernel, x, out, n)
        for k in range(n):
            b[k] = a[k] + total
            total = total + b[k]
        a[n - 1] = total
        if n > 1:
            b[n] = total if n > 3 else 17
        for k in range(n):
            a[k] = a[n - 1 - k]
        np.testing.assert_array_equal(x, a)
        np.testing.assert_array_equal(out, b)


@xdsl.jit
def copy_kernel(x, out, wide, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i * stride, mask=i < n, other=1.5)
    tl.store(out + i, v, mask=i < n)
    tl.store(out + 2 * n + (n - 1 - i) * 2, v, mask=i < n)
    j = (i * 7) % n
    tl.store(out + n + i, tl.load(x + j * stride, mask=i < n), mask=i < n)
    tl.store(wide + i, v.to(tl.float32))
    tl.store(wide + B, tl.load(x + stride).to(tl.float32) + tl.sum(v.to(tl.float32)))
    tl.store(wide + B + 1, tl.load(x, mask=n < 0, other=-2.0).to(tl.float32))


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
)
def test_o09_narrow_floats_in_memory(run: Any, dtype: Any) -> None:
    for n, block, stride in ((5, 8, 1), (33, 64, 3)):
        x = np.random.default_rng(0).integers(-8, 8, n * stride).astype(np.float32).astype(dtype)
        out, wide = np.zeros(4 * n, dtype), np.zeros(block + 2, np.float32)
        run(copy_kernel, x, out, wide, n, stride, B=block)
        v = x[::stride].astype(np.float32)
        found = out.astype(np.float32)
        np.testing.assert_array_equal(found[:n], v)
        np.testing.assert_array_equal(found[n : 2 * n], v[np.arange(n) * 7 % n])
        np.testing.assert_array_equal(found[2 * n :: 2], v[::-1])
        filled = np.concatenate([v, np.full(block - n, 1.5, np.float32)])
        np.testing.assert_array_equal(wide, [*filled, v[1] + filled.sum(), -2])
