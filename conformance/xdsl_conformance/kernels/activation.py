"""Activations of feed-forward layers: SwiGLU forward and backward, GELU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal, padded, strides


@xdsl.jit
def swiglu(gate, up, out, stride, columns, BLOCK: tl.constexpr):
    """out = silu(gate) * up, a row a program."""
    row = tl.program_id(0)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < columns
        g = tl.load(gate + row * stride + offsets, mask=inside).to(tl.float32)
        u = tl.load(up + row * stride + offsets, mask=inside).to(tl.float32)
        result = g * tl.sigmoid(g) * u
        tl.store(out + row * columns + offsets, result.to(out.dtype.element_ty), mask=inside)


@xdsl.jit
def swiglu_backward(grad, gate, up, grad_gate, grad_up, n, BLOCK: tl.constexpr):
    """The gradients of silu(gate) * up."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    d = tl.load(grad + offsets, mask=inside)
    g = tl.load(gate + offsets, mask=inside)
    u = tl.load(up + offsets, mask=inside)
    s = tl.sigmoid(g)
    silu = g * s
    tl.store(grad_up + offsets, d * silu, mask=inside)
    tl.store(grad_gate + offsets, d * u * (s + silu * (1.0 - s)), mask=inside)


@xdsl.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    """GELU by the logistic form of its approximation with tanh."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=0.0)
    inner = 1.5957691216057308 * values * (1.0 + 0.044715 * values * values)
    tl.store(out + offsets, values * tl.sigmoid(inner), mask=offsets < n)


def _swiglu(rows: int, columns: int, dtype: Any, pad: int = 0) -> Make:
    def make(generator: Generator) -> Problem:
        gate, up = (padded(normal(generator, rows, columns, dtype=dtype, scale=3.0), pad) for _ in range(2))
        wide = gate.astype(np.float64)
        expected = tr.tracked(wide) * tr.sigmoid(wide) * up.astype(np.float64)
        out = np.empty((rows, columns), dtype)
        arguments = (gate, up, out, strides(gate)[0], columns)
        return Problem((rows,), arguments, {"BLOCK": 32}, {2: expected})

    return make


def _swiglu_backward(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        grad, gate, up = (normal(generator, n) for _ in range(3))
        s = tr.sigmoid(gate)
        silu = gate * s
        by_gate = tr.tracked(grad) * up * (s + silu * (1.0 - s))
        arguments = (grad, gate, up, np.empty_like(grad), np.empty_like(grad), n)
        return Problem((blocks(n, 32),), arguments, {"BLOCK": 32}, {3: by_gate, 4: grad * silu})

    return make


def _gelu(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, n, scale=3.0)
        slope = 2.0 * math.sqrt(2.0 / math.pi)
        inner = slope * tr.tracked(x) * (1.0 + 0.044715 * tr.tracked(x) * x)
        return Problem((blocks(n, 64),), (x, np.empty_like(x), n), {"BLOCK": 64}, {1: x * tr.sigmoid(inner)})

    return make


KERNELS = (
    KernelCase(
        "swiglu",
        "tile",
        "silu(gate) * up",
        swiglu,
        {
            "f32.3x100": _swiglu(3, 100, np.float32),
            "f32.padded": _swiglu(2, 33, np.float32, pad=7),
            "f16.4x64": _swiglu(4, 64, np.float16),
            "f32.1x1": _swiglu(1, 1, np.float32),
        },
    ),
    KernelCase(
        "swiglu_backward",
        "tile",
        "gradients of silu(gate) * up",
        swiglu_backward,
        {"n97": _swiglu_backward(97), "n32": _swiglu_backward(32)},
    ),
    KernelCase("gelu", "core", "GELU, approximate", gelu, {"n257": _gelu(257), "n1": _gelu(1)}),
)
