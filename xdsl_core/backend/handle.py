"""BackendHandle: the hooks of one backend as typed methods, every result checked."""

from __future__ import annotations

import difflib
import hashlib
import json
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl_core.backend.contract import checked
from xdsl_core.backend.dispatch import Dispatcher
from xdsl_core.backend.fingerprint import package_fingerprint, package_of
from xdsl_core.backend.options import Options, make_options
from xdsl_core.backend.types import (
    Argument,
    Artifact,
    Availability,
    Available,
    BackendInfo,
    ConformanceConfig,
    Executable,
    Grid,
    Launch,
    Profile,
    Source,
    Unavailable,
)
from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import Capabilities, TargetDescription

if TYPE_CHECKING:
    from xdsl_core.ir import Module
    from xdsl_core.opdef import OpSet
    from xdsl_core.passes import Pipeline


class BackendHandle:
    """One installed backend. `distribution` says where it came from.

    Every method calls the hook of its name (`xdsl_` before it) for this backend alone, inside the wrappers of
    third parties, and raises BackendError X0608 if the result has the wrong type, X0609 if the hook failed.
    """

    def __init__(self, dispatcher: Dispatcher, plugin: Any, info: BackendInfo, distribution: str) -> None:
        self._dispatcher = dispatcher
        self.plugin = plugin
        self.info = info
        self.distribution = distribution
        self.launch_watchers = dispatcher.launch_watchers
        self._capabilities: dict[str, Capabilities] = {}

    @property
    def name(self) -> str:
        return self.info.name

    def __repr__(self) -> str:
        return f"<BackendHandle {self.name} {self.info.version}>"

    def _call(self, hook: str, /, **arguments: Any) -> Any:
        return self._dispatcher.call(self.name, hook, **arguments)

    def _checked(self, hook: str, /, **arguments: Any) -> Any:
        return checked(hook, self._call(hook, **arguments), backend=self.name)

    @cached_property
    def _availability(self) -> Availability:
        try:
            found: Availability = self._checked("xdsl_availability")
        except BackendError as problem:
            # The hook must not raise; whoever lists backends must still get an answer.
            return Unavailable(problem.diagnostics[0].message, f"report it to the authors of {self.name}")
        return found

    def availability(self) -> Availability:
        """Whether the backend can run here; asked once a process."""
        return self._availability

    def require_available(self) -> Available:
        """The availability; BackendError X0614 with reason and fix if the backend cannot run here."""
        found = self._availability
        if isinstance(found, Unavailable):
            problem = error("X0614", f"backend {self.name} is not available: {found.reason}", help=found.fix)
            raise BackendError(problem)
        return found

    @cached_property
    def _targets(self) -> tuple[TargetDescription, ...]:
        found: tuple[TargetDescription, ...] = self._checked("xdsl_targets")
        return found

    def targets(self) -> tuple[TargetDescription, ...]:
        """The machines it compiles for, the default one first."""
        return self._targets

    def target(self, name: str = "") -> TargetDescription:
        """The target with this name, or the default one for ""; BackendError X0604 if there is none."""
        targets = self.targets()
        if not name:
            return targets[0]
        found = next((target for target in targets if target.name == name), None)
        if found is None:
            names = [target.name for target in targets]
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            problem = error(
                "X0604",
                f"backend {self.name} has no target {name!r}",
                help=f"{hint}it has {', '.join(names)}",
            )
            raise BackendError(problem)
        return found

    def capabilities(self, target: TargetDescription) -> Capabilities:
        """What it claims on `target`."""
        if target.name not in self._capabilities:
            self._capabilities[target.name] = self._checked("xdsl_capabilities", target=target)
        return self._capabilities[target.name]

    @cached_property
    def _opset(self) -> OpSet:
        from xdsl_core.ops import opset

        extended = opset().extend()
        self._call("xdsl_register_ops", opset=extended)
        return extended

    def opset(self) -> OpSet:
        """The ops of the language and those of the backend's own dialect."""
        return self._opset

    def options(self, values: Mapping[str, Any]) -> Options:
        """The backend's options with `values`; BackendError X0606 or X0607 for what it does not take."""
        return make_options(self.info.options, values, backend=self.name)

    def pipeline(self, target: TargetDescription, options: Options) -> Pipeline:
        """Its passes, in order."""
        found: Pipeline = self._checked("xdsl_pipeline", target=target, options=options)
        return found

    def templates(self, target: TargetDescription) -> Mapping[str, str]:
        """Its jinja2 sources, {} if it has none."""
        found = self._call("xdsl_templates", target=target)
        templates: Mapping[str, str] = (
            {} if found is None else checked("xdsl_templates", found, backend=self.name)
        )
        return templates

    def codegen(
        self, module: Module, target: TargetDescription, templates: Mapping[str, str], options: Options
    ) -> Source:
        """Text for a lowered module."""
        found: Source = self._checked(
            "xdsl_codegen", module=module, target=target, templates=templates, options=options
        )
        return found

    def compile(self, source: Source, target: TargetDescription, options: Options, workdir: Path) -> Artifact:
        """Machine code for a source."""
        found: Artifact = self._checked(
            "xdsl_compile", source=source, target=target, options=options, workdir=workdir
        )
        return found

    def build_library(
        self, source: Source, target: TargetDescription, options: Options, name: str, workdir: Path
    ) -> Artifact:
        """A library that exports the kernel as `name`; BackendError X0816 where the backend makes none."""
        found = self._call(
            "xdsl_build_library", source=source, target=target, options=options, name=name, workdir=workdir
        )
        if found is None:
            able = "`xdslc backends` lists the others; cpu_c makes libraries for C"
            raise BackendError(error("X0816", f"backend {self.name} makes no libraries", help=able))
        library: Artifact = checked("xdsl_build_library", found, backend=self.name)
        return library

    def load(self, artifact: Artifact, target: TargetDescription) -> Executable:
        """Something launchable; by default the artifact itself."""
        found = self._call("xdsl_load", artifact=artifact, target=target)
        executable: Executable = (
            Executable(artifact) if found is None else checked("xdsl_load", found, backend=self.name)
        )
        return executable

    def launch(
        self,
        executable: Executable,
        grid: Grid,
        args: tuple[Argument, ...],
        options: Options,
        *,
        kernel: str = "",
    ) -> Launch:
        """Runs the kernel, with the observers of launches told before and after."""
        told = {"backend": self.name, "kernel": kernel, "grid": grid, "args": args}
        self._call("xdsl_launch_started", **told)
        launch: Launch = self._checked(
            "xdsl_launch", executable=executable, grid=grid, args=args, options=options
        )
        self._call("xdsl_launch_finished", launch=launch, **told)
        return launch

    def profile(
        self, executable: Executable, grid: Grid, args: tuple[Argument, ...], options: Options
    ) -> Profile:
        """Runs the kernel and says where the time went; by default the wall time of one launch."""
        found = self._call("xdsl_profile", executable=executable, grid=grid, args=args, options=options)
        if found is not None:
            profile: Profile = checked("xdsl_profile", found, backend=self.name)
            return profile
        started = time.perf_counter()
        launch = self.launch(executable, grid, args, options)
        seconds = time.perf_counter() - started
        return launch.profile or Profile(
            seconds=launch.duration_seconds or seconds, notes=("wall time of one launch",)
        )

    def conformance(self, target: TargetDescription) -> ConformanceConfig:
        """What the conformance suite should know."""
        found = self._call("xdsl_conformance", target=target)
        config: ConformanceConfig = (
            ConformanceConfig() if found is None else checked("xdsl_conformance", found, backend=self.name)
        )
        return config

    def pass_started(self, name: str, module: Module) -> None:
        """Tells the observers of passes."""
        self._call("xdsl_pass_started", backend=self.name, name=name, module=module)

    def pass_finished(self, name: str, module: Module, seconds: float) -> None:
        """Tells the observers of passes."""
        self._call("xdsl_pass_finished", backend=self.name, name=name, module=module, seconds=seconds)

    def fingerprint(self, target: TargetDescription) -> str | None:
        """A hash of all that compilation for `target` depends on besides kernel and options.

        Covers the backend's version and code, its tools, the target's numbers and the wrappers around its
        hooks. None if a wrapper cannot be identified: then nothing may be cached across processes.
        """
        wrappers = self._dispatcher.compile_wrappers()
        if not all(wrappers.values()):
            return None
        found = self.availability()
        toolchain = found.toolchain if isinstance(found, Available) else "unavailable"
        code = package_fingerprint(package_of(self.plugin))
        facts = [self.name, self.info.version, self.info.api_version, code, toolchain, target.fingerprint()]
        return hashlib.sha256(json.dumps([facts, wrappers], sort_keys=True).encode()).hexdigest()[:24]
