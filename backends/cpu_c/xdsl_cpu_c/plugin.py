"""The hooks of the backend `cpu_c`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from xdsl_core.backend import (
    API_VERSION,
    Argument,
    Artifact,
    Availability,
    Available,
    BackendInfo,
    Executable,
    Grid,
    Launch,
    Options,
    Pointer,
    Source,
    Unavailable,
    hookimpl,
)
from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.backend.toolchain import Compiler, NoCompilerError, fingerprint
from xdsl_core.diagnostics import BackendError, error
from xdsl_core.ir import Module
from xdsl_core.passes import Pipeline
from xdsl_core.target import Capabilities, TargetDescription
from xdsl_cpu_c.machines import HOST, compiler_for, machine_of, runs_here
from xdsl_cpu_c.options import CpuOptions

_FOLDER = "cpu_c"


@hookimpl
def xdsl_backend_info() -> BackendInfo:
    """Who the backend is."""
    return BackendInfo("cpu_c", "0.1", API_VERSION, "C code for the CPU of this machine", options=CpuOptions)


@hookimpl
def xdsl_availability() -> Availability:
    """Available with a C compiler, else how to get one."""
    try:
        return Available(fingerprint(_compiler(HOST)))
    except NoCompilerError as missing:
        return Unavailable(missing.reason, missing.fix)


@hookimpl
def xdsl_targets() -> tuple[TargetDescription, ...]:
    """The host, and the machines that libraries can be built for."""
    from xdsl_cpu_c.describe import foreign_targets, host_target

    return (host_target(), *foreign_targets())


@hookimpl
def xdsl_capabilities() -> Capabilities:
    """All of the language."""
    from xdsl_cpu_c.describe import capabilities

    return capabilities()


@hookimpl
def xdsl_pipeline() -> Pipeline:
    """The passes of cpu_c."""
    from xdsl_cpu_c.pipeline import cpu_pipeline

    return cpu_pipeline()


@hookimpl
def xdsl_templates() -> Mapping[str, str]:
    """The layout of the C file."""
    return _templates()


@hookimpl
def xdsl_codegen(
    module: Module, target: TargetDescription, templates: Mapping[str, str], options: CpuOptions
) -> Source:
    """C text for the target."""
    from xdsl_cpu_c.codegen.kernel import generate
    from xdsl_cpu_c.dot import blocking_for

    blocking = blocking_for(machine_of(target.name).isa)
    return generate(module, templates, blocking=blocking, threads=options.num_threads)


@hookimpl
def xdsl_compile(source: Source, target: TargetDescription, workdir: Path) -> Artifact:
    """A shared object."""
    from xdsl_cpu_c.build import build

    return build(source, workdir, _required(target.name))


@hookimpl
def xdsl_build_library(source: Source, target: TargetDescription, name: str, workdir: Path) -> Artifact:
    """A shared and a static library with a header and an example."""
    from xdsl_cpu_c.library.build import build_library

    machine, compiler = machine_of(target.name), _required(target.name)
    return build_library(source, name, workdir, compiler, templates=_templates(), machine=machine)


@hookimpl
def xdsl_load(artifact: Artifact, target: TargetDescription) -> Executable:
    """The shared object with a launcher."""
    from xdsl_cpu_c.execute import load

    machine = machine_of(target.name)
    if not runs_here(machine):
        raise BackendError(
            error(
                "X0614",
                f"this machine cannot run code for {target.target}, {machine.title}",
                help=f"run it on cpu_c:{HOST}; `xdslc build -b {target.target}` makes a library for there",
            )
        )
    return load(artifact, _compiler(target.name), cache_folder() / _FOLDER)


@hookimpl
def xdsl_launch(executable: Executable, grid: Grid, args: tuple[Argument, ...], options: Options) -> Launch:
    """One run of the grid on the thread pool."""
    objects = tuple(argument.owner if isinstance(argument, Pointer) else argument for argument in args)
    return Launch(executable.payload.run(grid, objects))


@cache
def _compiler(target: str) -> Compiler:
    return compiler_for(machine_of(target), cache_folder() / _FOLDER)


def _required(target: str) -> Compiler:
    """The compiler for a target; BackendError X0614 where there is none."""
    try:
        return _compiler(target)
    except NoCompilerError as missing:
        raise BackendError(error("X0614", f"cpu_c:{target}: {missing.reason}", help=missing.fix)) from None


@cache
def _templates() -> Mapping[str, str]:
    folder = Path(__file__).parent / "templates"
    return MappingProxyType({file.name: file.read_text() for file in sorted(folder.glob("*.j2"))})
