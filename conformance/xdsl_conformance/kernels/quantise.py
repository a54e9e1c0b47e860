"""Quantisation: rows to int8 by their largest magnitude, 4-bit weights, bfloat16 by bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal


@xdsl.jit
def quantise_rows(x, out, scales, columns, BLOCK: tl.constexpr):
    """out = round(x / scale) with halves away from zero and scale = max |x| / 128; 128 itself becomes 127."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=0.0)
    scale = tl.max(tl.abs(values), axis=0) * 0.0078125
    scaled = values / scale
    rounded = tl.where(scaled >= 0, tl.floor(scaled + 0.5), tl.ceil(scaled - 0.5))
    clamped = tl.clamp(rounded, -127.0, 127.0)
    tl.store(out + row * columns + offsets, clamped.to(tl.int8), mask=inside)
    tl.store(scales + row, scale)


@xdsl.jit
def int4_matvec(x, packed, scales, out, rows, half, BLOCK_R: tl.constexpr, BLOCK: tl.constexpr):
    """out = w @ x, two weights in a byte: the low four bits are an even column, the high ones the next; minus
    8.
    """
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    total = tl.zeros((BLOCK_R,), dtype=tl.float32)
    for start in range(0, half, BLOCK):
        c = start + tl.arange(0, BLOCK)
        both = (r < rows)[:, None] & (c < half)[None, :]
        byte = tl.load(packed + r[:, None] * half + c[None, :], mask=both, other=0x88)
        low = ((byte & 15).to(tl.int32) - 8).to(tl.float32)
        high = ((byte >> 4).to(tl.int32) - 8).to(tl.float32)
        even = tl.load(x + 2 * c, mask=c < half, other=0.0)
        odd = tl.load(x + 2 * c + 1, mask=c < half, other=0.0)
        total += tl.sum(low * even[None, :] + high * odd[None, :], axis=1)
    tl.store(out + r, total * tl.load(scales + r, mask=r < rows), mask=r < rows)


@xdsl.jit
def to_bfloat16(x, out, bits, n, BLOCK: tl.constexpr):
    """The cast, and the same by integer arithmetic on the bits: nearest, ties to even."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside, other=0.0)
    tl.store(out + offsets, values.to(tl.bfloat16), mask=inside)
    word = values.to(tl.uint32, bitcast=True)
    rounded = (word + 0x7FFF + ((word >> 16) & 1)) >> 16
    tl.store(bits + offsets, rounded.to(tl.uint16), mask=inside)


def _quantise(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        # multiples of the scale's half: quotients are exact, and half of them ties
        x = generator.integers(-255, 256, (rows, columns)).astype(np.float32) / 2.0
        x[:, 0] = 128.0
        scale = np.full(rows, 1.0, np.float32)
        away = np.where(x >= 0, np.floor(x + 0.5), np.ceil(x - 0.5)).clip(-127, 127).astype(np.int8)
        arguments = (x, np.empty((rows, columns), np.int8), np.empty(rows, np.float32), columns)
        return Problem((rows,), arguments, {"BLOCK": 64}, {1: away, 2: scale})

    return make


def _int4(rows: int, half: int) -> Make:
    def make(generator: Generator) -> Problem:
        packed = generator.integers(0, 256, (rows, half)).astype(np.uint8)
        x, scales = normal(generator, 2 * half), np.abs(normal(generator, rows))
        weights = np.empty((rows, 2 * half))
        weights[:, ::2], weights[:, 1::2] = (packed & 15).astype(float) - 8, (packed >> 4).astype(float) - 8
        expected = (tr.tracked(weights) * x).sum(1) * scales
        arguments = (x, packed, scales, np.empty(rows, np.float32), rows, half)
        return Problem((blocks(rows, 4),), arguments, {"BLOCK_R": 4, "BLOCK": 16}, {3: expected})

    return make


def _bfloat16(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, n, scale=100.0)
        x[:4] = (1.00390625, 1.01171875, -1.00390625, 3.0e38)
        expected = x.astype(ml_dtypes.bfloat16)
        arguments = (x, np.empty_like(expected), np.empty(n, np.uint16), n)
        return Problem((blocks(n, 64),), arguments, {"BLOCK": 64}, {1: expected, 2: expected.view(np.uint16)})

    return make


KERNELS = (
    KernelCase("quantise_rows", "tile", "rows to int8", quantise_rows, {"3x50": _quantise(3, 50)}),
    KernelCase(
        "int4_matvec", "tile", "4-bit weights", int4_matvec, {"7x20": _int4(7, 20), "4x16": _int4(4, 16)}
    ),
    KernelCase("to_bfloat16", "tile", "rounding to bfloat16", to_bfloat16, {"n100": _bfloat16(100)}),
)
