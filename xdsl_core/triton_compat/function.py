"""`triton.jit` with this package's kernels: the parts of Triton's classes that scripts touch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any

from xdsl_core.diagnostics import CompilationError
from xdsl_core.runtime.autotune import autotune as base_autotune
from xdsl_core.runtime.compiled import CompiledKernel
from xdsl_core.runtime.config import Config as BaseConfig
from xdsl_core.runtime.jit import JitFunction
from xdsl_core.runtime.launchable import Launchable
from xdsl_core.triton_compat.processor import SHARED_BYTES

# Options of Triton's compilers for other targets, and of DLCompiler's: hints for hardware that is not here.
FOREIGN_OPTIONS = frozenset(
    (
        *("maxnreg", "cluster_dims", "launch_cooperative_grid", "launch_pdl", "enable_fp_fusion", "stream"),
        *("extern_libs", "ptx_version", "ir_override", "instrumentation_mode", "sanitize_overflow", "arch"),
        *("waves_per_eu", "matrix_instr_nonkdim", "kpack", "allow_flush_denorm", "schedule_hint"),
        *("allowed_dot_input_precisions", "supported_fp8_dtypes", "allow_fp8e4nv", "optimize_epilogue"),
        *("enable_warp_specialization", "num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer"),
        *("reg_inc_consumer", "multibuffer", "enable_nd2nz_on_vector", "enable_persistent"),
        *("enable_npu_compile", "inject_barrier_all", "disable_auto_inject_block_sync", "unit_flag"),
        *("disable_auto_cv_work_space_manage", "enable_auto_bind_sub_block", "tile_mix_vector_loop"),
        *("tile_mix_cube_loop", "limit_auto_multi_buffer_only_for_local_buffer", "set_workspace_multibuffer"),
        *("limit_auto_multi_buffer_of_local_buffer", "force_simt_only", "enable_ubuf_saving", "vectorize"),
        *("num_cpu_threads", "enable_fast_math", "minRegAutoWS", "maxRegAutoWS", "pingpongAutoWS"),
    )
)


class TritonCompilationError(CompilationError):
    """An error of a kernel whose text begins with its place, as that of Triton's does."""

    def __str__(self) -> str:
        place = self.diagnostics[0].location
        return f"at {place.line}:{place.column}:\n{super().__str__()}"


class TritonFunction(JitFunction):
    """A kernel whose launches take the options of other targets, and give back what Triton gives back."""

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """The launch over a grid; it returns a LaunchedKernel."""
        launch = super().__getitem__(grid)

        def run(*args: Any, **meta: Any) -> LaunchedKernel | None:
            own = self._own(meta)
            try:
                done = launch(*args, **own)
            except CompilationError as problem:
                raise TritonCompilationError(problem.diagnostics) from None
            return None if done is None else LaunchedKernel(self, done, own)

        return run

    def _own(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        names = self.arg_names
        return {name: one for name, one in meta.items() if name in names or name not in FOREIGN_OPTIONS}

    def compile(self, *args: Any, **meta: Any) -> CompiledKernel:
        """As a kernel's, without the options of other targets."""
        try:
            return super().compile(*args, **self._own(meta))
        except CompilationError as problem:
            raise TritonCompilationError(problem.diagnostics) from None

    def warmup(self, *args: Any, grid: Any = None, **meta: Any) -> Any:
        """Triton's name for `compile`; what it returns can be launched."""
        own = self._own(meta)
        return LaunchedKernel(self, self.compile(*args, **own), own)

    @property
    def src(self) -> str:
        """The source text."""
        return self.text

    @property
    def cache_key(self) -> str:
        """A hash of the source and of all it refers to."""
        return self.dependency_key()

    @property
    def params(self) -> list[SimpleNamespace]:
        """What is known of each parameter."""
        return [
            SimpleNamespace(name=one.name, num=index, is_constexpr=one.is_constexpr, default=one.default)
            for index, one in enumerate(self.parameters)
        ]


class LaunchedKernel:
    """A compiled kernel as scripts look at it: its texts, resources, and another launch."""

    # nothing is taken of what these count
    n_regs = 1
    n_spills = 0

    def __init__(self, function: TritonFunction, kernel: CompiledKernel, meta: Mapping[str, Any]) -> None:
        self.function = function
        self.kernel = kernel
        self.meta = meta

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def asm(self) -> Mapping[str, str]:
        """The texts of the compilation; the tile IR is what Triton's "ttir" is too."""
        stages = self.kernel.stages
        return {"ttir": stages["tile"], **stages}

    @property
    def metadata(self) -> SimpleNamespace:
        """The launch options, and the shared memory taken: the least there is, as it is not counted here."""
        options = {name: getattr(self.kernel.options, name, None) for name in _OPTIONS}
        return SimpleNamespace(name=self.name, shared=SHARED_BYTES // 16, hash=self.name, **options)

    @property
    def shared(self) -> int:
        """Bytes of shared memory."""
        return int(self.metadata.shared)

    def _init_handles(self) -> None:
        """Load it; Triton's scripts call this before they ask for resources."""

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """Another launch with the same options, of all arguments by position."""
        names = self.function.arg_names
        options = {name: value for name, value in self.meta.items() if name not in names}
        launch = self.function[grid]
        return lambda *args, **meta: launch(*args, **{**options, **meta})

    def __repr__(self) -> str:
        return repr(self.kernel)


_OPTIONS = MappingProxyType({"num_warps": 4, "num_stages": 3, "num_ctas": 1})


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`triton.jit`: makes a kernel of a function; the options are those of `xdsl.jit`."""

    def decorate(function: Callable[..., Any]) -> TritonFunction:
        known = {
            name: options[name]
            for name in ("do_not_specialize", "do_not_specialize_on_alignment", "debug", "noinline")
            if options.get(name) is not None
        }
        return TritonFunction(function, **known)

    return decorate if fn is None else decorate(fn)


class Config(BaseConfig):
    """`triton.Config`: as `xdsl.Config`, and takes the options of other targets."""

    def __init__(  # noqa: PLR0917 (Triton's signature)
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[..., None] | None = None,
        ir_override: str | None = None,
        **foreign: Any,
    ) -> None:
        unknown = foreign.keys() - FOREIGN_OPTIONS
        if unknown:
            raise TypeError(f"Config() got an unexpected keyword argument {min(unknown)!r}")
        super().__init__(kwargs, num_warps, num_stages, num_ctas, None, pre_hook)


def autotune(configs: Sequence[BaseConfig], key: Sequence[str], *args: Any, **options: Any) -> Any:
    """`triton.autotune`: as `xdsl.autotune`; configs may hold options of other targets."""

    def decorate(fn: Launchable) -> Any:
        names = fn.arg_names
        own = [_without_foreign(config, names) for config in configs]
        return base_autotune(own, [name for name in key if name in names], *args, **options)(fn)

    return decorate


def _without_foreign(config: BaseConfig, names: Sequence[str]) -> BaseConfig:
    kept = {
        name: value for name, value in config.kwargs.items() if name in names or name not in FOREIGN_OPTIONS
    }
    return config if len(kept) == len(config.kwargs) else dataclasses.replace(config, kwargs=kept)
