"""Neighbours: a five-point stencil, box filters, bilinear resizing."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal


@xdsl.jit
def five_point(x, out, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    """The mean of an element's four neighbours less itself; zero beyond the edges."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    inside = (r < rows) & (c < columns)
    at = x + r * columns + c
    up = tl.load(at - columns, mask=inside & (r > 0), other=0.0)
    down = tl.load(at + columns, mask=inside & (r < rows - 1), other=0.0)
    left = tl.load(at - 1, mask=inside & (c > 0), other=0.0)
    right = tl.load(at + 1, mask=inside & (c < columns - 1), other=0.0)
    centre = tl.load(at, mask=inside, other=0.0)
    tl.store(out + r * columns + c, 0.25 * (up + down + left + right) - centre, mask=inside)


@xdsl.jit
def max_pool(x, out, rows, columns, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """The largest element of each window of SIZE x SIZE; a row of results a program."""
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    across = columns // SIZE
    best = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for i in tl.static_range(SIZE):
        for j in tl.static_range(SIZE):
            at = (r * SIZE + i) * columns + c * SIZE + j
            best = tl.maximum(best, tl.load(x + at, mask=c < across, other=-float("inf")))
    tl.store(out + r * across + c, best, mask=c < across)


@xdsl.jit
def resize(x, out, size, new_size, ratio, BLOCK: tl.constexpr):
    """Linear interpolation between neighbours; places beyond the ends take the end's value."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = i.to(tl.float32) * ratio
    low = tl.floor(place)
    share = place - low
    first = tl.minimum(low.to(tl.int32), size - 1)
    second = tl.minimum(first + 1, size - 1)
    a = tl.load(x + first, mask=i < new_size)
    b = tl.load(x + second, mask=i < new_size)
    tl.store(out + i, a + (b - a) * share, mask=i < new_size)


def _five_point(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, rows, columns)
        wide = np.pad(x, 1)
        near = [wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:]]
        expected = 0.25 * (tr.tracked(near[0]) + near[1] + near[2] + near[3]) - x
        grid = (blocks(rows, 4), blocks(columns, 16))
        arguments = (x, np.empty_like(x), rows, columns)
        return Problem(grid, arguments, {"BLOCK_R": 4, "BLOCK_C": 16}, {1: expected})

    return make


def _max_pool(rows: int, columns: int, size: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, rows, columns)
        down, across = rows // size, columns // size
        windows = x[: down * size, : across * size].reshape(down, size, across, size)
        out = np.empty((down, across), np.float32)
        return Problem(
            (down,), (x, out, rows, columns), {"SIZE": size, "BLOCK": 16}, {1: windows.max((1, 3))}
        )

    return make


def _resize(size: int, new_size: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, size)
        # a power of two: the places are exact
        place = np.arange(new_size) * 0.375
        first = np.minimum(np.floor(place).astype(int), size - 1)
        second = np.minimum(first + 1, size - 1)
        a = tr.tracked(x[first])
        expected = a + (x[second] - a) * (place - np.floor(place))
        arguments = (x, np.empty(new_size, np.float32), size, new_size, 0.375)
        return Problem((blocks(new_size, 16),), arguments, {"BLOCK": 16}, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "five_point",
        "core",
        "five-point stencil",
        five_point,
        {"9x33": _five_point(9, 33), "1x1": _five_point(1, 1)},
    ),
    KernelCase(
        "max_pool",
        "core",
        "largest of windows",
        max_pool,
        {"6x20": _max_pool(6, 20, 2), "9x31": _max_pool(9, 31, 3)},
    ),
    KernelCase("resize", "core", "linear interpolation", resize, {"10.40": _resize(10, 40)}),
)
