"""A backend whose kernels are Python closures over memory, and kernels without Python source."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.backend import (
    API_VERSION,
    Artifact,
    Available,
    BackendInfo,
    Executable,
    Launch,
    Options,
    Pointer,
    Profile,
    Source,
    hookimpl,
)
from xdsl_core.diagnostics import UNKNOWN
from xdsl_core.frontend.specs import ArgumentSpec, Constant, PointerSpec, ScalarSpec
from xdsl_core.ir import Builder, Function, Module, PointerType, ScalarType
from xdsl_core.ops import Load, Return, Store, opset
from xdsl_core.passes.pipeline import Pipeline
from xdsl_core.runtime.kernel import Kernel, KernelSource
from xdsl_core.runtime.specialise import ParameterRule
from xdsl_core.target import Capabilities, TargetDescription, claim_all

Body = Callable[[tuple[int, int, int], tuple[Any, ...], Mapping[str, Any]], None]


class ClosureBackend:
    """Runs `body(grid, values, constants)` for every launch, and counts what it is asked for."""

    def __init__(self, name: str, *, body: Body | None = None, direct: bool = True) -> None:
        self.name = name
        self.body = body or (lambda grid, values, constants: None)
        self.direct = direct
        self.compiled = 0
        self.launches: list[tuple[Any, tuple[Any, ...]]] = []
        self.cycles: Callable[[Mapping[str, Any]], int] | None = None

    @hookimpl
    def xdsl_backend_info(self) -> BackendInfo:
        return BackendInfo(self.name, "1", API_VERSION, options=Options)

    @hookimpl
    def xdsl_availability(self) -> Available:
        return Available("closures")

    @hookimpl
    def xdsl_targets(self) -> tuple[TargetDescription, ...]:
        return (TargetDescription(self.name, "here"), TargetDescription(self.name, "there"))

    @hookimpl
    def xdsl_capabilities(self) -> Capabilities:
        return claim_all(opset(), [d.name for d in dtypes.ALL if d is not dtypes.f64])

    @hookimpl
    def xdsl_pipeline(self) -> Pipeline:
        return Pipeline(())

    @hookimpl
    def xdsl_codegen(self, module: Module) -> Source:
        (function,) = module.functions.values()
        return Source("closure", function.name, metadata=function.attributes["constants"])

    @hookimpl
    def xdsl_compile(self, source: Source, workdir: Path) -> Artifact:
        self.compiled += 1
        (workdir / "kernel.txt").write_text(source.text)
        return Artifact({"kernel.txt": workdir / "kernel.txt"}, source.metadata)

    @hookimpl
    def xdsl_load(self, artifact: Artifact) -> Executable:
        def run(grid: tuple[int, int, int], values: tuple[Any, ...]) -> None:
            self.launches.append((grid, values))
            self.body(grid, values, artifact.metadata)

        return Executable((artifact, run), run if self.direct else None)

    @hookimpl
    def xdsl_launch(
        self, executable: Executable, grid: tuple[int, int, int], args: tuple[Any, ...]
    ) -> Launch:
        executable.payload[1](grid, tuple(a.address if isinstance(a, Pointer) else a for a in args))
        return Launch(extra={"args": args})

    @hookimpl
    def xdsl_profile(
        self, executable: Executable, grid: tuple[int, int, int], args: tuple[Any, ...]
    ) -> Profile | None:
        if self.cycles is None:
            return None
        self.xdsl_launch(executable, grid, args)
        return Profile(cycles=self.cycles(executable.payload[0].metadata))


class ModuleKernel(Kernel):
    """A kernel that reads and writes the first elements of its pointer parameters, as its module says."""

    def __init__(
        self,
        name: str,
        *rules: ParameterRule,
        defaults: Mapping[str, Any] | None = None,
        reads: tuple[str, ...] = (),
        writes: tuple[str, ...] = (),
        key: str = "text",
        guards: Callable[[], Any] = tuple,
    ) -> None:
        self.name = name
        self.reads, self.writes, self.key = reads, writes, key
        self.built: list[dict[str, ArgumentSpec]] = []
        self.__dict__["_source"] = KernelSource(
            name, rules, defaults or {}, self.build, lambda: self.key, guards, lambda parameter: UNKNOWN, {}
        )

    def build(
        self, specs: Mapping[str, ArgumentSpec], *, debug: bool, operations: Mapping[str, Any]
    ) -> Module:
        self.built.append(dict(specs))
        module = Module()
        parameters = [(name, _type(spec)) for name, spec in specs.items() if not isinstance(spec, Constant)]
        constants = {name: spec.value for name, spec in specs.items() if isinstance(spec, Constant)}
        function = module.add(Function(self.name, parameters, {"constants": constants}))
        builder, values = Builder(function.block), {value.name: value for value in function.parameters}
        for name in dict.fromkeys(self.reads + self.writes):
            if name in values:
                loaded = builder.value(Load, values[name]) if name in self.reads else None
                if name in self.writes:
                    stored = builder.value(Load, values[name]) if loaded is None else loaded
                    builder.build(Store, values[name], stored)
        builder.build(Return)
        return module


def _type(spec: ArgumentSpec) -> Any:
    if isinstance(spec, PointerSpec):
        return PointerType(spec.element)
    assert isinstance(spec, ScalarSpec)
    return ScalarType(spec.dtype)


def memory(address: int, count: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """An array over memory, as a kernel sees it."""
    raw = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    return np.frombuffer(raw, dtype)
