"""Layer and RMS normalisation, forward and backward; normalisation over groups of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, normal, padded, strides

EPSILON = 1e-5


@xdsl.jit
def layer_norm(x, out, weight, bias, mean, rstd, stride, columns, epsilon, BLOCK: tl.constexpr):
    """One row a program, over blocks: mean, then variance, then the result."""
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + offsets, mask=offsets < columns, other=0.0)
    middle = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + offsets, mask=offsets < columns, other=0.0)
        centred = tl.where(offsets < columns, values - middle, 0.0)
        squares += centred * centred
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)
    tl.store(mean + row, middle)
    tl.store(rstd + row, scale)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < columns
        values = tl.load(x + row * stride + offsets, mask=inside)
        w = tl.load(weight + offsets, mask=inside)
        b = tl.load(bias + offsets, mask=inside)
        tl.store(out + row * columns + offsets, (values - middle) * scale * w + b, mask=inside)


@xdsl.jit
def layer_norm_backward(
    grad, x, weight, mean, rstd, grad_x, grad_weight, grad_bias, rows, columns,
    BLOCK_R: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients by input, weight and bias; one program goes over all rows."""
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    w = tl.load(weight + offsets, mask=inside, other=0.0)
    by_weight = tl.zeros([BLOCK], dtype=tl.float32)
    by_bias = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, rows, BLOCK_R):
        r = first + tl.arange(0, BLOCK_R)
        both = (r < rows)[:, None] & inside[None, :]
        places = r[:, None] * columns + offsets[None, :]
        d = tl.load(grad + places, mask=both, other=0.0)
        values = tl.load(x + places, mask=both, other=0.0)
        middle = tl.load(mean + r, mask=r < rows, other=0.0)
        scale = tl.load(rstd + r, mask=r < rows, other=0.0)
        hat = tl.where(both, (values - middle[:, None]) * scale[:, None], 0.0)
        wd = w[None, :] * d
        along = tl.sum(hat * wd, axis=1) / columns
        constant = tl.sum(wd, axis=1) / columns
        tl.store(
            grad_x + places, (wd - (hat * along[:, None] + constant[:, None])) * scale[:, None], mask=both
        )
        by_weight += tl.sum(d * hat, axis=0)
        by_bias += tl.sum(d, axis=0)
    tl.store(grad_weight + offsets, by_weight, mask=inside)
    tl.store(grad_bias + offsets, by_bias, mask=inside)


@xdsl.jit
def rms_norm(x, weight, out, stride, columns, epsilon, BLOCK: tl.constexpr):
    """One row a program, in one tile; computes in float32 whatever is stored."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * stride + offsets, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    result = values * scale * tl.load(weight + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * columns + offsets, result.to(out.dtype.element_ty), mask=inside)


@xdsl.jit
def rms_norm_backward(grad, x, weight, grad_x, columns, epsilon, BLOCK: tl.constexpr):
    """The gradient by the input."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=0.0)
    wd = tl.load(grad + row * columns + offsets, mask=inside, other=0.0)
    wd *= tl.load(weight + offsets, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / columns + epsilon)
    along = tl.sum(wd * values, axis=0) * scale * scale / columns
    tl.store(grad_x + row * columns + offsets, (wd - values * along) * scale, mask=inside)


@xdsl.jit
def group_norm(x, out, channels, size, epsilon, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Normalises GROUP channels of `size` elements together; one program an image and a group."""
    image, group = tl.program_id(1), tl.program_id(0)
    channel = group * GROUP + tl.arange(0, GROUP)
    offsets = tl.arange(0, BLOCK)
    inside = (channel < channels)[:, None] & (offsets < size)[None, :]
    places = (image * channels + channel[:, None]) * size + offsets[None, :]
    values = tl.load(x + places, mask=inside, other=0.0)
    count = GROUP * size
    middle = tl.sum(values) / count
    centred = tl.where(inside, values - middle, 0.0)
    spread = tl.sum(centred * centred) / count
    tl.store(out + places, centred * tl.rsqrt(spread + epsilon), mask=inside)


def _statistics(x: Any, axis: int = -1) -> tuple[tr.Tracked, tr.Tracked]:
    centred = tr.tracked(x) - tr.tracked(x).mean(axis, keepdims=True)
    return centred, 1.0 / tr.sqrt((centred * centred).mean(axis, keepdims=True) + EPSILON)


def _layer_norm(rows: int, columns: int, block: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = padded(normal(generator, rows, columns) + 1.0, 3).astype(np.float32)
        weight, bias = normal(generator, columns), normal(generator, columns)
        centred, rstd = _statistics(x)
        out, mean, scale = np.empty((rows, columns), np.float32), *np.empty((2, rows), np.float32)
        expected = {1: centred * rstd * weight + bias, 4: tr.tracked(x).mean(-1), 5: rstd.reshape(rows)}
        arguments = (x, out, weight, bias, mean, scale, strides(x)[0], columns, EPSILON)
        return Problem((rows,), arguments, {"BLOCK": block}, expected)

    return make


def _layer_norm_backward(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        grad, x, weight = (
            normal(generator, rows, columns),
            normal(generator, rows, columns),
            normal(generator, columns),
        )
        mean, rstd = (part.astype(np.float32) for part in (x.mean(1), 1.0 / np.sqrt(x.var(1) + EPSILON)))
        hat = (tr.tracked(x) - mean[:, None]) * rstd[:, None]
        wd = tr.tracked(grad) * weight
        along, constant = (hat * wd).mean(1, keepdims=True), wd.mean(1, keepdims=True)
        by_x = (wd - (hat * along + constant)) * rstd[:, None]
        by_weight, by_bias = (tr.tracked(grad) * hat).sum(0), tr.tracked(grad).sum(0)
        outputs = (np.empty_like(x), np.empty_like(weight), np.empty_like(weight))
        arguments = (grad, x, weight, mean, rstd, *outputs, rows, columns)
        expected = {5: by_x, 6: by_weight, 7: by_bias}
        return Problem((1,), arguments, {"BLOCK_R": 4, "BLOCK": 64}, expected)

    return make


def _rms_norm(rows: int, columns: int, dtype: Any) -> Make:
    def make(generator: Generator) -> Problem:
        x, weight = normal(generator, rows, columns, dtype=dtype), normal(generator, columns, dtype=dtype)
        wide = tr.tracked(x.astype(np.float64))
        scale = 1.0 / tr.sqrt((wide * wide).mean(1, keepdims=True) + EPSILON)
        expected = wide * scale * (1.0 + tr.tracked(0.0)) * weight.astype(np.float64)
        arguments = (x, weight, np.empty_like(x), columns, columns, EPSILON)
        return Problem((rows,), arguments, {"BLOCK": 128}, {2: expected})

    return make


def _rms_norm_backward(rows: int, columns: int) -> Make:
    def make(generator: Generator) -> Problem:
        grad, x, weight = (
            normal(generator, rows, columns),
            normal(generator, rows, columns),
            normal(generator, columns),
        )
        wide, wd = tr.tracked(x), tr.tracked(grad) * weight
        scale = 1.0 / tr.sqrt((wide * wide).mean(1, keepdims=True) + EPSILON)
        expected = (wd - wide * ((wd * wide).mean(1, keepdims=True) * scale * scale)) * scale
        arguments = (grad, x, weight, np.empty_like(x), columns, EPSILON)
        return Problem((rows,), arguments, {"BLOCK": 64}, {3: expected})

    return make


def _group_norm(images: int, channels: int, size: int, group: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, images, channels, size)
        centred, rstd = _statistics(x.reshape(images, channels // group, group * size))
        expected = (centred * rstd).reshape(images, channels, size)
        arguments = (x, np.empty_like(x), channels, size, EPSILON)
        return Problem((channels // group, images), arguments, {"GROUP": group, "BLOCK": 32}, {1: expected})

    return make


KERNELS = (
    KernelCase(
        "layer_norm",
        "core",
        "layer normalisation over blocks",
        layer_norm,
        {"3x64": _layer_norm(3, 64, 32), "2x77": _layer_norm(2, 77, 16), "2x1": _layer_norm(2, 1, 16)},
    ),
    KernelCase(
        "layer_norm_backward",
        "tile",
        "gradients of layer normalisation",
        layer_norm_backward,
        {"6x50": _layer_norm_backward(6, 50), "4x64": _layer_norm_backward(4, 64)},
    ),
    KernelCase(
        "rms_norm",
        "tile",
        "RMS normalisation",
        rms_norm,
        {"f32.3x100": _rms_norm(3, 100, np.float32), "f16.2x128": _rms_norm(2, 128, np.float16)},
    ),
    KernelCase(
        "rms_norm_backward",
        "tile",
        "gradient of RMS normalisation",
        rms_norm_backward,
        {"3x61": _rms_norm_backward(3, 61)},
    ),
    KernelCase(
        "group_norm",
        "tile",
        "normalisation over groups of channels",
        group_norm,
        {"2x4x25": _group_norm(2, 4, 25, 2)},
    ),
)
