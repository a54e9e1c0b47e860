"""What the definitions of the dialect `buffer` have in common."""

from __future__ import annotations

from typing import Any

from xdsl_core.ir.traits import Trait
from xdsl_core.opdef import attribute
from xdsl_core.ops._shared import ONE_OF_EACH

WRITES = (Trait.WRITES_MEMORY,)
COPIES = (Trait.READS_MEMORY, Trait.WRITES_MEMORY)


def engine_name() -> Any:
    """The attribute that names an engine."""
    return attribute(str, doc="the engine whose queue it goes to", default="")


def core_name() -> Any:
    """The attribute that names a kind of core."""
    return attribute(str, doc="the kind of core, empty where all are alike", default="")


def each(*names: str, shape: str = "4x8x", space: str = "UB") -> tuple[dict[str, str], ...]:
    """Buffers of one type in the named operands, one mapping for each family of elements."""
    return tuple(
        dict.fromkeys(names, f"buffer<{shape}{element}, {space}, row_major>") for element in ONE_OF_EACH
    )
