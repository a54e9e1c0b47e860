"""Matrix products: the tutorial's kernel with grouped programs and masks, in several dtypes."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.works.work import Call, Peers, Work
from examples import matmul
from xdsl_core.testing import compare

LARGE, SMALL = matmul.Blocks(128, 128, 64), matmul.Blocks(64, 64, 32)


def product(backend: str, peers: Peers, *, size: int, blocks: matmul.Blocks) -> Work:
    """A square product in float32."""
    a, b = np.random.default_rng(0).standard_normal((2, size, size)).astype(np.float32)
    c, by_numpy = np.empty_like(a), np.empty_like(a)
    others: dict[str, Call] = {"numpy (OpenBLAS)": partial(np.matmul, a, b, out=by_numpy)}
    if peers.torch:
        x, y = peers.torch.from_numpy(a), peers.torch.from_numpy(b)
        others["torch"] = partial(peers.torch.mm, x, y, out=peers.torch.empty_like(x))
    return Work(
        partial(matmul.matmul, a, b, c, backend=backend, blocks=blocks),
        others,
        lambda: compare(c, *matmul.reference(a, b, c.dtype)),
        2.0 * size**3,
        amount_unit="GFLOP/s",
    )


def narrow_product(backend: str, peers: Peers, *, size: int, dtype: str) -> Work:
    """A square product of float16 or bfloat16, accumulated in float32; peers also in float32."""
    kind = np.dtype({"f16": np.float16, "bf16": ml_dtypes.bfloat16}[dtype])
    wide_a, wide_b = np.random.default_rng(0).standard_normal((2, size, size)).astype(np.float32)
    a, b = wide_a.astype(kind), wide_b.astype(kind)
    c = np.empty_like(a)
    others: dict[str, Call] = {}
    if peers.torch:
        torch = peers.torch
        narrow = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
        x, y = torch.from_numpy(wide_a), torch.from_numpy(wide_b)
        others[f"torch {dtype}"] = partial(torch.mm, x.to(narrow), y.to(narrow))
        others["torch f32"] = partial(torch.mm, x, y, out=torch.empty_like(x))
    return Work(
        partial(matmul.matmul, a, b, c, backend=backend, blocks=LARGE),
        others,
        lambda: compare(c.astype(np.float32), *matmul.reference(a, b, c.dtype)),
        2.0 * size**3,
        amount_unit="GFLOP/s",
    )


@xdsl.jit
def integer_matmul(a, b, c, n, k, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    """Stores a block of a @ b, int8 factors and int32 sums; programs take columns of blocks in turn."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.int32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        left = tl.load(a + rows[:, None] * k + depth[None, :])
        right = tl.load(b + depth[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


def integer_product(backend: str, peers: Peers, *, size: int) -> Work:
    """A square product of int8 with int32 results; numpy multiplies int32, torch has `_int_mm`."""
    a, b = np.random.default_rng(0).integers(-128, 128, (2, size, size), np.int8)
    c = np.empty((size, size), np.int32)
    wide_a, wide_b = a.astype(np.int32), b.astype(np.int32)
    others: dict[str, Call] = {"numpy int32": partial(np.matmul, wide_a, wide_b, out=np.empty_like(c))}
    if peers.torch:
        x, y, out = (peers.torch.from_numpy(array) for array in (a, b, np.empty_like(c)))
        others["torch _int_mm"] = partial(peers.torch._int_mm, x, y, out=out)
    launch = integer_matmul.on(backend)[(size // 128, size // 128)]
    expected = a.astype(np.float64) @ b
    return Work(
        partial(launch, a, b, c, size, size, BLOCK=128, BLOCK_K=64),
        others,
        lambda: compare(c, expected, np.zeros_like(expected)),
        2.0 * size**3,
        amount_unit="Gop/s",
    )


WORKS = {
    **{
        f"matmul f32 {size}, blocks {blocks.m}x{blocks.n}x{blocks.k}": partial(
            product, size=size, blocks=blocks
        )
        for size in (512, 1024, 2048)
        for blocks in (LARGE, SMALL)
    },
    **{f"matmul f32 ragged {size}": partial(product, size=size, blocks=LARGE) for size in (1000, 777)},
    **{f"matmul {dtype} 512": partial(narrow_product, size=512, dtype=dtype) for dtype in ("f16", "bf16")},
    "matmul int8 1024": partial(integer_product, size=1024),
}
