"""Computes when compiling what needs no run time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.ir.core import Module, Op
from xdsl_core.ir.rewriter import Rewriter, apply_patterns
from xdsl_core.ir.traits import Trait
from xdsl_core.ops.creation import Constant
from xdsl_core.passes.evaluation import Evaluator


@dataclass(frozen=True)
class FoldConstants:
    """Replaces pure ops of constants by a constant, where one number fills the result.

        %two = tile.constant {value = 2, type = i32} : i32
        %six = tile.mul %two, %three : i32
        %lanes = tile.arange {start = 0, end = 8} : tile<8xi32>
        %below = tile.lt %lanes, %eights : tile<8xi1>                    (true in every lane)
    ->
        %six = tile.constant {value = 6, type = i32} : i32
        %below = tile.constant {value = true, type = tile<8xi1>} : tile<8xi1>

    The ops' own references compute the numbers, so any pure op folds. A tile of more than `largest` lanes is
    computed only if one number fills it.
    """

    largest: int = 4096
    name: ClassVar[str] = "fold_constants"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            apply_patterns(function, [erase_unused, folding(Evaluator(largest=self.largest))])


def erase_unused(op: Op, rewriter: Rewriter) -> bool:
    """A pure op whose results nobody uses is removed."""
    if any(value.uses for value in op.results) or Trait.PURE not in op.definition.traits:
        return False
    rewriter.erase(op)
    return True


def folding(evaluator: Evaluator) -> Callable[[Op, Rewriter], bool]:
    """The pattern that replaces results which are known by constants."""

    def fold(op: Op, rewriter: Rewriter) -> bool:
        if not op.operands or any(evaluator.array(value) is None for value in op.operands):
            return False
        results = op.results
        if not any(value.uses for value in results) or Trait.CONSTANT in op.definition.traits:
            return False
        if results[0] in evaluator.known or not evaluator.evaluate(op):
            return False
        changed = False
        for value in results:
            number = evaluator.number(value)
            if number is not None and value.uses:
                constant = rewriter.before(op).value(Constant, value=number, type=value.type)
                rewriter.replace_uses(value, constant)
                changed = True
        if changed and not any(value.uses for value in results):
            rewriter.erase(op)
        return changed

    return fold
