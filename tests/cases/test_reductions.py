"""Cases O15, O16 and O27: scans from the end, axes of reductions, extents that are no powers of two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import CompilationError


def line_of(text: str) -> int:
    """The number of the only line of this file that is `text`."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    return number


@xdsl.jit
def reverse_sum_kernel(x, y, out, wide):
    i, j = tl.arange(0, 4), tl.arange(0, 8)
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0, reverse=True))
    tl.store(wide + j, tl.cumsum(tl.load(y + j), 0, reverse=True))


def test_o15_reverse_cumulative_sum(run: Any) -> None:
    out, wide = np.zeros(4, np.int32), np.zeros(8, np.float32)
    run(
        reverse_sum_kernel,
        np.array([1, 2, 3, 4], np.int32),
        np.array([1e8] * 4 + [1] * 4, np.float32),
        out,
        wide,
    )
    assert out.tolist() == [10, 9, 7, 4]
    assert wide[4:].tolist() == [4, 3, 2, 1]


@xdsl.jit
def add_pairs(a, b, c, d):
    return a + c, b * d


@xdsl.jit
def scans_kernel(x, out, products, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = r * N + c
    v = tl.load(x + at, mask=c < n, other=0)
    size = M * N
    tl.store(out + at, tl.cumsum(v, axis=0))
    tl.store(out + size + at, tl.cumsum(v, axis=1))
    tl.store(out + 2 * size + at, tl.cumsum(v, axis=0, reverse=True))
    tl.store(out + 3 * size + at, tl.cumsum(v, axis=-1, reverse=True))
    signs = tl.where(v > 2, -1, 1).to(v.dtype)
    sums, product = tl.associative_scan((v, signs), 1, add_pairs)
    tl.store(out + 4 * size + at, sums)
    tl.store(products + at, product)
    tl.store(products + size + at, tl.cumprod(signs, axis=0, reverse=True))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint32])
@pytest.mark.parametrize("shape", [(1, 9), (7, 1), (5, 33)])
def test_o15_scans_along_every_axis(run: Any, dtype: Any, shape: tuple[int, int]) -> None:
    m, n = shape
    x = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
    out, products = np.zeros((5, m, n), dtype), np.zeros((2, m, n), dtype)
    run(scans_kernel, x, out, products, max(n - 2, 1), M=m, N=n)
    v = np.where(np.arange(n) < max(n - 2, 1), x, dtype(0))
    signs = np.where(v > 2, -1, 1).astype(dtype)
    expected = [
        v.cumsum(0),
        v.cumsum(1),
        v[::-1].cumsum(0)[::-1],
        v[:, ::-1].cumsum(1)[:, ::-1],
        v.cumsum(1),
    ]
    np.testing.assert_array_equal(out, np.array(expected).astype(dtype))
    np.testing.assert_array_equal(
        products, np.array([signs.cumprod(1), signs[::-1].cumprod(0)[::-1]]).astype(dtype)
    )


@xdsl.jit
def axes_kernel(x, y, last, kept, total, rows, everything):
    r = tl.arange(0, 4)
    a = tl.load(x + r[:, None])
    b = tl.load(y + r[:, None] * 2 + tl.arange(0, 2)[None, :])
    tl.store(last + r, tl.sum(a, axis=-1))
    tl.store(kept + r[:, None], tl.sum(a, axis=1, keep_dims=True))
    tl.store(total, tl.sum(a))
    tl.store(rows + r, b.sum(axis=1))
    tl.store(everything, tl.sum(b))


def test_o16_axes_of_reductions(run: Any) -> None:
    outs = [np.zeros(n, np.int32) for n in (4, 4, 1, 4, 1)]
    run(axes_kernel, np.array([3, -1, 7, 0], np.int32), np.arange(8, dtype=np.int32), *outs)
    assert [out.tolist() for out in outs] == [[3, -1, 7, 0], [3, -1, 7, 0], [9], [1, 5, 9, 13], [28]]


@xdsl.jit
def every_axis_kernel(x, out, flags, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    tl.store(out + b[:, None] * C + c[None, :], tl.sum(v, axis=0))
    out += B * C
    tl.store(out + a[:, None] * C + c[None, :], tl.max(v, axis=1))
    out += A * C
    tl.store(out + a[:, None] * B + b[None, :], tl.min(v, axis=-1))
    out += A * B
    kept = tl.sum(v, axis=1, keep_dims=True)
    tl.static_assert(kept.shape == [A, 1, C])
    tl.store(out + a[:, None, None] * C + c[None, None, :], kept)
    out += A * C
    tl.store(out + a, tl.sum(tl.max(v, axis=2), axis=1))
    out += A
    tl.store(out + c, tl.max(tl.sum(v, axis=1), axis=0))
    out += C
    tl.store(out + tl.arange(0, 1)[:, None, None], tl.max(v, keep_dims=True))
    tl.store(out + 1, tl.min(v))
    # the sum is used where it came from
    tl.store(out + 2 + a, tl.sum(tl.sum(v - kept, axis=2), axis=1))
    high, where = tl.max(v, axis=2, return_indices=True)
    tl.store(flags + a[:, None] * B + b[None, :], where)
    flags += A * B
    tl.store(flags + b[:, None] * C + c[None, :], tl.argmin(v, axis=0))
    flags += B * C
    tl.store(flags + a[:, None] * C + c[None, :], tl.argmax(v, axis=1))
    flags += A * C
    tl.store(flags, tl.argmax(v, axis=None) + tl.sum(high) * 0)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 5), (2, 3, 40), (3, 5, 1), (1, 4, 1), (1, 1, 1)])
def test_o16_every_axis_of_three(run: Any, dtype: Any, shape: tuple[int, int, int]) -> None:
    a, b, c = shape
    x = np.random.default_rng(1).integers(-50, 50, shape).astype(dtype)
    kept = x.sum(axis=1, keepdims=True)
    expected = [
        x.sum(axis=0),
        x.max(axis=1),
        x.min(axis=2),
        kept,
        x.max(axis=2).sum(axis=1),
        x.sum(axis=1).max(axis=0),
        x.max(),
        x.min(),
        (x - kept).sum(axis=(1, 2)),
    ]
    places = [x.argmax(axis=2), x.argmin(axis=0), x.argmax(axis=1), x.argmax()]
    out = np.zeros(sum(np.size(part) for part in expected), dtype)
    flags = np.full(sum(np.size(part) for part in places), -1, np.int32)
    run(every_axis_kernel, x, out, flags, A=a, B=b, C=c)
    np.testing.assert_array_equal(out, np.concatenate([np.ravel(part) for part in expected]))
    np.testing.assert_array_equal(flags, np.concatenate([np.ravel(part) for part in places]))


@xdsl.jit
def larger_magnitude(a, b):
    return tl.where(tl.abs(a) > tl.abs(b), a, b)


@xdsl.jit
def first_of_least(value, index, other, place):
    other_wins = (other < value) | ((other == value) & (place < index))
    return tl.where(other_wins, other, value), tl.where(other_wins, place, index)


@xdsl.jit
def logic_kernel(x, rows, columns, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    places = tl.broadcast_to(c[None, :], [M, N])
    least, where = tl.reduce((v, places), 1, first_of_least)
    tl.store(rows + r, tl.xor_sum(v, axis=1))
    tl.store(rows + M + r, tl.reduce(v, 1, larger_magnitude))
    tl.store(rows + 2 * M + r, least)
    tl.store(rows + 3 * M + r, where)
    tl.store(rows + 4 * M + r, tl.sum(v > 3, axis=1))
    tl.store(rows + 5 * M + r, tl.max((v > 3).to(tl.int8), axis=1))
    tl.store(columns + c, tl.xor_sum(v, axis=0))
    tl.store(columns + N + c, tl.reduce(v, 0, larger_magnitude))
    tl.store(columns + 2 * N + c, tl.sum((v & 1) == 1, axis=0))
    tl.store(columns + 3 * N + c, tl.reduce_or(v, axis=0))


@pytest.mark.parametrize("shape", [(4, 7), (1, 33), (9, 1)])
def test_o16_other_reductions(run: Any, shape: tuple[int, int]) -> None:
    m, n = shape
    magnitudes = np.random.default_rng(2).permutation(m * n).reshape(shape)
    x = (magnitudes * np.where(magnitudes % 3, 1, -1)).astype(np.int32)
    rows, columns = np.zeros((6, m), np.int32), np.zeros((4, n), np.int32)
    run(logic_kernel, x, rows, columns, M=m, N=n)

    def largest(axis: int) -> Any:
        return np.take_along_axis(x, np.expand_dims(np.abs(x).argmax(axis), axis), axis).squeeze(axis)

    np.testing.assert_array_equal(
        rows,
        [
            np.bitwise_xor.reduce(x, axis=1),
            largest(1),
            x.min(1),
            x.argmin(1),
            (x > 3).sum(1),
            (x > 3).any(1),
        ],
    )
    np.testing.assert_array_equal(
        columns,
        [np.bitwise_xor.reduce(x, axis=0), largest(0), (x & 1 == 1).sum(0), np.bitwise_or.reduce(x, axis=0)],
    )


@xdsl.jit
def wrong_axis_kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    tl.store(x, tl.sum(v, axis=1))


@xdsl.jit
def wrong_negative_axis_kernel(x):
    v = tl.load(x + tl.arange(0, 8))
    tl.store(x, tl.max(v, axis=-2))


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        (wrong_axis_kernel, "tl.store(x, tl.sum(v, axis=1))"),
        (wrong_negative_axis_kernel, "tl.store(x, tl.max(v, axis=-2))"),
    ],
)
def test_o16_axis_out_of_range(run: Any, kernel: Any, line: str) -> None:
    with pytest.raises(CompilationError) as caught:
        run(kernel, np.zeros(8, np.float32))
    (problem,) = caught.value.diagnostics
    assert "axis" in problem.message
    assert problem.location.line == line_of(line)


@xdsl.jit
def extent_kernel(x, out, total, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, i * 2)
    v = tl.load(x + i)
    tl.store(total, tl.sum(v, axis=0))
    tl.store(total + 1, tl.min(v, axis=0))
    tl.store(total + 2, tl.max(-v, axis=0))
    tl.store(total + 3, tl.argmin(v, axis=0))
    tl.store(total + 4, tl.sum(tl.exp(v * 0), axis=0))


@pytest.mark.parametrize("n", [48, 1, 3, 17, 33, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_o27_extents_that_are_no_powers_of_two(run: Any, n: int, dtype: Any) -> None:
    out, total = np.zeros(n, np.int32), np.zeros(5, dtype)
    run(extent_kernel, np.ones(n, dtype), out, total, N=n)
    assert out.tolist() == [2 * k for k in range(n)]
    assert total.tolist() == [n, 1, -1, 0, n]


@xdsl.jit
def padding_kernel(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.max(v, axis=0))
    tl.store(out + 1, tl.min(v, axis=0))
    tl.store(out + 2, tl.argmax(v, axis=0))
    tl.store(out + 3, tl.argmin(v, axis=0))
    tl.store(out + 4, tl.xor_sum(v, axis=0))
    tl.store(out + 5, tl.reduce_or(v, axis=0))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_o27_padding_lanes_do_not_count(run: Any, dtype: Any) -> None:
    info = np.iinfo(dtype)
    for fill in (info.min, info.max, 5):
        x, out = np.full(13, fill, dtype), np.zeros(6, np.int64 if info.min else np.uint64)
        run(padding_kernel, x, out, N=13)
        assert out.tolist() == [fill, fill, 0, 0, fill, fill]


@xdsl.jit
def empty_arange_kernel(x):
    tl.store(x + tl.arange(0, 0), 1.0)


@xdsl.jit
def backward_arange_kernel(x):
    tl.store(x + tl.arange(4, 0), 1.0)


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        (empty_arange_kernel, "tl.store(x + tl.arange(0, 0), 1.0)"),
        (backward_arange_kernel, "tl.store(x + tl.arange(4, 0), 1.0)"),
    ],
)
def test_o27_empty_ranges_are_refused(run: Any, kernel: Any, line: str) -> None:
    with pytest.raises(CompilationError) as caught:
        run(kernel, np.zeros(8, np.float32))
    (problem,) = caught.value.diagnostics
    assert "arange" in problem.message
    assert problem.location.line == line_of(line)


@xdsl.jit
def odd_tiles_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    flat = tl.reshape(v, [M * N])
    tl.store(out + tl.arange(0, M * N), flat)
    out += M * N
    tl.store(out + c[:, None] * M + r[None, :], tl.trans(v))
    out += M * N
    again = tl.reshape(tl.trans(v), [M, N])
    tl.store(out + r[:, None] * N + c[None, :], again)
    out += M * N
    cube = tl.permute(tl.reshape(v, [M, 1, N]), [2, 0, 1])
    tl.store(out + (c[:, None, None] * M + r[None, :, None]), cube)
    out += M * N
    tl.store(out + tl.arange(0, M * N), tl.ravel(again + v))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, ml_dtypes.bfloat16, np.int64])
@pytest.mark.parametrize("shape", [(3, 5), (1, 37), (6, 33)])
def test_o27_shapes_of_odd_extents(run: Any, dtype: Any, shape: tuple[int, int]) -> None:
    m, n = shape
    x = np.random.default_rng(0).integers(-50, 50, shape).astype(dtype)
    out = np.zeros((5, m * n), dtype)
    run(odd_tiles_kernel, x, out, M=m, N=n)
    again = np.ascontiguousarray(x.T).reshape(m, n)
    expected = [x, x.T, again, x.T, again + x]
    np.testing.assert_array_equal(
        out.astype(np.float64), [np.ravel(part).astype(np.float64) for part in expected]
    )


@xdsl.jit
def equal_terms_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(out + c, tl.sum(v, axis=0))
    last = tl.where(r[:, None] == M - 1, tl.cumsum(v, axis=0), 0.0)
    tl.store(out + N + c, tl.sum(last.to(tl.float32), axis=0))
    tl.store(out + 2 * N, tl.sum(v))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_o16_sums_of_narrow_floats_do_not_stop_growing(run: Any, dtype: Any) -> None:
    # in steps of one, a bfloat16 stays at 256 and a float16 at 2048
    x, out = np.ones((4096, 2), dtype), np.zeros(5, np.float32)
    run(equal_terms_kernel, x, out, M=4096, N=2)
    assert out.tolist() == [4096] * 4 + [8192]
