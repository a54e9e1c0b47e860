"""Reductions: of rows and columns, variance by pairs, position of the maximum, over a grid."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal, padded, strides, turned


@xdsl.jit
def sums(
    x,
    by_row,
    by_column,
    rows,
    columns,
    row_stride,
    column_stride,
    BLOCK_R: tl.constexpr,
    BLOCK_C: tl.constexpr,
):
    """Sums along both axes of a matrix that one program reads in blocks of rows."""
    c = tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_C,), dtype=tl.float32)
    for first in range(0, rows, BLOCK_R):
        r = first + tl.arange(0, BLOCK_R)
        inside = (r < rows)[:, None] & (c < columns)[None, :]
        values = tl.load(x + r[:, None] * row_stride + c[None, :] * column_stride, mask=inside, other=0.0)
        tl.store(by_row + r, tl.sum(values, axis=1), mask=r < rows)
        total += tl.sum(values, axis=0)
    tl.store(by_column + c, total, mask=c < columns)


@xdsl.jit
def combine_moments(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    """Two sets' means, sums of squared differences and counts as one (T. Chan and others, 1979)."""
    delta = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@xdsl.jit
def moments(x, mean, variance, columns, BLOCK: tl.constexpr):
    """Mean and variance of a row by a reduction of triples."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=0.0)
    count = inside.to(tl.float32)
    middle, m2, total = tl.reduce((values, tl.zeros_like(values), count), 0, combine_moments)
    tl.store(mean + row, middle)
    tl.store(variance + row, m2 / total)


@xdsl.jit
def extremes(x, largest, place, smallest, place_of_smallest, columns, BLOCK: tl.constexpr):
    """The largest and the smallest element of a row and where they are first."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=-float("inf"))
    tl.store(largest + row, tl.max(values, axis=0))
    tl.store(place + row, tl.argmax(values, axis=0))
    values = tl.where(inside, values, float("inf"))
    tl.store(smallest + row, tl.min(values, axis=0))
    tl.store(place_of_smallest + row, tl.argmin(values, axis=0))


@xdsl.jit
def count_and_parity(x, counts, parity, n, BLOCK: tl.constexpr):
    """How many numbers of a block are odd, and the exclusive or of all."""
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0)
    tl.store(counts + pid, tl.sum(values & 1, axis=0))
    tl.store(parity + pid, tl.xor_sum(values, axis=0))


def _sums(rows: int, columns: int, form: str) -> Make:
    def make(generator: Generator) -> Problem:
        x = {"plain": lambda a: a, "padded": padded, "turned": turned}[form](normal(generator, rows, columns))
        by_row, by_column = np.empty(rows, np.float32), np.empty(columns, np.float32)
        exact = tr.tracked(x)
        arguments = (x, by_row, by_column, rows, columns, *strides(x))
        meta = {"BLOCK_R": 4, "BLOCK_C": 32}
        return Problem((1,), arguments, meta, {1: exact.sum(1), 2: exact.sum(0)})

    return make


def _moments(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = (normal(generator, rows, columns) + 3.0).astype(np.float32)
        exact = tr.tracked(x)
        middle = exact.mean(1)
        centred = exact - exact.mean(1, keepdims=True)
        # each of log2(n) steps rounds the mean, and delta with it
        depth = 4.0 * np.log2(columns + 1.0) * tr.U
        mean = tr.Tracked(middle.value, middle.error + depth * np.abs(x).max(1))
        spread = (centred * centred).mean(1)
        variance = tr.Tracked(spread.value, spread.error + depth * 4.0 * np.abs(x).max(1) ** 2)
        outputs = (np.empty(rows, np.float32), np.empty(rows, np.float32))
        return Problem((rows,), (x, *outputs, columns), {"BLOCK": 64}, {1: mean, 2: variance})

    return make


def _extremes(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        # few different values: ties
        x = generator.integers(-3, 4, (rows, columns)).astype(np.float32)
        expected = {
            1: x.max(1), 2: x.argmax(1).astype(np.int32), 3: x.min(1), 4: x.argmin(1).astype(np.int32),
        }  # fmt: skip
        outputs = [np.empty_like(array) for array in expected.values()]
        return Problem((rows,), (x, *outputs, columns), {"BLOCK": 64}, expected)

    return make


def _parity(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(0, 1000, n).astype(np.int32)
        parts = [x[start : start + 32] for start in range(0, n, 32)]
        odd = np.array([(part & 1).sum() for part in parts], np.int32)
        parity = np.array([np.bitwise_xor.reduce(part) for part in parts], np.int32)
        arguments = (x, np.empty_like(odd), np.empty_like(parity), n)
        return Problem((blocks(n, 32),), arguments, {"BLOCK": 32}, {1: odd, 2: parity})

    return make


KERNELS = (
    KernelCase(
        "sums",
        "core",
        "sums along both axes",
        sums,
        {
            "9x31": _sums(9, 31, "plain"),
            "padded": _sums(8, 32, "padded"),
            "turned": _sums(5, 17, "turned"),
            "1x1": _sums(1, 1, "plain"),
        },
    ),
    KernelCase(
        "moments",
        "tile",
        "mean and variance by pairs",
        moments,
        {"3x50": _moments(3, 50), "2x64": _moments(2, 64)},
    ),
    KernelCase(
        "extremes", "core", "largest and smallest, and where first", extremes, {"4x50": _extremes(4, 50)}
    ),
    KernelCase(
        "count_and_parity", "core", "odd numbers, and exclusive or", count_and_parity, {"n100": _parity(100)}
    ),
)
