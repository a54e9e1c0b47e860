"""Dropout with a counter-based generator written in the language: Philox 4x32.

J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal

ROUND_A, ROUND_B = 0xD2511F53, 0xCD9E8D57
KEY_A, KEY_B = 0x9E3779B9, 0xBB67AE85


@xdsl.jit
def philox(c0, c1, c2, c3, k0, k1, ROUNDS: tl.constexpr):
    """Four words from a counter of four words and a key of two, all unsigned."""
    for _ in tl.static_range(ROUNDS):
        high_a, high_b = (
            tl.umulhi(c0, tl.full(c0.shape, 0xD2511F53, tl.uint32)),
            tl.umulhi(c2, tl.full(c0.shape, 0xCD9E8D57, tl.uint32)),
        )
        low_a, low_b = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0 = k0 + tl.full(c0.shape, 0x9E3779B9, tl.uint32)
        k1 = k1 + tl.full(c0.shape, 0xBB67AE85, tl.uint32)
    return c0, c1, c2, c3


@xdsl.jit
def dropout(x, out, words, p, seed, n, BLOCK: tl.constexpr):
    """out = x / (1 - p) where a random number is at least p, else 0; the words are stored too."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    counter = offsets.to(tl.uint32)
    zero = tl.zeros((BLOCK,), dtype=tl.uint32)
    key = zero + seed.to(tl.uint32)
    word, _, _, _ = philox(counter, zero, zero, zero, key, zero, 7)
    uniform = (word >> 8).to(tl.float32) * 5.9604644775390625e-08
    values = tl.load(x + offsets, mask=inside)
    tl.store(out + offsets, tl.where(uniform >= p, values / (1.0 - p), 0.0), mask=inside)
    tl.store(words + offsets, word, mask=inside)


def reference(counter: Any, seed: int, rounds: int) -> Any:
    """The first word for each counter."""
    c = [counter.astype(np.uint64), *(np.zeros_like(counter, np.uint64) for _ in range(3))]
    key = [seed, 0]
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(rounds):
        a, b = c[0] * np.uint64(ROUND_A), c[2] * np.uint64(ROUND_B)
        high_a, high_b = a >> np.uint64(32), b >> np.uint64(32)
        c = [high_b ^ c[1] ^ np.uint64(key[0]), b & mask, high_a ^ c[3] ^ np.uint64(key[1]), a & mask]
        key = [(key[0] + KEY_A) & 0xFFFFFFFF, (key[1] + KEY_B) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


def _dropout(n: int, p: float) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, n)
        words = reference(np.arange(n, dtype=np.uint32), 1234, 7)
        uniform = (words >> 8).astype(np.float64) * 2.0**-24
        share = float(np.float32(p))
        expected = tr.where(uniform >= share, x / (1.0 - tr.tracked(share)), 0.0)
        arguments = (x, np.empty_like(x), np.empty(n, np.uint32), share, 1234, n)
        return Problem((blocks(n, 32),), arguments, {"BLOCK": 32}, {1: expected, 2: words})

    return make


KERNELS = (
    KernelCase(
        "dropout", "tile", "dropout by Philox", dropout, {"n100": _dropout(100, 0.3), "n1": _dropout(1, 0.5)}
    ),
)
