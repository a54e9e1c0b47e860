"""Puts the module tree in place for this process."""

from __future__ import annotations

import sys

from xdsl_core.diagnostics import LaunchError, error
from xdsl_core.triton_compat.devices import redirect_torch
from xdsl_core.triton_compat.finder import Finder


def activate(*, benchmarks: bool = True, device: str = "cuda") -> None:
    """Answer `import triton` from now on, in this process.

    `device` is what the driver says it is: "cuda", "cuda:90" (of compute capability 9.0), or "cpu" as
    triton-cpu does. Tensors asked for on CUDA devices are made in this machine's memory. With `benchmarks`
    false, `perf_report(...).run()` says that it is left out instead of measuring. Calling it again changes
    nothing but these settings. LaunchError X0830 if stock Triton has been imported already.
    """
    from xdsl_core.triton_compat.settings import settings

    known = settings()
    known.benchmarks, known.device = benchmarks, device
    if not any(isinstance(one, Finder) for one in sys.meta_path):
        if "triton" in sys.modules:
            raise LaunchError(
                error(
                    "X0830",
                    "triton is imported already, from another package",
                    note=f"it comes from {getattr(sys.modules['triton'], '__file__', 'somewhere')}",
                    help="activate the module tree before anything imports triton: use xdslc run --as-triton",
                )
            )
        sys.meta_path.insert(0, Finder())
        redirect_torch(("cuda",))
