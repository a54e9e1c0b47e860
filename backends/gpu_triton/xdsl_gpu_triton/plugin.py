"""The hooks of the backend `gpu_triton`."""

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
    ConformanceConfig,
    Executable,
    Grid,
    Launch,
    Source,
    Unavailable,
    Waiver,
    hookimpl,
)
from xdsl_core.ir import Module
from xdsl_core.opdef import OpSet
from xdsl_core.passes import Pipeline
from xdsl_core.target import Capabilities, TargetDescription
from xdsl_gpu_triton.options import TritonOptions
from xdsl_gpu_triton.versions import FIX, OLDEST, installed_triton

INTERPRET = "interpret"


@hookimpl
def xdsl_backend_info() -> BackendInfo:
    """Who the backend is."""
    return BackendInfo(
        "gpu_triton",
        "0.1",
        API_VERSION,
        "Triton code for GPUs of NVIDIA and AMD, and for Triton's interpreter",
        options=TritonOptions,
    )


@hookimpl
def xdsl_availability() -> Availability:
    """Available with a Triton that is new enough; Triton is not imported."""
    found = installed_triton()
    if found is None:
        return Unavailable("the package triton is not installed", FIX)
    if found.numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return Unavailable(f"triton {found.text} is older than {oldest}", f'pip install "triton>={oldest}"')
    return Available(f"triton {found.text}")


@hookimpl
def xdsl_targets() -> tuple[TargetDescription, ...]:
    """Triton's interpreter, then the GPUs."""
    from xdsl_gpu_triton.describe import targets

    return targets()


@hookimpl
def xdsl_capabilities(target: TargetDescription) -> Capabilities:
    """What Triton does right on the target."""
    from xdsl_gpu_triton.claims import capabilities

    return capabilities(target)


@hookimpl
def xdsl_register_ops(opset: OpSet) -> None:
    """What the passes leave of the backend's own."""
    from xdsl_gpu_triton.dialect import Gather

    opset.register(Gather)


@hookimpl
def xdsl_pipeline(target: TargetDescription) -> Pipeline:
    """The passes of gpu_triton."""
    from xdsl_gpu_triton.pipeline import triton_pipeline

    return triton_pipeline(target)


@hookimpl
def xdsl_templates() -> Mapping[str, str]:
    """The layout of the Triton file."""
    return _templates()


@hookimpl
def xdsl_codegen(module: Module, target: TargetDescription, templates: Mapping[str, str]) -> Source:
    """Triton code."""
    from xdsl_gpu_triton.codegen.kernel import generate

    return generate(module, templates, interpreted=target.name == INTERPRET)


@hookimpl
def xdsl_compile(
    source: Source, target: TargetDescription, options: TritonOptions, workdir: Path
) -> Artifact:
    """The code, and for a GPU what Triton makes of it up to machine code."""
    from xdsl_gpu_triton.build import build

    return build(source, target, options)


@hookimpl
def xdsl_load(artifact: Artifact, target: TargetDescription) -> Executable:
    """The kernel on the interpreter's process or on the GPU of this machine."""
    from xdsl_gpu_triton.execute import load

    return load(artifact, target)


@hookimpl
def xdsl_launch(
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: TritonOptions
) -> Launch:
    """One run of the grid."""
    return Launch(executable.payload.run(grid, args, options))


@cache
def _templates() -> Mapping[str, str]:
    folder = Path(__file__).parent / "templates"
    return MappingProxyType({file.name: file.read_text() for file in sorted(folder.glob("*.j2"))})


@hookimpl
def xdsl_conformance() -> ConformanceConfig:
    """Two cases that a claim by dtypes cannot leave out."""
    from datetime import date

    reason = "Triton exchanges 32 or 64 bits, and so no float16"
    waivers = (Waiver(f"op/atomic.rmw/f16.{number}", reason, date(2028, 1, 1)) for number in (104, 105))
    return ConformanceConfig(tuple(waivers))
