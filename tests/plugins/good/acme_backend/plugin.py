"""The hooks of `acme`: it writes Python, and its machine is a closure over numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    Pointer,
    Profile,
    Source,
    hookimpl,
)
from xdsl_core.ir import is_pointer
from xdsl_core.target import Capabilities, Claim, MemorySpace, TargetDescription

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.opdef import OpSet
    from xdsl_core.passes import Pipeline

DTYPES = frozenset({"i1", "i32", "i64", "f32", "f64"})
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
    from acme_backend.codegen import EXPRESSIONS

    return Capabilities(tuple(Claim(op, DTYPES) for op in EXPRESSIONS))


@hookimpl
def xdsl_register_ops(opset: OpSet) -> None:
    from acme_backend.dialect import Marker

    opset.register(Marker)


@hookimpl
def xdsl_pipeline(target: TargetDescription, options: AcmeOptions) -> Pipeline:
    from xdsl_core.passes import Pipeline

    return Pipeline(())


@hookimpl
def xdsl_templates() -> Mapping[str, str]:
    return {"kernel.py": "def program(machine, pid{{ parameters }}):\n{{ body }}\n"}


@hookimpl
def xdsl_codegen(
    module: Module, target: TargetDescription, templates: Mapping[str, str], options: AcmeOptions
) -> Source:
    from acme_backend.codegen import generate
    from xdsl_core.diagnostics import CompilationError
    from xdsl_core.target.legality import check

    unclaimed = check(module, xdsl_capabilities(target), backend="acme")
    if unclaimed:
        raise CompilationError(unclaimed)
    (function,) = module.functions.values()
    scalars = [None if is_pointer(value.type) else value.type.element.name for value in function.parameters]
    text = generate(module, templates["kernel.py"])
    return Source("python", text + "# turbo\n" * options.turbo, metadata={"scalars": scalars})


@hookimpl
def xdsl_compile(source: Source, workdir: Path) -> Artifact:
    written = workdir / "kernel.py"
    written.write_text(source.text)
    return Artifact({"kernel.py": written}, source.metadata)


@hookimpl
def xdsl_load(artifact: Artifact) -> Executable:
    text = artifact.read("kernel.py").decode()
    namespace: dict[str, Any] = {}
    exec(compile(text, "kernel.py", "exec"), namespace)
    run = _closure(namespace["program"], artifact.metadata["scalars"])
    return Executable((run, len(text.splitlines())), direct=run)


def _closure(
    program: Callable[..., None], scalars: list[str | None]
) -> Callable[[Grid, tuple[Any, ...]], None]:
    """The whole grid, one program after the other."""
    from acme_backend import machine
    from xdsl_core.dtypes import BY_NAME

    def run(grid: Grid, args: tuple[Any, ...]) -> None:
        values = [
            arg if dtype is None else BY_NAME[dtype].numpy.type(arg)
            for arg, dtype in zip(args, scalars, strict=True)
        ]
        for z, y, x in product(*map(range, reversed(grid))):
            program(machine, (x, y, z), *values)

    return run


@hookimpl
def xdsl_launch(executable: Executable, grid: Grid, args: tuple[Argument, ...]) -> Launch:
    run, _ = executable.payload
    run(grid, tuple(arg.address if isinstance(arg, Pointer) else arg for arg in args))
    return Launch()


@hookimpl
def xdsl_profile(executable: Executable, grid: Grid, args: tuple[Argument, ...]) -> Profile:
    xdsl_launch(executable, grid, args)
    _, lines = executable.payload
    return Profile(cycles=grid[0] * grid[1] * grid[2] * lines)
