"""Whole kernels of the suite, one subject a file: what people run on real chips."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from xdsl_conformance.case import Case
from xdsl_conformance.kernel_case import KernelCase, cases_of

MODULES = (
    "activation",
    "attention",
    "control",
    "convolution",
    "dropout",
    "elementwise",
    "float8",
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


def all_kernels() -> Iterator[KernelCase]:
    """Every kernel in `MODULES`; each module lists its own in `KERNELS`."""
    for name in MODULES:
        yield from import_module(f"xdsl_conformance.kernels.{name}").KERNELS


def kernel_named(name: str) -> KernelCase:
    """The kernel of this name; KeyError if there is none."""
    return {kernel.name: kernel for kernel in all_kernels()}[name]


def kernel_cases() -> Iterator[Case]:
    """The cases of every kernel."""
    for kernel in all_kernels():
        yield from cases_of(kernel)
