"""Mixture of experts: the best k of a row by repeated argmax, and weights that sum to one; ranks by
comparison.
"""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, normal


@xdsl.jit
def top_k_gating(logits, weights, experts, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """The K largest logits of a row, their places, and the softmax over them."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(logits + row * columns + offsets, mask=offsets < columns, other=-float("inf"))
    first = tl.max(x, axis=0)
    total = 0.0
    for k in range(K):
        best = tl.argmax(x, axis=0)
        weight = tl.exp(tl.max(x, axis=0) - first)
        tl.store(weights + row * K + k, weight)
        tl.store(experts + row * K + k, best)
        total += weight
        x = tl.where(offsets == best, -float("inf"), x)
    tl.debug_barrier()
    k = tl.arange(0, K)
    tl.store(weights + row * K + k, tl.load(weights + row * K + k) / total)


@xdsl.jit
def sort_rows(x, out, columns, BLOCK: tl.constexpr):
    """Sorts a row: an element goes to the place that counts those before it, equal ones in order."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mine = tl.load(x + row * columns + i, mask=i < columns, other=0)
    before = (mine[None, :] < mine[:, None]) | ((mine[None, :] == mine[:, None]) & (i[None, :] < i[:, None]))
    rank = tl.sum((before & (i < columns)[None, :]).to(tl.int32), axis=1)
    tl.store(out + row * columns + rank, mine, mask=i < columns)


def _gating(rows: int, columns: int, k: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, rows, columns, scale=2.0)
        experts = np.argsort(-x, axis=1, kind="stable")[:, :k].astype(np.int32)
        expected = tr.softmax(np.take_along_axis(x, experts, 1))
        arguments = (x, np.empty((rows, k), np.float32), np.empty((rows, k), np.int32), columns)
        return Problem((rows,), arguments, {"K": k, "BLOCK": 32}, {1: expected, 2: experts})

    return make


def _sort(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(-10, 10, (rows, columns)).astype(np.int32)
        expected = np.sort(x, axis=1)
        return Problem((rows,), (x, np.empty_like(x), columns), {"BLOCK": 32}, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "top_k_gating",
        "tile",
        "the best experts",
        top_k_gating,
        {"5x20.2": _gating(5, 20, 2), "3x32.4": _gating(3, 32, 4)},
    ),
    KernelCase(
        "sort_rows", "tile", "rows sorted by rank", sort_rows, {"3x25": _sort(3, 25), "2x32": _sort(2, 32)}
    ),
)
