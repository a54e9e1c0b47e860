"""The hooks of `acme`: its artifact is the text of the module, its machine a Python closure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl_core.backend import (
    API_VERSION,
    Argument,
    Artifact,
    Available,
    BackendInfo,
    Executable,
    Grid,
    Launch,
    Options,
    Profile,
    Source,
    hookimpl,
)
from xdsl_core.target import Capabilities, MemorySpace, TargetDescription, claim_all

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.passes import Pipeline

DTYPES = ("i1", "i32", "i64", "f32", "f64")
SOURCE = {"": "invented for the tests"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeOptions(Options):
    """Options of acme: `turbo` changes nothing but the text."""

    turbo: bool = False


@hookimpl
def xdsl_backend_info() -> BackendInfo:
    return BackendInfo("acme", "1.2.0", API_VERSION, "Two invented chips", options=AcmeOptions)


@hookimpl
def xdsl_availability() -> Available:
    return Available(toolchain="acme-tools 7")


@hookimpl
def xdsl_targets() -> tuple[TargetDescription, ...]:
    memory = MemorySpace("DRAM", "GLOBAL", capacity=1 << 30, owner="device")
    return tuple(
        TargetDescription("acme", name, cores=cores, memory_spaces=(memory,), sources=SOURCE)
        for name, cores in (("one", 1), ("two", 2))
    )


@hookimpl
def xdsl_capabilities(target: TargetDescription) -> Capabilities:
    from xdsl_core.ops import opset

    return claim_all(opset(), DTYPES, except_={"atomic.*": "acme has no atomics"})


@hookimpl
def xdsl_pipeline(target: TargetDescription, options: AcmeOptions) -> Pipeline:
    from xdsl_core.passes import Pipeline

    return Pipeline(())


@hookimpl
def xdsl_templates() -> Mapping[str, str]:
    return {"kernel.txt": "{{ ops }}"}


@hookimpl
def xdsl_codegen(module: Module, templates: Mapping[str, str], options: AcmeOptions) -> Source:
    ops = "\n".join(op.name for op in module.walk())
    text = templates["kernel.txt"].replace("{{ ops }}", ops)
    return Source("acme", text + "\n# turbo" * options.turbo, metadata={"count": ops.count("\n") + 1})


@hookimpl
def xdsl_compile(source: Source, workdir: Path) -> Artifact:
    written = workdir / "kernel.acme"
    written.write_text(source.text)
    return Artifact({"kernel.acme": written}, {**source.metadata, "language": source.language})


@hookimpl
def xdsl_load(artifact: Artifact) -> Executable:
    names = artifact.read("kernel.acme").decode().splitlines()
    return Executable(_closure(names))


def _closure(names: list[str]) -> Callable[[Grid, tuple[Argument, ...]], dict[str, int]]:
    def run(grid: Grid, args: tuple[Argument, ...]) -> dict[str, int]:
        return {"programs": grid[0] * grid[1] * grid[2], "ops": len(names), "arguments": len(args)}

    return run


@hookimpl
def xdsl_launch(executable: Executable, grid: Grid, args: tuple[Argument, ...]) -> Launch:
    return Launch(extra=executable.payload(grid, args))


@hookimpl
def xdsl_profile(executable: Executable, grid: Grid, args: tuple[Argument, ...]) -> Profile:
    counted = executable.payload(grid, args)
    return Profile(cycles=counted["programs"] * counted["ops"])
