"""Every hook of a backend: the one file a vendor must read.

A backend is a Python package with an entry point in the group `xdsl_core.backends`:

    [project.entry-points."xdsl_core.backends"]
    acme = "acme_backend.plugin"

The entry point's name is the backend's name. It names a module (or an object) that holds functions called as
the hooks below and marked with `hookimpl`:

    from xdsl_core.backend import API_VERSION, BackendInfo, hookimpl

    @hookimpl
    def xdsl_backend_info() -> BackendInfo:
        return BackendInfo(name="acme", version="1.2", api_version=API_VERSION)

An implementation may leave out parameters that it does not need. "must" hooks have to be there; the others
have the stated default. All are called by keyword, for one backend at a time, on the thread that compiles or
launches, and several threads may do so at once. What a hook returns is checked: a wrong type is an error that
names the backend. To tell the user that something is wrong, raise an XdslError (BackendError,
CompilationError, LaunchError, ExecutionError) with a diagnostic; any other exception is reported as a fault
of the backend.

Packages in the group `xdsl_core.plugins` are no backends but watch or change what all backends do: they
implement the observers, and wrap the other hooks with `@hookimpl(wrapper=True)`.

The order in a compilation is: availability, targets, capabilities, pipeline, templates, codegen, compile,
load; then launch as often as wanted. A compilation found in the cache starts at load. `xdslc backend check
NAME` checks a backend against this file, and `xdslc backend new NAME` writes one to start from.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pluggy

from xdsl_core.backend.options import Options
from xdsl_core.backend.types import (
    Argument,
    Artifact,
    Availability,
    BackendInfo,
    ConformanceConfig,
    Executable,
    Grid,
    Launch,
    Profile,
    Source,
)
from xdsl_core.target import Capabilities, TargetDescription

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.opdef import OpSet
    from xdsl_core.passes import Pipeline

PROJECT = "xdsl_core"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(firstresult=True)
def xdsl_backend_info() -> BackendInfo:  # type: ignore[empty-body]
    """Who the backend is. Must; called once, when the backend is first asked for.

    Returns a BackendInfo whose `name` is the entry point's and whose `api_version` is the one the backend was
    written for. Has to be cheap: no device, no compiler, no heavy import.

    Example: `return BackendInfo("acme", "1.2", API_VERSION, "Acme X1 accelerators", options=AcmeOptions)`
    """


@hookspec(firstresult=True)
def xdsl_availability() -> Availability:  # type: ignore[empty-body]
    """Whether the backend can run on this machine. Must; never raises; called at most once a process.

    Returns `Available(toolchain)`, where `toolchain` is text that changes whenever the tools compile
    differently (it is part of every cache key), or `Unavailable(reason, fix)`, where `fix` is what the user
    can do. Has to be quick: it runs before the first launch even if the kernel comes from the cache.
    Compiling may be possible where running is not: then answer Available, and let `xdsl_load` raise a
    BackendError X0614.

    Example: `return Unavailable("no C compiler found", "apt install gcc, or pip install ziglang")`
    """


@hookspec(firstresult=True)
def xdsl_targets() -> tuple[TargetDescription, ...]:  # type: ignore[empty-body]
    """The machines the backend compiles for, the default one first. Must; works without the hardware.

    Returns at least one description, with names that differ and `backend` set to the backend's name. Build
    them in Python or from TOML with `xdsl_core.target.load_target`. Called once a process.

    Example: `return tuple(load_target(p, backend="acme") for p in sorted(FOLDER.glob("*.toml")))`
    """


@hookspec(firstresult=True)
def xdsl_capabilities(target: TargetDescription) -> Capabilities:  # type: ignore[empty-body]
    """What the backend does on `target`: op by op, the element types and limits it claims. Must.

    Anything not claimed is refused before compilation, with the kernel's line; anything claimed is tested by
    the conformance suite. Called once a target.

    Example: `return claim_all(opset(), {"f16", "f32", "i32"}, except_={"atomic.*": "the chip has no
    atomics"})`
    """


@hookspec
def xdsl_register_ops(opset: OpSet) -> None:
    """Adds the backend's own dialect to `opset`, a copy that is this backend's alone. May.

    Called once, before the first module is built. Raise nothing; a name that is taken is an error of the
    backend.

    Example: `opset.register(AcmeSort)`
    """


@hookspec(firstresult=True)
def xdsl_pipeline(target: TargetDescription, options: Options) -> Pipeline:  # type: ignore[empty-body]
    """The complete, explicit order of passes from tile IR to what `xdsl_codegen` reads. Must; may be empty.

    `options` is an instance of the class in BackendInfo. Deterministic: the same arguments give the same
    passes. Called once a compilation, after the module was checked against the capabilities.

    Example: `return Pipeline((StructureAccesses(), AssignSpaces(target)))`
    """


@hookspec(firstresult=True)
def xdsl_templates(target: TargetDescription) -> Mapping[str, str]:  # type: ignore[empty-body]
    """The jinja2 sources that code generation uses: template name to text. May; default none.

    Templates pass through here so that a wrapper can replace one without touching the backend.

    Example: `return {p.name: p.read_text() for p in TEMPLATES.iterdir()}`
    """


@hookspec(firstresult=True)
def xdsl_codegen(  # type: ignore[empty-body]
    module: Module, target: TargetDescription, templates: Mapping[str, str], options: Options
) -> Source:
    """Text for a lowered module. Must; deterministic, and without side effects.

    `module` went through the pipeline and may be changed freely; `templates` is what `xdsl_templates` (and
    wrappers) gave. Raise CompilationError with the op's location for what cannot be generated.

    Example: `return Source("c", render(module, templates), metadata={"entry": "kernel"})`
    """


@hookspec(firstresult=True)
def xdsl_compile(  # type: ignore[empty-body]
    source: Source, target: TargetDescription, options: Options, workdir: Path
) -> Artifact:
    """Machine code (or its equal) for a source. Must; deterministic, so that the result can be cached.

    `workdir` is an empty folder that is deleted afterwards: files named in the artifact are copied out of it.
    The messages of a tool you call are yours to render.

    Example: `return Artifact({"kernel.so": workdir / "kernel.so"}, {"entry": "kernel"})`
    """


@hookspec(firstresult=True)
def xdsl_build_library(  # type: ignore[empty-body]
    source: Source, target: TargetDescription, options: Options, name: str, workdir: Path
) -> Artifact:
    """A library with the kernel in it, for programs that run without Python. May; default: a refusal.

    `name` is a C identifier: of the function that the library exports, and part of its files' names. The
    artifact's files are what `xdslc build` writes: libraries, a header that documents how to call them, an
    example. `workdir` is an empty folder that is deleted afterwards.

    Example: `return Artifact({f"lib{name}.a": workdir / "kernel.a", f"{name}.h": header.encode()})`
    """


@hookspec(firstresult=True)
def xdsl_load(artifact: Artifact, target: TargetDescription) -> Executable:  # type: ignore[empty-body]
    """Makes an artifact ready to launch. May; default `Executable(payload=artifact)`.

    Called once a process and kernel. `artifact` may come from another process's cache: rely on its files and
    metadata alone. Give `Executable.direct` to make launches cheap.

    Example: `return Executable(library := ffi.dlopen(str(artifact.files["kernel.so"])),
    direct=caller(library))`
    """


@hookspec(firstresult=True)
def xdsl_launch(  # type: ignore[empty-body]
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: Options
) -> Launch:
    """Runs the kernel once for every program of `grid` and returns when its results can be read. Must.

    `grid` has three extents, all above zero. `args` holds one entry per run-time parameter, in the kernel's
    order without those that became constants: a `Pointer` or a Python number, already checked against the
    parameter's type. Raise ExecutionError for what goes wrong while running.

    Example: `for pid in programs(grid): run(executable.payload, pid, args)`, then `return Launch()`
    """


@hookspec(firstresult=True)
def xdsl_profile(  # type: ignore[empty-body]
    executable: Executable, grid: Grid, args: tuple[Argument, ...], options: Options
) -> Profile:
    """Runs the kernel like `xdsl_launch` and says where the time went. May; default: the launch's wall time.

    Example: `return Profile(cycles=trace.cycles, utilisation=trace.busy_shares(), bottleneck="MTE2")`
    """


@hookspec(firstresult=True)
def xdsl_conformance(target: TargetDescription) -> ConformanceConfig:  # type: ignore[empty-body]
    """What the conformance suite should know: waivers with reason and expiry, profiles. May; data only.

    Example: `return ConformanceConfig(waivers=read_waivers(FOLDER / "waivers.toml"))`
    """


@hookspec
def xdsl_pass_started(backend: str, name: str, module: Module) -> None:
    """Observer: the pass `name` of `backend`'s pipeline is about to run on `module`, unchanged. May."""


@hookspec
def xdsl_pass_finished(backend: str, name: str, module: Module, seconds: float) -> None:
    """Observer: the pass `name` has run on `module` and took `seconds`. Must not change it. May."""


@hookspec
def xdsl_launch_started(backend: str, kernel: str, grid: Grid, args: tuple[Argument, ...]) -> None:
    """Observer: `kernel` is about to run. May.

    While an observer or a wrapper of launches is installed, every launch goes through `xdsl_launch`, which
    costs some microseconds more than `Executable.direct`.
    """


@hookspec
def xdsl_launch_finished(
    backend: str, kernel: str, grid: Grid, args: tuple[Argument, ...], launch: Launch
) -> None:
    """Observer: `kernel` has run; `launch` is what came back. Not called if it raised. May."""
