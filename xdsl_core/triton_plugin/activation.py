"""Puts the plug-in in place for this process. Triton imports it where both are installed, so it is small."""

from __future__ import annotations

import os

ENVIRONMENT = "XDSL_TRITON"
# the name of the entry point, and Triton's name for what runs on this machine, which torch looks for
ENTRY_POINT, NAME = "xdsl_core", "cpu"


def is_wanted() -> bool:
    """Whether the environment variable XDSL_TRITON asks for the plug-in."""
    return os.environ.get(ENVIRONMENT, "") not in ("", "0")


def activate() -> None:
    """Run kernels of `triton.jit` on the selected backend from now on, in this process.

    LaunchError X0853 if Triton is not installed, or is older than 3.6.
    """
    # Triton warns once a process about a default of NVIDIA's backend that is going to change
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    try:
        from triton.runtime.driver import driver

        from xdsl_core.triton_plugin.driver import TileDriver
    except ImportError as cause:
        from xdsl_core.diagnostics import LaunchError, error

        problem = error(
            "X0853",
            f"Triton's frontend cannot be used: {cause}",
            help="pip install 'xdsl-core[triton]', or run the script with --as-triton, which needs no Triton",
        )
        raise LaunchError(problem) from cause
    driver.set_active(TileDriver())


def register() -> None:
    """Triton's table of backends has this one, once, under the name that torch looks for."""
    import triton.backends

    from xdsl_core.triton_plugin.compiler import TileBackend
    from xdsl_core.triton_plugin.driver import TileDriver

    triton.backends.backends.pop(ENTRY_POINT, None)
    triton.backends.backends[NAME] = triton.backends.Backend(compiler=TileBackend, driver=TileDriver)
