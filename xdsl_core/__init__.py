"""xdsl-core: one kernel language, one tile IR, many chips.

    import xdsl_core as xdsl
    import xdsl_core.language as tl

Importing this package is cheap: its names are loaded when they are first used, and no backend before a
kernel needs it.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl_core import language as language
    from xdsl_core.frontend.specs import Constant, PointerSpec, ScalarSpec
    from xdsl_core.language.standard import cdiv, next_power_of_2
    from xdsl_core.runtime.autotune import Autotuner, autotune
    from xdsl_core.runtime.compiled import CompiledKernel
    from xdsl_core.runtime.composites import TensorDescriptor
    from xdsl_core.runtime.config import Config
    from xdsl_core.runtime.heuristics import heuristics
    from xdsl_core.runtime.jit import JitFunction, jit
    from xdsl_core.runtime.select import use

__version__ = "0.1.0"

# Where each public name is defined.
_HOMES = MappingProxyType(
    {
        "Autotuner": "xdsl_core.runtime.autotune",
        "CompiledKernel": "xdsl_core.runtime.compiled",
        "Config": "xdsl_core.runtime.config",
        "Constant": "xdsl_core.frontend.specs",
        "JitFunction": "xdsl_core.runtime.jit",
        "PointerSpec": "xdsl_core.frontend.specs",
        "ScalarSpec": "xdsl_core.frontend.specs",
        "TensorDescriptor": "xdsl_core.runtime.composites",
        "autotune": "xdsl_core.runtime.autotune",
        "cdiv": "xdsl_core.language.standard",
        "heuristics": "xdsl_core.runtime.heuristics",
        "jit": "xdsl_core.runtime.jit",
        "next_power_of_2": "xdsl_core.language.standard",
        "use": "xdsl_core.runtime.select",
    }
)

__all__ = [
    "Autotuner",
    "CompiledKernel",
    "Config",
    "Constant",
    "JitFunction",
    "PointerSpec",
    "ScalarSpec",
    "TensorDescriptor",
    "__version__",
    "autotune",
    "cdiv",
    "heuristics",
    "jit",
    "language",
    "next_power_of_2",
    "use",
]


def __getattr__(name: str) -> Any:
    if name == "language":
        return import_module("xdsl_core.language")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'xdsl_core' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
