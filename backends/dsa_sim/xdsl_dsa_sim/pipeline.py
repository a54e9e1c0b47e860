"""The passes of dsa_sim, in order."""

from __future__ import annotations

from xdsl_core.passes import Pipeline
from xdsl_core.passes.canonical_pipeline import canonical_pipeline
from xdsl_core.passes.memory.bufferize import Bufferize
from xdsl_core.passes.memory.coalesce_buffers import CoalesceBuffers
from xdsl_core.passes.memory.fold_grid import FoldGrid
from xdsl_core.passes.memory.insert_flags import InsertFlags
from xdsl_core.passes.memory.multi_buffer import MultiBuffer
from xdsl_core.passes.memory.plan_memory import PlanMemory
from xdsl_core.passes.memory.prepare_for_overlap import PrepareForOverlap
from xdsl_core.passes.memory.separate_accumulators import SeparateAccumulators
from xdsl_core.passes.memory.share_rows import ShareRows
from xdsl_core.passes.memory.share_scalars import ShareScalars
from xdsl_core.passes.memory.split_cores import SplitCores
from xdsl_core.passes.structure_induction import StructureInduction
from xdsl_core.target import TargetDescription


def dsa_pipeline(target: TargetDescription, *, num_stages: int) -> Pipeline:
    """Canonical IR of the loop over programs, then places, copies, addresses, flags, one function a core."""
    tiles = canonical_pipeline().append(FoldGrid(), SeparateAccumulators(), StructureInduction())
    places = canonical_pipeline().append(Bufferize(target)) + canonical_pipeline()
    buffers = (
        ShareScalars(target),
        ShareRows(target),
        CoalesceBuffers(target),
        MultiBuffer(target, num_stages),
    )
    flags = (PrepareForOverlap(), InsertFlags(target), SplitCores(target))
    return (tiles + places).append(*buffers, PlanMemory(target), *flags)
