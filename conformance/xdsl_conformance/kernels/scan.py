"""Scans: running sums over blocks, a linear recurrence, running maxima."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, normal


@xdsl.jit
def running_sum(x, out, n, BLOCK: tl.constexpr):
    """The running sum of a vector, blocks carried on by one program."""
    carry = 0.0
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(x + offsets, mask=offsets < n, other=0.0)
        tl.store(out + offsets, tl.cumsum(values, axis=0) + carry, mask=offsets < n)
        carry += tl.sum(values, axis=0)


@xdsl.jit
def follow(decay_a, value_a, decay_b, value_b):
    """First (h -> decay_a h + value_a), then the same with b."""
    return decay_a * decay_b, value_a * decay_b + value_b


@xdsl.jit
def recurrence(decay, x, out, n, BLOCK: tl.constexpr):
    """h[i] = decay[i] h[i - 1] + x[i], the recurrence of state-space models, one sequence a program."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < n
    a = tl.load(decay + row * n + offsets, mask=inside, other=1.0)
    b = tl.load(x + row * n + offsets, mask=inside, other=0.0)
    _, h = tl.associative_scan((a, b), 0, follow)
    tl.store(out + row * n + offsets, h, mask=inside)


@xdsl.jit
def larger(a, b):
    return tl.maximum(a, b)


@xdsl.jit
def running_maximum(x, forwards, backwards, n, BLOCK: tl.constexpr):
    """Maxima of all elements up to one, from either end."""
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n, other=-1000)
    tl.store(forwards + offsets, tl.associative_scan(values, 0, larger), mask=offsets < n)
    tl.store(backwards + offsets, tl.associative_scan(values, 0, larger, reverse=True), mask=offsets < n)


def _running_sum(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = normal(generator, n)
        return Problem((1,), (x, np.empty_like(x), n), {"BLOCK": 32}, {1: tr.cumsum(x)})

    return make


def _recurrence(rows: int, n: int) -> Make:
    def make(generator: Generator) -> Problem:
        decay = generator.uniform(0.5, 1.0, (rows, n)).astype(np.float32)
        x = normal(generator, rows, n)
        states, magnitude = [tr.tracked(np.zeros(rows))], np.zeros(rows)
        magnitudes = []
        for step in range(n):
            states.append(states[-1] * decay[:, step] + x[:, step])
            magnitude = magnitude * decay[:, step] + np.abs(x[:, step])
            magnitudes.append(magnitude)
        exact = tr.stack(states[1:], axis=1)
        # a tree of log2(n) levels rounds products of decays as well
        slack = 4.0 * np.log2(n + 1) * tr.U * np.stack(magnitudes, 1)
        expected = tr.Tracked(exact.value, exact.error + slack)
        return Problem((rows,), (decay, x, np.empty_like(x), n), {"BLOCK": 32}, {2: expected})

    return make


def _maximum(n: int) -> Make:
    def make(generator: Generator) -> Problem:
        x = generator.integers(-100, 100, n).astype(np.int32)
        found = {1: np.maximum.accumulate(x), 2: np.maximum.accumulate(x[::-1])[::-1].copy()}
        return Problem((1,), (x, np.empty_like(x), np.empty_like(x), n), {"BLOCK": 64}, found)

    return make


KERNELS = (
    KernelCase(
        "running_sum",
        "core",
        "running sum over blocks",
        running_sum,
        {"n100": _running_sum(100), "n1": _running_sum(1)},
    ),
    KernelCase("recurrence", "tile", "linear recurrence", recurrence, {"3x27": _recurrence(3, 27)}),
    KernelCase("running_maximum", "tile", "running maxima", running_maximum, {"n50": _maximum(50)}),
)
