"""Changes that keep all links right, and the driver that applies patterns until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.ir.builder import Builder
from xdsl_core.ir.core import Block, Function, Op, Value

_REWRITES_PER_OP = 32
_REWRITES_AT_LEAST = 1000


class Rewriter:
    """Inserts, replaces and erases ops; patterns change the IR through it, so that the driver sees it."""

    def __init__(self) -> None:
        self.pending: dict[int, Op] = {}

    def revisit(self, *ops: Op) -> None:
        """Have the driver try the patterns on these ops again."""
        for op in ops:
            self.pending[id(op)] = op

    def before(self, op: Op) -> Builder:
        """A builder that inserts before `op`, at its location. New ops are tried as well."""
        return _WatchedBuilder(self, op)

    def insert_before(self, op: Op, new: Op) -> Op:
        """Insert an op without a place before `op`."""
        assert op.block is not None
        op.block.insert(op.block.ops.index(op), new)
        self.revisit(*new.walk())
        return new

    def insert_after(self, op: Op, new: Op) -> Op:
        """Insert an op without a place after `op`."""
        assert op.block is not None
        op.block.insert(op.block.ops.index(op) + 1, new)
        self.revisit(*new.walk())
        return new

    def move_before(self, op: Op, target: Op) -> None:
        """Move an op before another one."""
        assert op.block is not None
        assert target.block is not None
        op.block.ops.remove(op)
        target.block.insert(target.block.ops.index(target), op)
        self.revisit(op)

    def set_operand(self, op: Op, index: int, value: Value) -> None:
        """Replace one operand; the op and the definition of the old value are tried again."""
        old = op.operands[index]
        op.set_operand(index, value)
        self.revisit(op)
        self._may_be_dead(old)

    def set_group(self, op: Op, slot: str, values: Sequence[Value]) -> None:
        """Replace the values of an operand slot."""
        old = op.group(slot)
        op.set_group(slot, values)
        self.revisit(op)
        for value in old:
            self._may_be_dead(value)

    def replace_uses(self, old: Value, new: Value) -> None:
        """Make all users of `old` use `new`; they are tried again."""
        self.revisit(*old.users)
        old.replace_uses_with(new)

    def replace_op(self, op: Op, new: Op | Value | Sequence[Value]) -> None:
        """Give the users of an op's results other values, or the results of another op, and erase the op.

        ValueError if the number of values differs or a type does.
        """
        values = new.results if isinstance(new, Op) else (new,) if isinstance(new, Value) else tuple(new)
        if len(values) != len(op.results):
            raise ValueError(f"{op.name} has {len(op.results)} results, {len(values)} values replace them")
        for old, value in zip(op.results, values, strict=True):
            if old.type is not value.type and old.type != value.type:
                raise ValueError(f"{op.name}: a value of type {value.type} cannot replace one of {old.type}")
            self.replace_uses(old, value)
        self.erase(op)

    def erase(self, op: Op) -> None:
        """Remove an op whose results are unused, and what is in its regions."""
        operands = op.operands
        for inner in op.walk():
            self.pending.pop(id(inner), None)
            if inner is not op:
                for value in inner.operands:
                    self._may_be_dead(value)
        op.erase()
        for value in operands:
            self._may_be_dead(value)

    def inline_block(self, block: Block, before: Op, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """Move the ops of a block, without its terminator, before an op; returns the terminator's operands.

        `arguments` take the place of the block's arguments. The terminator stays behind in the block.
        """
        assert before.block is not None
        terminator = block.terminator
        for old, new in zip(block.arguments, arguments, strict=True):
            self.replace_uses(old, new)
        position = before.block.ops.index(before)
        moved = [op for op in block.ops if op is not terminator]
        for op in moved:
            op.block = before.block
        before.block.ops[position:position] = moved
        block.ops[:] = [terminator] if terminator is not None else []
        self.revisit(*moved)
        if terminator is None:
            return ()
        return terminator.operands

    def _may_be_dead(self, value: Value) -> None:
        origin = value.defining_op
        if origin is not None and origin.block is not None:
            self.pending[id(origin)] = origin


Pattern: TypeAlias = Callable[[Op, Rewriter], bool]
Patterns: TypeAlias = Sequence[Pattern] | Mapping[str, Sequence[Pattern]]


class _WatchedBuilder(Builder):
    def __init__(self, rewriter: Rewriter, op: Op) -> None:
        assert op.block is not None
        super().__init__(op.block, before=op, location=op.location)
        self.rewriter = rewriter

    def insert(self, op: Op) -> Op:
        self.rewriter.revisit(op)
        return super().insert(op)


def apply_patterns(function: Function, patterns: Patterns, *, limit: int | None = None) -> int:
    """Apply rewrite patterns to every op until none changes anything; returns the number of rewrites.

    A pattern gets an op and a Rewriter and says whether it changed something. Patterns are tried in order;
    a mapping lists them by op name, and those for any op under "". Ops that may have become rewritable are
    tried again. Raises CompilationError X0341 after `limit` rewrites (default: a multiple of the number of
    ops).
    """
    rewriter = Rewriter()
    ops = list(function.walk())
    if limit is None:
        limit = max(_REWRITES_AT_LEAST, _REWRITES_PER_OP * len(ops))
    find = _lookup(patterns)
    rewrites = 0
    rewriter.revisit(*ops)
    while rewriter.pending:
        batch, rewriter.pending = rewriter.pending, {}
        # ops rewritten in this round are revisited in the next; erased ones must not be tried at all
        for op in batch.values():
            if not _is_alive(op, function):
                continue
            for pattern in find(op):
                if not pattern(op, rewriter):
                    continue
                rewrites += 1
                if rewrites > limit:
                    raise _endless(function, op, pattern, limit)
                if not _is_alive(op, function):
                    break
                rewriter.revisit(op)
    return rewrites


def _lookup(patterns: Patterns) -> Callable[[Op], Iterable[Pattern]]:
    if not isinstance(patterns, Mapping):
        return lambda op: patterns
    everywhere = tuple(patterns.get("", ()))
    by_name = {name: (*special, *everywhere) for name, special in patterns.items()}
    return lambda op: by_name.get(op.definition.name, everywhere)


def _is_alive(op: Op, function: Function) -> bool:
    """Whether an op still stands in the function: neither it nor an op around it was erased."""
    block = op.block
    while block is not None and block.region is not None:
        parent = block.region.parent
        if parent is function:
            return True
        if not isinstance(parent, Op):
            return False
        block = parent.block
    return False


def _endless(function: Function, op: Op, pattern: Pattern, limit: int) -> CompilationError:
    name = getattr(pattern, "__name__", repr(pattern))
    return CompilationError(
        error(
            "X0341",
            f"function {function.name}: {limit} rewrites did not settle; the last was {name} on {op.name}",
            location=op.location,
            note="two patterns undo each other, or one applies to its own result",
        )
    )
