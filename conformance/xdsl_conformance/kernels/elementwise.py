"""Kernels that treat every element alike."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal
from xdsl_conformance.tracked import tracked


@xdsl.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """out = x + y, with a tail."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(out + offsets, total, mask=inside)


@xdsl.jit
def axpy(alpha, x, x_stride, y, y_stride, n, BLOCK: tl.constexpr):
    """y += alpha * x over vectors with strides."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    old = tl.load(y + offsets * y_stride, mask=inside)
    new = old + alpha * tl.load(x + offsets * x_stride, mask=inside)
    tl.store(y + offsets * y_stride, new, mask=inside)


@xdsl.jit
def mix(x, out, n, BLOCK: tl.constexpr):
    """A hash of 32 bits: shifts, exclusive or, and products that wrap around (xxHash32's final mix)."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n, other=0)
    value ^= value >> 15
    value *= 0x85EBCA77
    value ^= value >> 13
    value *= 0xC2B2AE3D
    value ^= value >> 16
    tl.store(out + offsets, value, mask=offsets < n)


def _add(n: int, dtype: type) -> Make:
    def make(generator: Generator) -> Problem:
        x, y = (normal(generator, n, dtype=dtype) for _ in range(2))
        expected = (x.astype(np.float64) + y.astype(np.float64)).astype(dtype)
        return Problem((blocks(n, 64),), (x, y, np.empty_like(x), n), {"BLOCK": 64}, {2: expected})

    return make


def _axpy(n: int, x_step: int, y_step: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, y = normal(generator, 200)[::x_step][:n], normal(generator, 200)[::y_step][:n]
        expected = y + 0.75 * tracked(x)
        arguments = (0.75, x, x_step, y, y_step, n)
        return Problem((blocks(n, 16),), arguments, {"BLOCK": 16}, {3: expected}, in_place=True)

    return make


def _mix(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(0, 2**32, n, dtype=np.uint32)
        value = x.copy()
        for shift, factor in ((15, 0x85EBCA77), (13, 0xC2B2AE3D)):
            value = ((value ^ (value >> shift)) * np.uint32(factor)).astype(np.uint32)
        expected = value ^ (value >> 16)
        return Problem((blocks(n, 128),), (x, np.empty_like(x), n), {"BLOCK": 128}, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "add",
        "smoke",
        "element-wise sum with a tail",
        add,
        {f"f32.{n}": _add(n, np.float32) for n in (1, 63, 64, 65, 127, 1000)},
    ),
    KernelCase(
        "add_narrow",
        "core",
        "element-wise sum of 16-bit floats",
        add,
        {"f16.131": _add(131, np.float16), "bf16.131": _add(131, ml_dtypes.bfloat16)},
    ),
    KernelCase(
        "axpy",
        "core",
        "y += alpha * x over strides",
        axpy,
        {
            "n33": _axpy(33, 1, 1),
            "strided": _axpy(31, 3, 2),
            "backwards": _axpy(40, -1, 1),
            "one": _axpy(1, 2, 5),
        },
    ),
    KernelCase("mix", "core", "hash of 32 bits", mix, {"n300": _mix(300), "n1": _mix(1)}),
)
