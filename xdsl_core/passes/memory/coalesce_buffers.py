"""One memory for values that need not have two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.ir import Block, BufferType, Function, Module, Op, Trait, Value
from xdsl_core.ops import CORE
from xdsl_core.ops.buffer import Allocate, Compute, Copy, View
from xdsl_core.passes.memory.liveness import accesses_of, number_ops, root_of
from xdsl_core.passes.memory.plan_memory import fits
from xdsl_core.target import TargetDescription


@dataclass(frozen=True)
class CoalesceBuffers:
    """Lets instructions write where their result is copied to, and lane by lane over operands nobody needs
    any more.

        %t = buffer.allocate {type = buffer<64xf32, UB>}
        buffer.compute [%t], [%total, %x] {operation = "tile.add"}
        buffer.copy %total, %t
    ->
        buffer.compute [%total], [%total, %x] {operation = "tile.add"}

    A value that one engine brings and one that another takes away keep memories of their own as long as there
    is room: then the next load need not wait for the last store. The copy must be within one space and of all
    elements, what it overwrites must not be needed after the value is made, and the value not after it is
    overwritten.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "coalesce_buffers"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            while _forward_one(function):
                pass
            while _reuse_one(function, most_engines=2):
                pass
            while not fits(function, self.target) and _reuse_one(function, most_engines=_ANY_NUMBER):
                pass


_ANY_NUMBER = 1 << 30


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for region in op.regions:
            yield from _blocks(region.block)


def _forward_one(function: Function) -> bool:
    """Remove one copy from a temporary to where its value belongs."""
    for block in _blocks(function.block):
        for op in block.ops:
            if op.definition is Copy and not op.group("extents") and _can_forward(function, block, op):
                source = root_of(op.operand("source"))
                target = root_of(op.operand("destination"))
                assert source is not None
                assert target is not None
                _merge(source, target)
                op.erase()
                return True
    return False


def _can_forward(function: Function, block: Block, copy: Op) -> bool:
    source, target = (root_of(copy.operand(name)) for name in ("source", "destination"))
    if source is None or target is None or source is target or source.result.type != target.result.type:
        return False
    if copy.operand("source") is not source.result or copy.operand("destination") is not target.result:
        return False
    if source.block is not block:
        return False
    # every use of the temporary stands in this block up to the copy, and the target is free since the first
    # one
    spans = number_ops(function)
    end = spans[copy][0]
    uses = [user for user in accesses_of(source) if user is not copy]
    if not uses or any(spans[user][1] > end for user in uses):
        return False
    first = min(_in_block(user, block, spans) for user in uses)
    if target.block is block and spans[target][0] > first and not _can_move(target, block, first, spans):
        return False
    others = [user for user in accesses_of(target) if user is not copy]
    writer = next(user for user in uses if _in_block(user, block, spans) == first)
    for user in others:
        place = _in_block(user, block, spans)
        # inside a loop or branch that makes the value, its order with the other use is not known
        if first <= place < end and not (user is writer and _in_place_is_fine(user, target, source)):
            return False
    return True


def _can_move(target: Op, block: Block, first: int, spans: dict[Op, tuple[int, int]]) -> bool:
    """Put the allocation before the first use of the temporary: allocations have no operands."""
    place = next(index for index, op in enumerate(block.ops) if spans[op][0] <= first <= spans[op][1])
    block.ops.remove(target)
    block.insert(place, target)
    return True


def _in_block(user: Op, block: Block, spans: dict[Op, tuple[int, int]]) -> int:
    """The position of the op of this block that a use stands in; -1 where it stands elsewhere."""
    op: Op | None = user
    while op is not None and op.block is not block:
        op = op.parent_op
    return -1 if op is None else spans[op][0]


def _in_place_is_fine(op: Op, read: Op, written: Op) -> bool:
    """Whether an op may write over what it reads: lane by lane, and each lane at its own place."""
    if op.definition is not Compute:
        return False
    operation = CORE[op.attributes["operation"]]
    if Trait.ELEMENTWISE not in operation.traits:
        return False
    for value in op.group("sources"):
        if root_of(value) is read and not _is_whole(value, read):
            return False
    return all(_is_whole(value, written) for value in op.group("destinations") if root_of(value) is written)


def _is_whole(value: Value, allocation: Op) -> bool:
    """Whether a value sees all of an allocation in order."""
    if value is allocation.result:
        return True
    op = value.defining_op
    kind = allocation.result.type
    return (
        op is not None
        and op.definition is View
        and op.operands[0] is allocation.result
        and not op.group("origins")
        and op.attribute("offset") == 0
        and op.result.type.layout == "row_major"  # type: ignore[union-attr]
        and _size(op.attributes["shape"]) == _size(kind.shape)
    )


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _merge(source: Op, target: Op) -> None:
    """Use the memory of `target` for both."""
    if not target.result.name:
        target.result.name = source.result.name
    if target.block is source.block:
        block = target.block
        assert block is not None
        first, second = block.ops.index(source), block.ops.index(target)
        if second > first:
            block.ops.remove(target)
            block.insert(first, target)
    source.result.replace_uses_with(target.result)
    source.erase()


def _reuse_one(function: Function, *, most_engines: int) -> bool:
    """Let one lane by lane instruction write over an operand that nobody needs any more."""
    spans = number_ops(function)
    for block in _blocks(function.block):
        for op in block.ops:
            if op.definition is not Compute or len(op.group("destinations")) != 1:
                continue
            target = root_of(op.group("destinations")[0])
            if target is None or target.block is not block:
                continue
            if min(spans[user][0] for user in accesses_of(target)) < spans[op][0]:
                continue
            for value in op.group("sources"):
                source = _dies(value, op, block, spans)
                if (
                    source is not None
                    and source is not target
                    and source.result.type == target.result.type
                    and _in_place_is_fine(op, source, target)
                    and len(_engines(source) | _engines(target)) <= most_engines
                ):
                    _merge(target, source)
                    return True
    return False


def _engines(allocation: Op) -> set[tuple[str, str]]:
    """The engines that touch an allocation."""
    return {
        (user.attributes.get("core", ""), user.attributes.get("engine", ""))
        for user in accesses_of(allocation)
    }


def _dies(value: Value, op: Op, block: Block, spans: dict[Op, tuple[int, int]]) -> Op | None:
    """The allocation of a source that belongs to this block and is not used after the op."""
    if not isinstance(value.type, BufferType):
        return None
    source = root_of(value)
    if source is None or source.block is not block or source.definition is not Allocate:
        return None
    return source if max(spans[user][1] for user in accesses_of(source)) <= spans[op][0] else None
