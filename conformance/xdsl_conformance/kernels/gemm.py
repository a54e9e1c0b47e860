"""Matrix products: blocked over k with tails, any strides, epilogues, split-K, batches, in 8-bit integers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal, padded, strides, turned


@xdsl.jit
def matmul(
    a, b, c, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """c = a @ b; blocks of c are taken in groups of rows, so that neighbours share operands."""
    pid = tl.program_id(0)
    down, across = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    group = pid // (GROUP * across)
    first = group * GROUP
    height = min(down - first, GROUP)
    i = first + (pid % (GROUP * across)) % height
    j = (pid % (GROUP * across)) // height
    rows = i * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = j * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    left = a + rows[:, None] * a_row + depth[None, :] * a_column
    right = b + depth[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        inside = depth < k - start
        x = tl.load(left, mask=(rows < m)[:, None] & inside[None, :], other=0.0)
        y = tl.load(right, mask=inside[:, None] & (columns < n)[None, :], other=0.0)
        total = tl.dot(x, y, total)
        left += BLOCK_K * a_column
        right += BLOCK_K * b_row
    place = c + rows[:, None] * c_row + columns[None, :] * c_column
    tl.store(place, total.to(c.dtype.element_ty), mask=(rows < m)[:, None] & (columns < n)[None, :])


@xdsl.jit
def linear(
    x, weight, bias, out, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    """out = leaky_relu(x @ weight.T + bias), with wrapped indexes where only the stores need masks."""
    i, j = tl.program_id(0), tl.program_id(1)
    rows, columns = i * BLOCK_M + tl.arange(0, BLOCK_M), j * BLOCK_N + tl.arange(0, BLOCK_N)
    safe_rows, safe_columns = rows % m, columns % n
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(tl.cdiv(k, BLOCK_K)):
        depth = start * BLOCK_K + tl.arange(0, BLOCK_K)
        inside = depth[None, :] < k
        left = tl.load(x + safe_rows[:, None] * k + depth[None, :], mask=inside, other=0.0)
        right = tl.load(weight + safe_columns[:, None] * k + depth[None, :], mask=inside, other=0.0)
        total += tl.dot(left, tl.trans(right))
    total += tl.load(bias + safe_columns)[None, :]
    result = tl.where(total >= 0, total, 0.01 * total)
    tl.store(
        out + rows[:, None] * n + columns[None, :], result, mask=(rows[:, None] < m) & (columns[None, :] < n)
    )


@xdsl.jit
def split_k(a, b, c, m, n, k, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr, SPLITS: tl.constexpr):
    """c += a @ b, the sum over k divided among programs that add their parts atomically."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(tl.program_id(2) * BLOCK_K, k, SPLITS * BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        x = tl.load(
            a + rows[:, None] * k + depth[None, :], mask=(rows < m)[:, None] & (depth < k)[None, :], other=0.0
        )
        y = tl.load(
            b + depth[:, None] * n + columns[None, :],
            mask=(depth < k)[:, None] & (columns < n)[None, :],
            other=0.0,
        )
        total = tl.dot(x, y, total)
    tl.atomic_add(
        c + rows[:, None] * n + columns[None, :], total, mask=(rows < m)[:, None] & (columns < n)[None, :]
    )


@xdsl.jit
def batched(a, b, c, m: tl.constexpr, n: tl.constexpr, k: tl.constexpr):
    """c = a @ b for the matrix of each program, whole in one tile."""
    batch = tl.program_id(0)
    rows, columns, depth = tl.arange(0, m), tl.arange(0, n), tl.arange(0, k)
    x = tl.load(a + batch * m * k + rows[:, None] * k + depth[None, :])
    y = tl.load(b + batch * k * n + depth[:, None] * n + columns[None, :])
    tl.store(c + batch * m * n + rows[:, None] * n + columns[None, :], tl.dot(x, y))


@xdsl.jit
def int8_matmul(a, b, scale_a, scale_b, out, m, n, k, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    """out = (a @ b) * scale_a[:, None] * scale_b[None, :], summed in int32."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.int32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        x = tl.load(
            a + rows[:, None] * k + depth[None, :], mask=(rows < m)[:, None] & (depth < k)[None, :], other=0
        )
        y = tl.load(
            b + depth[:, None] * n + columns[None, :],
            mask=(depth < k)[:, None] & (columns < n)[None, :],
            other=0,
        )
        total += tl.dot(x, y)
    left = tl.load(scale_a + rows, mask=rows < m, other=0.0)
    right = tl.load(scale_b + columns, mask=columns < n, other=0.0)
    result = total.to(tl.float32) * left[:, None] * right[None, :]
    tl.store(
        out + rows[:, None] * n + columns[None, :], result, mask=(rows < m)[:, None] & (columns < n)[None, :]
    )


def _wide(array: Any) -> Any:
    return array.astype(np.float64)


def _matmul(
    m: int,
    n: int,
    k: int,
    dtype: Any = np.float32,
    *,
    form: str = "plain",
    result: Any = None,
    block: int = 16,
) -> Make:
    def make(generator: Generator) -> Problem:
        forms = {"plain": lambda x: x, "padded": padded, "turned": turned}
        a, b = (forms[form](normal(generator, *shape, dtype=dtype)) for shape in ((m, k), (k, n)))
        out = forms[form](np.empty((m, n), result or dtype))
        arguments = (a, b, out, m, n, k, *strides(a), *strides(b), *strides(out))
        meta = {"BLOCK_M": block, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP": 2}
        grid = (blocks(m, block) * blocks(n, 16),)
        return Problem(grid, arguments, meta, {2: tr.tracked(_wide(a)) @ _wide(b)})

    return make


def _linear(m: int, n: int, k: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, weight, bias = normal(generator, m, k), normal(generator, n, k), normal(generator, n)
        total = tr.tracked(x) @ _wide(weight.T) + bias
        expected = tr.where(total.value >= 0, total, 0.01 * total)
        meta = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}
        arguments = (x, weight, bias, np.empty((m, n), np.float32), m, n, k)
        return Problem((blocks(m, 16), blocks(n, 16)), arguments, meta, {3: expected})

    return make


def _split_k(m: int, n: int, k: int) -> Make:
    def make(generator: Generator) -> Problem:
        a, b, c = normal(generator, m, k), normal(generator, k, n), normal(generator, m, n)
        magnitudes = tr.tracked(np.hstack([a, c])) @ np.vstack([_wide(b), np.eye(n)]) if m == n else None
        expected = tr.tracked(a) @ _wide(b) + c if magnitudes is None else magnitudes
        meta = {"BLOCK": 16, "BLOCK_K": 16, "SPLITS": 3}
        grid = (blocks(m, 16), blocks(n, 16), 3)
        # parts are added to c in any order: as many roundings of the whole as there are splits
        slack = 4 * tr.U * (np.abs(a) @ np.abs(b) + np.abs(c)).astype(np.float64)
        expected = tr.Tracked(expected.value, expected.error + slack)
        return Problem(grid, (a, b, c, m, n, k), meta, {2: expected}, in_place=True)

    return make


def _batched(batch: int, m: int, n: int, k: int) -> Make:
    def make(generator: Generator) -> Problem:
        a, b = normal(generator, batch, m, k), normal(generator, batch, k, n)
        out = np.empty((batch, m, n), np.float32)
        expected = tr.tracked(a) @ _wide(b)
        return Problem((batch,), (a, b, out), {"m": m, "n": n, "k": k}, {2: expected})

    return make


def _int8(m: int, n: int, k: int) -> Make:
    def make(generator: Generator) -> Problem:
        a, b = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
        left, right = (np.abs(normal(generator, size)) for size in (m, n))
        total = a.astype(np.int64) @ b.astype(np.int64)
        expected = tr.tracked(total) * left[:, None] * right[None, :]
        arguments = (a, b, left, right, np.empty((m, n), np.float32), m, n, k)
        return Problem((blocks(m, 16), blocks(n, 16)), arguments, {"BLOCK": 16, "BLOCK_K": 32}, {4: expected})

    return make


KERNELS = (
    KernelCase(
        "matmul",
        "core",
        "blocked matrix product",
        matmul,
        {
            "f32.32x32x32": _matmul(32, 32, 32),
            "f32.17x31x33": _matmul(17, 31, 33),
            "f32.1x1x1": _matmul(1, 1, 1),
            "f32.16x16x0": _matmul(16, 16, 0),
            "f32.padded": _matmul(19, 18, 21, form="padded"),
            "f32.turned": _matmul(15, 33, 40, form="turned"),
            "f32.block32": _matmul(50, 20, 16, block=32),
        },
    ),
    KernelCase(
        "matmul_narrow",
        "tile",
        "blocked matrix product of 16-bit floats",
        matmul,
        {
            "f16.33x17x128": _matmul(33, 17, 128, np.float16),
            "f16-f32.16x16x256": _matmul(16, 16, 256, np.float16, result=np.float32),
            "bf16-f32.20x20x100": _matmul(20, 20, 100, ml_dtypes.bfloat16, result=np.float32),
        },
    ),
    KernelCase(
        "linear",
        "tile",
        "linear layer with bias and leaky ReLU",
        linear,
        {"20x17x33": _linear(20, 17, 33), "16x16x16": _linear(16, 16, 16), "3x5x7": _linear(3, 5, 7)},
    ),
    KernelCase(
        "split_k",
        "ext-atomics",
        "matrix product, k divided among programs",
        split_k,
        {"16x16x100": _split_k(16, 16, 100), "17x20x65": _split_k(17, 20, 65)},
    ),
    KernelCase(
        "batched_matmul",
        "tile",
        "a small matrix product a program",
        batched,
        {"4x16x16x16": _batched(4, 16, 16, 16), "2x16x32x64": _batched(2, 16, 32, 64)},
    ),
    KernelCase(
        "int8_matmul",
        "tile",
        "matrix product of int8 with scales of rows and columns",
        int8_matmul,
        {"20x17x70": _int8(20, 17, 70), "16x16x32": _int8(16, 16, 32)},
    ),
)
