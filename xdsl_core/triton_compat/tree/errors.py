"""What `triton.compiler`, `triton.runtime.errors` and their like give: the errors, and the kernel's class."""

from __future__ import annotations

from typing import Any

from xdsl_core.diagnostics import CompilationError, XdslError
from xdsl_core.triton_compat.function import LaunchedKernel as CompiledKernel

TritonError = XdslError
# One class says here that a kernel cannot be compiled, or that a target has not enough of something.
UnsupportedLanguageConstruct = CompileTimeAssertionFailure = CompilationError
InterpreterError = OutOfResources = PTXASError = AutotunerError = XdslError


class MockTensor:
    """Stands for an array of a dtype where a kernel is only compiled."""

    def __init__(self, dtype: Any, shape: Any = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """A dtype of torch as a stand-in; everything else as it is."""
        return MockTensor(arg) if type(arg).__module__ == "torch" and type(arg).__name__ == "dtype" else arg

    @staticmethod
    def data_ptr() -> int:
        """An aligned address that nothing is at."""
        return 0

    @staticmethod
    def ptr_range() -> int:
        """Nothing can be reached."""
        return 0


__all__ = [
    "AutotunerError",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "CompiledKernel",
    "InterpreterError",
    "MockTensor",
    "OutOfResources",
    "PTXASError",
    "TritonError",
    "UnsupportedLanguageConstruct",
]
