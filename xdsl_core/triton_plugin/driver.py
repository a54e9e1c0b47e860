"""Triton's view of the device: the selected backend, and how kernels are loaded and launched."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from xdsl_core.triton_plugin import activation

# bytes written between the runs of a benchmark, so that none finds its data in a cache
_FLUSHED = 1 << 24


class _Utilities:
    """Loading, and what is asked about the device."""

    @staticmethod
    def load_binary(name: str, program: bytes, shared: int, device: Any) -> tuple[Any, Any, int, int, int]:
        from xdsl_core.triton_plugin.program import compile_program

        kernel = compile_program(bytes(program))
        # programs divide by the number of registers to choose a grid; one is the least that a kernel has
        return kernel, kernel, 1, 0, 1024

    @staticmethod
    def unload_module(module: Any) -> None:
        """Kernels stay for the process."""

    @staticmethod
    def get_device_properties(device: Any) -> dict[str, int]:
        cores = os.cpu_count() or 1
        return {
            "max_shared_mem": 1 << 30,
            "multiprocessor_count": cores,
            "max_num_regs": 1 << 16,
            "warpSize": 1,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 64,
        }


class TileDriver(DriverBase):  # type: ignore[misc] # Triton has no types
    """The driver of the selected backend. Active only where XDSL_TRITON or `activate()` asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.utils = _Utilities()
        activation.register()

    @property
    def launcher_cls(self) -> Any:
        from xdsl_core.triton_plugin.launcher import TileLauncher

        return TileLauncher

    @classmethod
    def is_active(cls) -> bool:
        return activation.is_wanted()

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cpu", self._target(), 1)

    def _target(self) -> str:
        from xdsl_core.backend import default_registry
        from xdsl_core.runtime.select import selection

        _, description = default_registry().resolve(selection().resolved())
        return str(description.target)

    def get_current_device(self) -> str:
        """A device a target: Triton keeps the compiled kernels of each apart."""
        return self._target()

    def set_current_device(self, device: Any) -> None:
        """There is one device at a time; `xdsl.use` chooses it."""

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        from xdsl_core.triton_plugin.clock import Device

        return Device

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_benchmarker(self) -> Callable[..., Any]:
        from triton.testing import do_bench

        return do_bench  # type: ignore[no-any-return]

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(_FLUSHED, dtype=torch.int8)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()
