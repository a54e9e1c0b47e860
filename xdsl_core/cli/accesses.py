"""What the access analysis found for each load and store of a module, in words."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_core.analysis.access import Access, Bounds, Irregular, access_of
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.analysis.polynomial import Opaque
from xdsl_core.ir import Module, Op, TileType, Trait, Value
from xdsl_core.ir.printer import print_op
from xdsl_core.ops import Rem

MEMORY = frozenset({Trait.READS_MEMORY, Trait.WRITES_MEMORY})


@dataclass(frozen=True, slots=True)
class Finding:
    """One access to memory: `structured` says whether it is base + strides + bounds, `details` says how or
    why not.
    """

    op: Op
    structured: bool
    details: tuple[str, ...]

    @property
    def source(self) -> str:
        """The kernel's line; the op as the IR prints it where there is no source."""
        location = self.op.location
        line = linecache.getline(location.file, location.line).strip()
        return line or print_op(self.op).strip().splitlines()[0]


def explain_accesses(module: Module) -> Iterator[Finding]:
    """A finding for each op that reads or writes memory through its operand `pointer`, in program order."""
    for function in module.functions.values():
        analysis = IndexAnalysis()
        for op in function.walk():
            names = {schema.name for schema in op.definition.operand_schema}
            if op.definition.traits & MEMORY and "pointer" in names:
                yield _finding(op, analysis)


def _finding(op: Op, analysis: IndexAnalysis) -> Finding:
    type = op.operand("pointer").type
    if not isinstance(type, TileType):
        return Finding(op, True, ("one element",))
    found = access_of(op, analysis)
    if isinstance(found, Irregular):
        return Finding(op, False, (found.reason,))
    strides = [_stride(found, dim, type) for dim in range(len(type.shape))]
    regular = all(structured for structured, _ in strides) and found.bounds is not None
    place = f"base {_base(found.base)}, offset {found.offset}"
    mask = _mask(found.bounds) if found.bounds is not None else [f"mask: {found.reason}"]
    return Finding(op, regular, (place, *(text for _, text in strides), *mask))


def _stride(access: Access, dim: int, type: TileType) -> tuple[bool, str]:
    stride = access.stride(dim)
    what = f"dimension {dim} of {type.shape[dim]}"
    if stride is None:
        opaque = [
            symbol for symbol in access.offset.symbols() if isinstance(symbol, Opaque) and dim in symbol.dims
        ]
        names = ", ".join(dict.fromkeys(map(_culprit, opaque)))
        return False, f"{what}: the offset is not linear in it, because of {names or 'a product of lanes'}"
    return True, f"{what}: " + ("contiguous" if stride.constant == 1 else f"stride {stride}")


def _culprit(symbol: Opaque) -> str:
    """A tile that is no sum of lanes and scalars, and what it is."""
    op = symbol.value.defining_op
    name = symbol.value.name or "a value without a name"
    if op is None:
        return f"{name} (carried by a loop)"
    if op.definition is Rem:
        return f"{name} (a remainder, which may wrap around)"
    if Trait.READS_MEMORY in op.definition.traits:
        return f"{name} (read from memory)"
    return f"{name} (made by {op.name})"


def _base(value: Value) -> str:
    """The name of a scalar pointer, or of the one it is an offset from."""
    while not value.name and value.defining_op is not None and value.defining_op.operands:
        value = value.defining_op.operands[0]
        if value.name:
            return f"{value.name} moved by a scalar"
    return value.name or "pointer"


def _mask(bounds: Bounds) -> list[str]:
    if bounds.never:
        return ["mask: no lane is active"]
    limits = [f"lane{dim} < {limit}" for dim, found in bounds.upper.items() for limit in found]
    limits += [f"{limit} < 0" for limit in bounds.negative]
    limits += [value.name or "a condition" for value in bounds.conditions]
    return [f"mask: {' and '.join(limits)}"] if limits else []
