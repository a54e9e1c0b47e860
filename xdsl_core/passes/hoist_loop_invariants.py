"""Computes before a loop what is the same in every iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Block, Function, Module, Op, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import TileType
from xdsl_core.ops.control import For
from xdsl_core.passes.control_flow import is_loop
from xdsl_core.passes.definitions import is_a
from xdsl_core.passes.effects import may_do_more_than_read
from xdsl_core.passes.evaluation import Evaluator

_INDEX_TRAITS = frozenset({Trait.CONSTANT, Trait.MOVEMENT, Trait.ELEMENTWISE})


@dataclass(frozen=True)
class HoistLoopInvariants:
    """Moves ops out of a loop whose operands do not change in it.

        %r = control.for %lo, %hi, %step, inits = [%z] : tile<64xf32> body (%i: i32, %acc: tile<64xf32>) {
          %row = tile.mul %pid, %stride : i32
          %scale = tile.exp %x : tile<64xf32>
          ...
    ->
        %row = tile.mul %pid, %stride : i32
        %scale = tile.exp %x : tile<64xf32>
        %r = control.for ...

    Pure ops move: they cannot trap, so running them before a loop of no iteration does no harm. A tile that
    is only address or mask arithmetic on scalars and ranges stays: every backend recomputes it in
    registers, or turns it into strides and bounds, while a hoisted tile would have to be kept through the
    loop. It moves along if something else that moves needs it. Loads move only if the loop certainly runs
    and nothing in it writes memory or has effects.
    """

    name: ClassVar[str] = "hoist_loop_invariants"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            _hoist_in(function.block, Evaluator(), index_arithmetic(function))


def index_arithmetic(function: Function) -> set[Value]:
    """The scalars, and the tiles made of scalars and constants by moving elements and by work on integers."""
    found: set[Value] = set(function.parameters)
    for op in function.walk():
        for region in op.regions:
            for block in region.blocks:
                found.update(value for value in block.arguments if not isinstance(value.type, TileType))
        traits = op.definition.traits
        simple = not traits.isdisjoint(_INDEX_TRAITS) and found.issuperset(op.operands)
        for value in op.results:
            if not isinstance(value.type, TileType) or (simple and not _is_float(value.type)):
                found.add(value)
    return found


def _is_float(type: TileType) -> bool:
    return isinstance(type.element, DType) and type.element.is_float


def _lanes(values: Sequence[Value]) -> int:
    return sum(value.type.size if isinstance(value.type, TileType) else 1 for value in values)


def _hoist_in(block: Block, evaluator: Evaluator, index: set[Value]) -> None:
    """Inner loops first: what leaves them may leave the outer ones too."""
    for op in block.ops[:]:
        for region in op.regions:
            for inner in region.blocks:
                _hoist_in(inner, evaluator, index)
        if is_loop(op):
            _Hoister(op, evaluator, index).run()


class _Hoister:
    """Moves ops out of one loop.

    `inside` holds the values that the loop defines, less those moved; `staying` the invariant ops that move
    only if they are needed, in program order; `index` the values that are index arithmetic.
    """

    def __init__(self, loop: Op, evaluator: Evaluator, index: set[Value]) -> None:
        self.loop = loop
        self.index = index
        self.inside: set[Value] = set()
        self.staying: dict[Op, None] = {}
        for region in loop.regions:
            for block in region.blocks:
                self.inside.update(block.arguments)
                for op in block.ops:
                    self.inside.update(op.results)
        self.loads_may_move = _certainly_runs(loop, evaluator) and not may_do_more_than_read(loop)

    def run(self) -> None:
        for region in self.loop.regions:
            for block in region.blocks:
                for op in block.ops[:]:
                    if not self.is_invariant(op):
                        continue
                    if self.stays(op):
                        self.staying[op] = None
                    else:
                        self.move(op)

    def is_invariant(self, op: Op) -> bool:
        if op.regions or not self.may_move(op):
            return False
        return all(value not in self.inside or value.owner in self.staying for value in op.operands)

    def may_move(self, op: Op) -> bool:
        traits = op.definition.traits
        if Trait.PURE in traits:
            return True
        reads_only = traits == {Trait.READS_MEMORY} and op.attributes.get("volatile") is not True
        return reads_only and self.loads_may_move

    def stays(self, op: Op) -> bool:
        """Whether keeping the results through the loop costs more than computing them there again."""
        traits = op.definition.traits
        if Trait.CONSTANT in traits:
            return True
        if not any(isinstance(value.type, TileType) for value in op.results):
            return False
        if Trait.MOVEMENT in traits and _lanes(op.results) > _lanes(op.operands):
            return True  # repeats elements, computes nothing
        return self.index.issuperset(op.results)

    def move(self, op: Op) -> None:
        """Move an op before the loop, after the staying ones that it needs."""
        needed = {op}
        pending = [op]
        while pending:
            for value in pending.pop().operands:
                owner = value.owner
                if isinstance(owner, Op) and owner in self.staying and owner not in needed:
                    needed.add(owner)
                    pending.append(owner)
        before = self.loop.block
        assert before is not None
        for mover in [*(other for other in self.staying if other in needed), op]:
            assert mover.block is not None
            mover.block.ops.remove(mover)
            before.insert(before.ops.index(self.loop), mover)
            self.inside.difference_update(mover.results)
            self.staying.pop(mover, None)


def _certainly_runs(loop: Op, evaluator: Evaluator) -> bool:
    """Whether the first iteration is known to happen, so that a load in it happens too."""
    if not is_a(loop, For):
        return False
    lower = evaluator.number(loop.operand("lower"))
    upper = evaluator.number(loop.operand("upper"))
    return lower is not None and upper is not None and lower < upper
