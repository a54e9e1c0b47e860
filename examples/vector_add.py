"""Adds two vectors: one program a block, the tail masked.

Run it with `python examples/vector_add.py [BACKEND]`.
"""

from __future__ import annotations

import sys

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.testing import Comparison, compare, half_ulp, time_launch

SIGNATURES = {"add_kernel": "x: *f32, y: *f32, out: *f32, n: i32, BLOCK=1024"}
LAUNCHES = {"add_kernel": "x=98432, y=98432, out=98432, n=98432, grid=cdiv(n, BLOCK)"}


@xdsl.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """Stores x + y to out, n elements, BLOCK of them a program."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


def add(x: np.ndarray, y: np.ndarray, out: np.ndarray, *, backend: str, block: int = 1024) -> None:
    """Stores x + y to out; three arrays of one length."""
    n = x.size
    add_kernel.on(backend)[(xdsl.cdiv(n, block),)](x, y, out, n, BLOCK=block)


def run(backend: str) -> list[Comparison]:
    """Compares with numpy: float32 and float16, with and without a tail."""
    generator = np.random.default_rng(0)
    comparisons = []
    for n, dtype in ((98_432, np.float32), (98_432, np.float16), (1, np.float32), (4_096, np.float32)):
        x, y = generator.standard_normal((2, n)).astype(dtype)
        out = np.full_like(x, np.nan)
        seconds = time_launch(lambda x=x, y=y, out=out: add(x, y, out, backend=backend))
        expected = x.astype(np.float64) + y
        budget = half_ulp(expected, dtype)
        comparisons.append(compare(out, expected, budget, what=f"{n} {out.dtype}", seconds=seconds))
    return comparisons


def main() -> None:
    """Prints the comparisons of one backend."""
    for comparison in run(sys.argv[1] if len(sys.argv) > 1 else "cpu_c"):
        print(comparison)


if __name__ == "__main__":
    main()
