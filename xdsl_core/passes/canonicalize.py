"""Brings ops into one simplest form, so that later passes and backends see fewer cases."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.ir.core import Function, Module, Op
from xdsl_core.ir.rewriter import Pattern, Rewriter, apply_patterns
from xdsl_core.ir.traits import Trait
from xdsl_core.passes.branches import branch_patterns
from xdsl_core.passes.conversions import conversion_patterns
from xdsl_core.passes.evaluation import Evaluator
from xdsl_core.passes.fold_constants import erase_unused, folding
from xdsl_core.passes.identities import identity_patterns
from xdsl_core.passes.shapes import shape_patterns


@dataclass(frozen=True)
class Canonicalize:
    """Applies identities until none applies; each holds for every value, NaN, -0.0 and wrap-around included.

        %a = tile.mul %x, %one : i32
        %b = tile.splat %a {shape = [8]} : tile<8xi32>
        %c = tile.splat %y {shape = [8]} : tile<8xi32>
        %d = tile.add %b, %c : tile<8xi32>
        %r = control.if %true : i32 then { control.yield [%x] } otherwise { control.yield [%y] }
    ->
        %s = tile.add %x, %y : i32
        %d = tile.splat %s {shape = [8]} : tile<8xi32>               (%r is %x)

    Constants are folded; algebraic identities stand in `identities`, merged casts and selects in
    `conversions`, movements of elements and work on scalars instead of tiles in `shapes`, loops, branches
    and masks whose outcome is known in `branches`. Constants become the right operand of commutative ops.
    """

    name: ClassVar[str] = "canonicalize"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            canonicalize_function(function)


def canonicalize_function(function: Function) -> int:
    """Canonicalize one function; returns the number of rewrites."""
    return apply_patterns(function, canonical_patterns(Evaluator()))


def canonical_patterns(evaluator: Evaluator) -> dict[str, list[Pattern]]:
    """All patterns of this pass by op name; those for any op under ""."""
    patterns: dict[str, list[Pattern]] = defaultdict(list)
    for family in (identity_patterns, conversion_patterns, shape_patterns, branch_patterns):
        for name, found in family(evaluator).items():
            patterns[name] += found
    patterns[""] = [erase_unused, folding(evaluator), put_constant_right(evaluator), *patterns[""]]
    return patterns


def put_constant_right(evaluator: Evaluator) -> Pattern:
    """The pattern that makes a constant the second operand of a commutative op."""

    def swap(op: Op, rewriter: Rewriter) -> bool:
        operands = op.operands
        if len(operands) < 2 or Trait.COMMUTATIVE not in op.definition.traits:
            return False
        if evaluator.number(operands[0]) is None or evaluator.number(operands[1]) is not None:
            return False
        rewriter.set_operand(op, 0, operands[1])
        rewriter.set_operand(op, 1, operands[0])
        return True

    return swap
