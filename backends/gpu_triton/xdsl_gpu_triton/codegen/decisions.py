"""Which values get a variable of their own, and which are written where they are used."""

from __future__ import annotations

from xdsl_core import ops
from xdsl_core.ir import Block, Function, Op, Region, Trait, Value

# Texts of these are as short as a variable, and what they cost is nothing.
_FREE = (ops.Constant, ops.Splat, ops.Broadcast, ops.ExpandDims)
_PASS_NAMES_ON = (ops.Splat, ops.Broadcast, ops.ExpandDims)
_EFFECTS = frozenset({Trait.WRITES_MEMORY, Trait.ATOMIC, Trait.EFFECT, Trait.CONTROL})


class Decisions:
    """What is known of a function's values before any text is written."""

    def __init__(self, body: Function | Region) -> None:
        self._inline: set[Op] = set()
        self._index: dict[Op, int] = {}
        listed = list(body.walk())
        for op in listed:
            _hand_name_on(op)
        for op in listed:
            if op.block is not None and op not in self._index:
                self._index.update((each, number) for number, each in enumerate(op.block.ops))
        for op in reversed(listed):
            if self._may_be_inline(op):
                self._inline.add(op)

    def is_inline(self, op: Op) -> bool:
        """Whether an op has no statement: its text stands where its value is used."""
        return op in self._inline

    def readers(self, value: Value) -> list[tuple[Op, int]]:
        """The statements that read a value, also within the text of others, with the operand's index."""
        found: list[tuple[Op, int]] = []
        for (_, index), user in value.uses.items():
            if user in self._inline:
                found += [(op, -1) for op, _ in self.readers(user.result)]
            else:
                found.append((user, index))
        return found

    def position(self, op: Op, block: Block) -> int:
        """The index in `block` of an op, or of the op there that holds it; -1 if it stands elsewhere."""
        while op.block is not block:
            parent = op.parent_op
            if parent is None:
                return -1
            op = parent
        return self._index[op]

    def may_share(self, old: Value, new: Value, block: Block) -> bool:
        """Whether `new`, made in `block`, can be stored to the variable of `old` as soon as it is known.

        It can if no statement in the block reads the old value afterwards; what goes on outside is not looked
        at.
        """
        maker = new.defining_op
        if maker is None or maker.block is not block or self.is_inline(maker):
            return False
        place = self._index[maker]
        for reader, index in self.readers(old):
            at = self.position(reader, block)
            if at > place or (at == place and not self._reads_first(new, maker, reader, index)):
                return False
        return True

    def _reads_first(self, new: Value, maker: Op, reader: Op, index: int) -> bool:
        """Whether a read within the statement that makes `new` comes before `new` is stored."""
        if not maker.has(Trait.CONTROL):
            return True
        if maker.definition is ops.If:
            # each branch stores at its end, or earlier where that is as good
            return True
        first = len(maker.operands) - len(maker.results)
        return reader is maker and index == first + new.index

    def _may_be_inline(self, op: Op) -> bool:
        if len(op.results) != 1 or op.regions or op.has(Trait.TERMINATOR):
            return False
        if op.definition in _FREE:
            return True
        if op.definition is ops.Arange and not op.result.name:
            return True
        if op.result.name or not (op.has(Trait.PURE) or op.definition is ops.Load):
            return False
        readers = self.readers(op.result)
        if len(readers) != 1 or readers[0][0].block is not op.block:
            return False
        return op.has(Trait.PURE) or not self._effects_between(op, readers[0][0])

    def _effects_between(self, op: Op, reader: Op) -> bool:
        assert op.block is not None
        between = op.block.ops[self._index[op] + 1 : self._index[reader]]
        return any(each.definition.traits & _EFFECTS for each in between)


def _hand_name_on(op: Op) -> None:
    """Gives the name of a repeated value to what is repeated: the repetition needs no variable."""
    if op.definition in _PASS_NAMES_ON and op.result.name:
        source = op.operands[0]
        if not source.name and source.defining_op is not None:
            source.name = op.result.name
