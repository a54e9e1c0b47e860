"""Which buffers are alive when: the ops that touch each allocation, as positions in program order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_core.ir import Block, BufferType, Function, Op, Trait, Value
from xdsl_core.ops import If
from xdsl_core.ops.buffer import Allocate, Select, View
from xdsl_core.passes.memory.layouts import bytes_of_buffer

_LOOKS = (Select, View)


@dataclass(frozen=True, slots=True)
class Lifetime:
    """An allocation, and the first and last position at which what it holds matters."""

    op: Op
    first: int
    last: int

    @property
    def type(self) -> BufferType:
        kind = self.op.result.type
        assert isinstance(kind, BufferType)
        return kind

    @property
    def part_bytes(self) -> int:
        """Bytes of one part."""
        kind = self.type
        return bytes_of_buffer(kind.shape, kind.element, kind.layout)

    def meets(self, other: Lifetime) -> bool:
        """Whether both are alive at some position."""
        return self.first <= other.last and other.first <= self.last


def root_of(value: Value) -> Op | None:
    """The allocation behind a buffer; None for a window of global memory."""
    op = value.defining_op
    while op is not None and op.definition in _LOOKS:
        op = op.operands[0].defining_op
    return op if op is not None and op.definition is Allocate else None


def accesses_of(allocation: Op) -> Iterator[Op]:
    """The ops that read or write an allocation, through views or not."""
    pending = [allocation.result]
    while pending:
        for user in pending.pop().users:
            if user.definition in _LOOKS:
                pending.append(user.result)
            else:
                yield user


def number_ops(function: Function) -> dict[Op, tuple[int, int]]:
    """First and last position of every op with what is in its regions."""
    spans: dict[Op, tuple[int, int]] = {}
    _number(function.block, spans, 0)
    return spans


def _number(block: Block, spans: dict[Op, tuple[int, int]], position: int) -> int:
    for op in block.ops:
        start = position
        position += 1
        for region in op.regions:
            position = _number(region.block, spans, position)
        spans[op] = start, position - 1
    return position


def lifetimes(function: Function) -> list[Lifetime]:
    """The lifetimes of all allocations that are touched, in program order."""
    spans = number_ops(function)
    found = []
    for op in function.walk():
        if op.definition is Allocate:
            ranges = [_range(op, user, spans) for user in accesses_of(op)]
            if ranges:
                first, last = min(r[0] for r in ranges), max(r[1] for r in ranges)
                found.append(Lifetime(op, first, last))
    return found


def _range(allocation: Op, user: Op, spans: dict[Op, tuple[int, int]]) -> tuple[int, int]:
    """Where a use counts: its own place, or all of the outermost loop around it that the allocation is
    outside of.
    """
    span, op = spans[user], user
    while op.block is not allocation.block:
        parent = op.parent_op
        if parent is None:
            return span
        op = parent
        if op.has(Trait.CONTROL) and op.definition is not If:
            span = spans[op]
    return span
