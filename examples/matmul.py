"""Matrix product: a program computes one block of C, in an order that lets neighbours share blocks of B.

Run it with `python examples/matmul.py [BACKEND]`.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.testing import Comparison, compare, contraction_budget, half_ulp, time_launch

SIGNATURES = {
    "matmul_kernel": (
        "a: *f32, b: *f32, c: *f32, M: i32, N: i32, K: i32, stride_am: i32, stride_ak=1, stride_bk: i32, "
        "stride_bn=1, stride_cm: i32, stride_cn=1, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP=8"
    )
}
LAUNCHES = {
    "matmul_kernel": (
        "M=512, N=512, K=512, a=MxK, b=KxN, c=MxN, stride_am=K, stride_bk=N, stride_cm=N, "
        "grid=cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"
    )
}


@xdsl.jit
def matmul_kernel(
    a, b, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Stores a BLOCK_M x BLOCK_N block of a @ b; programs take GROUP rows of blocks column by column."""
    program = tl.program_id(0)
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    group = program // (GROUP * blocks_n)
    first_m = group * GROUP
    rows_of_group = min(blocks_m - first_m, GROUP)
    block_m = first_m + (program % (GROUP * blocks_n)) % rows_of_group
    block_n = (program % (GROUP * blocks_n)) // rows_of_group

    # rows and columns beyond the end wrap around: they are read, and not stored
    offsets_m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offsets_n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offsets_k = tl.arange(0, BLOCK_K)
    a_block = a + (offsets_m[:, None] * stride_am + offsets_k[None, :] * stride_ak)
    b_block = b + (offsets_k[:, None] * stride_bk + offsets_n[None, :] * stride_bn)

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a_tile = tl.load(a_block, mask=offsets_k[None, :] < left, other=0.0)
        b_tile = tl.load(b_block, mask=offsets_k[:, None] < left, other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a_block += BLOCK_K * stride_ak
        b_block += BLOCK_K * stride_bk

    rows = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    c_block = c + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(c_block, total.to(c.dtype.element_ty), mask=inside)


class Blocks(NamedTuple):
    """Extents of the blocks, and how many rows of blocks share columns of B."""

    m: int = 64
    n: int = 64
    k: int = 32
    group: int = 8


DEFAULT_BLOCKS = Blocks()


def matmul(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, *, backend: str, blocks: Blocks = DEFAULT_BLOCKS
) -> None:
    """Stores a @ b to c; arrays of two dimensions with any strides."""
    (m, k), n = a.shape, b.shape[1]
    strides = [stride // array.itemsize for array in (a, b, c) for stride in array.strides]
    grid = (xdsl.cdiv(m, blocks.m) * xdsl.cdiv(n, blocks.n),)
    matmul_kernel.on(backend)[grid](
        a, b, c, m, n, k, *strides,
        BLOCK_M=blocks.m, BLOCK_N=blocks.n, BLOCK_K=blocks.k, GROUP=blocks.group,
    )  # fmt: skip


def reference(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The product in float64, and the error of accumulation in float32 and one rounding to `dtype`."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    expected = a @ b
    return expected, contraction_budget(np.abs(a) @ np.abs(b), terms=a.shape[1]) + half_ulp(expected, dtype)


def run(backend: str) -> list[Comparison]:
    """Compares with numpy: whole blocks, ragged ones, a transposed operand, float16."""
    generator = np.random.default_rng(0)
    comparisons = []
    for m, n, k, dtype, transposed in (
        (256, 256, 256, np.float32, False),
        (200, 130, 77, np.float32, False),
        (128, 192, 96, np.float32, True),
        (128, 128, 128, np.float16, False),
    ):
        a = generator.standard_normal((m, k)).astype(dtype)
        b = generator.standard_normal((n, k)).astype(dtype).T if transposed else (
            generator.standard_normal((k, n)).astype(dtype)
        )  # fmt: skip
        c = np.full((m, n), np.nan, dtype)
        seconds = time_launch(lambda a=a, b=b, c=c: matmul(a, b, c, backend=backend))
        expected, budget = reference(a, b, c.dtype)
        what = f"{m}x{n}x{k} {c.dtype}" + (", B transposed" if transposed else "")
        comparisons.append(compare(c, expected, budget, what=what, seconds=seconds))
    return comparisons


def main() -> None:
    """Prints the comparisons of one backend."""
    for comparison in run(sys.argv[1] if len(sys.argv) > 1 else "cpu_c"):
        print(comparison)


if __name__ == "__main__":
    main()
