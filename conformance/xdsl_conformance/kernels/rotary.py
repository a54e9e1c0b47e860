"""Rotary position embedding: pairs of features are turned by an angle that grows with the position."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, normal


@xdsl.jit
def rope(x, cos, sin, heads, HALF: tl.constexpr, BLOCK_H: tl.constexpr):
    """Turns the halves of every head of one token, in place; cos and sin are token x HALF."""
    token = tl.program_id(0)
    lanes = tl.arange(0, HALF)
    c = tl.load(cos + token * HALF + lanes)[None, :]
    s = tl.load(sin + token * HALF + lanes)[None, :]
    for first in range(0, heads, BLOCK_H):
        h = first + tl.arange(0, BLOCK_H)
        inside = h[:, None] < heads
        places = token * heads * 2 * HALF + h[:, None] * 2 * HALF + lanes[None, :]
        left = tl.load(x + places, mask=inside, other=0.0)
        right = tl.load(x + places + HALF, mask=inside, other=0.0)
        tl.store(x + places, left * c - right * s, mask=inside)
        tl.store(x + places + HALF, right * c + left * s, mask=inside)


@xdsl.jit
def rope_angles(cos, sin, base_log2, tokens, HALF: tl.constexpr, BLOCK: tl.constexpr):
    """The tables: cos and sin of position / base ** (2 i / (2 HALF))."""
    position = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lanes = tl.arange(0, HALF)
    rate = tl.exp2(lanes.to(tl.float32) * (-1.0 / HALF) * base_log2)
    angle = position.to(tl.float32)[:, None] * rate[None, :]
    places = position[:, None] * HALF + lanes[None, :]
    inside = position[:, None] < tokens
    tl.store(cos + places, tl.cos(angle), mask=inside)
    tl.store(sin + places, tl.sin(angle), mask=inside)


def _rope(tokens: int, heads: int, half: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, tokens, heads, 2 * half)
        angle = np.arange(tokens)[:, None] / 10000.0 ** (np.arange(half) / half)
        cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        left, right = tr.tracked(x[..., :half]), tr.tracked(x[..., half:])
        c, s = cos[:, None, :], sin[:, None, :]
        one, two = left * c - right * s, right * c + left * s
        expected = tr.Tracked(
            np.concatenate([one.value, two.value], -1), np.concatenate([one.error, two.error], -1)
        )
        arguments = (x, cos, sin, heads)
        return Problem((tokens,), arguments, {"HALF": half, "BLOCK_H": 4}, {0: expected}, in_place=True)

    return make


def _angles(tokens: int, half: int) -> Make:
    def make(generator: Generator) -> Problem:
        base = float(np.float32(np.log2(10000.0)))
        power = tr.tracked(np.arange(half)) * float(np.float32(-1.0 / half)) * base
        rate = tr.exp(power * np.log(2.0))
        angle = np.arange(tokens)[:, None] * rate
        cos, sin = np.empty((2, tokens, half), np.float32)
        expected = {0: tr.cosine(angle), 1: tr.sine(angle)}
        return Problem((-(-tokens // 8),), (cos, sin, base, tokens), {"HALF": half, "BLOCK": 8}, expected)

    return make


KERNELS = (
    KernelCase(
        "rope",
        "tile",
        "rotary embedding in place",
        rope,
        {"3x5x8": _rope(3, 5, 8), "2x4x16": _rope(2, 4, 16)},
    ),
    KernelCase("rope_angles", "tile", "tables of cosines and sines", rope_angles, {"19x8": _angles(19, 8)}),
)
