"""Triton's view of the compiler: its IR is optimised, translated to tile IR, and compiled by the backend."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from types import ModuleType
from typing import Any

from triton.backends.compiler import BaseBackend, GPUTarget

_FP8 = ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")
_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


@dataclass(frozen=True)
class TileOptions:
    """The options that Triton's frontend and launches ask for; `foreign` are those of other backends."""

    num_warps: int = 4
    num_stages: int = 2
    num_ctas: int = 1
    warp_size: int = 1
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    extern_libs: Any = None
    debug: bool = False
    sanitize_overflow: bool = False
    arch: str = ""
    backend_name: str = "cpu"
    supported_fp8_dtypes: tuple[str, ...] = _FP8
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = _PRECISIONS
    max_num_imprecise_acc_default: int = 0
    instrumentation_mode: str = ""
    ir_override: str | None = None
    fpsan_homomorphic_casts: bool = False
    cluster_dims: tuple[int, ...] = (1, 1, 1)
    foreign: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        # Triton accepts a launch keyword if it stands among the attributes
        for name, value in self.foreign.items():
            self.__dict__.setdefault(name, value)

    def hash(self) -> str:
        own = {name: value for name, value in asdict(self).items() if name != "foreign"}
        return hashlib.sha256(repr(sorted(own.items())).encode()).hexdigest()


class TileBackend(BaseBackend):  # type: ignore[misc] # Triton has no types
    """Compiles for the backend and target that the GPUTarget's arch names, else for the selected one."""

    binary_ext = "tile"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return bool(target.backend == "cpu")

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        from xdsl_core.runtime.select import selection
        from xdsl_core.target import Target

        named = str(target.arch)
        self.chosen = Target.parse(named) if ":" in named else selection().resolved()

    def hash(self) -> str:
        from xdsl_core import __version__
        from xdsl_core.backend.fingerprint import package_fingerprint

        return f"{__version__}-{package_fingerprint('xdsl_core')}-{self.chosen}"

    def parse_options(self, options: dict[str, Any]) -> TileOptions:
        own = TileOptions.__dataclass_fields__
        # Triton asks again with what it got, `foreign` and its parts among it
        options = {**options, **options.get("foreign", {})}
        options.pop("foreign", None)
        known = {name: value for name, value in options.items() if name in own and value is not None}
        # the kernel's own arguments, where given by name, come here too: only plain values are kept
        plain = (bool, int, float, str)
        foreign = {
            name: value for name, value in options.items() if name not in own and isinstance(value, plain)
        }
        return TileOptions(**{**known, "arch": str(self.chosen)}, foreign=foreign)

    def pack_metadata(self, metadata: Any) -> tuple[int, ...]:
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: TileOptions) -> dict[str, Callable[..., Any]]:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1), "convert_custom_types": _convert_float8}

    def get_module_map(self) -> dict[str, ModuleType]:
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        """Triton's own dialects are all it takes."""

    def add_stages(self, stages: dict[str, Any], options: TileOptions, language: Any = None) -> None:
        stages["ttir"] = _optimise
        stages[self.binary_ext] = lambda source, metadata: self._compile(source, metadata, options)

    def _compile(self, source: Any, metadata: dict[str, Any], options: TileOptions) -> bytes:
        from xdsl_core.triton_plugin.program import compile_program, describe

        program = describe(str(source), self.chosen, debug=options.debug, num_stages=options.num_stages)
        metadata["shared"] = 1  # programs divide by it to choose a grid
        metadata["name"] = compile_program(program).name
        return program


def _convert_float8(value: Any, to: Any, rounding: Any = None, _semantic: Any = None) -> Any:
    return _semantic.cast(value, to, rounding)


def _optimise(module: Any, metadata: dict[str, Any]) -> Any:
    """The module with calls inlined and descriptors and block pointers as plain pointers."""
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    for optional in ("add_rewrite_tensor_pointer", "add_rewrite_tensor_descriptor_to_pointer"):
        if hasattr(passes.ttir, optional):
            getattr(passes.ttir, optional)(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.common.add_symbol_dce(manager)
    manager.run(module, "make_ttir")
    return module
