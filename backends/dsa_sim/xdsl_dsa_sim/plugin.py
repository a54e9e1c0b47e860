"""The hooks of the backend `dsa_sim`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from xdsl_core import __version__
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
    Profile,
    Source,
    hookimpl,
)
from xdsl_core.ir import Module
from xdsl_core.opdef import OpSet
from xdsl_core.passes import Pipeline
from xdsl_core.target import Capabilities, TargetDescription
from xdsl_dsa_sim.options import DsaOptions

if TYPE_CHECKING:
    from xdsl_dsa_sim.simulator.simulate import Simulation

_PROGRAM, _OVERLAPPING = "kernel.asm", "overlapping.asm"
_WRITTEN = "written"


@hookimpl
def xdsl_backend_info() -> BackendInfo:
    """Who the backend is."""
    return BackendInfo(
        "dsa_sim",
        __version__,
        API_VERSION,
        "Accelerators with explicit memories that exist as data, and a simulator of them",
        options=DsaOptions,
    )


@hookimpl
def xdsl_availability() -> Availability:
    """Always there: the machines are simulated."""
    return Available()


@hookimpl
def xdsl_targets() -> tuple[TargetDescription, ...]:
    """The machines whose descriptions come with the backend, and the user's own."""
    from xdsl_dsa_sim.machine.targets import load_targets

    return tuple(load_targets().values())


@hookimpl
def xdsl_capabilities(target: TargetDescription) -> Capabilities:
    """All of the language; the notes say what is slow because no unit is made for it."""
    from xdsl_dsa_sim.capabilities import notes

    return replace(_claims(), notes=notes(target))


@cache
def _claims() -> Capabilities:
    from xdsl_core import dtypes
    from xdsl_core.ops import CORE
    from xdsl_core.target import claim_all

    return claim_all(CORE, [dtype.name for dtype in dtypes.ALL])


@hookimpl
def xdsl_register_ops(opset: OpSet) -> None:
    """The dialects that tiles are lowered to."""
    from xdsl_core.ops.buffer import BUFFER
    from xdsl_core.ops.task import TASK

    for definition in (*BUFFER, *TASK):
        opset.register(definition)


@hookimpl
def xdsl_pipeline(target: TargetDescription, options: Options) -> Pipeline:
    """From tiles to memories, engines and flags."""
    from xdsl_dsa_sim.pipeline import dsa_pipeline

    return dsa_pipeline(target, num_stages=options.num_stages)


@hookimpl
def xdsl_codegen(module: Module, target: TargetDescription, templates: Mapping[str, str]) -> Source:
    """Assembler text; a second one for arguments that overlap, where that makes a difference."""
    from xdsl_core.passes.memory.footprints import written_parameters
    from xdsl_dsa_sim.isa import print_program
    from xdsl_dsa_sim.lowering.emit import emit, emit_for_overlap

    careful = emit_for_overlap(module, target)
    files = {} if careful is None else {_OVERLAPPING: print_program(careful)}
    written = set().union(*(written_parameters(function) for function in module.functions.values()))
    return Source("asm", print_program(emit(module, target)), files, {_WRITTEN: sorted(written)})


@hookimpl
def xdsl_compile(source: Source) -> Artifact:
    """The text, stored."""
    texts = {_PROGRAM: source.text, **source.files}
    return Artifact({name: text.encode() for name, text in texts.items()}, source.metadata)


@hookimpl
def xdsl_load(artifact: Artifact, target: TargetDescription) -> Executable:
    """The program, assembled for the target."""
    from xdsl_dsa_sim.executable import Kernel

    careful = artifact.read(_OVERLAPPING).decode() if _OVERLAPPING in artifact.files else None
    written = frozenset(artifact.metadata[_WRITTEN])
    return Executable(Kernel(artifact.read(_PROGRAM).decode(), careful, target, written=written))


@hookimpl
def xdsl_launch(
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: DsaOptions
) -> Launch:
    """One run of the grid on the simulated machine; `extra["simulation"]` is what traces are made from."""
    run = _simulate(executable, grid, args, options)
    extra = {"cycles": run.cycles, "seconds": run.seconds, "simulation": run}
    return Launch(profile=_profile(run), extra=extra)


@hookimpl
def xdsl_profile(
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: DsaOptions
) -> Profile:
    """Where the cycles of a run went."""
    return _profile(_simulate(executable, grid, args, options))


def _profile(run: Simulation) -> Profile:
    from xdsl_dsa_sim.report import profile_of

    return profile_of(run)


def _simulate(
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: DsaOptions
) -> Simulation:
    from xdsl_dsa_sim.simulator.simulate import simulate

    image = executable.payload.image_for(args)
    return simulate(image, image.description, grid, args, mode=options.mode, trace=options.trace)
