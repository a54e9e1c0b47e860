"""Kernels that treat every element alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance.kernel_case import KernelCase, Problem


@xdsl.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """out = x + y, with a tail."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(
        out + offsets, tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside), mask=inside
    )


def _add(n: int, dtype: type) -> Callable[[np.random.Generator], Problem]:
    def make(generator: np.random.Generator) -> Problem:
        x, y = (generator.standard_normal(n).astype(dtype) for _ in range(2))
        expected = (x.astype(np.float64) + y.astype(np.float64)).astype(dtype)
        return Problem((-(-n // 64),), (x, y, np.empty_like(x), n), {"BLOCK": 64}, {2: expected})

    return make


KERNELS = (
    KernelCase(
        "add",
        "smoke",
        "element-wise sum with a tail",
        add,
        {f"f32.{n}": _add(n, np.float32) for n in (1, 63, 64, 65, 127, 1000)},
    ),
)
