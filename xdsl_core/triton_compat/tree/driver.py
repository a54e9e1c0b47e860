"""What `triton.runtime.driver` gives: one device, which is this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from xdsl_core.triton_compat.processor import WARP_SIZE, properties
from xdsl_core.triton_compat.settings import settings


@dataclass(frozen=True)
class GPUTarget:
    """What code is made for; the name is Triton's."""

    backend: str
    arch: int | str
    warp_size: int


class Driver:
    """The device that launches go to."""

    utils = SimpleNamespace(
        get_device_properties=lambda device=None: properties(),
        get_aicore_num=lambda: properties()["num_aicore"],
    )

    def get_current_target(self) -> GPUTarget:
        """What the script is told: the paths that it has for this kind of device are taken."""
        major, minor = settings().capability
        return GPUTarget(settings().kind, major * 10 + minor if settings().kind == "cuda" else 0, WARP_SIZE)

    def get_active_torch_device(self) -> Any:
        """torch's CPU."""
        import torch

        return torch.device("cpu")

    def get_current_device(self) -> int:
        """The only one."""
        return 0

    def set_current_device(self, device: int) -> None:
        """There is no other."""

    def get_current_stream(self, device: Any = None) -> int:
        """The only one."""
        return 0

    def get_device_interface(self) -> Any:
        """torch.cuda, which answers for this machine."""
        import torch

        return torch.cuda

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """The generation of GPUs that scripts may think of."""
        return settings().capability

    def get_benchmarker(self) -> Callable[..., Any]:
        """How the time of a call is taken."""
        from xdsl_core.triton_compat.tree.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory larger than the caches, to be overwritten between runs."""
        import torch

        return torch.empty(256 * 1024 * 1024 // 4, dtype=torch.int32)

    def clear_cache(self, cache: Any) -> None:
        """Overwrite such memory."""
        cache.zero_()


active = default = Driver()


def set_active(driver: Any) -> None:
    """There is one driver; another one would need stock Triton."""


def set_active_to_cpu() -> None:
    """As triton-cpu's; it is active already."""


def set_active_to_gpu() -> None:
    """As triton-cpu's; the machine stays what is launched on."""


def get_active_gpus() -> list[Any]:
    """As triton-cpu's: there are none."""
    return []


def reset_active() -> None:
    """There is one driver."""


def is_active() -> bool:
    """There is one driver, and it is active."""
    return True
