"""Attention, forward, blocks of keys at a time: causal or not, heads that share keys, sequences of many
lengths.
"""

from __future__ import annotations

import itertools

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal

HEAD = 16


@xdsl.jit
def attention(
    q, k, v, out, scale, n, heads, shared,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """BLOCK_M rows of one head; `shared` heads of q use the same keys. Arrays are heads x n x HEAD."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, HEAD)
    q_places = head * n * HEAD + rows[:, None] * HEAD + d[None, :]
    key_base = head // shared * n * HEAD
    x = tl.load(q + q_places, mask=rows[:, None] < n, other=0.0) * scale
    total = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
    highest = tl.full((BLOCK_M,), -1.0e30, dtype=tl.float32)
    last = n
    if CAUSAL:
        last = min(n, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, last, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        places = key_base + columns[:, None] * HEAD + d[None, :]
        keys = tl.load(k + places, mask=columns[:, None] < n, other=0.0)
        values = tl.load(v + places, mask=columns[:, None] < n, other=0.0)
        scores = tl.dot(x, tl.trans(keys))
        counts = columns[None, :] < n
        if CAUSAL:
            counts = counts & (rows[:, None] >= columns[None, :])
        scores = tl.where(counts, scores, -1.0e30)
        new = tl.maximum(highest, tl.max(scores, axis=1))
        correction = tl.exp(highest - new)
        p = tl.where(counts, tl.exp(scores - new[:, None]), 0.0)
        weight = weight * correction + tl.sum(p, axis=1)
        total = total * correction[:, None] + tl.dot(p, values)
        highest = new
    tl.store(out + q_places, total / weight[:, None], mask=rows[:, None] < n)


@xdsl.jit
def varlen_attention(
    q, k, v, out, starts, scale, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Sequences one after the other in one array; starts[i] to starts[i + 1] are sequence i's rows."""
    sequence = tl.program_id(1)
    first, end = tl.load(starts + sequence), tl.load(starts + sequence + 1)
    n = end - first
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    if tl.program_id(0) * BLOCK_M < n:
        d = tl.arange(0, HEAD)
        q_places = (first + rows)[:, None] * HEAD + d[None, :]
        x = tl.load(q + q_places, mask=rows[:, None] < n, other=0.0)
        total = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
        weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
        highest = tl.full((BLOCK_M,), -1.0e30, dtype=tl.float32)
        for start in range(0, n, BLOCK_N):
            columns = start + tl.arange(0, BLOCK_N)
            places = (first + columns)[:, None] * HEAD + d[None, :]
            keys = tl.load(k + places, mask=columns[:, None] < n, other=0.0)
            values = tl.load(v + places, mask=columns[:, None] < n, other=0.0)
            scores = tl.where(columns[None, :] < n, tl.dot(x, tl.trans(keys)) * scale, -1.0e30)
            new = tl.maximum(highest, tl.max(scores, axis=1))
            correction = tl.exp(highest - new)
            p = tl.exp(scores - new[:, None])
            weight = weight * correction + tl.sum(p, axis=1)
            total = total * correction[:, None] + tl.dot(p, values)
            highest = new
        tl.store(out + q_places, total / weight[:, None], mask=rows[:, None] < n)


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, causal: bool, key_blocks: int) -> tr.Tracked:
    """softmax(q k^T / sqrt(head)) v; each block of keys corrects the sums so far by an exponential and a
    product.
    """
    scale = float(np.float32(HEAD**-0.5))
    scores = (tr.tracked(q) * scale) @ k.astype(np.float64).swapaxes(-1, -2)
    scores = scores * (1.0 + tr.tracked(0.0))
    if causal:
        seen = np.tril(np.ones(scores.value.shape[-2:], bool))
        scores = tr.where(seen, scores, -np.inf)
    p = tr.softmax(scores)
    exact = p @ v.astype(np.float64)
    spread = np.ptp(np.where(np.isfinite(scores.value), scores.value, 0.0))
    # every correction multiplies an exponential (8 u, and u of its argument) into sum and weight
    slack = key_blocks * 2.0 * (10.0 + spread) * tr.U
    return tr.Tracked(exact.value, exact.error + slack * (p.value @ np.abs(v)))


def _attention(n: int, heads: int, *, causal: bool, shared: int = 1) -> Make:
    def make(generator: Generator) -> Problem:
        q = normal(generator, heads, n, HEAD)
        k, v = (normal(generator, heads // shared, n, HEAD) for _ in range(2))
        wide_k, wide_v = (np.repeat(part, shared, 0) for part in (k, v))
        expected = reference(q, wide_k, wide_v, causal=causal, key_blocks=blocks(n, 16))
        meta = {"HEAD": HEAD, "BLOCK_M": 16, "BLOCK_N": 16, "CAUSAL": causal}
        arguments = (q, k, v, np.empty_like(q), float(np.float32(HEAD**-0.5)), n, heads, shared)
        return Problem((blocks(n, 16), heads), arguments, meta, {3: expected})

    return make


def _varlen(*lengths: int) -> Make:
    def make(generator: Generator) -> Problem:
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        q, k, v = (normal(generator, int(starts[-1]), HEAD) for _ in range(3))
        parts = [
            reference(q[i:j], k[i:j], v[i:j], causal=False, key_blocks=blocks(int(j - i), 16))
            for i, j in itertools.pairwise(starts)
        ]
        expected = tr.Tracked(
            np.concatenate([part.value for part in parts]), np.concatenate([part.error for part in parts])
        )
        arguments = (q, k, v, np.empty_like(q), starts, float(np.float32(HEAD**-0.5)))
        meta = {"HEAD": HEAD, "BLOCK_M": 16, "BLOCK_N": 16}
        return Problem((blocks(max(lengths), 16), len(lengths)), arguments, meta, {3: expected})

    return make


KERNELS = (
    KernelCase(
        "attention",
        "tile",
        "attention without the matrix of scores",
        attention,
        {
            "32x2": _attention(32, 2, causal=False),
            "causal.37x2": _attention(37, 2, causal=True),
            "causal.1x1": _attention(1, 1, causal=True),
            "shared.20x4": _attention(20, 4, causal=False, shared=2),
        },
    ),
    KernelCase(
        "varlen_attention",
        "full",
        "attention over sequences of many lengths",
        varlen_attention,
        {"17.1.33": _varlen(17, 1, 33)},
    ),
)
