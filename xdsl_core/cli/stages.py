"""A kernel on its way to a backend, stage after stage, for commands and benchmarks that look at them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl_core.backend import BackendHandle, Options, Source, default_registry
from xdsl_core.cli.kernels import Chosen
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.target import TargetDescription

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.passes import PassEvent, PipelineRun

FRONTEND = "frontend"


@dataclass(frozen=True, slots=True)
class Destination:
    """The backend, its target and options that a kernel is compiled for."""

    backend: BackendHandle
    target: TargetDescription
    options: Options


@dataclass(frozen=True, slots=True)
class Lowered:
    """What the passes made of a module; `stages` holds the text after the frontend and after each pass, in
    order.
    """

    run: PipelineRun
    stages: list[tuple[str, str]] = field(default_factory=list)


def destination(backend: str, options: Mapping[str, Any]) -> Destination:
    """The named backend or target, or the selected one for ""; BackendError if there is none."""
    from xdsl_core.runtime.select import selection

    handle, target = default_registry().resolve(backend or selection().resolved())
    return Destination(handle, target, handle.options(options))


def build(chosen: Chosen, place: Destination) -> Module:
    """The module of the frontend, checked against what the backend claims."""
    from xdsl_core.frontend.python.build import build_module
    from xdsl_core.runtime.compile import own_operations
    from xdsl_core.target.legality import check

    operations = own_operations(place.backend)
    module = build_module(chosen.kernel, chosen.specs, debug=place.options.debug, operations=operations)
    refused = check(module, place.backend.capabilities(place.target), backend=place.backend.name)
    if refused:
        raise CompilationError(refused)
    return module


def lower(
    module: Module, place: Destination, *, text: Callable[[Module], str], dump: Path | None = None
) -> Lowered:
    """Runs the backend's passes; `text` prints a module, after the frontend and after each pass."""
    from xdsl_core.passes import run_pipeline

    stages = [(FRONTEND, text(module))]

    def keep(event: PassEvent) -> None:
        if event.stage == "finished":
            stages.append((event.name, text(event.module)))

    pipeline = place.backend.pipeline(place.target, place.options)
    return Lowered(run_pipeline(module, pipeline, dump_dir=dump, observers=(keep,)), stages)


def generate(module: Module, place: Destination) -> Source:
    """The backend's source for a lowered module."""
    backend = place.backend
    return backend.codegen(module, place.target, backend.templates(place.target), place.options)


def options_from(texts: list[str]) -> dict[str, Any]:
    """Launch options from `name=value` texts; X0810 for a text that is none."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise CompilationError(
                error("X0810", f"{text!r} is no option", help="write --option num_warps=8")
            )
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found
