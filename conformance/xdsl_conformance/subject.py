"""What is being examined: a backend on one target, and how a module is run there."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xdsl_core.backend import BackendHandle, default_registry
from xdsl_core.diagnostics import Diagnostic, XdslError
from xdsl_core.ir import Module
from xdsl_core.passes import run_pipeline
from xdsl_core.runtime.pointers import numpy_pointer
from xdsl_core.target import Capabilities, TargetDescription
from xdsl_core.target.legality import check

REFUSALS = ("X0610", "X0611", "X0612")


class Refused(Exception):
    """The backend's capabilities do not cover the module."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class Subject:
    """A backend and a target, by name ("cpu_c", "dsa_sim:toy")."""

    name: str
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _resolved(self) -> tuple[BackendHandle, TargetDescription]:
        return default_registry().resolve(self.name)

    @property
    def backend(self) -> BackendHandle:
        return self._resolved[0]

    @property
    def target(self) -> TargetDescription:
        return self._resolved[1]

    @cached_property
    def capabilities(self) -> Capabilities:
        return self.backend.capabilities(self.target)

    def refusals(self, module: Module) -> list[Diagnostic]:
        """What the backend does not claim of a module; empty if it claims all of it."""
        return check(module, self.capabilities, backend=self.backend.name)

    def execute(
        self,
        module: Module,
        grid: tuple[int, int, int],
        arguments: Mapping[str, Any],
        *,
        claimed: bool = True,
    ) -> None:
        """Compile a module and run it on numpy arrays, which it changes, and numbers. Refused if not claimed.

        With `claimed=False` the claims are not asked: the backend gets the module as it is.
        """
        refused = self.refusals(module) if claimed else []
        if refused:
            raise Refused(refused)
        backend, target = self.backend, self.target
        options = backend.options({})
        lowered = run_pipeline(module.clone(), backend.pipeline(target, options)).module
        source = backend.codegen(lowered, target, backend.templates(target), options)
        with tempfile.TemporaryDirectory(prefix="xdsl_conformance-") as folder:
            artifact = backend.compile(source, target, options, Path(folder))
            executable = backend.load(artifact, target)
            passed = tuple(_argument(name, value) for name, value in arguments.items())
            backend.launch(executable, grid, passed, options, kernel=next(iter(module.functions)))


def _argument(name: str, value: Any) -> Any:
    return numpy_pointer(value, name) if isinstance(value, np.ndarray) else value


def is_refusal(problem: XdslError) -> bool:
    """True for the errors with which an unclaimed module has to be refused."""
    return problem.code in REFUSALS
