"""Attention, forward, without the matrix of scores in memory: softmax is corrected as blocks of keys come in.

The algorithm is FlashAttention-2 (T. Dao, 2023, arXiv:2307.08691). Run it with
`python examples/flash_attention.py [BACKEND]`.
"""

from __future__ import annotations

import sys

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.testing import Comparison, compare, half_ulp, time_launch, unit_roundoff

SIGNATURES = {
    "attention_kernel": (
        "q: *f32, k: *f32, v: *f32, out: *f32, scale: f32, n: i32, "
        "HEAD=64, BLOCK_M=64, BLOCK_N=64, CAUSAL=False"
    )
}
LAUNCHES = {
    "attention_kernel": (
        "q=4x256x64, k=4x256x64, v=4x256x64, out=4x256x64, scale=0.125, n=256, grid=cdiv(n, BLOCK_M); 4"
    )
}


@xdsl.jit
def attend(
    q, k, v, accumulator, weight, maximum, rows, first, last, n,
    HEAD: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Adds the keys first <= j < last to the running softmax; MASKED if some of the scores do not count."""
    offsets_d = tl.arange(0, HEAD)
    for start in range(first, last, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        places = columns[:, None] * HEAD + offsets_d[None, :]
        if MASKED:
            k_block = tl.load(k + places, mask=columns[:, None] < n, other=0.0)
            v_block = tl.load(v + places, mask=columns[:, None] < n, other=0.0)
        else:
            k_block = tl.load(k + places)
            v_block = tl.load(v + places)
        scores = tl.dot(q, tl.trans(k_block))
        if MASKED:
            counts = columns[None, :] < n
            if CAUSAL:
                counts = counts & (rows[:, None] >= columns[None, :])
            scores = tl.where(counts, scores, -float("inf"))
        new_maximum = tl.maximum(maximum, tl.max(scores, 1))
        correction = tl.exp2(maximum - new_maximum)
        probability = tl.exp2(scores - new_maximum[:, None])
        weight = weight * correction + tl.sum(probability, 1)
        accumulator = accumulator * correction[:, None]
        accumulator = tl.dot(probability.to(v_block.dtype), v_block, accumulator)
        maximum = new_maximum
    return accumulator, weight, maximum


@xdsl.jit
def attention_kernel(
    q, k, v, out, scale, n,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Stores BLOCK_M rows of the attention of one head; q, k, v and out are heads x n x HEAD, contiguous."""
    first_row = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64) * n * HEAD
    rows = first_row + tl.arange(0, BLOCK_M)
    places = head + rows[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    # the scores are wanted in powers of two: exp(x) == exp2(x * log2(e))
    q_block = tl.load(q + places, mask=rows[:, None] < n, other=0.0)
    q_block = (q_block * (scale * 1.4426950408889634)).to(q_block.dtype)

    accumulator = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    weight = tl.zeros([BLOCK_M], dtype=tl.float32)
    maximum = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    if CAUSAL:
        whole = first_row // BLOCK_N * BLOCK_N
        last = min(first_row + BLOCK_M, n)
    else:
        whole = n // BLOCK_N * BLOCK_N
        last = n
    accumulator, weight, maximum = attend(
        q_block, k + head, v + head, accumulator, weight, maximum, rows, 0, whole, n,
        HEAD, BLOCK_N, CAUSAL, MASKED=False,
    )  # fmt: skip
    accumulator, weight, maximum = attend(
        q_block, k + head, v + head, accumulator, weight, maximum, rows, whole, last, n,
        HEAD, BLOCK_N, CAUSAL, MASKED=True,
    )  # fmt: skip
    result = accumulator / weight[:, None]
    tl.store(out + places, result.to(out.dtype.element_ty), mask=rows[:, None] < n)


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray, *,
    causal: bool, backend: str, block_m: int = 64, block_n: int = 64,
) -> None:  # fmt: skip
    """Stores softmax(q k^T / sqrt(head)) v to out; contiguous arrays, batch x heads x n x head."""
    batch, heads, n, head = q.shape
    grid = (xdsl.cdiv(n, block_m), batch * heads)
    attention_kernel.on(backend)[grid](
        q, k, v, out, head**-0.5, n, HEAD=head, BLOCK_M=block_m, BLOCK_N=block_n, CAUSAL=causal
    )


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, causal: bool) -> tuple[np.ndarray, np.ndarray]:
    """The result in float64, and what error each element of a float32 result may have.

    An absolute error d of a score is a relative error d of its probability. Scores are contractions of the
    head's length and rounded three times (scaling of q, product, difference); exp2 adds 8 u (4 ulp), each
    correction of the running sums a few u. Numerator and denominator carry that error, and that of a sum over
    the keys.
    """
    u = unit_roundoff(np.float32)
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    n, head = q.shape[-2:]
    scale = head**-0.5
    scores = q @ k.swapaxes(-1, -2) * scale
    magnitudes = np.abs(q) @ np.abs(k).swapaxes(-1, -2) * scale
    if causal:
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    distance = scores - scores.max(axis=-1, keepdims=True)
    probability = np.exp(distance)
    probability /= probability.sum(axis=-1, keepdims=True)

    of_score = (4.0 * np.sqrt(head) + 3.0) * u * magnitudes
    of_exp = u * (8.0 + np.where(probability > 0, np.abs(distance), 0.0))
    relative = of_score + of_exp + u * (4.0 * np.sqrt(n) + 10.0)
    of_denominator = (probability * relative).sum(axis=-1, keepdims=True)
    result = probability @ v
    spread = (probability * relative) @ np.abs(v) + of_denominator * (probability @ np.abs(v))
    return result, spread + 2 * half_ulp(result, np.float32)


def run(backend: str) -> list[Comparison]:
    """Compares with numpy: causal and not, whole blocks and ragged ones."""
    generator = np.random.default_rng(0)
    comparisons = []
    for causal in (False, True):
        for shape in ((1, 2, 128, 64), (2, 1, 100, 32)):
            q, k, v = generator.standard_normal((3, *shape)).astype(np.float32)
            out = np.full_like(q, np.nan)
            seconds = time_launch(
                lambda q=q, k=k, v=v, out=out, causal=causal: attention(
                    q, k, v, out, causal=causal, backend=backend
                )
            )
            expected, budget = reference(q, k, v, causal=causal)
            what = "x".join(map(str, shape)) + (" causal" if causal else "")
            comparisons.append(compare(out, expected, budget, what=what, seconds=seconds))
    return comparisons


def main() -> None:
    """Prints the comparisons of one backend."""
    for comparison in run(sys.argv[1] if len(sys.argv) > 1 else "cpu_c"):
        print(comparison)


if __name__ == "__main__":
    main()
