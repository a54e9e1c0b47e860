"""The passes of cpu_c, in order."""

from __future__ import annotations

from xdsl_core.passes import Pipeline
from xdsl_core.passes.canonical_pipeline import canonical_pipeline
from xdsl_core.passes.structure_induction import StructureInduction


def cpu_pipeline() -> Pipeline:
    """Canonical IR, index tiles out of loops, and canonical again."""
    return canonical_pipeline().append(StructureInduction()) + canonical_pipeline()
