"""Softmax of rows: in one tile, over blocks, of the logarithm, backward."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, normal, padded, strides


@xdsl.jit
def softmax(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """The softmax of one row, which fits a tile."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * x_stride + offsets, mask=inside, other=-float("inf"))
    numerator = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * out_stride + offsets, numerator / tl.sum(numerator, axis=0), mask=inside)


@xdsl.jit
def online_softmax(out, x, stride, columns, BLOCK: tl.constexpr):
    """The softmax of one row in two passes over blocks: maximum and sum are corrected as blocks come in."""
    row = tl.program_id(0)
    highest, total = -float("inf"), 0.0
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + offsets, mask=offsets < columns, other=-float("inf"))
        new = tl.maximum(highest, tl.max(values, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(values - new), axis=0)
        highest = new
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + offsets, mask=offsets < columns)
        tl.store(out + row * columns + offsets, tl.exp(values - highest) / total, mask=offsets < columns)


@xdsl.jit
def log_softmax(out, x, rows, columns: tl.constexpr, BLOCK: tl.constexpr):
    """The logarithm of the softmax, BLOCK rows a program."""
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    places = r[:, None] * columns + tl.arange(0, columns)[None, :]
    values = tl.load(x + places, mask=r[:, None] < rows, other=0.0)
    centred = values - tl.max(values, axis=1)[:, None]
    result = centred - tl.log(tl.sum(tl.exp(centred), axis=1))[:, None]
    tl.store(out + places, result, mask=r[:, None] < rows)


@xdsl.jit
def softmax_backward(grad, y, out, columns, BLOCK: tl.constexpr):
    """The gradient by the input: (grad - sum(grad * y)) * y."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    d = tl.load(grad + row * columns + offsets, mask=inside, other=0.0)
    p = tl.load(y + row * columns + offsets, mask=inside, other=0.0)
    tl.store(out + row * columns + offsets, (d - tl.sum(d * p, axis=0)) * p, mask=inside)


def _softmax(rows: int, columns: int, block: int, scale: float = 1.0) -> Make:
    def make(generator: Generator) -> Problem:
        x = padded(normal(generator, rows, columns, scale=scale), 2)
        out = np.empty((rows, columns), np.float32)
        arguments = (out, x, strides(out)[0], strides(x)[0], columns)
        return Problem((rows,), arguments, {"BLOCK": block}, {0: tr.softmax(x)})

    return make


def _online(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, rows, columns, scale=4.0)
        exact = tr.softmax(x)
        # every block corrects what came before: an exponential, a product and a sum, for the sum alone
        slack = exact.value * (columns // 16 + 1) * 16.0 * tr.U * (1.0 + np.ptp(x))
        arguments = (np.empty_like(x), x, columns, columns)
        expected = tr.Tracked(exact.value, exact.error + slack)
        return Problem((rows,), arguments, {"BLOCK": 16}, {0: expected})

    return make


def _log(rows: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, rows, 32, scale=2.0)
        centred = tr.tracked(x) - x.max(1, keepdims=True)
        expected = centred - tr.log(tr.exp(centred).sum(1, keepdims=True))
        return Problem(
            (-(-rows // 4),), (np.empty_like(x), x, rows), {"columns": 32, "BLOCK": 4}, {0: expected}
        )

    return make


def _backward(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        grad, x = normal(generator, rows, columns), normal(generator, rows, columns)
        y = tr.softmax(x).value.astype(np.float32)
        expected = (grad - (tr.tracked(grad) * y).sum(1, keepdims=True)) * y
        return Problem((rows,), (grad, y, np.empty_like(grad), columns), {"BLOCK": 64}, {2: expected})

    return make


KERNELS = (
    KernelCase(
        "softmax",
        "core",
        "softmax of rows, each in one tile",
        softmax,
        {
            "4x64": _softmax(4, 64, 64),
            "3x61": _softmax(3, 61, 64),
            "5x1": _softmax(5, 1, 16),
            "large": _softmax(2, 100, 128, scale=50.0),
        },
    ),
    KernelCase(
        "online_softmax",
        "core",
        "softmax over blocks",
        online_softmax,
        {"3x50": _online(3, 50), "2x16": _online(2, 16)},
    ),
    KernelCase("log_softmax", "tile", "logarithm of softmax", log_softmax, {"7": _log(7), "4": _log(4)}),
    KernelCase(
        "softmax_backward",
        "tile",
        "gradient of softmax",
        softmax_backward,
        {"3x50": _backward(3, 50), "2x64": _backward(2, 64)},
    ),
)
