"""Launch options of cpu_c."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_core.backend import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuOptions(Options):
    """Options of the C backend.

    `num_threads` is how many threads share the grid (None: XDSL_NUM_THREADS, else one per core). Triton's
    num_warps, num_stages, num_ctas and maxnreg have no meaning on a CPU and change nothing.
    """

    num_threads: int | None = None
