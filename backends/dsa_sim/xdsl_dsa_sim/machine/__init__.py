"""The timing parameters of a target, and where targets come from."""

from xdsl_dsa_sim.machine.model import (
    LaunchModel,
    MachineModel,
    MemoryModel,
    ScalarModel,
    SyncModel,
    VectorModel,
    machine_model,
)
from xdsl_dsa_sim.machine.targets import builtin_targets, find_target, load_targets

__all__ = [
    "LaunchModel",
    "MachineModel",
    "MemoryModel",
    "ScalarModel",
    "SyncModel",
    "VectorModel",
    "builtin_targets",
    "find_target",
    "load_targets",
    "machine_model",
]
