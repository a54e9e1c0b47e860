"""Values with undefined lanes: how they spread from operands to results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_core.diagnostics import Location
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.opdef import OpDef


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A value of which some lanes are undefined: `lanes` says which, `origin` where the first of them was
    loaded.
    """

    data: Any
    lanes: Any
    origin: Location


def data_of(value: Any) -> Any:
    """The numbers of a value, undefined or not; None and tuples pass through."""
    if isinstance(value, tuple):
        return tuple(data_of(item) for item in value)
    return value.data if isinstance(value, Poisoned) else value


def lanes_of(value: Any) -> Any:
    """The undefined lanes of a value as a boolean array of its shape; a tuple of them for a tuple."""
    if isinstance(value, tuple):
        return tuple(lanes_of(item) for item in value)
    if value is None:
        return None
    return value.lanes if isinstance(value, Poisoned) else np.zeros(np.shape(value), bool)


def spread(
    definition: OpDef, op: Op, operands: Mapping[str, Any], outcome: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The outcome of a pure op with the lanes marked that depend on undefined lanes of its operands."""
    flat = [
        item
        for value in operands.values()
        for item in (value if isinstance(value, tuple) else (value,))
        if item is not None
    ]
    origin = next(value.origin for value in flat if isinstance(value, Poisoned))
    lanes = _result_lanes(definition, op, operands, flat, outcome)
    marked = []
    for value, found in zip(outcome, lanes, strict=True):
        undefined = np.broadcast_to(found, np.shape(value))
        marked.append(Poisoned(value, undefined, origin) if undefined.any() else value)
    return tuple(marked)


def _result_lanes(
    definition: OpDef, op: Op, operands: Mapping[str, Any], flat: Sequence[Any], outcome: tuple[Any, ...]
) -> tuple[Any, ...]:
    if definition.undefined is not None:
        found = definition.call_undefined(
            op,
            {name: data_of(value) for name, value in operands.items()},
            {n: lanes_of(v) for n, v in operands.items()},
        )
        return found if isinstance(found, tuple) else (found,) * len(outcome)
    lanes = [lanes_of(value) for value in flat]
    if Trait.ELEMENTWISE in definition.traits:
        shared = lanes[0]
        for more in lanes[1:]:
            shared = shared | more
    elif Trait.MOVEMENT in definition.traits:
        (shared,) = definition.call_meaning(None, op, [[lane] for lane in lanes])
    elif Trait.REDUCTION in definition.traits:
        shared = np.logical_or.reduce(lanes).any(axis=op.attribute("axis"))
    else:
        shared = np.bool_(any(lane.any() for lane in lanes))
    return (shared,) * len(outcome)
