"""Which memory accesses may touch the same bytes, and so must keep their order."""

from __future__ import annotations

from xdsl_core.analysis.access import Access, Irregular, access_of
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.ir import Block, Op, Trait, Value


class MemoryOrder:
    """Answers questions about pairs of accesses of one function.

    With `distinct` the pointer parameters are known not to overlap (the launcher checks it and asks for
    another variant of the kernel where they do).
    """

    def __init__(self, analysis: IndexAnalysis, *, distinct: bool) -> None:
        self.analysis = analysis
        self.distinct = distinct
        self._accesses: dict[Op, Access | Irregular] = {}
        self._writes: dict[Block, list[tuple[int, tuple[Op, ...]]]] = {}

    def access(self, op: Op) -> Access | Irregular:
        """How a load or store reaches memory (remembered)."""
        found = self._accesses.get(op)
        if found is None:
            found = self._accesses[op] = access_of(op, self.analysis)
        return found

    def may_overlap(self, first: Op, second: Op) -> bool:
        """False only if the two can never touch the same byte."""
        left, right = (parameter_of(op.operand("pointer")) for op in (first, second))
        if left is None or right is None or left is right:
            return True
        return not self.distinct

    def same_lanes(self, first: Op, second: Op) -> bool:
        """True if lane i of one touches what lane i of the other touches, and no other lane does."""
        left, right = self.access(first), self.access(second)
        if isinstance(left, Irregular) or isinstance(right, Irregular):
            return False
        shape = first.operand("pointer").type.shape
        same = left.base is right.base and left.offset == right.offset
        return same and shape == second.operand("pointer").type.shape and left.is_injective(shape)

    def hazard(self, first: Op, second: Op, *, at: bool = True) -> bool:
        """True if running the two lane by lane in one loop could differ from one after the other.

        `at` says that the first is evaluated at the loop's own lanes.
        """
        return self.may_overlap(first, second) and not (at and self.same_lanes(first, second))

    def written_between(self, load: Op, block: Block, position: int) -> bool:
        """True if something after `load`, before `position` of its block, may write what it reads."""
        start = block.ops.index(load)
        for index, writers in self._writers(block):
            if start < index < position and any(self.may_overlap(load, writer) for writer in writers):
                return True
        return False

    def _writers(self, block: Block) -> list[tuple[int, tuple[Op, ...]]]:
        found = self._writes.get(block)
        if found is None:
            found = self._writes[block] = []
            for index, op in enumerate(block.ops):
                writers = tuple(inner for inner in op.walk() if inner.has(Trait.WRITES_MEMORY))
                if writers:
                    found.append((index, writers))
        return found


def parameter_of(pointer: Value) -> Value | None:
    """The kernel parameter a pointer, or every lane of a pointer tile, is derived from; None if that is
    unknown.
    """
    while True:
        op = pointer.defining_op
        if op is None:
            region = pointer.owner.region if isinstance(pointer.owner, Block) else None
            is_parameter = region is not None and not isinstance(region.parent, Op)
            return pointer if is_parameter else None
        if not (op.has(Trait.POINTER_ARITHMETIC) or op.has(Trait.MOVEMENT)):
            return None
        pointer = op.operands[0]
