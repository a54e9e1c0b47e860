"""The device that scripts are told of: this machine's processor, in the words of a GPU's properties."""

from __future__ import annotations

import os
from functools import cache

NAME = "xdsl-core"
# As an Ampere GPU: paths that need the tensor memory accelerator of later ones are not taken.
CAPABILITY = (8, 0)
# What scripts divide by to find out how many programs to start: the figures of that generation (CUDA C++
# Programming Guide, table "Technical Specifications per Compute Capability").
WARP_SIZE = 32
REGISTERS = 65536
SHARED_BYTES = 163 * 1024


@cache
def properties() -> dict[str, int]:
    """Triton's device properties by name; a multiprocessor is a core here."""
    cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "multiprocessor_count": cores,
        "num_aicore": cores,
        "num_vectorcore": cores,
        "max_num_regs": REGISTERS,
        "max_shared_mem": SHARED_BYTES,
        "warpSize": WARP_SIZE,
        "sm_clock_rate": 0,
        "mem_clock_rate": 0,
        "mem_bus_width": 0,
        "total_memory": memory,
    }
