"""Matrix products of many shapes in one launch: programs walk a list of problems."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal


@xdsl.jit
def grouped_matmul(a, b, c, sizes, starts, groups, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Group g multiplies a matrix m x k at starts[g, 0] of a with one k x n at starts[g, 1] of b into c at
    starts[g, 2].

    The blocks of all results are numbered through; a program takes every PROGRAMS-th.
    """
    tile = tl.program_id(0)
    done = 0
    for group in range(groups):
        m = tl.load(sizes + group * 3)
        n = tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        first_a = tl.load(starts + group * 3)
        first_b = tl.load(starts + group * 3 + 1)
        first_c = tl.load(starts + group * 3 + 2)
        across = tl.cdiv(n, BLOCK)
        count = tl.cdiv(m, BLOCK) * across
        while tile >= done and tile < done + count:
            local = tile - done
            rows = local // across * BLOCK + tl.arange(0, BLOCK)
            columns = local % across * BLOCK + tl.arange(0, BLOCK)
            total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
            for start in range(0, k, BLOCK):
                depth = start + tl.arange(0, BLOCK)
                left = (rows < m)[:, None] & (depth < k)[None, :]
                right = (depth < k)[:, None] & (columns < n)[None, :]
                x = tl.load(a + first_a + rows[:, None] * k + depth[None, :], mask=left, other=0.0)
                y = tl.load(b + first_b + depth[:, None] * n + columns[None, :], mask=right, other=0.0)
                total = tl.dot(x, y, total)
            inside = (rows < m)[:, None] & (columns < n)[None, :]
            tl.store(c + first_c + rows[:, None] * n + columns[None, :], total, mask=inside)
            tile += PROGRAMS
        done += count


def _grouped(*sizes: tuple[int, int, int]) -> Make:
    def make(generator: Generator) -> Problem:
        lefts = [normal(generator, m, k) for m, _, k in sizes]
        rights = [normal(generator, k, n) for _, n, k in sizes]
        products = [tr.tracked(x) @ y.astype(np.float64) for x, y in zip(lefts, rights, strict=True)]
        lengths = [(m * k, k * n, m * n) for m, n, k in sizes]
        starts = np.vstack([np.zeros((1, 3), np.int64), np.cumsum(lengths, 0)[:-1]]).astype(np.int32)
        expected = tr.Tracked(
            np.concatenate([part.value.ravel() for part in products]),
            np.concatenate([part.error.ravel() for part in products]),
        )
        a, b = (np.concatenate([part.ravel() for part in parts]) for parts in (lefts, rights))
        out = np.empty(expected.value.shape, np.float32)
        programs = max(1, sum(blocks(m, 16) * blocks(n, 16) for m, n, _ in sizes) // 2)
        arguments = (a, b, out, np.array(sizes, np.int32), starts, len(sizes))
        return Problem((programs,), arguments, {"BLOCK": 16, "PROGRAMS": programs}, {2: expected})

    return make


KERNELS = (
    KernelCase(
        "grouped_matmul",
        "full",
        "products of many shapes in one launch",
        grouped_matmul,
        {"three": _grouped((16, 16, 16), (20, 33, 9), (1, 5, 17)), "one": _grouped((31, 15, 8))},
    ),
)
