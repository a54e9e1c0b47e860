"""What `triton.runtime` gives."""

from __future__ import annotations

from xdsl_core.language.builtin import constexpr_function
from xdsl_core.runtime.autotune import Autotuner
from xdsl_core.runtime.heuristics import Heuristics, heuristics
from xdsl_core.runtime.launchable import Launchable as KernelInterface
from xdsl_core.triton_compat.function import Config, autotune, jit
from xdsl_core.triton_compat.function import TritonFunction as JITFunction
from xdsl_core.triton_compat.tree.errors import InterpreterError, MockTensor, OutOfResources
from xdsl_core.triton_compat.tree.root import reinterpret

TensorWrapper = type(None)

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "autotune",
    "constexpr_function",
    "heuristics",
    "jit",
    "reinterpret",
]
