"""Which pointer parameters a kernel reads and writes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_core.ir.core import Block, Function, Module, Op, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import is_pointer


@dataclass(frozen=True, slots=True)
class Effects:
    """The names of the parameters that are read through, and of those that are written through."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()


def memory_effects(module: Module) -> Effects:
    """What the functions of a module do to the memory behind their parameters.

    Every pointer operand of an op that reads or writes memory is followed back to the parameters it can come
    from, through loops and branches. A function's attribute `written`, where an analysis has left one, is
    taken instead.
    """
    read: set[str] = set()
    for function in module.functions.values():
        read.update(_through(function, Trait.READS_MEMORY))
    return Effects(frozenset(read), written_parameters(module))


def written_parameters(module: Module) -> frozenset[str]:
    """The parameters through which a module's functions may write: their arrays must be writable."""
    found: set[str] = set()
    for function in module.functions.values():
        known = function.attributes.get("written")
        found.update(_through(function, Trait.WRITES_MEMORY) if known is None else known)
    return frozenset(found)


def _through(function: Function, trait: Trait) -> Iterator[str]:
    seen: set[int] = set()
    pending = [
        value for op in function.walk() if op.has(trait) for value in op.operands if is_pointer(value.type)
    ]
    while pending:
        value = pending.pop()
        if id(value) not in seen:
            seen.add(id(value))
            if value.owner is function.block:
                yield value.name
            pending.extend(_origins(value))


def _origins(value: Value) -> Iterator[Value]:
    """The pointers that `value` may be equal to or point beside."""
    op = value.defining_op
    if op is None:
        # An argument of a region's block: what enters the op, and what one iteration hands to the next.
        block = value.owner
        assert isinstance(block, Block)
        parent = block.region.parent if block.region is not None else None
        if not isinstance(parent, Op):
            return
        op = parent
    yield from (operand for operand in op.operands if is_pointer(operand.type))
    for region in op.regions:
        for inner in region.blocks:
            if inner.terminator is not None:
                yield from (operand for operand in inner.terminator.operands if is_pointer(operand.type))
