"""Kernels that move and add: z = x + y on all cores, and copies into the memories of a core."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.dsa.simulated import Simulated, repeated, simulate


@xdsl.jit
def add_tiles(x, y, z, tiles, passes, TILE: tl.constexpr, STAGES: tl.constexpr, CACHE: tl.constexpr):
    """z = x + y, so many times; each program takes its share of the tiles, one after another."""
    share = tl.cdiv(tiles, tl.num_programs(0))
    first = tl.program_id(0) * share
    lanes = tl.arange(0, TILE)
    for _ in range(passes):
        for tile in tl.range(first, tl.minimum(first + share, tiles), num_stages=STAGES):
            place = tile * TILE + lanes
            total = tl.load(x + place, cache_modifier=CACHE) + tl.load(y + place, cache_modifier=CACHE)
            tl.store(z + place, total)


def add(
    target: str, *, cores: int, tile_bytes: int, stages: int, size: int = 8192, cache: str = ""
) -> Simulated:
    """Adds two size x size matrices of float16 in tiles of `tile_bytes`."""
    x, y, z = (np.empty(size * size, np.float16) for _ in range(3))
    tile = tile_bytes // 2
    meta = {"TILE": tile, "STAGES": stages, "CACHE": cache}
    return repeated(
        lambda passes: simulate(add_tiles, target, (cores,), x, y, z, size * size // tile, passes, **meta)
    )


@xdsl.jit
def read_tiles(x, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, TOGETHER: tl.constexpr):
    """Brings every ROWS x COLUMNS tile of a matrix to the core, TOGETHER of them without a wait between.

    Nothing is done with the tiles: the loads are volatile, and so not left out.
    """
    across = tl.cdiv(columns, COLUMNS)
    down = tl.arange(0, ROWS)
    along = tl.arange(0, COLUMNS)
    groups = tl.cdiv(tl.cdiv(rows, ROWS) * across, TOGETHER)
    for group in tl.range(tl.program_id(0), groups, tl.num_programs(0), num_stages=2):
        for number in tl.static_range(TOGETHER):
            tile = group * TOGETHER + number
            i = tile // across * ROWS + down
            j = tile % across * COLUMNS + along
            inside = (i < rows)[:, None] & (j < columns)[None, :]
            tl.load(x + i[:, None] * columns + j[None, :], mask=inside, volatile=True)


def read(
    target: str, *, cores: int, rows: int, columns: int, tile: tuple[int, int], together: int = 1
) -> Simulated:
    """Reads a rows x columns matrix of float16 in tiles."""
    x = np.empty(rows * columns, np.float16)
    meta = {"ROWS": tile[0], "COLUMNS": tile[1], "TOGETHER": together}
    return simulate(read_tiles, target, (cores,), x, rows, columns, **meta)


@xdsl.jit
def read_factors(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """As read_tiles, into the memory that feeds a matrix unit, which changes the layout on the way."""
    across = tl.cdiv(columns, COLUMNS)
    down = tl.arange(0, ROWS)
    along = tl.arange(0, COLUMNS)
    few = tl.arange(0, 16)
    for tile in tl.range(tl.program_id(0), tl.cdiv(rows, ROWS) * across, tl.num_programs(0), num_stages=2):
        i = tile // across * ROWS + down
        j = tile % across * COLUMNS + along
        inside = (i < rows)[:, None] & (j < columns)[None, :]
        values = tl.load(x + i[:, None] * columns + j[None, :], mask=inside, other=0.0)
        product = tl.dot(values, tl.zeros((COLUMNS, 16), tl.float16))
        # the copy is what is measured; a few elements are kept so that it is not left out
        kept = (down < 1)[:, None] & (few < 16)[None, :]
        tl.store(out + tl.program_id(0) * 16 + (down[:, None] + few[None, :]), product, mask=kept)


def read_as_factor(target: str, *, cores: int, rows: int, columns: int, tile: tuple[int, int]) -> Simulated:
    """Reads a rows x columns matrix of float16 in tiles, rows gathered to fractals."""
    x, out = np.empty(rows * columns, np.float16), np.empty(cores * 16, np.float32)
    return simulate(read_factors, target, (cores,), x, out, rows, columns, ROWS=tile[0], COLUMNS=tile[1])


@xdsl.jit
def copy_tiles(x, z, n, passes, TILE: tl.constexpr):
    """z = x, so many times; each program takes its share of the tiles, one after another."""
    tiles = tl.cdiv(n, TILE)
    share = tl.cdiv(tiles, tl.num_programs(0))
    first = tl.program_id(0) * share
    lanes = tl.arange(0, TILE)
    for _ in range(passes):
        for tile in tl.range(first, tl.minimum(first + share, tiles), num_stages=2):
            place = tile * TILE + lanes
            inside = place < n
            tl.store(z + place, tl.load(x + place, mask=inside), mask=inside)


def copy(target: str, *, cores: int, elements: int, tile: int = 16384) -> Simulated:
    """Copies a vector of float16."""
    x, z = np.empty(elements, np.float16), np.empty(elements, np.float16)
    return repeated(lambda passes: simulate(copy_tiles, target, (cores,), x, z, elements, passes, TILE=tile))
