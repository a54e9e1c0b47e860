"""Matrix products of float16 on the matrix cores, with the tiles and the order of the measured kernels."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.dsa.simulated import Simulated, simulate


@xdsl.jit
def matmul_tiles(
    a, b, c, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """c = a @ b; ROWS x COLUMNS programs, each with a rectangle of tiles, column after column."""
    down = tl.cdiv(tl.cdiv(m, BLOCK_M), ROWS)
    across = tl.cdiv(tl.cdiv(n, BLOCK_N), COLUMNS)
    first_m = tl.program_id(0) // COLUMNS * down
    first_n = tl.program_id(0) % COLUMNS * across
    last_m = tl.minimum(first_m + down, tl.cdiv(m, BLOCK_M))
    last_n = tl.minimum(first_n + across, tl.cdiv(n, BLOCK_N))
    for block_n in range(first_n, last_n):
        for block_m in range(first_m, last_m):
            rows = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
            depth = tl.arange(0, BLOCK_K)
            total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
            for start in tl.range(0, k, BLOCK_K, num_stages=STAGES):
                left = tl.load(a + rows[:, None] * k + (start + depth)[None, :])
                right = tl.load(b + (start + depth)[:, None] * n + columns[None, :])
                total = tl.dot(left, right, total)
            tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty))


def matmul(
    target: str, *, size: int, block_k: int, stages: int, result: type = np.float16,
    rows: int = 4, columns: int = 6, block: tuple[int, int] = (128, 256),
) -> Simulated:  # fmt: skip
    """Multiplies two size x size matrices of float16 on rows x columns matrix cores."""
    a, b, c = (
        np.empty((size, size), np.float16),
        np.empty((size, size), np.float16),
        np.empty((size, size), result),
    )
    return simulate(
        matmul_tiles, target, (rows * columns,), a, b, c, size, size, size,
        BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block_k, ROWS=rows, COLUMNS=columns, STAGES=stages,
    )  # fmt: skip
