"""Sampling by the running sum of probabilities, and by the largest of perturbed logits."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator


@xdsl.jit
def sample_token(weights, uniform, out, columns, BLOCK: tl.constexpr):
    """The first column where the running sum of integer weights exceeds uniform * total."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    w = tl.load(weights + row * columns + offsets, mask=offsets < columns, other=0)
    running = tl.cumsum(w, axis=0)
    threshold = tl.load(uniform + row) * tl.sum(w, axis=0).to(tl.float32)
    passed = running.to(tl.float32) > threshold
    tl.store(out + row, tl.min(tl.where(passed, offsets, BLOCK), axis=0))


@xdsl.jit
def top_p(sorted_weights, kept, columns, share, BLOCK: tl.constexpr):
    """How many of the largest weights make up a share of the total."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    w = tl.load(sorted_weights + row * columns + offsets, mask=offsets < columns, other=0)
    before = tl.cumsum(w, axis=0) - w
    enough = before.to(tl.float32) < share * tl.sum(w, axis=0).to(tl.float32)
    tl.store(kept + row, tl.sum((enough & (offsets < columns)).to(tl.int32), axis=0))


def _sample(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        weights = generator.integers(0, 100, (rows, columns)).astype(np.int32)
        # quarters of the total: the comparison is exact
        uniform = (generator.integers(0, 4, rows) / 4.0).astype(np.float32)
        running = weights.cumsum(1)
        expected = (running > (uniform * running[:, -1])[:, None]).argmax(1).astype(np.int32)
        arguments = (weights, uniform, np.empty(rows, np.int32), columns)
        return Problem((rows,), arguments, {"BLOCK": 64}, {2: expected})

    return make


def _top_p(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        weights = -np.sort(-generator.integers(1, 100, (rows, columns)), axis=1).astype(np.int32)
        before = weights.cumsum(1) - weights
        expected = (before < 0.75 * weights.sum(1, keepdims=True)).sum(1).astype(np.int32)
        arguments = (weights, np.empty(rows, np.int32), columns, 0.75)
        return Problem((rows,), arguments, {"BLOCK": 64}, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "sample_token",
        "tile",
        "sampling by running sums",
        sample_token,
        {"5x50": _sample(5, 50), "3x64": _sample(3, 64)},
    ),
    KernelCase("top_p", "tile", "a share of the total", top_p, {"4x40": _top_p(4, 40)}),
)
