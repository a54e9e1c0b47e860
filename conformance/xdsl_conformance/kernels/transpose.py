"""Moves of data: transposition by tiles, reversal, interleaving, a copy that overlaps nothing."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks


@xdsl.jit
def transpose(x, out, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    """out = x.T, a tile a program."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=(r < rows)[:, None] & (c < columns)[None, :])
    tl.store(
        out + c[:, None] * rows + r[None, :],
        tl.trans(tile),
        mask=(c < columns)[:, None] & (r < rows)[None, :],
    )


@xdsl.jit
def reverse(x, out, n, BLOCK: tl.constexpr):
    """out[n - 1 - i] = x[i]."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + (n - 1 - offsets), tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


@xdsl.jit
def heads_first(x, out, tokens, HEADS: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """token x head x width to head x token x width, by a permutation of a tile of three dimensions."""
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h, w = tl.arange(0, HEADS), tl.arange(0, WIDTH)
    places = (t[:, None, None] * HEADS + h[None, :, None]) * WIDTH + w[None, None, :]
    tile = tl.load(x + places, mask=t[:, None, None] < tokens, other=0)
    turned = tl.permute(tile, (1, 0, 2))
    target = (h[:, None, None] * tokens + t[None, :, None]) * WIDTH + w[None, None, :]
    tl.store(out + target, turned, mask=t[None, :, None] < tokens)


def _numbers(generator: Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    return generator.integers(-100, 100, shape).astype(dtype)


def _transpose(rows: int, columns: int, dtype: Any) -> Make:
    def make(generator: Generator) -> Problem:
        x = _numbers(generator, (rows, columns), dtype)
        expected = np.ascontiguousarray(x.T)
        grid = (blocks(rows, 8), blocks(columns, 16))
        return Problem(
            grid, (x, np.empty_like(expected), rows, columns), {"BLOCK_R": 8, "BLOCK_C": 16}, {1: expected}
        )

    return make


def _reverse(n: int, dtype: Any) -> Make:
    def make(generator: Generator) -> Problem:
        x = _numbers(generator, (n,), dtype)
        return Problem((blocks(n, 16),), (x, np.empty_like(x), n), {"BLOCK": 16}, {1: x[::-1].copy()})

    return make


def _heads(tokens: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = _numbers(generator, (tokens, 4, 8), np.int32)
        expected = np.ascontiguousarray(x.transpose(1, 0, 2))
        meta = {"HEADS": 4, "WIDTH": 8, "BLOCK": 4}
        return Problem((blocks(tokens, 4),), (x, np.empty_like(expected), tokens), meta, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "transpose",
        "core",
        "transposition by tiles",
        transpose,
        {
            "f32.9x33": _transpose(9, 33, np.float32),
            "i8.16x16": _transpose(16, 16, np.int8),
            "bf16.7x5": _transpose(7, 5, ml_dtypes.bfloat16),
            "i64.1x20": _transpose(1, 20, np.int64),
        },
    ),
    KernelCase(
        "reverse",
        "core",
        "backwards",
        reverse,
        {"f32.35": _reverse(35, np.float32), "i16.16": _reverse(16, np.int16)},
    ),
    KernelCase("heads_first", "tile", "permutation of three dimensions", heads_first, {"10": _heads(10)}),
)
