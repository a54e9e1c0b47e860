"""Algebraic identities as tables; each row holds for NaN, -0.0, wrap-around and undefined lanes too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl_core.dtypes import DType
from xdsl_core.ir.attributes import attribute_key
from xdsl_core.ir.core import Op
from xdsl_core.ir.rewriter import Pattern, Rewriter
from xdsl_core.ir.types import PointerType, Type, element_of
from xdsl_core.ops.arithmetic import Abs, Add, Div, Max, Min, Mul, Neg, Rem, Sub
from xdsl_core.ops.bits import And, Not, Or, Shl, Shr, Xor
from xdsl_core.ops.comparison import Eq, Ge, Gt, Le, Lt, Ne
from xdsl_core.ops.creation import Constant
from xdsl_core.ops.pointer import Offset
from xdsl_core.passes.definitions import is_a, made_by, name_of
from xdsl_core.passes.evaluation import Evaluator, Number

Kinds = Callable[[DType], bool]
LHS = "lhs"
ONES = "ones"  # all bits set: -1, the highest unsigned number, true


def _any(dtype: DType) -> bool:
    return True


def _integer(dtype: DType) -> bool:
    return dtype.kind in ("int", "uint")


def _float(dtype: DType) -> bool:
    return dtype.is_float


def _bits(dtype: DType) -> bool:
    return dtype.is_integer


def _bool(dtype: DType) -> bool:
    return dtype.is_bool


def _signed(dtype: DType) -> bool:
    return dtype.is_float or dtype.is_signed


def _unsigned(dtype: DType) -> bool:
    return dtype.kind == "uint"


@dataclass(frozen=True, slots=True)
class WithConstant:
    """`op(x, constant)` is `gives`: x (LHS), ONES or a number. `kinds` restricts the element of x."""

    op: Any
    kinds: Kinds
    constant: Number | str
    gives: Number | str
    reason: str


WITH_CONSTANT: tuple[WithConstant, ...] = (
    WithConstant(Add, _integer, 0, LHS, "adding zero changes no bit"),
    WithConstant(Add, _float, -0.0, LHS, "-0.0 is neutral for both zeros: 0.0 + -0.0 is 0.0; NaN stays NaN"),
    WithConstant(Sub, _integer, 0, LHS, "subtracting zero changes no bit"),
    WithConstant(Sub, _float, 0.0, LHS, "-0.0 - 0.0 is -0.0, and 0.0 - 0.0 is 0.0; NaN stays NaN"),
    WithConstant(Mul, _any, 1, LHS, "exact for every number; NaN stays NaN"),
    WithConstant(Mul, _integer, 0, 0, "integers have no NaN and no sign of zero"),
    WithConstant(Div, _any, 1, LHS, "exact for every number; NaN stays NaN"),
    WithConstant(Rem, _integer, 1, 0, "every integer is a multiple of one"),
    WithConstant(And, _bits, ONES, LHS, "every bit is kept"),
    WithConstant(And, _bits, 0, 0, "every bit is cleared"),
    WithConstant(Or, _bits, 0, LHS, "every bit is kept"),
    WithConstant(Or, _bits, ONES, ONES, "every bit is set"),
    WithConstant(Xor, _bits, 0, LHS, "no bit is flipped"),
    WithConstant(Shl, _integer, 0, LHS, "no bit moves"),
    WithConstant(Shr, _integer, 0, LHS, "no bit moves"),
    WithConstant(Eq, _bool, True, LHS, "a bool equals true where it is true"),
    WithConstant(Ne, _bool, False, LHS, "a bool differs from false where it is true"),
    WithConstant(Lt, _unsigned, 0, False, "no unsigned number is below zero"),
    WithConstant(Ge, _unsigned, 0, True, "no unsigned number is below zero"),
)


@dataclass(frozen=True, slots=True)
class WithItself:
    """`op(x, x)` is `gives`: x (LHS) or a number of the result's type."""

    op: Any
    kinds: Kinds
    gives: Number | str
    reason: str


WITH_ITSELF: tuple[WithItself, ...] = (
    WithItself(Sub, _integer, 0, "for floats NaN - NaN and inf - inf are NaN"),
    WithItself(Xor, _bits, 0, "equal bits cancel"),
    WithItself(And, _bits, LHS, "equal bits stay"),
    WithItself(Or, _bits, LHS, "equal bits stay"),
    WithItself(Min, _any, LHS, "of two equal numbers either; of two NaN a NaN, whatever propagate_nan says"),
    WithItself(Max, _any, LHS, "of two equal numbers either; of two NaN a NaN, whatever propagate_nan says"),
    WithItself(Eq, _bits, True, "for floats NaN differs from itself"),
    WithItself(Ne, _bits, False, "for floats NaN differs from itself"),
    WithItself(Le, _bits, True, "for floats NaN compares to nothing"),
    WithItself(Ge, _bits, True, "for floats NaN compares to nothing"),
    WithItself(Lt, _any, False, "nothing is below itself, and NaN compares to nothing"),
    WithItself(Gt, _any, False, "nothing is above itself, and NaN compares to nothing"),
)


@dataclass(frozen=True, slots=True)
class OfUnary:
    """`outer(inner(x))` is x (`gives` None), or `gives(x)`."""

    outer: Any
    inner: Any
    kinds: Kinds
    gives: Any
    reason: str


OF_UNARY: tuple[OfUnary, ...] = (
    OfUnary(Neg, Neg, _any, None, "the sign flips twice; integers wrap around twice, the lowest one too"),
    OfUnary(Not, Not, _any, None, "bits flip twice"),
    OfUnary(Abs, Abs, _any, Abs, "a magnitude is its own magnitude; the lowest integer stays itself"),
    OfUnary(Abs, Neg, _signed, Abs, "the sign does not matter; the negative of an unsigned number has none"),
)

# (x op c) op d is x op (c op d) where the operation is associative: integers wrap around, so theirs are.
ASSOCIATIVE: tuple[tuple[Any, Kinds], ...] = (
    *((operation, _integer) for operation in (Add, Mul)),
    *((operation, _bits) for operation in (And, Or, Xor)),
)

# c < x is x > c, NaN included, and so on; equality is commutative.
MIRRORED: tuple[tuple[Any, Any], ...] = ((Lt, Gt), (Gt, Lt), (Le, Ge), (Ge, Le))

# not (x < y) is x >= y where there is no NaN.
NEGATED: tuple[tuple[Any, Any], ...] = ((Lt, Ge), (Ge, Lt), (Gt, Le), (Le, Gt), (Eq, Ne), (Ne, Eq))


def identity_patterns(evaluator: Evaluator) -> dict[str, list[Pattern]]:
    """The tables of this module as patterns, by op name."""
    patterns: dict[str, list[Pattern]] = defaultdict(list)
    for row in WITH_CONSTANT:
        patterns[name_of(row.op)].append(_with_constant(row, evaluator))
    for same in WITH_ITSELF:
        patterns[name_of(same.op)].append(_with_itself(same))
    for unary in OF_UNARY:
        patterns[name_of(unary.outer)].append(_of_unary(unary))
    for operation, kinds in ASSOCIATIVE:
        patterns[name_of(operation)].append(_reassociate(operation, kinds, evaluator))
    for operation, mirrored in MIRRORED:
        patterns[name_of(operation)].append(_mirror(mirrored, evaluator))
    patterns[name_of(Not)].append(negate_comparison)
    patterns[name_of(Offset)].append(_no_offset(evaluator))
    return patterns


def _dtype(type: Type) -> DType | None:
    element = element_of(type)
    return None if isinstance(element, PointerType) else element


def _resolve(wanted: Number | str, dtype: DType) -> Number:
    """A constant of a table as a number of a dtype."""
    if wanted == ONES:
        return True if dtype.is_bool else -1 if dtype.is_signed else int(dtype.highest)
    assert not isinstance(wanted, str)
    return float(wanted) if dtype.is_float else bool(wanted) if dtype.is_bool else int(wanted)


def _give(op: Op, rewriter: Rewriter, gives: Number | str) -> bool:
    """Replace an op by its first operand or by a constant."""
    if gives == LHS:
        rewriter.replace_op(op, op.operands[0])
        return True
    dtype = _dtype(op.result.type)
    assert dtype is not None
    constant = rewriter.before(op).value(Constant, value=_resolve(gives, dtype), type=op.result.type)
    rewriter.replace_op(op, constant)
    return True


def _with_constant(row: WithConstant, evaluator: Evaluator) -> Pattern:
    def use_constant(op: Op, rewriter: Rewriter) -> bool:
        number = evaluator.number(op.operands[1])
        if number is None:
            return False
        dtype = _dtype(op.operands[0].type)
        if dtype is None or not row.kinds(dtype):
            return False
        # by bits, so that 0.0 is not taken for -0.0
        if attribute_key(number) != attribute_key(_resolve(row.constant, dtype)):
            return False
        return _give(op, rewriter, row.gives)

    return use_constant


def _with_itself(row: WithItself) -> Pattern:
    def use_equal_operands(op: Op, rewriter: Rewriter) -> bool:
        if op.operands[0] is not op.operands[1]:
            return False
        dtype = _dtype(op.operands[0].type)
        return dtype is not None and row.kinds(dtype) and _give(op, rewriter, row.gives)

    return use_equal_operands


def _of_unary(row: OfUnary) -> Pattern:
    def merge_unary(op: Op, rewriter: Rewriter) -> bool:
        inner = made_by(op.operands[0], row.inner)
        dtype = _dtype(op.result.type)
        if inner is None or dtype is None or not row.kinds(dtype):
            return False
        source = inner.operands[0]
        rewriter.replace_op(op, source if row.gives is None else rewriter.before(op).value(row.gives, source))
        return True

    return merge_unary


def _no_offset(evaluator: Evaluator) -> Pattern:
    def drop_zero_offset(op: Op, rewriter: Rewriter) -> bool:
        return evaluator.number(op.operands[1]) == 0 and _give(op, rewriter, LHS)

    return drop_zero_offset


def _reassociate(operation: Any, kinds: Kinds, evaluator: Evaluator) -> Pattern:
    def merge_constants(op: Op, rewriter: Rewriter) -> bool:
        dtype = _dtype(op.result.type)
        inner = made_by(op.operands[0], operation)
        if inner is None or dtype is None or not kinds(dtype):
            return False
        second, first = op.operands[1], inner.operands[1]
        if evaluator.number(first) is None or evaluator.number(second) is None:
            return False
        merged = rewriter.before(op).value(operation, first, second)
        rewriter.replace_op(op, rewriter.before(op).value(operation, inner.operands[0], merged))
        return True

    return merge_constants


def _mirror(mirrored: Any, evaluator: Evaluator) -> Pattern:
    def put_constant_right(op: Op, rewriter: Rewriter) -> bool:
        lhs, rhs = op.operands
        if evaluator.number(lhs) is None or evaluator.number(rhs) is not None:
            return False
        rewriter.replace_op(op, rewriter.before(op).value(mirrored, rhs, lhs))
        return True

    return put_constant_right


def negate_comparison(op: Op, rewriter: Rewriter) -> bool:
    """not (x < y) is x >= y, and so on, for integers and bools."""
    comparison = op.operands[0].defining_op
    if comparison is None:
        return False
    for operation, negated in NEGATED:
        if is_a(comparison, operation):
            dtype = _dtype(comparison.operands[0].type)
            if dtype is None or dtype.is_float:
                return False
            rewriter.replace_op(op, rewriter.before(op).value(negated, *comparison.operands))
            return True
    return False
