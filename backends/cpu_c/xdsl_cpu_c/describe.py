"""The machines as targets, and what the backend claims to do on them."""

from __future__ import annotations

import os

from xdsl_core import dtypes
from xdsl_core.backend.host import HostDescription, describe_host
from xdsl_core.ops import CORE
from xdsl_core.target import Capabilities, ComputeUnit, MemorySpace, TargetDescription, claim_all
from xdsl_cpu_c.machines import FOREIGN, HOST

_SOURCE = (
    "read from the running machine (/proc/cpuinfo and /sys/devices/system/cpu on Linux, sysctl on macOS)"
)

_ADDRESSES = 1 << 48  # bytes that a 64-bit processor's addresses reach at least


def host_target() -> TargetDescription:
    """The machine this runs on: caches as memory spaces, the cores, the vector unit."""
    host = describe_host()
    return TargetDescription(
        backend="cpu_c",
        name=HOST,
        title=host.model,
        cores=host.cores,
        memory_spaces=(
            MemorySpace("DRAM", "GLOBAL", _memory_bytes(), host.page_size, "device"),
            *_cache_spaces(host),
        ),
        compute_units=(ComputeUnit("vector", "vector", bytes_per_cycle=float(host.vector_bytes)),),
        sources={"": _SOURCE},
    )


def foreign_targets() -> tuple[TargetDescription, ...]:
    """The machines that libraries can be built for from here: what their architecture says of them."""
    return tuple(
        TargetDescription(
            backend="cpu_c",
            name=machine.name,
            title=f"{machine.title} (for xdslc build and compile)",
            cores=1,
            memory_spaces=(MemorySpace("DRAM", "GLOBAL", _ADDRESSES, 1, "device"),),
            compute_units=(ComputeUnit("vector", "vector", bytes_per_cycle=float(machine.vector_bytes)),),
            sources={"": machine.source},
        )
        for machine in FOREIGN.values()
    )


def _memory_bytes() -> int:
    """Physical memory, or the reach of an address where the machine does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _ADDRESSES


def _cache_spaces(host: HostDescription) -> tuple[MemorySpace, ...]:
    return tuple(
        MemorySpace(
            f"L{cache.level}", "", cache.size, cache.line, "core" if cache.shared_by == 1 else "cluster"
        )
        for cache in host.caches
    )


def capabilities() -> Capabilities:
    """Every op of the language on every dtype, at any extent."""
    return claim_all(CORE, [dtype.name for dtype in dtypes.ALL])
