"""The backend `reference`: the interpreter behind the hooks, the oracle of every other backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl_core import __version__
from xdsl_core.backend.hookspecs import hookimpl
from xdsl_core.backend.options import Options
from xdsl_core.backend.types import (
    API_VERSION,
    Argument,
    Artifact,
    Available,
    BackendInfo,
    Executable,
    Grid,
    Launch,
    Source,
)
from xdsl_core.target import Capabilities, MemorySpace, TargetDescription, claim_all

if TYPE_CHECKING:
    from xdsl_core.interp.run import Prepared
    from xdsl_core.ir import Module
    from xdsl_core.opdef import OpSet
    from xdsl_core.passes import Pipeline

_FILE = "kernel.tile"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceOptions(Options):
    """Options of the reference interpreter.

    `check` makes races between programs and the use of lanes that were never read errors; accesses outside an
    argument's memory are errors always.
    """

    check: bool = False


@dataclass(frozen=True, slots=True)
class Interpreted:
    """A loaded kernel: its module, and what was prepared from it, by whether it checks."""

    module: Module
    prepared: dict[bool, Prepared] = field(default_factory=dict)

    def run(self, grid: Sequence[int], arguments: Sequence[Any], *, check: bool) -> None:
        from xdsl_core.interp.run import prepare

        prepared = self.prepared.get(check)
        if prepared is None:
            prepared = self.prepared[check] = prepare(self.module, check=check)
        prepared.run(grid, arguments)


@hookimpl
def xdsl_backend_info() -> BackendInfo:
    """Who this is."""
    return BackendInfo(
        "reference",
        __version__,
        API_VERSION,
        "Runs the tile IR with numpy, one program after the other: slow, checked, and right",
        options=ReferenceOptions,
    )


@hookimpl
def xdsl_availability() -> Available:
    """Always there: it needs nothing but numpy."""
    import numpy as np

    return Available(toolchain=f"numpy {np.__version__}")


@hookimpl
def xdsl_targets() -> tuple[TargetDescription, ...]:
    """One target, which describes no chip."""
    memory = MemorySpace("host", "GLOBAL", capacity=1 << 47, owner="device")
    sources = {
        "": "no chip is described; the capacity is the address space of a user process on x86-64 Linux"
    }
    return (TargetDescription("reference", "numpy", title="numpy", memory_spaces=(memory,), sources=sources),)


@hookimpl
def xdsl_capabilities() -> Capabilities:
    """Claims every op for every dtype."""
    from xdsl_core import dtypes

    return claim_all(_all_ops(), (dtype.name for dtype in dtypes.ALL))


@hookimpl
def xdsl_register_ops(opset: OpSet) -> None:
    """The dialects of chips with memories of their own: the interpreter runs them too."""
    from xdsl_core.ops.buffer import BUFFER
    from xdsl_core.ops.task import TASK

    for definition in (*BUFFER, *TASK):
        opset.register(definition)


@cache
def _all_ops() -> OpSet:
    from xdsl_core.ops import opset

    extended = opset().extend()
    xdsl_register_ops(extended)
    return extended


@hookimpl
def xdsl_pipeline() -> Pipeline:
    """No pass: what runs is the IR as the frontend made it."""
    from xdsl_core.passes import Pipeline

    return Pipeline(())


@hookimpl
def xdsl_codegen(module: Module) -> Source:
    """The text of the module, with the kernel's lines."""
    from xdsl_core.ir import print_module

    return Source("tile", print_module(module, locations=True))


@hookimpl
def xdsl_compile(source: Source) -> Artifact:
    """The text, stored."""
    return Artifact({_FILE: source.text.encode()})


@hookimpl
def xdsl_load(artifact: Artifact) -> Executable:
    """The module, read back."""
    from xdsl_core.ir import parse_module

    return Executable(Interpreted(parse_module(artifact.read(_FILE).decode(), _all_ops(), file=_FILE)))


@hookimpl
def xdsl_launch(
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: ReferenceOptions
) -> Launch:
    """Runs every program in this process."""
    executable.payload.run(grid, args, check=options.check)
    return Launch()
