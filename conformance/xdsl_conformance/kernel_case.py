"""A whole kernel with inputs and an expectation from numpy: how the kernels of the suite are written."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.numerics import Array, distance, worst
from xdsl_conformance.subject import Subject, is_refusal
from xdsl_conformance.tracked import Tracked
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import XdslError
from xdsl_core.runtime.jit import JitFunction
from xdsl_core.testing import half_ulp

# Bits that no kernel writes by chance, in the results that are integers.
_STALE = 0xA5


@dataclass(frozen=True, slots=True)
class Problem:
    """Inputs of one launch and what must come out.

    `arguments` are passed in order; those named in `expected` (by position) are compared: exactly with an
    array of their own dtype, within its errors with a `Tracked`. They are filled with NaN, or odd bits,
    before the launch unless they are `in_place`, read as well as written.
    """

    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    meta: Mapping[str, Any]
    expected: Mapping[int, Array | Tracked]
    in_place: bool = False


Make = Callable[[np.random.Generator], Problem]


@dataclass(frozen=True, slots=True)
class KernelCase:
    """A kernel of the suite: its name, the profile, and by variant what makes a problem from a seeded
    generator.
    """

    name: str
    profile: str
    summary: str
    kernel: JitFunction
    variants: Mapping[str, Make]


def cases_of(kernel: KernelCase) -> list[Case]:
    """One case a variant."""
    return [
        Case(
            f"kernel/{kernel.name}/{variant}",
            kernel.profile,
            f"{kernel.summary} ({variant})",
            partial(ask, kernel, variant),
            {"kernel": kernel.name},
            partial(source_of, kernel),
        )
        for variant in kernel.variants
    ]


def source_of(kernel: KernelCase) -> str:
    """The Python source of the kernel."""
    import inspect

    return inspect.getsource(kernel.kernel.fn)


def seed_of(name: str, variant: str) -> int:
    """The seed of a variant's inputs: the same for ever."""
    return zlib.crc32(f"{name}/{variant}".encode())


def ask(kernel: KernelCase, variant: str, subject: Subject) -> Outcome:
    """Launch the kernel and compare with numpy within the budget."""
    seed = seed_of(kernel.name, variant)
    problem = kernel.variants[variant](np.random.default_rng(seed))
    for position, expected in problem.expected.items():
        array = problem.arguments[position]
        value = expected.value if isinstance(expected, Tracked) else expected
        assert array.shape == value.shape, (kernel.name, position, array.shape, value.shape)
        if not problem.in_place:
            _spoil(array)
    try:
        kernel.kernel.on(subject.name)[problem.grid](*problem.arguments, **problem.meta)
    except XdslError as error:
        return Outcome(Verdict.NOT_SUPPORTED if is_refusal(error) else Verdict.FAIL, str(error))
    use = 0.0
    for position, expected in problem.expected.items():
        got = problem.arguments[position]
        value, errors = compare(got, expected)
        mismatch = worst(f"argument {position}", errors, got, value)
        if mismatch is not None:
            return Outcome(Verdict.FAIL, f"{mismatch}\nseed: {seed}", mismatch.budgets)
        use = max(use, float(errors.max(initial=0.0)))
    return Outcome(Verdict.PASS, budget_use=use)


def compare(got: Array, expected: Array | Tracked) -> tuple[Array, Array]:
    """What was expected, and the error of every element in budgets."""
    if not isinstance(expected, Tracked):
        assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
        return expected, distance(got, expected, np.zeros(expected.shape), free_sign=False)
    allowed = expected.error + half_ulp(expected.value, got.dtype)
    return expected.value, distance(got, expected.value, allowed, free_sign=True)


def _spoil(array: Array) -> None:
    """Fill what the kernel has to write, so that an element it leaves out shows."""
    if array.dtype.kind in "biu":
        odd = np.full(array.dtype.itemsize, _STALE, np.uint8).view(array.dtype)[0]
        array[...] = odd if array.dtype.kind != "b" else True
    else:
        array[...] = np.nan
