"""Computes before a loop what is the same in every iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Block, Module, Op, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import TileType
from xdsl_core.ops.control import For
from xdsl_core.passes.control_flow import is_loop
from xdsl_core.passes.definitions import is_a
from xdsl_core.passes.effects import may_do_more_than_read
from xdsl_core.passes.evaluation import Evaluator


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
    and nothing in it writes memory.
    """

    name: ClassVar[str] = "hoist_loop_invariants"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            _hoist_in(function.block, Evaluator())


def _hoist_in(block: Block, evaluator: Evaluator) -> None:
    """Inner loops first: what leaves them may leave the outer ones too."""
    for op in block.ops[:]:
        for region in op.regions:
            for inner in region.blocks:
                _hoist_in(inner, evaluator)
        if is_loop(op):
            _Hoister(op, evaluator).run()


class _Hoister:
    """Moves ops out of one loop. `inside` holds the values that the loop defines, less those moved."""

    def __init__(self, loop: Op, evaluator: Evaluator) -> None:
        self.loop = loop
        self.inside: set[Value] = set()
        self.cheap: set[Op] = set()
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
                    if self.is_invariant(op):
                        if self.is_recomputable(op):
                            self.cheap.add(op)
                        else:
                            self.move(op)

    def is_invariant(self, op: Op) -> bool:
        traits = op.definition.traits
        if op.regions or not self.may_move(op, traits):
            return False
        return all(value not in self.inside or value.owner in self.cheap for value in op.operands)

    def may_move(self, op: Op, traits: frozenset[Trait]) -> bool:
        if Trait.PURE in traits:
            return True
        reads_only = traits == {Trait.READS_MEMORY} and op.attributes.get("volatile") is not True
        return reads_only and self.loads_may_move

    def is_recomputable(self, op: Op) -> bool:
        """Whether keeping the result through the loop costs more than computing it there again."""
        traits = op.definition.traits
        if not any(isinstance(value.type, TileType) for value in op.results):
            return Trait.CONSTANT in traits
        if Trait.CONSTANT in traits:
            return True
        sources_are_cheap = all(
            value.owner in self.cheap or not isinstance(value.type, TileType) for value in op.operands
        )
        if not sources_are_cheap:
            return False
        return Trait.MOVEMENT in traits or (Trait.ELEMENTWISE in traits and not _is_float(op.results[0]))

    def move(self, op: Op) -> None:
        for value in op.operands:
            owner = value.owner
            if isinstance(owner, Op) and owner in self.cheap:
                self.cheap.discard(owner)
                self.move(owner)
        assert op.block is not None
        assert self.loop.block is not None
        op.block.ops.remove(op)
        self.loop.block.insert(self.loop.block.ops.index(self.loop), op)
        self.inside.difference_update(op.results)


def _is_float(value: Value) -> bool:
    element = value.type.element  # type: ignore[union-attr]
    return isinstance(element, DType) and element.is_float


def _certainly_runs(loop: Op, evaluator: Evaluator) -> bool:
    """Whether the first iteration is known to happen, so that a load in it happens too."""
    if not is_a(loop, For):
        return False
    lower = evaluator.number(loop.operand("lower"))
    upper = evaluator.number(loop.operand("upper"))
    return lower is not None and upper is not None and lower < upper
