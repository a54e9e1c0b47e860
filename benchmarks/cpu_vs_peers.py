"""Kernels of examples/ on cpu_c against numpy and PyTorch: one process, interleaved, outputs preallocated.

python -m benchmarks.cpu_vs_peers [--only TEXT] [--quick] [--json FILE] [--backend NAME] [--list]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Candidate, Effort, Result, against_peers, show, write_json
from benchmarks.noise import in_prepared_process
from examples import flash_attention, fused_softmax, gelu, layer_norm, matmul
from examples.vector_add import add
from xdsl_core.testing import Comparison, compare, half_ulp

QUICK = Effort(rounds=5, seconds=6.0)
FULL = Effort(rounds=21, seconds=40.0)


@dataclass(frozen=True, slots=True)
class Work:
    """One comparison: ours, the peers, what one call does, and a check of our result.

    `amount` is the number of floating-point operations or of bytes read and written; `amount_unit` says
    which.
    """

    ours: Callable[[], object]
    peers: dict[str, Callable[[], object]]
    check: Callable[[], Comparison]
    amount: float = 0.0
    amount_unit: str = field(default="GB/s", kw_only=True)


def matmul_work(backend: str, torch: Any, size: int, blocks: matmul.Blocks) -> Work:
    """A square product in float32."""
    a, b = np.random.default_rng(0).standard_normal((2, size, size)).astype(np.float32)
    c, by_numpy = np.empty_like(a), np.empty_like(a)
    peers: dict[str, Callable[[], object]] = {"numpy (OpenBLAS)": partial(np.matmul, a, b, out=by_numpy)}
    if torch:
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        peers["torch"] = partial(torch.mm, x, y, out=torch.empty_like(x))
    return Work(
        partial(matmul.matmul, a, b, c, backend=backend, blocks=blocks),
        peers,
        lambda: compare(c, *matmul.reference(a, b, c.dtype)),
        2.0 * size**3,
        amount_unit="GFLOP/s",
    )


def softmax_work(backend: str, torch: Any, rows: int, columns: int) -> Work:
    """Softmax of rows in float32."""
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    out = np.empty_like(x)
    peers: dict[str, Callable[[], object]] = {"numpy": partial(numpy_softmax, x, np.empty_like(x))}
    if torch:
        t = torch.from_numpy(x)
        peers["torch out="] = partial(torch.softmax, t, -1, out=torch.empty_like(t))
    return Work(
        partial(fused_softmax.softmax, x, out, backend=backend),
        peers,
        lambda: compare(out, *fused_softmax.reference(x)),
        2.0 * x.nbytes,
    )


def numpy_softmax(x: np.ndarray, out: np.ndarray) -> None:
    """Softmax of rows with numpy, into `out`."""
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


def layer_norm_work(backend: str, torch: Any, rows: int, columns: int) -> Work:
    """Layer normalisation, forward, with mean and reciprocal standard deviation."""
    inputs, outputs = layer_norm.make(rows, columns)
    peers: dict[str, Callable[[], object]] = {
        "numpy": partial(numpy_layer_norm, inputs, np.empty_like(inputs.x))
    }
    if torch:
        x, weight, bias = (torch.from_numpy(array) for array in inputs)
        peers["torch (allocates)"] = partial(torch.native_layer_norm, x, (columns,), weight, bias, 1e-5)
    block = min(4096, columns)
    expected, budget = layer_norm.reference(inputs)
    return Work(
        partial(layer_norm.layer_norm, inputs, outputs, backend=backend, block=block),
        peers,
        lambda: compare(outputs.out, expected.out, budget.out),
        2.0 * inputs.x.nbytes,
    )


def numpy_layer_norm(inputs: layer_norm.Inputs, out: np.ndarray) -> None:
    """Layer normalisation with numpy, into `out`."""
    np.subtract(inputs.x, inputs.x.mean(axis=1, keepdims=True), out=out)
    variance = np.einsum("ij,ij->i", out, out) / out.shape[1]
    out /= np.sqrt(variance + 1e-5)[:, None]
    out *= inputs.weight
    out += inputs.bias


def add_work(backend: str, torch: Any, n: int) -> Work:
    """The sum of two vectors in float32."""
    x, y = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    out = np.empty_like(x)
    peers: dict[str, Callable[[], object]] = {"numpy": partial(np.add, x, y, out=np.empty_like(x))}
    if torch:
        t, u = torch.from_numpy(x), torch.from_numpy(y)
        peers["torch out="] = partial(torch.add, t, u, out=torch.empty_like(t))

    def check() -> Comparison:
        expected = x.astype(np.float64) + y
        return compare(out, expected, half_ulp(expected, np.float32))

    return Work(partial(add, x, y, out, backend=backend), peers, check, 3.0 * x.nbytes)


def gelu_work(backend: str, torch: Any, n: int, *, approximate: bool) -> Work:
    """GELU of a vector in float32."""
    x = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    out = np.empty_like(x)
    peers: dict[str, Callable[[], object]] = {}
    if torch:
        t = torch.from_numpy(x)
        form, result = "tanh" if approximate else "none", torch.empty_like(t)
        peers["torch out="] = partial(torch.ops.aten.gelu.out, t, approximate=form, out=result)
    if approximate:
        peers["numpy"] = partial(numpy_gelu, x, np.empty_like(x))
    few = slice(0, 100_000)
    return Work(
        partial(gelu.gelu, x, out, approximate=approximate, backend=backend),
        peers,
        lambda: compare(out[few], *gelu.reference(x[few], approximate=approximate)),
        2.0 * x.nbytes,
    )


def numpy_gelu(x: np.ndarray, out: np.ndarray) -> None:
    """The approximate form with numpy, into `out`."""
    np.multiply(x, x, out=out)
    out *= np.float32(0.044715)
    out += np.float32(1)
    out *= x
    out *= np.float32(0.7978845608028654)
    np.tanh(out, out=out)
    out += np.float32(1)
    out *= x
    out *= np.float32(0.5)


def attention_work(backend: str, torch: Any, *, causal: bool) -> Work:
    """Attention, forward, 2 x 4 heads, 1024 keys of 64."""
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 4, 1024, 64)).astype(np.float32)
    out = np.empty_like(q)
    peers: dict[str, Callable[[], object]] = {"numpy": partial(numpy_attention, q, k, v, causal=causal)}
    if torch:
        tensors = [torch.from_numpy(array) for array in (q, k, v)]
        sdpa = torch.nn.functional.scaled_dot_product_attention
        peers["torch SDPA"] = partial(sdpa, *tensors, is_causal=causal)
    return Work(
        partial(flash_attention.attention, q, k, v, out, causal=causal, backend=backend),
        peers,
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


LARGE, SMALL = matmul.Blocks(128, 128, 64), matmul.Blocks(64, 64, 32)
WORKS: dict[str, Callable[[str, Any], Work]] = {
    **{
        f"matmul f32 {size}, blocks {blocks.m}x{blocks.n}x{blocks.k}": partial(
            matmul_work, size=size, blocks=blocks
        )
        for size in (512, 1024, 2048)
        for blocks in (LARGE, SMALL)
    },
    "softmax 4096x1024": partial(softmax_work, rows=4096, columns=1024),
    "softmax 1823x781": partial(softmax_work, rows=1823, columns=781),
    "layer norm 1151x8192": partial(layer_norm_work, rows=1151, columns=8192),
    "vector add 2^24": partial(add_work, n=2**24),
    "gelu tanh 2^22": partial(gelu_work, n=2**22, approximate=True),
    "gelu erf 2^22": partial(gelu_work, n=2**22, approximate=False),
    "attention 2x4x1024x64": partial(attention_work, causal=False),
    "attention 2x4x1024x64 causal": partial(attention_work, causal=True),
}


def optional_torch() -> Any:
    """PyTorch on all processors, or None."""
    if importlib.util.find_spec("torch") is None:
        print("note: PyTorch is not installed; its columns are missing", file=sys.stderr)
        return None
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.set_grad_enabled(False)
    return torch


def description(torch: Any) -> str:
    """What ran where, for the table's title."""
    versions = [f"numpy {np.__version__}", *([f"torch {torch.__version__}"] if torch else [])]
    processors = len(os.sched_getaffinity(0))
    own = importlib.metadata.version("xdsl-core")
    return f"xdsl-core {own} against {', '.join(versions)}; {processors} processors, {platform.machine()}"


def main() -> int:
    """Measures the works that were asked for; the exit status is 1 if a result was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="only works whose name has this text (repeatable)")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--backend", default="cpu_c")
    parser.add_argument("--list", action="store_true", help="print the names of the works and stop")
    options = parser.parse_args()
    chosen = [name for name in WORKS if not options.only or any(text in name for text in options.only)]
    if options.list or not chosen:
        print("\n".join(WORKS))
        return 0 if options.list else 1
    in_prepared_process()

    torch, effort = optional_torch(), QUICK if options.quick else FULL
    results: list[Result] = []
    wrong: list[str] = []
    for name in chosen:
        work = WORKS[name](options.backend, torch)
        work.ours()
        comparison = work.check()
        if not comparison.passed:
            wrong.append(f"{name}: {comparison}")
            continue
        peers = [Candidate(peer, call) for peer, call in work.peers.items()]
        ours = Candidate("ours", work.ours)
        results += against_peers(name, ours, peers, effort, amount=work.amount, amount_unit=work.amount_unit)
        print(f"{name}: done", file=sys.stderr)
    show(results, title=description(torch))
    if options.json:
        write_json([asdict(result) for result in results], options.json)
    for text in wrong:
        print(f"wrong result, not measured: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
