"""Cases O17 and O18: what dot sums in, and extents of every size."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@xdsl.jit
def dot_kernel(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    at = m[:, None] * N + n[None, :]
    product = tl.dot(x, y, input_precision="ieee")
    tl.static_assert(product.dtype == out.dtype.element_ty)
    tl.store(out + at, product)
    # with what it is added to, a transposed factor, and a factor that was computed
    tl.store(out + M * N + at, tl.dot(x, y, tl.load(c + at), input_precision="ieee"))
    z = tl.trans(tl.load(b + n[:, None] * K + k[None, :]))
    tl.store(out + 2 * M * N + at, tl.dot(x, z, input_precision="ieee"))
    tl.store(
        out + 3 * M * N + at, tl.dot((x + x).to(x.dtype), tl.where(y > 0, y, -y), input_precision="ieee")
    )


def product(x: Any, y: Any, dtype: Any) -> Any:
    wide = np.float64 if np.dtype(dtype).kind == "f" else np.int64
    return (x.astype(wide) @ y.astype(wide)).astype(dtype)


def check_dot(run: Any, a: Any, b: Any, accumulator: Any) -> Any:
    """Runs dot_kernel; the numbers must be so small that every sum is exact."""
    (m, k), n = a.shape, b.shape[1]
    c = np.arange(m * n).reshape(m, n).astype(accumulator)
    out = np.zeros((4, m, n), accumulator)
    run(dot_kernel, a, b, c, out, M=m, N=n, K=k)
    plain = product(a, b, accumulator)
    magnitudes = np.where(b > 0, b, -b)
    expected = [
        plain,
        plain + c,
        product(a, b.reshape(n, k).T, accumulator),
        product(a + a, magnitudes, accumulator),
    ]
    np.testing.assert_array_equal(out, expected)
    return out[0]


def test_o17_int8_dot_sums_in_int32(run: Any) -> None:
    a, b = np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int8)
    a[:2, :2] = [[-44, -20], [-126 // 2, 6]]
    b[:2, :2] = [[24, -75], [127, -101]]
    check_dot(run, a, b, np.int32)


@xdsl.jit
def plain_dot_kernel(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision="ieee"))


def test_o17_values_of_the_case(run: Any) -> None:
    a, b, out = np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int32)
    a[:2, :2] = [[-44, -20], [-126, 6]]
    b[:2, :2] = [[24, -75], [127, -101]]
    run(plain_dot_kernel, a, b, out, M=16, N=16, K=16)
    assert out[:2, :2].tolist() == [[-3596, 5320], [-2262, 8844]]
    assert not out[2:].any()
    assert not out[:, 2:].any()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("shape", [(16, 16, 64), (3, 5, 7), (33, 17, 130)])
def test_o17_the_whole_range_of_8_bits(run: Any, dtype: Any, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    info = np.iinfo(dtype)
    a, b = np.full((m, k), info.min, dtype), np.full((k, n), info.min, dtype)
    a[0], b[:, 0] = info.max, info.max
    a[1, ::2], b[::3, 1] = 1, 2
    out = np.zeros((m, n), np.int32)
    run(plain_dot_kernel, a, b, out, M=m, N=n, K=k)
    np.testing.assert_array_equal(out, product(a, b, np.int32))


@pytest.mark.parametrize("extents", [(1, 1, 1), (2, 4, 8), (4, 8, 2), (8, 8, 8)])
def test_o18_small_dot(run: Any, extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    a = np.arange(m * k, dtype=np.float32).reshape(m, k)
    b = np.arange(k * n, dtype=np.float32).reshape(k, n)
    assert check_dot(run, a, b, np.float32).tolist() == (a @ b).tolist()


@pytest.mark.parametrize("extents", [(1, 17, 3), (5, 1, 33), (7, 9, 1), (20, 37, 50)])
def test_o18_every_extent(run: Any, extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-7, 7, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    check_dot(run, a, b, np.float32)


@pytest.mark.parametrize(
    ("dtype", "accumulator"),
    [
        (np.float16, np.float32),
        (ml_dtypes.bfloat16, np.float32),
        (np.float64, np.float64),
        (np.int8, np.int32),
        (np.uint8, np.int32),
    ],
)
@pytest.mark.parametrize("extents", [(4, 5, 3), (16, 32, 48)])
def test_o18_every_dtype(run: Any, dtype: Any, accumulator: Any, extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    generator = np.random.default_rng(1)
    low = 0 if dtype is np.uint8 else -7
    a, b = (generator.integers(low, 7, shape).astype(dtype) for shape in ((m, k), (k, n)))
    if dtype is np.uint8:
        b = np.maximum(b, 1).astype(dtype)
    check_dot(run, a, b, accumulator)


@pytest.mark.parametrize(("left", "right"), [(E4M3, E4M3), (E5M2, E4M3)])
def test_o18_fp8(run: Any, left: Any, right: Any) -> None:
    generator = np.random.default_rng(1)
    a = generator.integers(-7, 7, (16, 33)).astype(np.float32).astype(left)
    b = generator.integers(-7, 7, (33, 9)).astype(np.float32).astype(right)
    out = np.zeros((16, 9), np.float32)
    run(plain_dot_kernel, a, b, out, M=16, N=9, K=33)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))


@xdsl.jit
def matmul_kernel(
    a, b, out, m, n, k, a_row, a_column, b_row, b_column, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    r = tl.program_id(0) * M + tl.arange(0, M)
    c = tl.program_id(1) * N + tl.arange(0, N)
    i = tl.arange(0, K)
    acc = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        inside = start + i < k
        x = tl.load(
            a + r[:, None] * a_row + (start + i)[None, :] * a_column,
            mask=(r[:, None] < m) & inside[None, :],
            other=0.0,
        )
        y = tl.load(
            b + (start + i)[:, None] * b_row + c[None, :] * b_column,
            mask=inside[:, None] & (c[None, :] < n),
            other=0.0,
        )
        acc = tl.dot(x, y, acc, input_precision="ieee")
    at = r[:, None] * n + c[None, :]
    tl.store(out + at, acc.to(out.dtype.element_ty), mask=(r[:, None] < m) & (c[None, :] < n))


@pytest.mark.parametrize(("dtype", "blocks"), [(np.float32, (16, 16, 16)), (np.float16, (8, 48, 5))])
def test_o18_tails_and_layouts(run: Any, dtype: Any, blocks: tuple[int, int, int]) -> None:
    generator = np.random.default_rng(2)
    for (m, n, k), layouts in (((17, 50, 33), (False, True)), ((1, 1, 1), (True,)), ((16, 48, 0), (False,))):
        # infinities just outside of what counts must not leak in
        padded_a, padded_b = np.full((m + 1, k + 3), np.inf, dtype), np.full((k + 2, n + 5), np.inf, dtype)
        padded_a[:m, :k] = generator.integers(-5, 5, (m, k))
        padded_b[:k, :n] = generator.integers(-5, 5, (k, n))
        for transposed in layouts:
            left = np.asfortranarray(padded_a) if transposed else padded_a
            right = np.asfortranarray(padded_b) if transposed else padded_b
            strides = [s // left.itemsize for s in (*left.strides, *right.strides)]
            out = np.full((m, n), np.nan, dtype)
            grid = (-(-m // blocks[0]), -(-n // blocks[1]))
            run(
                matmul_kernel,
                left,
                right,
                out,
                m,
                n,
                k,
                *strides,
                grid=grid,
                M=blocks[0],
                N=blocks[1],
                K=blocks[2],
            )
            expected = padded_a[:m, :k].astype(np.float64) @ padded_b[:k, :n].astype(np.float64)
            np.testing.assert_array_equal(out, expected)


@xdsl.jit
def chained_dots_kernel(x, out, batches, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    v = tl.load(x + at)
    # the product is a factor, the accumulator changes between products and in branches
    w = tl.dot(v, v, input_precision="ieee")
    u = tl.dot(w, tl.trans(v), w * 2, input_precision="ieee")
    acc = tl.zeros([N, N], tl.float32)
    for k in range(3):
        acc = tl.dot(v, v, acc * 2, input_precision="ieee")
        if k == 1:
            acc = acc + tl.dot(v, w, input_precision="ieee")
    tl.store(out + at, u)
    tl.store(out + N * N + at, acc)
    tl.store(out + 2 * N * N + i, tl.sum(tl.dot(v, v, v, input_precision="ieee"), axis=1))
    b = tl.arange(0, B)[:, None, None] * N * N + at[None, :, :]
    stack = tl.load(x + tl.broadcast_to(at[None, :, :], [B, N, N]))
    stack = stack + tl.arange(0, B)[:, None, None]
    tl.store(batches + b, tl.dot(stack, stack, input_precision="ieee"))


@pytest.mark.parametrize("n", [3, 16])
def test_o18_products_of_products_and_batches(run: Any, n: int) -> None:
    v = np.random.default_rng(3).integers(-3, 3, (n, n)).astype(np.float32)
    out, batches = np.zeros(2 * n * n + n, np.float32), np.zeros((2, n, n), np.float32)
    run(chained_dots_kernel, v, out, batches, N=n, B=2)
    w = v @ v
    acc = np.zeros_like(v)
    for k in range(3):
        acc = w + acc * 2 + (v @ w if k == 1 else 0)
    expected = [w @ v.T + w * 2, acc, (w + v).sum(axis=1)]
    np.testing.assert_array_equal(out, np.concatenate([np.ravel(part) for part in expected]))
    np.testing.assert_array_equal(batches, [v @ v, (v + 1) @ (v + 1)])
