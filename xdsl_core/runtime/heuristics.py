"""@xdsl.heuristics: constexpr arguments computed from the others at each launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl_core.backend import Profile
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.grid import ArgumentError
from xdsl_core.runtime.launchable import Launchable, function_text
from xdsl_core.runtime.tuning_errors import unknown_names
from xdsl_core.target import Target


class Heuristics(Launchable):
    """A kernel whose arguments in `values` are computed by functions of all arguments, by name."""

    def __init__(self, fn: Launchable, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        self.fn = fn
        self.name = fn.name
        self.values = dict(values)
        unknown = [name for name in self.values if name not in fn.arg_names]
        if unknown:
            raise ArgumentError(unknown_names("heuristics", unknown, fn))

    @property
    def arg_names(self) -> list[str]:
        return self.fn.arg_names

    def computed(self, args: tuple[Any, ...], meta: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of a launch with what the heuristics add; each function sees what was added."""
        named = {**dict(zip(self.arg_names, args, strict=False)), **meta}
        added: dict[str, Any] = {}
        for name, function in self.values.items():
            added[name] = function({**named, **added})
        return {**meta, **added}

    def run(self, *args: Any, grid: Any, warmup: bool = False, **meta: Any) -> CompiledKernel | None:
        """`kernel[grid](*args, **meta)`, or only compiles it if `warmup`."""
        return self.fn.run(*args, grid=grid, warmup=warmup, **self.computed(args, meta))

    def compile(self, *args: Any, **meta: Any) -> CompiledKernel:
        """The kernel compiled for arguments, without running it."""
        return self.fn.compile(*args, **self.computed(args, meta))

    def profile(self, grid: Any, *args: Any, **meta: Any) -> Profile | None:
        """Runs the kernel once and says where the time went."""
        return self.fn.profile(grid, *args, **self.computed(args, meta))

    def on(self, target: str | Target) -> Heuristics:
        """The same on another target."""
        return Heuristics(self.fn.on(target), self.values)

    def current_target(self) -> Target:
        """As Launchable.current_target."""
        return self.fn.current_target()

    def identity(self) -> str | None:
        """As Launchable.identity, with the functions' code."""
        inner = self.fn.identity()
        codes = [function_text(function) for function in self.values.values()]
        return None if inner is None or None in codes else f"{inner} {list(self.values)} {codes}"

    def __repr__(self) -> str:
        return f"<heuristics of {self.fn!r}>"


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Launchable], Heuristics]:
    """Computes arguments: `@xdsl.heuristics({"BLOCK": lambda args: xdsl.next_power_of_2(args["n"])})`.

    Each function gets all arguments of the launch by name. Goes above @xdsl.jit, and below @xdsl.autotune.
    ArgumentError X0513 if the kernel has no such parameter.
    """
    return lambda fn: Heuristics(fn, values)
