"""Convolutions: two-dimensional as a matrix product with computed addresses, depthwise, one-dimensional
causal.
"""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal


@xdsl.jit
def conv2d(
    x, weight, out, channels, height, width, filters, out_height, out_width,
    SIZE: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """out[image, filter, y, x]: pixels x filters, summed over channels x SIZE x SIZE."""
    image = tl.program_id(2)
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    output = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row, column = pixel // out_width, pixel % out_width
    depth = channels * SIZE * SIZE
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, depth, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        channel, ky, kx = k // (SIZE * SIZE), k % (SIZE * SIZE) // SIZE, k % SIZE
        y = row[:, None] * STRIDE + ky[None, :] - PAD
        z = column[:, None] * STRIDE + kx[None, :] - PAD
        inside = (y >= 0) & (y < height) & (z >= 0) & (z < width) & (k < depth)[None, :]
        inside = inside & (pixel < out_height * out_width)[:, None]
        places = ((image * channels + channel[None, :]) * height + y) * width + z
        values = tl.load(x + places, mask=inside, other=0.0)
        kernel = tl.load(
            weight + output[None, :] * depth + k[:, None],
            mask=(output < filters)[None, :] & (k < depth)[:, None],
            other=0.0,
        )
        total = tl.dot(values, kernel, total)
    places = (image * filters + output[None, :]) * out_height * out_width + pixel[:, None]
    tl.store(
        out + places, total, mask=(pixel < out_height * out_width)[:, None] & (output < filters)[None, :]
    )


@xdsl.jit
def depthwise(x, weight, out, length, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """A causal filter a channel: out[c, t] = sum over i of weight[c, i] * x[c, t - i]."""
    channel = tl.program_id(1)
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in tl.static_range(SIZE):
        at = t - i
        values = tl.load(x + channel * length + at, mask=(at >= 0) & (at < length), other=0.0)
        total += values * tl.load(weight + channel * SIZE + i)
    tl.store(out + channel * length + t, total, mask=t < length)


def _conv2d(images: int, channels: int, side: int, filters: int, size: int, stride: int, pad: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, weight = (
            normal(generator, images, channels, side, side),
            normal(generator, filters, channels, size, size),
        )
        wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(wide, (size, size), axis=(2, 3))[
            :, :, ::stride, ::stride
        ]
        side_out = windows.shape[2]
        columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(images, side_out**2, -1)
        product = tr.tracked(columns) @ weight.reshape(filters, -1).T.astype(np.float64)
        expected = product.mT.reshape(images, filters, side_out, side_out)
        out = np.empty(expected.value.shape, np.float32)
        meta = {"SIZE": size, "STRIDE": stride, "PAD": pad, "BLOCK": 16, "BLOCK_K": 16}
        arguments = (x, weight, out, channels, side, side, filters, side_out, side_out)
        grid = (blocks(side_out**2, 16), blocks(filters, 16), images)
        return Problem(grid, arguments, meta, {2: expected})

    return make


def _depthwise(channels: int, length: int, size: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, weight = normal(generator, channels, length), normal(generator, channels, size)
        shifted = [np.pad(x, ((0, 0), (i, 0)))[:, :length] for i in range(size)]
        terms = [tr.tracked(part) * weight[:, i : i + 1] for i, part in enumerate(shifted)]
        arguments = (x, weight, np.empty_like(x), length)
        expected = tr.stack(terms).sum(0)
        return Problem((blocks(length, 16), channels), arguments, {"SIZE": size, "BLOCK": 16}, {2: expected})

    return make


KERNELS = (
    KernelCase(
        "conv2d",
        "tile",
        "convolution as a product with computed addresses",
        conv2d,
        {
            "3x3": _conv2d(1, 3, 7, 5, 3, 1, 1),
            "stride2": _conv2d(2, 2, 8, 4, 3, 2, 0),
            "1x1": _conv2d(1, 5, 4, 3, 1, 1, 0),
        },
    ),
    KernelCase("depthwise", "core", "causal filters", depthwise, {"3x40": _depthwise(3, 40, 4)}),
)
