"""What a case asks of a backend beyond the ops it uses, derived from claims and the target's description.

No case names a backend. A case says what it `requires`; where that is not met it is not supported, with the
reason, and nothing runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from xdsl_core import dtypes
from xdsl_core.target import Capabilities, MemorySpace, TargetDescription

Test = Callable[[Capabilities, TargetDescription], bool]


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something that a backend on a target may or may not have; `lacking` says that it has not."""

    name: str
    lacking: str
    is_met: Test


def own_memories(target: TargetDescription) -> tuple[MemorySpace, ...]:
    """The memories that tiles live in: those of cores and clusters, which is not where arguments are."""
    return tuple(
        space for space in target.memory_spaces if space.portable != "GLOBAL" and space.owner != "device"
    )


def _claims(*ops: str) -> Test:
    return lambda capabilities, _: all(capabilities.dtypes(op) for op in ops)


def _has_fp8(capabilities: Capabilities, _: TargetDescription) -> bool:
    narrow = {dtype.name for dtype in dtypes.ALL if dtype.is_float and dtype.bits == 8}
    return any(capabilities.dtypes(op) & narrow for op in capabilities.ops)


def _takes_any_extent(capabilities: Capabilities, _: TargetDescription) -> bool:
    return capabilities.supports("tile.add", ("f32",), ((3,),)) is None


_ALL = (
    Requirement(
        "own_memory",
        "the target describes no memory of its cores",
        lambda _, target: bool(own_memories(target)),
    ),
    Requirement("several_cores", "the target has one core", lambda _, target: target.cores > 1),
    Requirement("atomics", "no atomics are claimed", _claims("atomic.rmw", "atomic.cas")),
    Requirement("fp8", "no fp8 is claimed", _has_fp8),
    Requirement("any_extent", "tiles of any extent are not claimed", _takes_any_extent),
)
REQUIREMENTS: Mapping[str, Requirement] = MappingProxyType({rule.name: rule for rule in _ALL})


def unmet(names: Iterable[str], capabilities: Capabilities, target: TargetDescription) -> str:
    """Why a case with these requirements cannot be asked; empty if it can. KeyError for an unknown name."""
    rules = [REQUIREMENTS[name] for name in names]
    return next((rule.lacking for rule in rules if not rule.is_met(capabilities, target)), "")


def met(capabilities: Capabilities, target: TargetDescription) -> dict[str, bool]:
    """Which of all requirements are met, by name."""
    return {name: rule.is_met(capabilities, target) for name, rule in REQUIREMENTS.items()}
