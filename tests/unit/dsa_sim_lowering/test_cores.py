"""Kernels in which matrix and vector cores steer each other, and meet in loops with a test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl

M = 16
TARGETS = ("ascend910b2", "toy")


@xdsl.jit
def count_from_tile_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    n = tl.sum(tl.sum(tl.load(a + at), axis=1), axis=0).to(tl.int32)
    acc = tl.zeros([M, M], tl.float32)
    for _ in range(n):
        acc = tl.dot(tl.load(a + at), tl.load(b + at), acc, input_precision="ieee")
    tl.store(out + at, acc)


@xdsl.jit
def address_and_branch_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    k = tl.max(tl.load(idx + tl.arange(0, 4)), axis=0)
    x, y = tl.load(a + at), tl.load(b + k * M * M + at)
    product = tl.dot(x, y, input_precision="ieee")
    if tl.sum(tl.sum(product, axis=1), axis=0) > 0:
        tl.store(out + at, tl.dot(y, x, input_precision="ieee"))
    else:
        tl.store(out + at, product)


@xdsl.jit
def ticket_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    ticket = tl.atomic_add(idx, 1)
    product = tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee")
    tl.store(out + ticket * M * M + at, product)


@xdsl.jit
def chosen_in_a_loop_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    acc, total = tl.zeros([M, M], tl.float32), 0
    for t in range(4):
        k = tl.argmax(tl.load(idx + t + tl.arange(0, 2)), axis=0)
        acc = tl.dot(tl.load(a + at), tl.load(b + k * M * M + at), acc, input_precision="ieee")
        total += k
    tl.store(out + at, acc + total)


@xdsl.jit
def until_large_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    x = tl.load(a + at)
    while tl.sum(tl.sum(x * x, axis=1), axis=0) < 1e6:
        x = tl.dot(x, tl.load(b + at), input_precision="ieee") + 1
    tl.store(out + at, x)


@xdsl.jit
def product_in_the_test_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    turns = 0
    while turns < 4 and tl.sum(tl.sum(tl.dot(tl.load(a + at), tl.load(b + at)), axis=1), axis=0) < 1e5:
        tl.store(a + at, tl.load(a + at) * 2)
        turns += 1
    tl.store(out + at, tl.load(a + at) + turns)


@xdsl.jit
def product_in_the_body_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    turns = 0
    while turns < 4 and tl.sum(tl.sum(tl.abs(tl.load(a + at)), axis=1), axis=0) < 1e5:
        tl.store(a + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee"))
        turns += 1
    tl.store(out + at, tl.load(a + at) + turns)


@xdsl.jit
def either_core_kernel(a, b, out, idx, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    for i in range(3):
        x = tl.load(a + at)
        total = tl.sum(tl.sum(tl.abs(x), axis=1), axis=0)
        while total < 2000 * (i + 1):
            if total > 1000:
                x = tl.dot(x, tl.load(b + at), input_precision="ieee")
            else:
                x = x + 1
            total = tl.sum(tl.sum(tl.abs(x), axis=1), axis=0) + 100
        tl.store(a + at, x)
    tl.store(out + at, tl.load(a + at))


KERNELS = (
    count_from_tile_kernel,
    address_and_branch_kernel,
    ticket_kernel,
    chosen_in_a_loop_kernel,
    until_large_kernel,
    product_in_the_test_kernel,
    product_in_the_body_kernel,
    either_core_kernel,
)


def results(kernel: Any, backend: str) -> list[np.ndarray[Any, Any]]:
    generator = np.random.default_rng(1)
    a, b = np.zeros((M, M), np.float32), generator.integers(-1, 3, (4, M, M)).astype(np.float32)
    a[0, 0], a[2, 1] = 3, 1
    idx, out = np.array([1, 3, 2, 0, 5], np.int32), np.zeros((4, M, M), np.float32)
    kernel.on(backend)[(1,)](a, b, out, idx, M=M)
    return [a, out, idx]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_cores_steer_each_other(kernel: Any, target: str) -> None:
    for found, expected in zip(
        results(kernel, f"dsa_sim:{target}"), results(kernel, "reference"), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@xdsl.jit
def wrapped_kernel(a, b, out, m, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    r, c, k = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + (r % m)[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * n + (c % n)[None, :])
    inside = (r < m)[:, None] & (c < n)[None, :]
    tl.store(out + r[:, None] * n + c[None, :], tl.dot(x, y, input_precision="ieee"), mask=inside)


@pytest.mark.parametrize("target", ["ascend910b2", "toy", "mlu370", "neuroncore_v2"])
@pytest.mark.parametrize("k", [8, 5])
def test_rows_of_factors_and_sums_that_are_not_aligned(target: str, k: int) -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, shape).astype(np.float32) for shape in ((20, k), (k, 30)))
    out = np.zeros((20, 30), np.float32)
    wrapped_kernel.on(f"dsa_sim:{target}")[(2, 3)](a, b, out, 20, 30, M=16, N=12, K=k)
    np.testing.assert_array_equal(out, a @ b)


@xdsl.jit
def pages_kernel(values, weights, out, lengths, P: tl.constexpr):
    program = tl.program_id(0)
    i, total, highest = tl.arange(0, P), tl.zeros([P], tl.float32), -1.0e30
    for number in range(tl.load(lengths + program)):
        w = tl.load(weights + number * P + i)
        v = tl.load(values + number * P * P + i[:, None] * P + i[None, :])
        highest = tl.maximum(highest, tl.max(w, axis=0))
        total = total + tl.sum((w + highest)[:, None] * v, axis=0)
    tl.store(out + program * P + i, total)


@pytest.mark.parametrize("target", ["ascend910b2", "toy"])
def test_runs_of_a_loop_follow_each_other_whatever_their_length(target: str) -> None:
    """The first iteration of a run may take the part of a buffer that the last one of the run before had."""
    generator = np.random.default_rng(0)
    lengths = np.tile(np.array([1, 1, 3, 0, 1, 2, 5], np.int32), 20)
    values, weights = (generator.integers(-3, 4, n).astype(np.float32) for n in (5 * 64, 5 * 8))
    found = []
    for backend in ("reference", f"dsa_sim:{target}"):
        out = np.zeros((len(lengths), 8), np.float32)
        pages_kernel.on(backend)[(len(lengths),)](values, weights, out, lengths, P=8)
        found.append(out)
    np.testing.assert_array_equal(found[0], found[1])
