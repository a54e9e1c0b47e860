"""Kernels that reduce rows: softmax, layer and RMS normalisation."""

from __future__ import annotations

from functools import partial

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.works.work import Call, Peers, Work
from examples import fused_softmax, layer_norm
from xdsl_core.testing import compare, half_ulp, unit_roundoff

EPSILON = 1e-5


def softmax(backend: str, peers: Peers, *, rows: int, columns: int) -> Work:
    """Softmax of rows in float32."""
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    out = np.empty_like(x)
    others: dict[str, Call] = {"numpy": partial(numpy_softmax, x, np.empty_like(x))}
    if peers.torch:
        t = peers.torch.from_numpy(x)
        others["torch out="] = partial(peers.torch.softmax, t, -1, out=peers.torch.empty_like(t))
        others |= peers.compiled(lambda t: peers.torch.softmax(t, -1), t)
    if peers.numba:
        others["numba"] = partial(_numba_softmax(peers.numba), x, np.empty_like(x))
    return Work(
        partial(fused_softmax.softmax, x, out, backend=backend),
        others,
        lambda: compare(out, *fused_softmax.reference(x)),
        2.0 * x.nbytes,
    )


def numpy_softmax(x: np.ndarray, out: np.ndarray) -> None:
    """Softmax of rows with numpy, into `out`."""
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


def _numba_softmax(numba):  # type: ignore[no-untyped-def]
    @numba.njit(parallel=True, fastmath=True)
    def run(x, out):  # type: ignore[no-untyped-def]
        for row in numba.prange(x.shape[0]):
            largest = x[row].max()
            total = np.float32(0)
            for column in range(x.shape[1]):
                out[row, column] = np.exp(x[row, column] - largest)
                total += out[row, column]
            for column in range(x.shape[1]):
                out[row, column] /= total

    return run


def layer_normalisation(backend: str, peers: Peers, *, rows: int, columns: int) -> Work:
    """Layer normalisation, forward, with mean and reciprocal standard deviation."""
    inputs, outputs = layer_norm.make(rows, columns)
    others: dict[str, Call] = {"numpy": partial(numpy_layer_norm, inputs, np.empty_like(inputs.x))}
    if peers.torch:
        torch = peers.torch
        x, weight, bias = (torch.from_numpy(array) for array in inputs)
        results = [torch.empty_like(x), torch.empty(rows, 1), torch.empty(rows, 1)]
        call = partial(torch.ops.aten.native_layer_norm.out, x, (columns,), weight, bias, EPSILON)
        others["torch out="] = partial(call, out0=results[0], out1=results[1], out2=results[2])
        others["torch (allocates)"] = partial(torch.native_layer_norm, x, (columns,), weight, bias, EPSILON)
    block = min(4096, columns)
    expected, budget = layer_norm.reference(inputs)
    return Work(
        partial(layer_norm.layer_norm, inputs, outputs, backend=backend, block=block),
        others,
        lambda: compare(outputs.out, expected.out, budget.out),
        2.0 * inputs.x.nbytes,
    )


def numpy_layer_norm(inputs: layer_norm.Inputs, out: np.ndarray) -> None:
    """Layer normalisation with numpy, into `out`."""
    np.subtract(inputs.x, inputs.x.mean(axis=1, keepdims=True), out=out)
    variance = np.einsum("ij,ij->i", out, out) / out.shape[1]
    out /= np.sqrt(variance + EPSILON)[:, None]
    out *= inputs.weight
    out += inputs.bias


@xdsl.jit
def rms_norm_kernel(x, weight, out, stride, columns, epsilon, BLOCK: tl.constexpr):
    """Stores one row divided by its root mean square, times the weight; BLOCK holds a row."""
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    start = tl.program_id(0).to(tl.int64) * stride
    values = tl.load(x + start + offsets, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    result = values * scale * tl.load(weight + offsets, mask=inside)
    tl.store(out + start + offsets, result, mask=inside)


def rms_normalisation(backend: str, peers: Peers, *, rows: int, columns: int) -> Work:
    """RMS normalisation, forward."""
    inputs, _ = layer_norm.make(rows, columns)
    x, weight = inputs.x, inputs.weight
    out = np.empty_like(x)
    others: dict[str, Call] = {}
    if peers.torch:
        t, w = peers.torch.from_numpy(x), peers.torch.from_numpy(weight)
        function = peers.torch.nn.functional.rms_norm
        others["torch (allocates)"] = partial(function, t, (columns,), w, EPSILON)
        others |= peers.compiled(lambda t, w: function(t, (columns,), w, EPSILON), t, w)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + EPSILON) * weight
    # the sum of squares has 4 sqrt(n) roundings of its own kind, halved by the root; four more follow
    budget = (2 * np.sqrt(columns) + 4) * unit_roundoff(np.float32) * np.abs(expected)
    return Work(
        partial(
            rms_norm_kernel.on(backend)[(rows,)],
            x, weight, out, columns, columns, EPSILON, BLOCK=xdsl.next_power_of_2(columns),
        ),
        others,
        lambda: compare(out, expected, budget + half_ulp(expected, np.float32)),
        2.0 * x.nbytes,
    )  # fmt: skip


WORKS = {
    "softmax 4096x1024": partial(softmax, rows=4096, columns=1024),
    "softmax 1823x781": partial(softmax, rows=1823, columns=781),
    "layer norm 1151x8192": partial(layer_normalisation, rows=1151, columns=8192),
    "rms norm 1151x8192": partial(rms_normalisation, rows=1151, columns=8192),
}
