"""@xdsl.autotune: tries configs on the real arguments and keeps the best for each key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from xdsl_core.backend import Profile
from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.diagnostics import error
from xdsl_core.runtime.bench import bench_with
from xdsl_core.runtime.bench import do_bench as default_bench
from xdsl_core.runtime.cache import DiskCache
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.config import Config, Hook, Settings
from xdsl_core.runtime.grid import ArgumentError
from xdsl_core.runtime.launchable import Launchable
from xdsl_core.runtime.specialise import constant_key
from xdsl_core.runtime.trials import Trials
from xdsl_core.runtime.tuning_errors import unknown_names
from xdsl_core.target import Target


class Autotuner(Launchable):
    """A kernel that chooses among configs; `best_config` is the one of the last launch.

    `timings` maps each config tried for the last key to its score: milliseconds, or cycles on a backend that
    counts them; infinity where the config failed.
    """

    def __init__(self, fn: Launchable, settings: Settings, chosen: dict[Any, Config] | None = None) -> None:
        self.fn = fn
        self.name = fn.name
        self.settings = settings
        self.configs = list(settings.configs)
        self.cache: dict[Any, Config] = {} if chosen is None else chosen
        self.best_config: Config | None = None
        self.timings: dict[Config, float] = {}
        self._check_names()

    def _check_names(self) -> None:
        named = self.settings
        lists = {"key": named.key, "reset_to_zero": named.reset_to_zero, "restore_value": named.restore_value}
        lists |= {f"Config({config})": tuple(config.kwargs) for config in named.configs}
        for where, names in lists.items():
            unknown = [name for name in names if name not in self.arg_names]
            if unknown:
                raise ArgumentError(unknown_names(f"autotune: {where}", unknown, self.fn))
        if not named.configs:
            raise ArgumentError(
                error("X0513", f"autotune of {self.name} has no config", help="give at least one")
            )

    @property
    def arg_names(self) -> list[str]:
        return self.fn.arg_names

    @property
    def base_fn(self) -> Any:
        """The innermost kernel."""
        inner: Any = self.fn
        while isinstance(getattr(inner, "fn", None), Launchable):
            inner = inner.fn
        return inner

    def on(self, target: str | Target) -> Autotuner:
        """The same on another target; what was chosen is kept apart."""
        return Autotuner(self.fn.on(target), self.settings)

    def current_target(self) -> Target:
        """As Launchable.current_target."""
        return self.fn.current_target()

    def identity(self) -> str | None:
        """As Launchable.identity, with the configs."""
        inner = self.fn.identity()
        return None if inner is None else f"{inner} {[str(config) for config in self.configs]}"

    def run(self, *args: Any, grid: Any, warmup: bool = False, **meta: Any) -> CompiledKernel | None:
        """Launches with the best config; tries all the first time its key is seen."""
        self._refuse_conflicts(meta)
        named = {**dict(zip(self.arg_names, args, strict=False)), **meta}
        if warmup:
            return self.compile(*args, **meta)
        config = self._choose(args, meta, named, grid)
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**named, **config.all_kwargs()})
        return self.fn.run(*args, grid=grid, **meta, **config.all_kwargs())

    def compile(self, *args: Any, **meta: Any) -> CompiledKernel:
        """Compiles every config; returns the kernel of the best known one, else of the first."""
        self._refuse_conflicts(meta)
        named = {**dict(zip(self.arg_names, args, strict=False)), **meta}
        kernels = {
            config: self.fn.compile(*args, **meta, **config.all_kwargs())
            for config in self._pruned(named, meta)
        }
        best = self.cache.get(self._key(named))
        return kernels.get(best) if best in kernels else next(iter(kernels.values()))  # type: ignore[return-value]

    def profile(self, grid: Any, *args: Any, **meta: Any) -> Profile | None:
        """Profiles one launch with the best config."""
        named = {**dict(zip(self.arg_names, args, strict=False)), **meta}
        config = self._choose(args, meta, named, grid)
        return self.fn.profile(grid, *args, **meta, **config.all_kwargs())

    def prune_configs(self, kwargs: Mapping[str, Any]) -> list[Config]:
        """Triton's name: the configs that are worth a trial for these keywords."""
        return self._pruned(kwargs, kwargs)

    def _refuse_conflicts(self, meta: Mapping[str, Any]) -> None:
        conflicts = sorted({name for config in self.configs for name in config.kwargs if name in meta})
        if conflicts:
            problem = error(
                "X0514",
                f"{', '.join(conflicts)} is chosen by autotune of {self.name}, and was passed as well",
                help=f"leave {conflicts[0]} out of the launch, or out of the configs",
            )
            raise ArgumentError(problem)

    def _choose(
        self, args: Sequence[Any], meta: Mapping[str, Any], named: dict[str, Any], grid: Any
    ) -> Config:
        if len(self.configs) == 1:
            return self.configs[0]
        key = self._key(named)
        known = self.cache.get(key)
        if known is None:
            pruned = self._pruned(named, meta)
            known = pruned[0] if len(pruned) == 1 else self._tuned(key, pruned, args, meta, named, grid)
            self.cache[key] = known
        return known

    def _key(self, named: Mapping[str, Any]) -> Any:
        """The target, the values of the key arguments, and the element type of every array."""
        values = tuple(constant_key(named.get(name)) for name in self.settings.key)
        return (
            self.current_target(),
            values,
            tuple(str(value.dtype) for value in named.values() if hasattr(value, "dtype")),
        )

    def _pruned(self, named: Mapping[str, Any], meta: Mapping[str, Any]) -> list[Config]:
        prune, configs = self.settings.prune, list(self.configs)
        early, model, top = prune.get("early_config_prune"), prune.get("perf_model"), prune.get("top_k", 1.0)
        if early is not None:
            configs = list(early(configs, dict(named), **meta))
            if not configs:
                nothing = error("X0513", f"early_config_prune of {self.name} left no config", help="keep one")
                raise ArgumentError(nothing)
        if model is not None:
            count = (
                max(1, int(len(self.configs) * top)) if isinstance(top, float) and top <= 1.0 else int(top)
            )
            if len(configs) > count:
                times = {config: model(**{**named, **meta, **config.all_kwargs()}) for config in configs}
                configs = sorted(configs, key=times.__getitem__)[:count]
        return configs

    def _tuned(
        self,
        key: Any,
        configs: list[Config],
        args: Sequence[Any],
        meta: Mapping[str, Any],
        named: dict[str, Any],
        grid: Any,
    ) -> Config:
        disk, disk_key = DiskCache(cache_folder()), self._disk_key(key, configs)
        stored = disk.read_result(disk_key) if disk_key is not None else None
        if isinstance(stored, dict):
            found = next((config for config in configs if str(config) == stored.get("best")), None)
            if found is not None:
                return found
        trials = Trials(self.fn, self.settings, args=args, meta=meta, named=named, grid=grid)
        self.timings = trials.scores(configs)
        best = min(configs, key=self.timings.__getitem__)
        if self.timings[best] == float("inf"):
            raise trials.nothing_works()
        if disk_key is not None:
            times = {str(config): score for config, score in self.timings.items() if score != float("inf")}
            disk.write_result(disk_key, {"kernel": self.name, "best": str(best), "scores": times})
        return best

    def _disk_key(self, key: Any, configs: Sequence[Config]) -> str | None:
        hooks = (self.settings.pre_hook, self.settings.post_hook, *(config.pre_hook for config in configs))
        identity = self.fn.identity()
        if not self.settings.cache_results or identity is None or any(hook is not None for hook in hooks):
            return None
        facts = [identity, [str(config) for config in configs], repr(key)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"<autotune of {self.fn!r} over {len(self.configs)} configs>"


def autotune(  # noqa: PLR0917 (Triton's signature)
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Hook | None = None,
    post_hook: Hook | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[[Callable[[], object]], Any] | None = None,
    cache_results: bool = True,
) -> Callable[[Launchable], Autotuner]:
    """Chooses the best of `configs` for each combination of the `key` arguments and element types.

    Signature as in Triton. `prune_configs_by` holds "early_config_prune(configs, named_args, **meta)", and
    "perf_model" with "top_k". Arrays in `reset_to_zero` are zeroed, those in `restore_value` restored before
    every trial run; `pre_hook(arguments, reset_only=False)` and `post_hook(arguments, exception=...)` run
    around each. `warmup` and `rep` are milliseconds of the default benchmark; `do_bench(fn)` replaces it. A
    backend that counts cycles is ranked by those. `use_cuda_graph` changes nothing.

    After the trials every array that any config writes has the contents it had before, so that the launch
    the user asked for is the only one that is seen. Results are kept on disk unless `cache_results` is False
    or there are hooks.
    """
    bench = partial(default_bench, warmup=warmup or 25.0, rep=rep or 100.0)
    settings = Settings(
        tuple(configs),
        tuple(key),
        prune_configs_by or {},
        tuple(reset_to_zero or ()),
        tuple(restore_value or ()),
        pre_hook,
        post_hook,
        bench if do_bench is None else bench_with(do_bench),
        cache_results,
    )
    return lambda fn: Autotuner(fn, settings)
