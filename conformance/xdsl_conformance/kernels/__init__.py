"""Whole kernels of the suite, one subject a file: what people run on real chips."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from xdsl_conformance.case import Case
from xdsl_conformance.kernel_case import cases_of

MODULES = (
    "activation",
    "attention",
    "control",
    "convolution",
    "dropout",
    "elementwise",
    "gemm",
    "grouped_gemm",
    "indexing",
    "loss",
    "normalisation",
    "optimiser",
    "paged_attention",
    "quantise",
    "reduction",
    "rotary",
    "routing",
    "sampling",
    "scan",
    "softmax",
    "sparse",
    "stencil",
    "transpose",
)


def kernel_cases() -> Iterator[Case]:
    """The cases of every kernel in `MODULES`; each module lists its kernels in `KERNELS`."""
    for name in MODULES:
        for kernel in import_module(f"xdsl_conformance.kernels.{name}").KERNELS:
            yield from cases_of(kernel)
