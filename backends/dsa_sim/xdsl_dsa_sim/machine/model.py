"""What the simulator knows about a target beyond its description: the `vendor` tables, typed.

A table or key that a target leaves out has the default here, which means that the effect is not modelled.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import TargetDescription


@dataclass(frozen=True, slots=True)
class MemoryModel:
    """Global memory and the L2 in front of it.

    `segment` is what a request of global memory moves at least, in bytes, unless its start and length are
    multiples of `request`; `line` and `l2_capacity` (0: no L2) are those of the L2, in bytes. Bandwidths are
    in bytes a second: `dram_mixed` of DRAM when reads and writes meet (0: as `dram_bandwidth` of the target),
    `l2_bandwidth` by kind of core (its cores together). `miss_latency` is in cycles, on top of the path's.
    `shared_weight` by kind of core is how much more L2 bandwidth a line costs that several cores want at
    once.
    """

    segment: int = 1
    request: int = 1
    line: int = 512
    l2_capacity: int = 0
    dram_mixed: float = 0.0
    miss_latency: float = 0.0
    l2_bandwidth: Mapping[str, float] = field(default_factory=dict, hash=False)
    shared_weight: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class MatrixModel:
    """The matrix unit: `head_isolated` cycles before the first product if the queue had run empty."""

    head_isolated: float = 0.0


@dataclass(frozen=True, slots=True)
class VectorModel:
    """The vector unit's memory and masks.

    A block of `block` bytes lies in one of `bank_groups` groups (1: conflicts are not modelled), a bank is
    `bank_bytes` long. `read_read` are the cycles more that a step takes for each block two sources want in
    the same group, relative to a full conflict; `read_write` where the result written meets a source read in
    one bank; `repeated_block` where a source stays on one block. `mask_cycles` are paid once by an
    instruction whose last step is partial.
    """

    block: int = 32
    bank_groups: int = 1
    bank_bytes: int = 65536
    read_read: float = 1.0
    read_write: float = 0.0
    repeated_block: float = 0.0
    mask_cycles: float = 0.0


@dataclass(frozen=True, slots=True)
class ScalarModel:
    """Cycles of the scalar unit: an operation, a branch or turn of a loop, putting an instruction on a queue,
    a load or store of local and of global memory.
    """

    operation: float = 1.0
    branch: float = 1.0
    issue: float = 1.0
    local_memory: float = 1.0
    global_memory: float = 1.0


@dataclass(frozen=True, slots=True)
class SyncModel:
    """Cycles of a flag on its queue, and until a flag is seen on another core."""

    flag: float = 1.0
    cross_latency: float = 0.0


@dataclass(frozen=True, slots=True)
class LaunchModel:
    """Seconds that each core taking part adds to the launch, beside the target's `launch_overhead`."""

    per_core: float = 0.0


@dataclass(frozen=True, slots=True)
class MachineModel:
    """All timing parameters of a target."""

    memory: MemoryModel = MemoryModel()
    matrix: MatrixModel = MatrixModel()
    vector: VectorModel = VectorModel()
    scalar: ScalarModel = ScalarModel()
    sync: SyncModel = SyncModel()
    launch: LaunchModel = LaunchModel()


# What sizes are divided by.
_POSITIVE = frozenset({"segment", "request", "line", "block", "bank_groups", "bank_bytes"})


def machine_model(description: TargetDescription) -> MachineModel:
    """The model in a description's `vendor` tables; BackendError X0903 names tables and keys it does not
    know.
    """
    found: list[str] = []
    parts = {}
    kinds = {item.name: type(item.default) for item in fields(MachineModel)}
    for name, table in description.vendor.items():
        if name not in kinds:
            found.append(f"vendor.{name}: {_unknown(name, kinds)}")
        else:
            parts[name] = _record(kinds[name], table, f"vendor.{name}", found)
    if found:
        raise BackendError(
            [
                error("X0903", f"target {description.target}: {line}", help="correct the target file")
                for line in found
            ]
        )
    return MachineModel(**parts)


def _record(kind: type[Any], table: Any, path: str, found: list[str]) -> Any:
    known = {item.name: item for item in fields(kind)}
    if not isinstance(table, Mapping):
        found.append(f"{path} is {table!r}, it must be a table")
        return kind()
    values = {}
    for key, value in table.items():
        expected = known.get(key)
        if expected is None:
            found.append(f"{path}.{key}: {_unknown(key, known)}")
        elif _is_table(expected.type) != isinstance(value, Mapping) or isinstance(value, str):
            wanted = "a table" if _is_table(expected.type) else "a number"
            found.append(f"{path}.{key} is {value!r}, it must be {wanted}")
        elif not isinstance(value, Mapping) and value < 0:
            found.append(f"{path}.{key} is {value}, it must not be negative")
        elif key in _POSITIVE and value <= 0:
            found.append(f"{path}.{key} is {value}, it must be above 0")
        else:
            values[key] = value
    return kind(**values)


def _is_table(annotation: Any) -> bool:
    return "Mapping" in str(annotation)


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"no such name; did you mean {near[0]}?" if near else f"no such name, known: {', '.join(known)}"
