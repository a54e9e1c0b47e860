"""Trial runs of configs, for autotune."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xdsl_core.diagnostics import LaunchError, XdslError, error
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.composites import is_descriptor
from xdsl_core.runtime.config import Config, Settings
from xdsl_core.runtime.effects import Effects
from xdsl_core.runtime.grid import ArgumentError
from xdsl_core.runtime.launchable import Launchable
from xdsl_core.runtime.snapshot import set_to_zero, snapshot


class Trials:
    """Runs configs on the arguments of a launch, and leaves the arguments as it found them."""

    def __init__(
        self,
        fn: Launchable,
        settings: Settings,
        *,
        args: Sequence[Any],
        meta: Mapping[str, Any],
        named: Mapping[str, Any],
        grid: Any,
    ) -> None:
        self._fn = fn
        self._settings = settings
        self._args = args
        self._meta = meta
        self._named = named
        self._grid = grid
        self._failures: list[XdslError] = []

    def scores(self, configs: Sequence[Config]) -> dict[Config, float]:
        """The score of each config, less is better; infinity where it failed to compile or to run."""
        kernels = {config: self._compiled(config) for config in configs}
        effects = [kernel.effects for kernel in kernels.values() if kernel is not None]
        self._warn(effects)
        stored = [kernel.written for kernel in kernels.values() if kernel is not None]
        written = frozenset().union(*stored, self._settings.reset_to_zero)
        saved = {name: snapshot(self._named.get(name)) for name in written | {*self._settings.restore_value}}
        restores = {name: restore for name, restore in saved.items() if restore is not None}
        each_run = [restores[name] for name in self._settings.restore_value if name in restores]
        found = {}
        for config, kernel in kernels.items():
            found[config] = float("inf") if kernel is None else self._score(config, each_run)
            for restore in restores.values():
                restore()
        for name in self._settings.reset_to_zero:
            set_to_zero(self._named.get(name))
        return found

    def nothing_works(self) -> LaunchError:
        """The error when every config failed."""
        first = self._failures[0]
        problem = error(
            "X0515",
            f"none of the {len(self._failures)} configs of {self._fn.name} works",
            note=f"the first failed with: {first.code}: {first.diagnostics[0].message}",
            help="add a config the backend can do, or correct the kernel",
        )
        return LaunchError([problem, *first.diagnostics])

    def _compiled(self, config: Config) -> CompiledKernel | None:
        if config.pre_hook is not None and any(map(is_descriptor, self._named.values())):
            # it may set the block of a descriptor, which is compiled in
            config.pre_hook({**self._named, **config.all_kwargs()})
        try:
            return self._fn.compile(*self._args, **self._meta, **config.all_kwargs())
        except ArgumentError:
            raise
        except XdslError as problem:
            self._failures.append(problem)
            return None

    def _score(self, config: Config, each_run: Sequence[Callable[[], None]]) -> float:
        def once(call: Callable[[], Any]) -> Any:
            self._before(config, each_run)
            try:
                result = call()
            except Exception as problem:
                self._after(problem)
                raise
            self._after(None)
            return result

        fn, meta, args, grid = self._fn, {**self._meta, **config.all_kwargs()}, self._args, self._grid
        try:
            profile = once(lambda: fn.profile(grid, *args, **meta))
            if profile is None:
                return 0.0
            if profile.cycles is not None:
                return float(profile.cycles)
            found = self._settings.bench(lambda: once(lambda: fn.run(*args, grid=grid, **meta)))
        except XdslError as problem:
            self._failures.append(problem)
            return float("inf")
        return float(found[0] if isinstance(found, (list, tuple)) else found)

    def _before(self, config: Config, each_run: Sequence[Callable[[], None]]) -> None:
        for name in self._settings.reset_to_zero:
            set_to_zero(self._named.get(name))
        for restore in each_run:
            restore()
        everything = {**self._named, **config.all_kwargs()}
        if self._settings.pre_hook is not None:
            self._settings.pre_hook(everything, reset_only=False)
        if config.pre_hook is not None:
            config.pre_hook(everything)

    def _after(self, problem: Exception | None) -> None:
        if self._settings.post_hook is not None:
            self._settings.post_hook(self._named, exception=problem)

    def _warn(self, effects: Iterable[Effects]) -> None:
        declared = {*self._settings.restore_value, *self._settings.reset_to_zero}
        updated = sorted(frozenset().union(*(one.read & one.written for one in effects)) - declared)
        if updated and self._settings.pre_hook is None:
            names = ", ".join(updated)
            warnings.warn(
                f"autotune of {self._fn.name}: {names} is both read and written: a trial starts from what "
                f"the last one left (the contents are put back afterwards); add restore_value={updated!r} to "
                "try every config on the same data",
                stacklevel=7,
            )
