"""Patterns that merge conversions of element types and choices between values."""

from __future__ import annotations

from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Op
from xdsl_core.ir.rewriter import Pattern, Rewriter
from xdsl_core.ir.types import dtype_of
from xdsl_core.ops.bits import Not
from xdsl_core.ops.comparison import Select
from xdsl_core.ops.conversion import BitCast, Cast
from xdsl_core.ops.pointer import PointerCast
from xdsl_core.passes.definitions import made_by, name_of
from xdsl_core.passes.evaluation import Evaluator


def conversion_patterns(evaluator: Evaluator) -> dict[str, list[Pattern]]:
    """The patterns of this module, by op name."""
    return {
        name_of(Cast): [merge_casts],
        name_of(BitCast): [merge_repeated],
        name_of(PointerCast): [merge_repeated],
        name_of(Select): [choose(evaluator)],
    }


def is_exact(source: DType, target: DType) -> bool:
    """Whether every number of `source`, NaN and both zeros included, is one of `target`.

    Floats: a wider kind of this table has more significant bits and a larger range than each narrower one.
    Integers are exact in a float that has at least as many significant bits as their magnitude and reaches
    as far.
    """
    if source.is_bool:
        return True
    if target.is_bool:
        return False
    if source.is_float:
        return target.is_float and target.bits > source.bits
    magnitude_bits = source.bits - source.is_signed
    if target.is_float:
        return magnitude_bits <= target.precision and source.highest <= target.highest
    return target.lowest <= source.lowest and source.highest <= target.highest


def merge_casts(op: Op, rewriter: Rewriter) -> bool:
    """cast(cast(x)) is cast(x), or x, where the inner cast changes no number."""
    inner = made_by(op.operands[0], Cast)
    if inner is None:
        return False
    source = inner.operands[0]
    if not is_exact(dtype_of(source.type), dtype_of(inner.result.type)):
        return False
    target = dtype_of(op.result.type)
    if target is dtype_of(source.type):
        # saturation turns the infinities of a float into finite numbers
        if target.is_float and op.attribute("saturate"):
            return False
        rewriter.replace_op(op, source)
        return True
    rewriter.set_operand(op, 0, source)
    return True


def merge_repeated(op: Op, rewriter: Rewriter) -> bool:
    """bitcast(bitcast(x)) is bitcast(x), and a bitcast to the type it has is x; so are casts of pointers."""
    source = op.operands[0]
    inner = source.defining_op
    if inner is not None and inner.definition is op.definition:
        source = inner.operands[0]
    if source.type == op.result.type:
        rewriter.replace_op(op, source)
        return True
    if source is op.operands[0]:
        return False
    rewriter.set_operand(op, 0, source)
    return True


def choose(evaluator: Evaluator) -> Pattern:
    """The pattern for selects whose outcome, or part of it, is known."""

    def simplify_select(op: Op, rewriter: Rewriter) -> bool:
        condition, on_true, on_false = op.operands
        known = evaluator.number(condition)
        if known is not None or on_true is on_false:
            rewriter.replace_op(op, on_true if known or on_true is on_false else on_false)
            return True
        inverted = made_by(condition, Not)
        if inverted is not None:
            new = rewriter.before(op).value(Select, inverted.operands[0], on_false, on_true)
            rewriter.replace_op(op, new)
            return True
        return _select_of_bools(op, rewriter, evaluator)

    return simplify_select


def _select_of_bools(op: Op, rewriter: Rewriter, evaluator: Evaluator) -> bool:
    """select(c, true, false) is c, select(c, false, true) is not c."""
    condition, on_true, on_false = op.operands
    first, second = evaluator.number(on_true), evaluator.number(on_false)
    if not (isinstance(first, bool) and isinstance(second, bool)):
        return False
    rewriter.replace_op(op, condition if first else rewriter.before(op).value(Not, condition))
    return True
