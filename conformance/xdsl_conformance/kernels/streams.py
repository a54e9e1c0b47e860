"""Kernels for the cases about memories of a chip's cores: how much they hold, and how it is used again."""

from __future__ import annotations

import xdsl_core as xdsl
import xdsl_core.language as tl


@xdsl.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    """out = 2 * x, one tile a program."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


@xdsl.jit
def alive_together(x, out, n, BLOCK: tl.constexpr):
    """out = the sum of eight tiles that are all loaded before the first is used."""
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(x + n + i)
    c, d = tl.load(x + 2 * n + i), tl.load(x + 3 * n + i)
    e, f = tl.load(x + 4 * n + i), tl.load(x + 5 * n + i)
    g, h = tl.load(x + 6 * n + i), tl.load(x + 7 * n + i)
    tl.store(out + i, ((a + b) + (c + d)) + ((e + f) + (g + h)))


@xdsl.jit
def one_after_the_other(x, out, n, TILES: tl.constexpr, BLOCK: tl.constexpr):
    """Row k of out = row k of x, squared: many tiles, of which few are alive at once."""
    i = tl.arange(0, BLOCK)
    for k in tl.static_range(TILES):
        row = tl.load(x + k * n + i)
        tl.store(out + k * n + i, row * row)


@xdsl.jit
def streamed(x, out, n, tiles, BLOCK: tl.constexpr):
    """out = the sum of the rows of x, which come one after the other."""
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(tiles):
        total += tl.load(x + k * n + i)
    tl.store(out + i, total)
