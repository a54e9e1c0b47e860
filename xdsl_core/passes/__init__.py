"""Steps from IR to IR, one a file, and what runs them in order."""

from xdsl_core.passes.canonical_pipeline import canonical_pipeline
from xdsl_core.passes.canonicalize import Canonicalize
from xdsl_core.passes.eliminate_common_subexpressions import EliminateCommonSubexpressions
from xdsl_core.passes.eliminate_dead_code import EliminateDeadCode
from xdsl_core.passes.fold_constants import FoldConstants
from xdsl_core.passes.hoist_loop_invariants import HoistLoopInvariants
from xdsl_core.passes.pass_manager import (
    Observer,
    PassEvent,
    PassTiming,
    PipelineRun,
    run_pipeline,
)
from xdsl_core.passes.pipeline import Pass, Pipeline, describe_pass

__all__ = [
    "Canonicalize",
    "EliminateCommonSubexpressions",
    "EliminateDeadCode",
    "FoldConstants",
    "HoistLoopInvariants",
    "Observer",
    "Pass",
    "PassEvent",
    "PassTiming",
    "Pipeline",
    "PipelineRun",
    "canonical_pipeline",
    "describe_pass",
    "run_pipeline",
]
