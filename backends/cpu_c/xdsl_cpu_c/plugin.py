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
from xdsl_core.backend.toolchain import Compiler, NoCompilerError, find_compiler, fingerprint
from xdsl_core.ir import Module
from xdsl_core.passes import Pipeline
from xdsl_core.target import Capabilities, TargetDescription
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
        return Available(fingerprint(_compiler()))
    except NoCompilerError as missing:
        return Unavailable(missing.reason, missing.fix)


@hookimpl
def xdsl_targets() -> tuple[TargetDescription, ...]:
    """The host."""
    from xdsl_cpu_c.describe import host_target

    return (host_target(),)


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
def xdsl_codegen(module: Module, templates: Mapping[str, str], options: CpuOptions) -> Source:
    """C text for this machine."""
    from xdsl_core.backend.host import describe_host
    from xdsl_cpu_c.codegen.kernel import generate
    from xdsl_cpu_c.dot import blocking_for

    blocking = blocking_for(describe_host().vector_isa)
    return generate(module, templates, blocking=blocking, threads=options.num_threads)


@hookimpl
def xdsl_compile(source: Source, workdir: Path) -> Artifact:
    """A shared object."""
    from xdsl_cpu_c.build import build

    return build(source, workdir, _compiler())


@hookimpl
def xdsl_build_library(source: Source, name: str, workdir: Path) -> Artifact:
    """A shared and a static library with a header and an example."""
    from xdsl_core.backend.host import describe_host
    from xdsl_cpu_c.library.build import build_library

    return build_library(source, name, workdir, _compiler(), templates=_templates(), host=describe_host())


@hookimpl
def xdsl_load(artifact: Artifact) -> Executable:
    """The shared object with a launcher."""
    from xdsl_cpu_c.execute import load

    return load(artifact, _compiler(), cache_folder() / _FOLDER)


@hookimpl
def xdsl_launch(executable: Executable, grid: Grid, args: tuple[Argument, ...], options: Options) -> Launch:
    """One run of the grid on the thread pool."""
    objects = tuple(argument.owner if isinstance(argument, Pointer) else argument for argument in args)
    return Launch(executable.payload.run(grid, objects))


@cache
def _compiler() -> Compiler:
    return find_compiler(cache_dir=cache_folder() / _FOLDER)


@cache
def _templates() -> Mapping[str, str]:
    folder = Path(__file__).parent / "templates"
    return MappingProxyType({file.name: file.read_text() for file in sorted(folder.glob("*.j2"))})
