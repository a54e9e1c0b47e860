"""torch as a script for a GPU expects it: devices that are not there mean this machine's memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

from xdsl_core.triton_compat.processor import NAME, properties
from xdsl_core.triton_compat.settings import settings


def redirect_torch(devices: tuple[str, ...]) -> None:
    """Let tensors on `devices` be made on the CPU, now or as soon as torch is imported."""
    if "torch" in sys.modules:
        _install(devices)
    else:
        sys.meta_path.insert(0, _WhenImported(devices))


class _WhenImported(MetaPathFinder):
    """Waits for the import of torch, and goes away."""

    def __init__(self, devices: tuple[str, ...]) -> None:
        self._devices = devices

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """torch's own spec, with a loader that redirects it once it is loaded."""
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = find_spec("torch")
        if spec is not None and spec.loader is not None:
            spec.loader = _AndRedirect(spec.loader, self._devices)
        return spec


class _AndRedirect(Loader):
    """torch's loader, then the redirection."""

    def __init__(self, loader: Any, devices: tuple[str, ...]) -> None:
        self._loader = loader
        self._devices = devices

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As torch's loader."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Load torch, and redirect it."""
        self._loader.exec_module(module)
        _install(self._devices)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _install(devices: tuple[str, ...]) -> None:
    import torch
    from torch.overrides import TorchFunctionMode

    class OnTheCpu(TorchFunctionMode):  # type: ignore[misc]  # torch is not typed here
        """Every call of torch with a device among `devices` is one with the CPU."""

        def __torch_function__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            if getattr(func, "__name__", "") in devices:
                return args[0]  # x.cuda()
            if func in claims:
                return True
            named = {key: _elsewhere(value, devices) for key, value in (kwargs or {}).items()}
            return func(*(_elsewhere(value, devices) for value in args), **named)

    # x.is_cuda, which scripts assert
    claims = {
        getattr(torch.Tensor, f"is_{name}").__get__ for name in devices if f"is_{name}" in dir(torch.Tensor)
    }
    OnTheCpu().__enter__()
    if "cuda" in devices:
        for name, answer in _CUDA.items():
            setattr(torch.cuda, name, answer)


def _elsewhere(value: Any, devices: tuple[str, ...]) -> Any:
    """`"cuda:0"` and the like as "cpu"; everything else as it is."""
    kind = value if isinstance(value, str) else getattr(value, "type", None)
    is_device = isinstance(value, str) or type(value).__name__ == "device"
    return "cpu" if is_device and isinstance(kind, str) and kind.partition(":")[0] in devices else value


def _nothing(*args: Any, **kwargs: Any) -> None:
    """There is nothing to wait for or to free."""


class _Event:
    """A point in time; work is done when it is recorded."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.seconds = 0.0

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self.seconds = time.perf_counter()

    def elapsed_time(self, end: _Event) -> float:
        """Milliseconds from this event to another."""
        return (end.seconds - self.seconds) * 1e3

    synchronize = wait = _nothing

    def query(self) -> bool:
        """All work is done."""
        return True


class _Stream:
    """The only stream: every launch has ended when it returns."""

    cuda_stream = 0
    device = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any arguments mean this stream."""

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *args: Any) -> None:
        """Nothing to leave."""

    synchronize = wait_stream = wait_event = record_event = _nothing


def _properties(device: Any = None) -> SimpleNamespace:
    known = properties()
    return SimpleNamespace(
        name=NAME,
        major=settings().capability[0],
        minor=settings().capability[1],
        multi_processor_count=known["multiprocessor_count"],
        total_memory=known["total_memory"],
        warp_size=known["warpSize"],
        shared_memory_per_block_optin=known["max_shared_mem"],
        shared_memory_per_multiprocessor=known["max_shared_mem"],
        regs_per_multiprocessor=known["max_num_regs"],
    )


def _seed(seed: int) -> None:
    import torch

    torch.default_generator.manual_seed(seed)


# What torch.cuda answers. The rest of it stays torch's, and says that there is no CUDA.
_CUDA: Mapping[str, Any] = MappingProxyType(
    {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": _nothing,
        "synchronize": _nothing,
        "empty_cache": _nothing,
        "manual_seed": _seed,
        "manual_seed_all": _seed,
        "get_device_name": lambda device=None: NAME,
        "get_device_capability": lambda device=None: settings().capability,
        "get_device_properties": _properties,
        "current_stream": _Stream,
        "default_stream": _Stream,
        "Stream": _Stream,
        "stream": _Stream,
        "device": _Stream,
        "Event": _Event,
        "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "reset_peak_memory_stats": _nothing,
    }
)
