"""What a backend compiles for: target names, machine descriptions, capabilities, legality."""

from xdsl_core.target.capabilities import LIMITS, Capabilities, Claim, Denial, Refusal, claim_all
from xdsl_core.target.description import (
    PORTABLE_SPACES,
    ComputeUnit,
    CoreKind,
    DataPath,
    Fractal,
    InstructionCost,
    MemorySpace,
    Target,
    TargetDescription,
    problems,
)
from xdsl_core.target.toml import load_target, parse_target

__all__ = [
    "LIMITS",
    "PORTABLE_SPACES",
    "Capabilities",
    "Claim",
    "ComputeUnit",
    "CoreKind",
    "DataPath",
    "Denial",
    "Fractal",
    "InstructionCost",
    "MemorySpace",
    "Refusal",
    "Target",
    "TargetDescription",
    "claim_all",
    "load_target",
    "parse_target",
    "problems",
]
