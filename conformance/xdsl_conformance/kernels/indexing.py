"""Kernels that look addresses up: embedding, gather, scatter, histogram, compaction."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal


@xdsl.jit
def embedding(tokens, table, out, count, width: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of a table by token."""
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < count
    token = tl.load(tokens + lanes, mask=inside, other=0)
    columns = tl.arange(0, width)
    rows = tl.load(table + token[:, None] * width + columns[None, :], mask=inside[:, None])
    tl.store(out + lanes[:, None] * width + columns[None, :], rows, mask=inside[:, None])


@xdsl.jit
def embedding_backward(tokens, grad, table, count, width: tl.constexpr, BLOCK: tl.constexpr):
    """Adds the gradient of every token to its row; tokens repeat."""
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < count
    token = tl.load(tokens + lanes, mask=inside, other=0)
    columns = tl.arange(0, width)
    d = tl.load(grad + lanes[:, None] * width + columns[None, :], mask=inside[:, None], other=0.0)
    tl.atomic_add(table + token[:, None] * width + columns[None, :], d, mask=inside[:, None])


@xdsl.jit
def permute_rows(x, order, out, rows, columns, BLOCK: tl.constexpr, SCATTER: tl.constexpr):
    """out[i] = x[order[i]], or with SCATTER out[order[i]] = x[i]."""
    row = tl.program_id(0)
    other = tl.load(order + row)
    source, target = other, row
    if SCATTER:
        source, target = row, other
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(x + source * columns + offsets, mask=offsets < columns)
        tl.store(out + target * columns + offsets, values, mask=offsets < columns)


@xdsl.jit
def histogram(x, counts, n, bins: tl.constexpr, BLOCK: tl.constexpr):
    """Counts of values below `bins`, others left out."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=-1)
    counted = (values >= 0) & (values < bins)
    tl.atomic_add(counts + values, 1, mask=counted)


@xdsl.jit
def compact(x, out, kept, n, limit, BLOCK: tl.constexpr):
    """The values above a limit, in order, and how many there are; one program."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0)
    chosen = (offsets < n) & (values > limit)
    places = tl.cumsum(chosen.to(tl.int32), axis=0) - 1
    tl.store(out + places, values, mask=chosen)
    tl.store(kept, tl.sum(chosen.to(tl.int32), axis=0))


@xdsl.jit
def running_extremes(x, keys, lowest, highest, bits, n, BLOCK: tl.constexpr):
    """Atomic minimum, maximum and or, by key."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside, other=0)
    key = tl.load(keys + offsets, mask=inside, other=0)
    tl.atomic_min(lowest + key, value, mask=inside)
    tl.atomic_max(highest + key, value, mask=inside)
    tl.atomic_or(bits + key, 1 << (value & 31), mask=inside)


def _embedding(count: int) -> Make:
    def make(generator: Generator) -> Problem:
        table = normal(generator, 50, 8)
        tokens = generator.integers(0, 50, count).astype(np.int64)
        out = np.empty((count, 8), np.float32)
        arguments = (tokens, table, out, count)
        return Problem((blocks(count, 4),), arguments, {"width": 8, "BLOCK": 4}, {2: table[tokens]})

    return make


def _embedding_backward(count: int) -> Make:
    def make(generator: Generator) -> Problem:
        tokens = generator.integers(0, 5, count).astype(np.int32)
        grad, table = normal(generator, count, 8), np.zeros((5, 8), np.float32)
        hot = (np.arange(5)[:, None] == tokens).astype(np.float64)
        arguments = (tokens, grad, table, count)
        expected = tr.tracked(hot) @ grad.astype(np.float64)
        return Problem((blocks(count, 4),), arguments, {"width": 8, "BLOCK": 4}, {2: expected}, in_place=True)

    return make


def _permute(rows: int, columns: int, scatter: bool) -> Make:
    def make(generator: Generator) -> Problem:
        x, order = normal(generator, rows, columns), generator.permutation(rows).astype(np.int32)
        expected = np.empty_like(x)
        if scatter:
            expected[order] = x
        else:
            expected = x[order]
        arguments = (x, order, np.empty_like(x), rows, columns)
        return Problem((rows,), arguments, {"BLOCK": 16, "SCATTER": scatter}, {2: expected})

    return make


def _histogram(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(-2, 12, n).astype(np.int32)
        counts = np.arange(10, dtype=np.int32)
        expected = counts + np.bincount(x[(x >= 0) & (x < 10)], minlength=10).astype(np.int32)
        arguments = (x, counts, n)
        return Problem((blocks(n, 32),), arguments, {"bins": 10, "BLOCK": 32}, {1: expected}, in_place=True)

    return make


def _compact(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(-50, 50, n).astype(np.int32)
        chosen = x[x > 7]
        out, kept = np.full(n, -77, np.int32), np.zeros(1, np.int32)
        expected = np.concatenate([chosen, np.full(n - len(chosen), -77)]).astype(np.int32)
        arguments = (x, out, kept, n, 7)
        found = {1: expected, 2: np.array([len(chosen)], np.int32)}
        return Problem((1,), arguments, {"BLOCK": 64}, found, in_place=True)

    return make


def _extremes(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, keys = (
            generator.integers(-99, 99, n).astype(np.int32),
            generator.integers(0, 4, n).astype(np.int32),
        )
        lowest, highest, bits = (
            np.full(4, 2**31 - 1, np.int32),
            np.full(4, -(2**31), np.int32),
            np.zeros(4, np.int32),
        )
        expected = {2: lowest.copy(), 3: highest.copy(), 4: bits.copy()}
        np.minimum.at(expected[2], keys, x)
        np.maximum.at(expected[3], keys, x)
        np.bitwise_or.at(expected[4], keys, np.left_shift(np.int32(1), x & 31))
        arguments = (x, keys, lowest, highest, bits, n)
        return Problem((blocks(n, 16),), arguments, {"BLOCK": 16}, expected, in_place=True)

    return make


KERNELS = (
    KernelCase(
        "embedding", "core", "rows of a table", embedding, {"n10": _embedding(10), "n1": _embedding(1)}
    ),
    KernelCase(
        "embedding_backward",
        "ext-atomics",
        "gradients added to rows",
        embedding_backward,
        {"n11": _embedding_backward(11)},
    ),
    KernelCase(
        "permute_rows",
        "core",
        "rows in another order",
        permute_rows,
        {"gather.7x20": _permute(7, 20, False), "scatter.5x33": _permute(5, 33, True)},
    ),
    KernelCase("histogram", "ext-atomics", "counts by value", histogram, {"n100": _histogram(100)}),
    KernelCase(
        "compact", "tile", "what passes a test, in order", compact, {"n50": _compact(50), "n64": _compact(64)}
    ),
    KernelCase(
        "running_extremes", "ext-atomics", "extremes by key", running_extremes, {"n60": _extremes(60)}
    ),
)
