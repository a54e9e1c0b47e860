"""A whole kernel with inputs, an expectation from numpy and a budget: how the kernels of the suite are
written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.numerics import Array, distance, worst
from xdsl_conformance.subject import Subject, is_refusal
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import XdslError
from xdsl_core.runtime.jit import JitFunction


@dataclass(frozen=True, slots=True)
class Problem:
    """Inputs of one launch and what must come out.

    `arguments` are passed in order; the arrays named in `expected` (by position) are compared. `expected` was
    computed in float64 from the rounded inputs, `budget` is the allowed error by element, in the same shape.
    """

    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    meta: Mapping[str, Any]
    expected: Mapping[int, Array]
    budget: Mapping[int, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelCase:
    """A kernel of the suite: its name, the kernel, and what makes the problem of a variant from a seeded
    generator.
    """

    name: str
    profile: str
    summary: str
    kernel: JitFunction
    variants: Mapping[str, Callable[[np.random.Generator], Problem]]


def cases_of(kernel: KernelCase) -> list[Case]:
    """One case a variant."""
    return [
        Case(
            f"kernel/{kernel.name}/{variant}",
            kernel.profile,
            f"{kernel.summary} ({variant})",
            partial(ask, kernel, variant),
            {"kernel": kernel.name},
        )
        for variant in kernel.variants
    ]


def ask(kernel: KernelCase, variant: str, subject: Subject) -> Outcome:
    """Launch the kernel and compare with numpy within the budget."""
    problem = kernel.variants[variant](np.random.default_rng(sum(map(ord, kernel.name + variant))))
    for position, expected in problem.expected.items():
        array = problem.arguments[position]
        if array.dtype.kind == "f" and not problem.meta.get("in_place", False):
            array[...] = np.nan
        assert array.shape == expected.shape, kernel.name
    meta = {name: value for name, value in problem.meta.items() if name != "in_place"}
    try:
        kernel.kernel.on(subject.name)[problem.grid](*problem.arguments, **meta)
    except XdslError as error:
        return Outcome(Verdict.NOT_SUPPORTED if is_refusal(error) else Verdict.FAIL, str(error))
    use = 0.0
    for position, expected in problem.expected.items():
        got = problem.arguments[position]
        budget = problem.budget.get(position)
        allowed = np.zeros(expected.shape) if budget is None else budget
        errors = distance(
            got, expected.astype(got.dtype) if budget is None else expected, allowed, free_sign=True
        )
        mismatch = worst(f"argument {position}", errors, got, expected)
        if mismatch is not None:
            return Outcome(Verdict.FAIL, f"{mismatch}\nseed: {kernel.name}{variant}", mismatch.budgets)
        use = max(use, float(errors.max(initial=0.0)))
    return Outcome(Verdict.PASS, budget_use=use)
