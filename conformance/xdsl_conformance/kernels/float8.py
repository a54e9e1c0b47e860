"""Kernels on 8-bit floats: products with scales, and narrowing with saturation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal
from xdsl_conformance.tracked import tracked


@xdsl.jit
def scaled_matmul(a, b, out, row_scale, column_scale, m, n, k, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    """out = (a @ b) * row_scale * column_scale, summed in f32."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK_K):
        inner = start + depth
        in_a = (rows[:, None] < m) & (inner[None, :] < k)
        in_b = (inner[:, None] < k) & (columns[None, :] < n)
        left = tl.load(a + rows[:, None] * k + inner[None, :], mask=in_a, other=0.0)
        right = tl.load(b + inner[:, None] * n + columns[None, :], mask=in_b, other=0.0)
        total = tl.dot(left, right, total)
    of_rows = tl.load(row_scale + rows, mask=rows < m)
    of_columns = tl.load(column_scale + columns, mask=columns < n)
    scales = of_rows[:, None] * of_columns[None, :]
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(out + rows[:, None] * n + columns[None, :], total * scales, mask=inside)


@xdsl.jit
def narrow(x, out, n, factor, BLOCK: tl.constexpr):
    """out = x * factor in the dtype of out; what is too large becomes its largest number."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * factor
    tl.store(out + i, value.to(out.dtype.element_ty), mask=i < n)


def _scaled_matmul(m: int, n: int, k: int, left: Any, right: Any) -> Make:
    def make(generator: Generator) -> Problem:
        a, b = normal(generator, m, k, dtype=left), normal(generator, k, n, dtype=right)
        scales = [generator.uniform(0.5, 2, size).astype(np.float32) for size in (m, n)]
        factors = tracked(scales[0])[:, None] * tracked(scales[1])[None, :]
        product = tracked(a.astype(np.float32)) @ b.astype(np.float32)
        arguments = (a, b, np.empty((m, n), np.float32), *scales, m, n, k)
        meta = {"BLOCK": 16, "BLOCK_K": 32}
        return Problem((blocks(m, 16), blocks(n, 16)), arguments, meta, {2: product * factors})

    return make


def _narrow(n: int, dtype: Any) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, n, scale=300.0)
        scaled = (x * np.float32(0.5)).astype(np.float32)
        largest = float(ml_dtypes.finfo(dtype).max)
        expected = np.clip(scaled, -largest, largest).astype(dtype)
        return Problem((blocks(n, 64),), (x, np.empty(n, dtype), n, 0.5), {"BLOCK": 64}, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "scaled_matmul",
        "ext-fp8",
        "matrix product of 8-bit floats with a scale for each row and column",
        scaled_matmul,
        {
            "e4m3.17x20x70": _scaled_matmul(17, 20, 70, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn),
            "e5m2.16x16x32": _scaled_matmul(16, 16, 32, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2),
        },
    ),
    KernelCase(
        "narrow",
        "ext-fp8",
        "scaling, and conversion to 8-bit floats that saturates",
        narrow,
        {
            "e4m3.130": _narrow(130, ml_dtypes.float8_e4m3fn),
            "e5m2.64": _narrow(64, ml_dtypes.float8_e5m2),
        },
    ),
)
