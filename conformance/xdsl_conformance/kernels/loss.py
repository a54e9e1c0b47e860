"""Losses: cross entropy with ignored targets and its gradient, mean squared error by blocks."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal

IGNORED = -100


@xdsl.jit
def cross_entropy(logits, targets, loss, grad, columns, ignored, BLOCK: tl.constexpr):
    """Loss and gradient of one row; rows whose target is `ignored` give zero."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    target = tl.load(targets + row)
    x = tl.load(logits + row * columns + offsets, mask=inside, other=-float("inf"))
    highest = tl.max(x, axis=0)
    p = tl.exp(x - highest)
    total = tl.sum(p, axis=0)
    if target == ignored:
        tl.store(loss + row, 0.0)
        tl.store(grad + row * columns + offsets, tl.zeros((BLOCK,), dtype=tl.float32), mask=inside)
    else:
        chosen = tl.sum(tl.where(offsets == target, x, 0.0), axis=0)
        tl.store(loss + row, tl.log(total) + highest - chosen)
        result = p / total - tl.where(offsets == target, 1.0, 0.0)
        tl.store(grad + row * columns + offsets, result, mask=inside)


@xdsl.jit
def squared_error(x, y, partial, n, BLOCK: tl.constexpr):
    """The sum of squared differences of one block."""
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    difference = tl.load(x + offsets, mask=offsets < n, other=0.0) - tl.load(
        y + offsets, mask=offsets < n, other=0.0
    )
    tl.store(partial + pid, tl.sum(difference * difference, axis=0))


def _cross_entropy(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, rows, columns, scale=3.0)
        targets = generator.integers(0, columns, rows).astype(np.int32)
        targets[::3] = IGNORED
        kept = targets != IGNORED
        hot = np.arange(columns) == targets[:, None]
        highest = x.max(1)
        total = tr.exp(tr.tracked(x) - highest[:, None]).sum(1)
        loss = tr.log(total) + highest - (x.astype(np.float64) * hot).sum(1)
        grad = tr.softmax(x) - hot
        expected = {2: tr.where(kept, loss, 0.0), 3: tr.where(kept[:, None], grad, 0.0)}
        arguments = (x, targets, np.empty(rows, np.float32), np.empty_like(x), columns, IGNORED)
        return Problem((rows,), arguments, {"BLOCK": 64}, expected)

    return make


def _squared_error(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, y = normal(generator, n), normal(generator, n)
        difference = tr.tracked(x) - y
        squares = difference * difference
        parts = [squares[start : start + 64].sum(0) for start in range(0, n, 64)]
        arguments = (x, y, np.empty(blocks(n, 64), np.float32), n)
        return Problem((blocks(n, 64),), arguments, {"BLOCK": 64}, {2: tr.stack(parts)})

    return make


KERNELS = (
    KernelCase(
        "cross_entropy",
        "tile",
        "cross entropy and its gradient",
        cross_entropy,
        {"5x50": _cross_entropy(5, 50), "4x64": _cross_entropy(4, 64)},
    ),
    KernelCase(
        "squared_error", "core", "squared error by blocks", squared_error, {"n200": _squared_error(200)}
    ),
)
