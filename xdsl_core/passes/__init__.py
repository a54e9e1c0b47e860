"""Steps from IR to IR, one a file, and what runs them in order."""

from xdsl_core.passes.pass_manager import (
    Observer,
    PassEvent,
    PassTiming,
    PipelineRun,
    run_pipeline,
)
from xdsl_core.passes.pipeline import Pass, Pipeline, describe_pass

__all__ = [
    "Observer",
    "Pass",
    "PassEvent",
    "PassTiming",
    "Pipeline",
    "PipelineRun",
    "describe_pass",
    "run_pipeline",
]
