"""Attention forward on matrix and vector cores together."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.dsa.simulated import Simulated, simulate


@xdsl.jit
def attention_rows(q, k, v, out, scale, n, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_M rows of the attention of one head, the scores in float32, probabilities in the inputs' type.

    As in the measured kernel the matrix cores run ahead: the scores of the next keys are multiplied while the
    vector cores work on these, and a product with the values is added one iteration later.
    """
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.arange(0, HEAD)
    along = tl.arange(0, BLOCK_N)
    queries = tl.load(q + rows[:, None] * HEAD + head[None, :])
    scores = tl.dot(queries, tl.trans(tl.load(k + along[:, None] * HEAD + head[None, :])))
    accumulator = tl.zeros((BLOCK_M, HEAD), tl.float32)
    product = tl.zeros((BLOCK_M, HEAD), tl.float32)
    maximum = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, n, BLOCK_N):
        following = tl.minimum(start + BLOCK_N, n - BLOCK_N) + along
        keys = tl.load(k + following[:, None] * HEAD + head[None, :])
        upcoming = tl.dot(queries, tl.trans(keys))
        scores = scores * scale
        larger = tl.maximum(maximum, tl.max(scores, 1))
        correction = tl.exp(maximum - larger)
        probability = tl.exp(scores - larger[:, None])
        weight = weight * correction + tl.sum(probability, 1)
        accumulator = (accumulator + product) * correction[:, None]
        values = tl.load(v + (start + along)[:, None] * HEAD + head[None, :])
        product = tl.dot(probability.to(values.dtype), values)
        maximum = larger
        scores = upcoming
    result = (accumulator + product) / weight[:, None]
    tl.store(out + rows[:, None] * HEAD + head[None, :], result.to(out.dtype.element_ty))


def attention(target: str, *, length: int, head: int = 128, block: tuple[int, int] = (128, 128)) -> Simulated:
    """One head of float16 over `length` positions."""
    q, k, v, out = (np.empty((length, head), np.float16) for _ in range(4))
    return simulate(
        attention_rows, target, (length // block[0],), q, k, v, out, head**-0.5, length,
        HEAD=head, BLOCK_M=block[0], BLOCK_N=block[1],
    )  # fmt: skip
