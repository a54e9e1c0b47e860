"""Ops that work lane by lane: arith.*, math.*, and the elementwise ones of tt.*."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.frontend.ttir.scope import Convert, Scope, unsupported
from xdsl_core.frontend.ttir.syntax import Tree
from xdsl_core.frontend.ttir.types import UNSIGNED
from xdsl_core.ir import Value
from xdsl_core.ir.types import BOOL, Type, dtype_of, is_pointer, pointee_of

_Values = Sequence[Value]


def _plain(definition: Any, **attributes: Any) -> Convert:
    def convert(scope: Scope, tree: Tree) -> _Values:
        return [scope.value(definition, *scope.operands(tree), **attributes)]

    return convert


def _of_bools(definition: Any, of_bools: Any) -> Convert:
    """An op of integers that is another one for i1: arithmetic modulo 2."""

    def convert(scope: Scope, tree: Tree) -> _Values:
        operands = scope.operands(tree)
        chosen = of_bools if dtype_of(operands[0].type).is_bool else definition
        return [scope.value(chosen, *operands)]

    return convert


def _unsigned(definition: Any) -> Convert:
    """An op that reads its integers without a sign."""

    def convert(scope: Scope, tree: Tree) -> _Values:
        operands = scope.operands(tree)
        result = scope.value(definition, *(scope.unsigned(operand) for operand in operands))
        return [scope.signed(result, operands[0].type)]

    return convert


_COMPARISONS: Mapping[str, Any] = MappingProxyType(
    {"eq": ops.Eq, "ne": ops.Ne, "lt": ops.Lt, "le": ops.Le, "gt": ops.Gt, "ge": ops.Ge}
)
# u...: true also where an operand is NaN, which is the negative of the opposite ordered comparison
_UNORDERED: Mapping[str, Any] = MappingProxyType(
    {"ueq": None, "une": ops.Ne, "ult": ops.Ge, "ule": ops.Gt, "ugt": ops.Le, "uge": ops.Lt}
)


def _compare_integers(scope: Scope, tree: Tree) -> _Values:
    operands = scope.operands(tree)
    predicate = tree.words[0]
    if predicate in _COMPARISONS:
        return [scope.value(_COMPARISONS[predicate], *operands)]
    sign, definition = predicate[0], _COMPARISONS[predicate[1:]]
    if dtype_of(operands[0].type).is_bool:
        # as a signed number, true is -1
        return [scope.value(definition, *(operands if sign == "u" else reversed(operands)))]
    chosen = [scope.unsigned(operand) if sign == "u" else operand for operand in operands]
    return [scope.value(definition, *chosen)]


def _is_nan(scope: Scope, lhs: Value, rhs: Value) -> Value:
    return scope.value(ops.Or, scope.value(ops.Ne, lhs, lhs), scope.value(ops.Ne, rhs, rhs))


def _compare_floats(scope: Scope, tree: Tree) -> _Values:
    lhs, rhs = scope.operands(tree)
    predicate = next(word for word in tree.words if word not in ("fastmath",))
    if predicate in ("ord", "uno", "ueq", "one"):
        unordered = _is_nan(scope, lhs, rhs)
        if predicate == "uno":
            return [unordered]
        if predicate == "ord":
            return [scope.value(ops.Not, unordered)]
        if predicate == "ueq":
            return [scope.value(ops.Or, unordered, scope.value(ops.Eq, lhs, rhs))]
        return [scope.value(ops.And, scope.value(ops.Not, unordered), scope.value(ops.Ne, lhs, rhs))]
    if predicate == "une":
        return [scope.value(ops.Ne, lhs, rhs)]
    if predicate[0] == "u":
        return [scope.value(ops.Not, scope.value(_UNORDERED[predicate], lhs, rhs))]
    return [scope.value(_COMPARISONS[predicate[1:]], lhs, rhs)]


def _select(scope: Scope, tree: Tree) -> _Values:
    condition, on_true, on_false = scope.operands(tree)
    if condition.type.shape != on_true.type.shape:
        condition = scope.value(ops.Splat, condition, shape=on_true.type.shape)
    return [scope.value(ops.Select, condition, on_true, on_false)]


def _convert(scope: Scope, tree: Tree) -> _Values:
    """A conversion by value; Triton's rounding where it is given."""
    (operand,) = scope.operands(tree)
    to = dtype_of(scope.result_type(tree))
    rounding = next((word for word in tree.words if word in ("rtne", "rtz")), None)
    return [scope.cast(operand, to, rounding=rounding)]


def _truncate_integer(scope: Scope, tree: Tree) -> _Values:
    (operand,) = scope.operands(tree)
    to = dtype_of(scope.result_type(tree))
    if to.is_bool:
        # the lowest bit, where a cast asks whether the number is zero
        operand = scope.value(ops.And, operand, scope.constant(operand.type, 1))
    return [scope.cast(operand, to)]


def _from_signed(scope: Scope, tree: Tree) -> _Values:
    """A conversion of signed integers, where true is -1."""
    (operand,) = scope.operands(tree)
    to = dtype_of(scope.result_type(tree))
    cast = scope.cast(operand, to)
    return [scope.value(ops.Neg, cast) if dtype_of(operand.type).is_bool else cast]


def _from_unsigned(scope: Scope, tree: Tree) -> _Values:
    (operand,) = scope.operands(tree)
    kind = scope.result_type(tree)
    to = dtype_of(kind)
    if dtype_of(operand.type).is_bool or to.is_float:
        return [scope.cast(scope.unsigned(operand), to)]
    return [scope.signed(scope.cast(scope.unsigned(operand), _unsigned_of(to)), kind)]


def _to_unsigned(scope: Scope, tree: Tree) -> _Values:
    (operand,) = scope.operands(tree)
    kind = scope.result_type(tree)
    return [scope.signed(scope.cast(operand, _unsigned_of(dtype_of(kind))), kind)]


def _unsigned_of(dtype: dtypes.DType) -> dtypes.DType:
    return UNSIGNED.get(dtype, dtype)


def _bitcast(scope: Scope, tree: Tree) -> _Values:
    (operand,) = scope.operands(tree)
    kind = scope.result_type(tree)
    if operand.type == kind:
        return [operand]
    if is_pointer(operand.type):
        return [scope.value(ops.PointerCast, operand, pointee=pointee_of(kind))]
    if dtypes.i1 in (dtype_of(operand.type), dtype_of(kind)):
        return [scope.cast(operand, dtype_of(kind))]
    return [scope.value(ops.BitCast, operand, to=dtype_of(kind))]


def _clamp(scope: Scope, tree: Tree) -> _Values:
    return [scope.value(ops.Clamp, *scope.operands(tree), propagate_nan="all" in tree.words)]


def _through_f32(definition: Any) -> Convert:
    """A function that tile IR has for f32 and f64 alone."""

    def convert(scope: Scope, tree: Tree) -> _Values:
        operands = scope.operands(tree)
        dtype = dtype_of(operands[0].type)
        if dtype.bits >= 32:
            return [scope.value(definition, *operands)]
        wide = scope.value(definition, *(scope.cast(operand, dtypes.f32) for operand in operands))
        return [scope.cast(wide, dtype)]

    return convert


def _to_pointer(scope: Scope, tree: Tree) -> _Values:
    (operand,) = scope.operands(tree)
    return [scope.value(ops.IntToPointer, operand, pointee=pointee_of(scope.result_type(tree)))]


def _constant(scope: Scope, tree: Tree) -> _Values:
    kind = scope.result_type(tree) if tree.types else None
    return [constant_of(scope, tree, kind)]


def constant_of(scope: Scope, tree: Tree, kind: Type | None) -> Value:
    """arith.constant: a number, a bool, or dense<...> of one number for all lanes."""
    text = (tree.numbers or tree.words)[0]
    kind = kind or BOOL
    return scope.constant(kind, _number(tree, text, dtype_of(kind)))


def _number(tree: Tree, text: str, dtype: dtypes.DType) -> float:
    inside = text[6:-1] if text.startswith("dense<") else text
    if inside.startswith(("[", '"')):
        raise unsupported(tree, "constants that differ from lane to lane")
    if inside in ("true", "false"):
        return inside == "true" if dtype.is_bool else -int(inside == "true")
    if inside.startswith("0x") and dtype.is_float:
        return _float_of_bits(int(inside, 16), dtype)
    return float(inside) if dtype.is_float else int(inside, 0)


def _float_of_bits(bits: int, dtype: dtypes.DType) -> float:
    import numpy as np

    return float(np.array([bits], f"u{dtype.bytes}").view(dtype.numpy)[0])


_SAME: Mapping[str, Any] = MappingProxyType(
    {
        "arith.addf": ops.Add,
        "arith.subf": ops.Sub,
        "arith.mulf": ops.Mul,
        "arith.divf": ops.Div,
        "arith.remf": ops.Rem,
        "arith.negf": ops.Neg,
        "arith.divsi": ops.Div,
        "arith.remsi": ops.Rem,
        "arith.andi": ops.And,
        "arith.ori": ops.Or,
        "arith.xori": ops.Xor,
        "arith.shli": ops.Shl,
        "arith.shrsi": ops.Shr,
        "arith.minsi": ops.Min,
        "arith.maxsi": ops.Max,
        "arith.minnumf": ops.Min,
        "arith.maxnumf": ops.Max,
        "tt.precise_divf": ops.Div,
        "tt.precise_sqrt": ops.Sqrt,
        "tt.ptr_to_int": ops.PointerToInt,
        "math.fma": ops.Fma,
        "math.absf": ops.Abs,
        "math.absi": ops.Abs,
        **{
            f"math.{name}": getattr(ops, name.capitalize())
            for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf")
        },
        "math.floor": ops.Floor,
        "math.ceil": ops.Ceil,
        "math.trunc": ops.Trunc,
        "math.roundeven": ops.Round,
    }
)
_WIDE: Mapping[str, Any] = MappingProxyType(
    {
        "math.log1p": ops.Log1p,
        "math.expm1": ops.Expm1,
        "math.tan": ops.Tan,
        "math.atan2": ops.Atan2,
        "math.powf": ops.Pow,
        "math.asin": ops.Asin,
        "math.acos": ops.Acos,
        "math.atan": ops.Atan,
        "math.sinh": ops.Sinh,
        "math.cosh": ops.Cosh,
    }
)
_Row = Callable[[Scope, Tree], _Values]
CONVERTERS: Mapping[str, _Row] = MappingProxyType(
    {
        **{name: _plain(definition) for name, definition in _SAME.items()},
        **{name: _through_f32(definition) for name, definition in _WIDE.items()},
        "arith.minimumf": _plain(ops.Min, propagate_nan=True),
        "arith.maximumf": _plain(ops.Max, propagate_nan=True),
        "arith.addi": _of_bools(ops.Add, ops.Xor),
        "arith.subi": _of_bools(ops.Sub, ops.Xor),
        "arith.muli": _of_bools(ops.Mul, ops.And),
        "arith.divui": _unsigned(ops.Div),
        "arith.remui": _unsigned(ops.Rem),
        "arith.shrui": _unsigned(ops.Shr),
        "arith.minui": _unsigned(ops.Min),
        "arith.maxui": _unsigned(ops.Max),
        "tt.mulhiui": _unsigned(ops.MulHi),
        "arith.cmpi": _compare_integers,
        "arith.cmpf": _compare_floats,
        "arith.select": _select,
        "arith.extf": _convert,
        "arith.truncf": _convert,
        "tt.fp_to_fp": _convert,
        "arith.fptosi": _convert,
        "arith.index_cast": _convert,
        "arith.trunci": _truncate_integer,
        "arith.extsi": _from_signed,
        "arith.sitofp": _from_signed,
        "arith.extui": _from_unsigned,
        "arith.uitofp": _from_unsigned,
        "arith.fptoui": _to_unsigned,
        "arith.bitcast": _bitcast,
        "tt.bitcast": _bitcast,
        "arith.constant": _constant,
        "tt.clampf": _clamp,
        "tt.int_to_ptr": _to_pointer,
    }
)
