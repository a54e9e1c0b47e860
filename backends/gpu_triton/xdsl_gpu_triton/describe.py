"""The targets of the backend, from the files in targets/."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdsl_core.target import TargetDescription
from xdsl_core.target.toml import load_target

BACKEND = "gpu_triton"
# The first one is the default: it runs everywhere.
_NAMES = ("interpret", "sm_90", "sm_80", "gfx942")


@cache
def targets() -> tuple[TargetDescription, ...]:
    """Triton's interpreter, then the GPUs."""
    folder = Path(__file__).parent / "targets"
    return tuple(load_target(folder / f"{name}.toml", backend=BACKEND) for name in _NAMES)
