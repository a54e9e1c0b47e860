"""Attention, forward."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.works.rows import numpy_softmax
from benchmarks.works.work import Call, Peers, Work
from examples import flash_attention
from xdsl_core.testing import compare


def attention(backend: str, peers: Peers, *, causal: bool) -> Work:
    """2 x 4 heads, 1024 keys of 64, float32."""
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 4, 1024, 64)).astype(np.float32)
    out = np.empty_like(q)
    others: dict[str, Call] = {"numpy": partial(numpy_attention, q, k, v, causal=causal)}
    if peers.torch:
        tensors = [peers.torch.from_numpy(array) for array in (q, k, v)]
        sdpa = peers.torch.nn.functional.scaled_dot_product_attention
        others["torch SDPA"] = partial(sdpa, *tensors, is_causal=causal)
    return Work(
        partial(flash_attention.attention, q, k, v, out, causal=causal, backend=backend),
        others,
        lambda: compare(out, *flash_attention.reference(q, k, v, causal=causal)),
        4.0 * 8 * 1024 * 1024 * 64 / (2 if causal else 1),
        amount_unit="GFLOP/s",
    )


def numpy_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, causal: bool) -> np.ndarray:
    """Attention with numpy, the scores in memory."""
    scores = q @ k.swapaxes(-1, -2)
    scores *= np.float32(q.shape[-1] ** -0.5)
    if causal:
        scores[..., ~np.tri(q.shape[-2], dtype=bool)] = -np.inf
    numpy_softmax(flat := scores.reshape(-1, scores.shape[-1]), flat)
    return scores @ v


WORKS = {
    "attention 2x4x1024x64": partial(attention, causal=False),
    "attention 2x4x1024x64 causal": partial(attention, causal=True),
}
