"""Steps of optimisers, in place: Adam with decoupled weight decay, momentum."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, blocks, normal

RATE, BETA1, BETA2, EPSILON, DECAY = (float(np.float32(x)) for x in (1e-2, 0.9, 0.999, 1e-8, 0.1))


@xdsl.jit
def adam(p, grad, m, v, rate, beta1, beta2, epsilon, decay, correct1, correct2, n, BLOCK: tl.constexpr):
    """One step: D. Kingma and J. Ba, arXiv:1412.6980, with the decay of I. Loshchilov and F. Hutter,
    arXiv:1711.05101.
    """
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    g = tl.load(grad + offsets, mask=inside)
    new_m = beta1 * tl.load(m + offsets, mask=inside) + (1.0 - beta1) * g
    new_v = beta2 * tl.load(v + offsets, mask=inside) + (1.0 - beta2) * g * g
    old = tl.load(p + offsets, mask=inside)
    step = (new_m / correct1) / (tl.sqrt(new_v / correct2) + epsilon)
    tl.store(p + offsets, old - rate * (step + decay * old), mask=inside)
    tl.store(m + offsets, new_m, mask=inside)
    tl.store(v + offsets, new_v, mask=inside)


@xdsl.jit
def momentum(p, grad, velocity, rate, factor, n, NESTEROV: tl.constexpr, BLOCK: tl.constexpr):
    """velocity = factor * velocity + grad; p -= rate * velocity, or Nesterov's look ahead."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    g = tl.load(grad + offsets, mask=inside)
    new = factor * tl.load(velocity + offsets, mask=inside) + g
    step = new
    if NESTEROV:
        step = g + factor * new
    tl.store(velocity + offsets, new, mask=inside)
    tl.store(p + offsets, tl.load(p + offsets, mask=inside) - rate * step, mask=inside)


def _adam(n: int, step: int) -> Make:
    def make(generator: Generator) -> Problem:
        p, grad, m = (normal(generator, n) for _ in range(3))
        v = np.abs(normal(generator, n))
        one, two = (float(np.float32(1.0 - beta**step)) for beta in (BETA1, BETA2))
        # 1 - beta is rounded too
        new_m = BETA1 * tr.tracked(m) + (1.0 - tr.tracked(BETA1)) * grad
        new_v = BETA2 * tr.tracked(v) + (1.0 - tr.tracked(BETA2)) * grad * grad
        update = (new_m / one) / (tr.sqrt(new_v / two) + EPSILON)
        new_p = p - RATE * (update + DECAY * tr.tracked(p))
        arguments = (p, grad, m, v, RATE, BETA1, BETA2, EPSILON, DECAY, one, two, n)
        expected = {0: new_p, 2: new_m, 3: new_v}
        return Problem((blocks(n, 32),), arguments, {"BLOCK": 32}, expected, in_place=True)

    return make


def _momentum(n: int, nesterov: bool) -> Make:
    def make(generator: Generator) -> Problem:
        p, grad, velocity = (normal(generator, n) for _ in range(3))
        new = BETA1 * tr.tracked(velocity) + grad
        step = grad + BETA1 * new if nesterov else new
        arguments = (p, grad, velocity, RATE, BETA1, n)
        meta = {"NESTEROV": nesterov, "BLOCK": 32}
        return Problem((blocks(n, 32),), arguments, meta, {0: p - RATE * step, 2: new}, in_place=True)

    return make


KERNELS = (
    KernelCase(
        "adam", "core", "a step of Adam", adam, {"first.n70": _adam(70, 1), "tenth.n32": _adam(32, 10)}
    ),
    KernelCase(
        "momentum",
        "core",
        "a step with momentum",
        momentum,
        {"n33": _momentum(33, False), "nesterov": _momentum(64, True)},
    ),
)
