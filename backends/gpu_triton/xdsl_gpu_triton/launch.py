"""A kernel on a GPU of this machine: stock Triton launches it with the caller's arrays."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

from xdsl_core.backend import Argument, Artifact, Executable, Grid, Pointer
from xdsl_core.diagnostics import BackendError, LaunchError, error
from xdsl_core.dtypes import BY_NAME, DType
from xdsl_core.target import TargetDescription
from xdsl_gpu_triton.build import SOURCE, compiling
from xdsl_gpu_triton.generated import generated_file, import_file
from xdsl_gpu_triton.options import TritonOptions
from xdsl_gpu_triton.versions import installed_triton

# The types of DLPack devices whose memory a GPU reads (DLDeviceType in dlpack.h): CUDA and ROCm.
_DLPACK = {"cuda": (2, 13), "hip": (10,)}


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """What Triton looks at in an array: the address of its first element, and the dtype's name.

    `owner` keeps the memory alive.
    """

    address: int
    dtype: str
    owner: Any

    def data_ptr(self) -> int:
        return self.address


@dataclass(slots=True)
class DeviceKernel:
    """Runs one kernel by Triton's own launcher."""

    function: Any
    dtypes: tuple[DType, ...]
    vendor: str
    synchronise: Callable[[], None]

    def run(self, grid: Grid, arguments: tuple[Argument, ...], options: TritonOptions) -> float:
        """Runs the grid and waits for it; seconds it took."""
        objects = tuple(
            self.wrap(argument.owner, dtype) if isinstance(argument, Pointer) else argument
            for argument, dtype in zip(arguments, self.dtypes, strict=True)
        )
        start = perf_counter()
        self.function[grid](*objects, **options.of_launch(self.vendor))
        self.synchronise()
        return perf_counter() - start

    def wrap(self, array: Any, dtype: DType) -> Any:
        """An array as Triton takes it; LaunchError X0507 for what is not on the device."""
        if callable(getattr(array, "data_ptr", None)):
            return array
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return DeviceArray(int(interface["data"][0]), dtype.triton, array)
        if hasattr(array, "__dlpack_device__"):
            kind, _ = array.__dlpack_device__()
            if int(kind) in _DLPACK[self.vendor]:
                return self._through_torch(array)
        raise LaunchError(
            error(
                "X0507",
                f"an argument is a {type(array).__name__} in host memory, the kernel runs on a GPU",
                help="pass a CUDA tensor of torch, or an array with __cuda_array_interface__ or DLPack",
            )
        )

    def _through_torch(self, array: Any) -> Any:
        import torch

        return torch.from_dlpack(array)


def load_on_device(artifact: Artifact, target: TargetDescription) -> Executable:
    """The kernel for the GPU of this machine; BackendError X0614 if there is none for the target."""
    machine = device()
    if machine is None:
        raise _no_device(target, "this machine has no GPU that Triton can use")
    vendor, arch = target.vendor["backend"], str(target.vendor["arch"])
    if machine != (vendor, arch):
        raise _no_device(target, f"the GPU of this machine is {machine[0]} {machine[1]}")
    facts: Mapping[str, Any] = artifact.metadata
    with compiling():
        function = getattr(import_file(generated_file(artifact.read(SOURCE).decode())), facts["name"])
    dtypes = tuple(BY_NAME[name] for name in facts["dtypes"])
    return Executable(DeviceKernel(function, dtypes, vendor, _synchronise))


def _no_device(target: TargetDescription, what: str) -> BackendError:
    return BackendError(
        error(
            "X0614",
            f"{target.target} can be compiled for, but not run here: {what}",
            help="launch it where the GPU is, or on gpu_triton:interpret",
        )
    )


@cache
def device() -> tuple[str, str] | None:
    """Vendor and architecture of the current GPU as Triton names them, or None."""
    from triton.runtime import driver

    triton = installed_triton()
    assert triton is not None
    if _cuda_driver() is None and ctypes.util.find_library("amdhip64") is None:
        return None
    try:
        found = driver.active.get_current_target()
    except (RuntimeError, ImportError):
        return None
    return found.backend, str(found.arch)


def _cuda_driver() -> Any:
    """The library of the CUDA driver, or None: without it there is no use in asking Triton."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def _synchronise() -> None:
    """Waits until the GPU has done what was launched."""
    from triton.runtime import driver

    interface = driver.active.get_device_interface()
    interface.synchronize()
