"""The passes of gpu_triton, in order."""

from __future__ import annotations

from xdsl_core.passes import Pipeline
from xdsl_core.passes.canonical_pipeline import canonical_pipeline
from xdsl_core.target import TargetDescription


def triton_pipeline(target: TargetDescription) -> Pipeline:
    """Canonical IR; pointers that a loop carries stay carried, as hand-written kernels have them."""
    return canonical_pipeline()
