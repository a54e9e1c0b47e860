"""Backends that are wrong in one way each: the reference, with one thing spoilt.

A mutant changes what the interpreter runs (the module before code generation), what it is launched with, or
what comes out, as a compiler with that mistake would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from xdsl_core.backend import BackendInfo, hookimpl
from xdsl_core.interp import plugin as reference
from xdsl_core.ir import Module, Op
from xdsl_core.target import Capabilities

Spoil = Callable[[Module], None]


@dataclass(frozen=True)
class Mutant:
    """One mistake: what it is, the hooks that make it, and patterns of the cases that must notice."""

    what: str
    caught_by: tuple[str, ...]
    spoil: Spoil | None = None
    launch: Callable[..., Any] | None = None
    capabilities: Callable[[Capabilities], Capabilities] | None = None
    codegen: Callable[[Module], Any] | None = None


class Plugin:
    """An object with hooks as its attributes."""

    def __init__(self, hooks: dict[str, Any]) -> None:
        self.__dict__.update(hooks)


def plugin_of(mutant: Mutant, name: str) -> Plugin:
    """A plugin with the reference's hooks, changed."""

    @hookimpl
    def xdsl_backend_info() -> BackendInfo:
        return replace(reference.xdsl_backend_info(), name=name)

    @hookimpl
    def xdsl_targets() -> Any:
        return tuple(replace(target, backend=name) for target in reference.xdsl_targets())

    @hookimpl
    def xdsl_capabilities() -> Capabilities:
        found = reference.xdsl_capabilities()
        return mutant.capabilities(found) if mutant.capabilities else found

    @hookimpl
    def xdsl_codegen(module: Module) -> Any:
        if mutant.spoil is not None:
            mutant.spoil(module)
        return (mutant.codegen or reference.xdsl_codegen)(module)

    @hookimpl
    def xdsl_launch(executable: Any, grid: Any, args: Any, options: Any) -> Any:
        run = mutant.launch or reference.xdsl_launch
        return run(executable, grid, args, options)

    hooks = ("availability", "pipeline", "compile", "load")
    kept = {f"xdsl_{name}": getattr(reference, f"xdsl_{name}") for name in hooks}
    made = (xdsl_backend_info, xdsl_targets, xdsl_capabilities, xdsl_codegen, xdsl_launch)
    return Plugin({**kept, **{hook.__name__: hook for hook in made}})


def found(module: Module, name: str) -> list[Op]:
    """All ops of this name, in nested regions too."""
    return [op for function in module.functions.values() for op in function.walk() if op.name == name]
