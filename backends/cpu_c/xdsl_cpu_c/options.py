"""Launch options of cpu_c."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_core.backend import Options
from xdsl_core.diagnostics import BackendError, Diagnostic, error


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuOptions(Options):
    """Options of the C backend.

    `num_threads` is how many threads share the grid (None: XDSL_NUM_THREADS, else one per core). Triton's
    num_warps, num_stages, num_ctas and maxnreg have no meaning on a CPU and change nothing.
    """

    num_threads: int | None = None

    def __post_init__(self) -> None:
        if self.num_threads is not None and self.num_threads < 1:
            raise BackendError(threads_error(f"num_threads is {self.num_threads}"))


def threads_error(what: str) -> Diagnostic:
    """The diagnostic X0704 for a number of threads that is none."""
    return error("X0704", f"{what}: a kernel needs at least one thread", help="give a whole number from 1 on")
