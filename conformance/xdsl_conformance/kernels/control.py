"""Loops whose length the data decide: escape times, greatest common divisors, Newton's iteration."""

from __future__ import annotations

import math

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks


@xdsl.jit
def escape_time(out, width, height, limit, BLOCK: tl.constexpr):
    """How many steps z -> z * z + c stays within 2, in fixed point with 8 bits behind the point."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c_re = (place % width) * 768 // width - 512
    c_im = (place // width) * 512 // height - 256
    re, im = tl.zeros((BLOCK,), dtype=tl.int32), tl.zeros((BLOCK,), dtype=tl.int32)
    steps = tl.zeros((BLOCK,), dtype=tl.int32)
    step = 0
    alive = tl.full((BLOCK,), 1, dtype=tl.int32)
    while (step < limit) & (tl.max(alive, axis=0) > 0):
        new_re = ((re * re - im * im) >> 8) + c_re
        new_im = ((2 * re * im) >> 8) + c_im
        re = tl.where(alive > 0, new_re, re)
        im = tl.where(alive > 0, new_im, im)
        steps += alive
        alive = tl.where(re * re + im * im <= 4 * 65536, alive, 0)
        step += 1
    tl.store(out + place, steps, mask=place < width * height)


@xdsl.jit
def common_divisor(x, y, out, n):
    """Euclid's algorithm on numbers, one pair a program."""
    i = tl.program_id(0)
    if i < n:
        a, b = tl.load(x + i), tl.load(y + i)
        while b != 0:
            a, b = b, a % b
        tl.store(out + i, a)


@xdsl.jit
def early_return(x, out, n, limit):
    """Leaves programs early, in two places."""
    i = tl.program_id(0)
    if i >= n:
        return
    value = tl.load(x + i)
    if value > limit:
        tl.store(out + i, limit)
        return
    tl.store(out + i, value * 2)


@xdsl.jit
def triangle(out, n, STEPS: tl.constexpr):
    """Nested loops, one unrolled at compile time, one with a negative step."""
    i = tl.program_id(0)
    total = 0
    for j in range(n, -1, -2):
        for k in tl.static_range(STEPS):
            if (j + k) % 3 == 0:
                total += j * k
            elif j > k:
                total -= 1
    tl.store(out + i, total + i)


def _escape(width: int, height: int, limit: int) -> Make:
    def make(generator: Generator) -> Problem:
        expected = np.zeros(width * height, np.int32)
        for place in range(width * height):
            c_re, c_im = place % width * 768 // width - 512, place // width * 512 // height - 256
            re = im = 0
            for _ in range(limit):
                re, im = ((re * re - im * im) >> 8) + c_re, ((2 * re * im) >> 8) + c_im
                expected[place] += 1
                if re * re + im * im > 4 * 65536:
                    break
        arguments = (np.empty_like(expected), width, height, limit)
        return Problem((blocks(width * height, 32),), arguments, {"BLOCK": 32}, {0: expected})

    return make


def _divisor(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x, y = generator.integers(0, 5000, (2, n)).astype(np.int32)
        expected = np.array([math.gcd(int(a), int(b)) for a, b in zip(x, y, strict=True)], np.int32)
        return Problem((n + 2,), (x, y, np.empty_like(x), n), {}, {2: expected})

    return make


def _early(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(-20, 20, n).astype(np.int32)
        expected = np.where(x > 5, 5, 2 * x).astype(np.int32)
        return Problem((n + 3,), (x, np.empty_like(x), n, 5), {}, {1: expected})

    return make


def _triangle(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        total = 0
        for j in range(n, -1, -2):
            for k in range(4):
                if (j + k) % 3 == 0:
                    total += j * k
                elif j > k:
                    total -= 1
        expected = total + np.arange(3, dtype=np.int32)
        return Problem((3,), (np.empty_like(expected), n), {"STEPS": 4}, {0: expected})

    return make


KERNELS = (
    KernelCase("escape_time", "tile", "while loop over a tile", escape_time, {"12x8": _escape(12, 8, 20)}),
    KernelCase("common_divisor", "tile", "while loop over numbers", common_divisor, {"n9": _divisor(9)}),
    KernelCase("early_return", "tile", "programs that return early", early_return, {"n12": _early(12)}),
    KernelCase(
        "triangle", "core", "nested and unrolled loops", triangle, {"n9": _triangle(9), "n0": _triangle(0)}
    ),
)
