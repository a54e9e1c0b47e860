"""What `import triton` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl_core.language.builtin import constexpr_function
from xdsl_core.language.standard import cdiv, next_power_of_2
from xdsl_core.runtime.heuristics import heuristics
from xdsl_core.runtime.launchable import Launchable as KernelInterface
from xdsl_core.triton_compat.function import Config, autotune, jit
from xdsl_core.triton_compat.function import TritonFunction as JITFunction
from xdsl_core.triton_compat.tree.errors import CompilationError, MockTensor, OutOfResources, TritonError

# The version whose names these are.
__version__ = "3.9.0"

_PACKAGES = ("language", "testing", "runtime", "compiler", "tools", "knobs", "backends")


def set_allocator(allocator: Callable[..., Any]) -> None:
    """Kernels take no memory of their own here: the allocator is never called."""


def set_profile_allocator(allocator: Callable[..., Any]) -> None:
    """As `set_allocator`."""


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """The same memory as elements of another dtype: a torch or numpy array is viewed so."""
    row = getattr(dtype, "row", None)
    if hasattr(tensor, "data_ptr"):
        import torch

        named = getattr(torch, row.numpy.name if row is not None else str(dtype).rpartition(".")[2])
        return tensor.view(named)
    return tensor.view(row.numpy if row is not None else dtype)


def must_use_result(x: Any, s: Any = True) -> Any:
    """Triton's mark of functions whose result matters; it changes nothing."""
    return (lambda function: function) if isinstance(x, str | bool) else x


__all__ = [
    "CompilationError",
    "Config",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TritonError",
    "autotune",
    "cdiv",
    "constexpr_function",
    "heuristics",
    "jit",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "set_allocator",
    "set_profile_allocator",
]
