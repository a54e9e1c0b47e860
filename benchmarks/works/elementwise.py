"""Kernels without a reduction: vector add, GELU, SiLU times a gate."""

from __future__ import annotations

from functools import partial

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.works.work import Call, Peers, Work
from examples import gelu as gelu_example
from examples.vector_add import add
from xdsl_core.testing import Comparison, compare, half_ulp, unit_roundoff


def vector_add(backend: str, peers: Peers, *, n: int) -> Work:
    """The sum of two vectors in float32."""
    x, y = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    out = np.empty_like(x)
    others: dict[str, Call] = {"numpy": partial(np.add, x, y, out=np.empty_like(x))}
    if peers.torch:
        t, u = peers.torch.from_numpy(x), peers.torch.from_numpy(y)
        others["torch out="] = partial(peers.torch.add, t, u, out=peers.torch.empty_like(t))
    if peers.numba:
        others["numba"] = partial(_numba_add(peers.numba), x, y, np.empty_like(x))

    def check() -> Comparison:
        expected = x.astype(np.float64) + y
        return compare(out, expected, half_ulp(expected, np.float32))

    return Work(partial(add, x, y, out, backend=backend), others, check, 3.0 * x.nbytes)


def _numba_add(numba):  # type: ignore[no-untyped-def]
    @numba.njit(parallel=True)
    def run(x, y, out):  # type: ignore[no-untyped-def]
        for index in numba.prange(x.size):
            out[index] = x[index] + y[index]

    return run


def gelu(backend: str, peers: Peers, *, n: int, approximate: bool) -> Work:
    """GELU of a vector in float32."""
    x = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    out = np.empty_like(x)
    others: dict[str, Call] = {}
    if peers.torch:
        torch = peers.torch
        t = torch.from_numpy(x)
        form, result = "tanh" if approximate else "none", torch.empty_like(t)
        others["torch out="] = partial(torch.ops.aten.gelu.out, t, approximate=form, out=result)
        others |= peers.compiled(lambda t: torch.nn.functional.gelu(t, approximate=form), t)
    if approximate:
        others["numpy"] = partial(numpy_gelu, x, np.empty_like(x))
    few = slice(0, 100_000)
    return Work(
        partial(gelu_example.gelu, x, out, approximate=approximate, backend=backend),
        others,
        lambda: compare(out[few], *gelu_example.reference(x[few], approximate=approximate)),
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


@xdsl.jit
def silu_and_mul_kernel(gate, up, out, n, BLOCK: tl.constexpr):
    """Stores gate * sigmoid(gate) * up."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(gate + offsets, mask=inside)
    result = values * tl.sigmoid(values) * tl.load(up + offsets, mask=inside)
    tl.store(out + offsets, result, mask=inside)


def silu_and_mul(backend: str, peers: Peers, *, n: int) -> Work:
    """SiLU of one vector times another, float32."""
    gate, up = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    out = np.empty_like(gate)
    others: dict[str, Call] = {}
    if peers.torch:
        silu = peers.torch.nn.functional.silu
        t, u = peers.torch.from_numpy(gate), peers.torch.from_numpy(up)
        others["torch (allocates)"] = lambda: silu(t) * u
        silu_out, result = peers.torch.ops.aten.silu.out, peers.torch.empty_like(t)
        others["torch out="] = lambda: peers.torch.mul(silu_out(t, out=result), u, out=result)
        others |= peers.compiled(lambda t, u: silu(t) * u, t, u)

    def check() -> Comparison:
        wide = gate.astype(np.float64)
        expected = wide / (1 + np.exp(-wide)) * up
        # the exponential's 4 ulp, then a sum, a division and two products
        budget = 8 * 2 * unit_roundoff(np.float32) * np.abs(expected) + half_ulp(expected, np.float32)
        return compare(out, expected, budget)

    launch = silu_and_mul_kernel.on(backend)[(xdsl.cdiv(n, 1024),)]
    return Work(partial(launch, gate, up, out, n, BLOCK=1024), others, check, 3.0 * gate.nbytes)


WORKS = {
    "vector add 2^24": partial(vector_add, n=2**24),
    "gelu tanh 2^22": partial(gelu, n=2**22, approximate=True),
    "gelu erf 2^22": partial(gelu, n=2**22, approximate=False),
    "silu and mul 2^22": partial(silu_and_mul, n=2**22),
}
