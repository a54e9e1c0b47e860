"""The backends that every case runs on, and how a case is launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from xdsl_core.backend import Available, default_registry, option_types
from xdsl_core.diagnostics import CompilationError
from xdsl_core.target import Target

# These claim all of the language: a refusal of theirs is a failure.
COMPLETE = ("reference", "cpu_c")
# A backend joins when it is meant to pass every case that it does not refuse.
IN_TREE = ("reference", "cpu_c", "dsa_sim:ascend910b2", "dsa_sim:toy", "gpu_triton")

Run = Callable[..., Any]
# What a backend answers to an op, a dtype or a shape that it does not claim, or to tiles that are too large.
REFUSALS = ("X0610", "X0611", "X0612", "X0710", "X0732")


def installed(name: str) -> Any:
    """A backend or target as a parameter of tests; skipped, with the reason, where it cannot run."""
    found = default_registry().resolve(name)[0].availability()
    reason = "" if isinstance(found, Available) else f"{found.reason}; {found.fix}"
    return pytest.param(name, marks=pytest.mark.skipif(bool(reason), reason=reason))


def is_there(name: str) -> bool:
    """Whether the backend of a target is installed."""
    return Target.parse(name).backend in default_registry().names()


@pytest.fixture(params=[installed(name) for name in IN_TREE if is_there(name)])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of an in-tree backend."""
    name: str = request.param
    return name


@pytest.fixture
def run(backend: str) -> Run:
    """Launches a kernel on `backend`; where a backend can watch for undefined values and races, it does."""
    options = option_types(default_registry().resolve(backend)[0].info.options)
    watched = {"check": True} if "check" in options else {}

    def launch(kernel: Any, *args: Any, grid: Sequence[int] = (1,), **meta: Any) -> Any:
        try:
            return kernel.on(backend)[grid](*args, **{**watched, **meta})
        except CompilationError as problem:
            first = problem.diagnostics[0]
            if first.code not in REFUSALS or backend in COMPLETE:
                raise
            pytest.skip(f"{first.message}: {first.label}")

    return launch
