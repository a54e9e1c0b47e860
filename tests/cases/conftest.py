"""The backends that every case runs on, and how a case is launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from xdsl_core.backend import Available, default_registry, option_types
from xdsl_core.diagnostics import CompilationError

# These claim all of the language: a refusal of theirs is a failure.
COMPLETE = ("reference", "cpu_c")
# A backend joins when it is meant to pass every case that it does not refuse.
IN_TREE = ("reference", "cpu_c", "gpu_triton")

Run = Callable[..., Any]
# What a backend answers to an op, a dtype or a shape that it does not claim to do right.
REFUSALS = ("X0610", "X0611", "X0612", "X0732")


def installed(name: str) -> Any:
    """A backend as a parameter of tests; skipped, with the reason, where it cannot run."""
    found = default_registry().get(name).availability()
    reason = "" if isinstance(found, Available) else f"{found.reason}; {found.fix}"
    return pytest.param(name, marks=pytest.mark.skipif(bool(reason), reason=reason))


@pytest.fixture(params=[installed(name) for name in IN_TREE if name in default_registry().names()])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of an in-tree backend."""
    name: str = request.param
    return name


@pytest.fixture
def run(backend: str) -> Run:
    """Launches a kernel on `backend`; where a backend can watch for undefined values and races, it does."""
    watched = {"check": True} if "check" in option_types(default_registry().get(backend).info.options) else {}

    def launch(kernel: Any, *args: Any, grid: Sequence[int] = (1,), **meta: Any) -> Any:
        try:
            return kernel.on(backend)[grid](*args, **{**watched, **meta})
        except CompilationError as problem:
            first = problem.diagnostics[0]
            if first.code not in REFUSALS or backend in COMPLETE:
                raise
            pytest.skip(f"{first.message}: {first.label}")

    return launch
