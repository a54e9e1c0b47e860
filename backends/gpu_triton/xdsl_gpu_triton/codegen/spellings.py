"""How Triton spells each op: one row for an op and the dtypes that Triton takes it for.

Where an op has no row for a dtype, `legalize.elements` computes it in a wider dtype that has one. Names in
braces are the op's operands and attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, PointerType, TokenType, element_of
from xdsl_core.passes.definitions import name_of
from xdsl_gpu_triton.codegen.text import (
    AND,
    ANY,
    ATOM,
    COMPARE,
    OR,
    PRODUCT,
    SHIFT,
    SUM,
    UNARY,
    XOR,
)
from xdsl_gpu_triton.dialect import Gather

INTERPRETED, COMPILED, EVERYWHERE = "interpreted", "compiled", ""
LIBDEVICE = "libdevice."

_INTEGERS = frozenset({"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
_WIDE_INTEGERS = frozenset({"i32", "i64", "u32", "u64"})
_UNSIGNED = frozenset({"u32", "u64"})
_HALVES = frozenset({"f16", "bf16"})
_FLOATS = frozenset({"f32", "f64"})
_BOOL = frozenset({"i1"})
_ALL = frozenset(dtype.name for dtype in dtypes.ALL)
_NUMBERS = _INTEGERS | _HALVES | _FLOATS
POINTER = "pointer"


@dataclass(frozen=True, slots=True)
class Spelling:
    """The text of an op for elements in `kinds`, and how its operands must be bound in it.

    `operands` is the least level of each operand, the last one standing for all further ones. `where` tells
    whether it is for kernels that are interpreted, compiled, or both. `flags` maps an attribute to what
    `{flags}` shows for one of its values.
    """

    text: str
    kinds: frozenset[str]
    level: int = ATOM
    operands: tuple[int, ...] = (ANY,)
    where: str = EVERYWHERE
    flags: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)


def _infix(symbol: str, level: int, kinds: frozenset[str], where: str = EVERYWHERE) -> Spelling:
    # the operators of Python associate to the left; comparisons chain, so neither side may be one
    least = (level + 1, level + 1) if level == COMPARE else (level, level + 1)
    return Spelling(f"{{lhs}} {symbol} {{rhs}}", kinds, level, least, where)


def _call(
    function: str, kinds: frozenset[str], operands: str = "operand", where: str = EVERYWHERE
) -> Spelling:
    arguments = ", ".join(f"{{{name}}}" for name in operands.split())
    return Spelling(f"{function}({arguments})", kinds, where=where)


def _device(function: str, operands: str = "operand") -> Spelling:
    return _call(LIBDEVICE + function, _FLOATS, operands, COMPILED)


_PROPAGATE = {"propagate_nan": {True: ", propagate_nan=tl.PropagateNan.ALL", False: ""}}
_REVERSE = {"reverse": {True: ", reverse=True", False: ""}}


def _extreme(function: str) -> tuple[Spelling, ...]:
    kinds = _INTEGERS | _FLOATS | {"f16"}
    return (Spelling(f"{function}({{lhs}}, {{rhs}}{{flags}})", kinds, flags=_PROPAGATE),)


def _reduction(function: str, kinds: frozenset[str]) -> Spelling:
    return Spelling(f"{function}({{source}}, axis={{axis}})", kinds)


def _combined(helper: str, kinds: frozenset[str]) -> Spelling:
    return Spelling(f"tl.reduce({{source}}, {{axis}}, {helper})", kinds)


def _scan(function: str) -> tuple[Spelling, ...]:
    kinds = _WIDE_INTEGERS | _FLOATS
    return (Spelling(f"{function}({{source}}, axis={{axis}}{{flags}})", kinds, flags=_REVERSE),)


_COMPARED = _NUMBERS | _BOOL
_ROWS: tuple[tuple[Any, tuple[Spelling, ...]], ...] = (
    (ops.Add, (_infix("+", SUM, _NUMBERS),)),
    (ops.Sub, (_infix("-", SUM, _NUMBERS),)),
    (ops.Mul, (_infix("*", PRODUCT, _NUMBERS),)),
    # the plain quotient of f32 may be off by 2 ulp on a GPU, div_rn rounds to nearest
    (
        ops.Div,
        (
            _infix("//", PRODUCT, _INTEGERS),
            _call("tl.div_rn", frozenset({"f32"}), "lhs rhs"),
            _infix("/", PRODUCT, frozenset({"f64"})),
        ),
    ),
    # `%` of floats is x - trunc(x / y) * y on a GPU, which is not exact
    (
        ops.Rem,
        (
            _infix("%", PRODUCT, _INTEGERS),
            _infix("%", PRODUCT, _FLOATS, INTERPRETED),
            _device("fmod", "lhs rhs"),
        ),
    ),
    # before 3.9 Triton's `-x` is 0 - x, which makes 0.0 of 0.0
    (
        ops.Neg,
        (
            Spelling("-{operand}", _INTEGERS, UNARY, (UNARY,)),
            Spelling("{operand} * -1.0", _HALVES | _FLOATS, PRODUCT, (PRODUCT,)),
        ),
    ),
    (ops.Abs, (_call("tl.abs", _NUMBERS),)),
    (ops.Min, _extreme("tl.minimum")),
    (ops.Max, _extreme("tl.maximum")),
    (
        ops.Clamp,
        (
            Spelling(
                "tl.minimum(tl.maximum({operand}, {low}{flags}), {high}{flags})",
                _FLOATS | {"f16"},
                flags=_PROPAGATE,
            ),
        ),
    ),
    (ops.Fma, (_call("tl.fma", _FLOATS, "x y z"),)),
    (ops.And, (_infix("&", AND, _INTEGERS | _BOOL),)),
    (ops.Or, (_infix("|", OR, _INTEGERS | _BOOL),)),
    (ops.Xor, (_infix("^", XOR, _INTEGERS | _BOOL),)),
    (ops.Not, (Spelling("~{operand}", _INTEGERS | _BOOL, UNARY, (UNARY,)),)),
    (ops.Shl, (_infix("<<", SHIFT, _INTEGERS),)),
    (ops.Shr, (_infix(">>", SHIFT, _INTEGERS),)),
    (ops.MulHi, (_call("tl.umulhi", _UNSIGNED, "lhs rhs"),)),
    (ops.Eq, (_infix("==", COMPARE, _COMPARED),)),
    (ops.Ne, (_infix("!=", COMPARE, _COMPARED),)),
    (ops.Lt, (_infix("<", COMPARE, _COMPARED),)),
    (ops.Le, (_infix("<=", COMPARE, _COMPARED),)),
    (ops.Gt, (_infix(">", COMPARE, _COMPARED),)),
    (ops.Ge, (_infix(">=", COMPARE, _COMPARED),)),
    (ops.Select, (_call("tl.where", _ALL | {POINTER}, "condition on_true on_false"),)),
    *(
        (getattr(ops, name), (_call(f"tl.{name.lower()}", _FLOATS),))
        for name in ("Exp", "Exp2", "Log", "Log2")
    ),
    *(
        (getattr(ops, name), (_call(f"tl.{name.lower()}", _FLOATS),))
        for name in ("Rsqrt", "Sin", "Cos", "Erf")
    ),
    *((getattr(ops, name), (_call(f"tl.{name.lower()}", _FLOATS),)) for name in ("Floor", "Ceil")),
    # the plain root of f32 is approximate on a GPU
    (
        ops.Sqrt,
        (_call("tl.sqrt_rn", frozenset({"f32"})), _call("tl.sqrt", frozenset({"f64"}))),
    ),
    *(
        (getattr(ops, name), (_device(name.lower()),))
        for name in ("Tanh", "Log1p", "Expm1", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh")
    ),
    (ops.Round, (_device("rint"),)),
    (ops.Pow, (_device("pow", "lhs rhs"),)),
    (ops.Atan2, (_device("atan2", "lhs rhs"),)),
    (ops.BitCast, (Spelling("{operand}.to({to}, bitcast=True)", _ALL, operands=(ATOM,)),)),
    (ops.Offset, (Spelling("{pointer} + {offset}", frozenset({POINTER}), SUM, (SUM, SUM + 1)),)),
    (ops.PointerToInt, (Spelling("{pointer}.to(tl.int64)", frozenset({POINTER}), operands=(ATOM,)),)),
    (
        ops.IntToPointer,
        (Spelling("{operand}.to(tl.pointer_type({pointee}))", frozenset({"i64", "u64"}), operands=(ATOM,)),),
    ),
    (
        ops.PointerCast,
        (
            Spelling(
                "{pointer}.to(tl.pointer_type({pointee}), bitcast=True)",
                frozenset({POINTER}),
                operands=(ATOM,),
            ),
        ),
    ),
    (ops.ProgramId, (Spelling("tl.program_id({axis})", _ALL),)),
    (ops.NumPrograms, (Spelling("tl.num_programs({axis})", _ALL),)),
    (ops.ReduceSum, (_reduction("tl.sum", _WIDE_INTEGERS | _FLOATS),)),
    (ops.ReduceProd, (_combined("multiply", _WIDE_INTEGERS | _FLOATS),)),
    (ops.ReduceXor, (_reduction("tl.xor_sum", _WIDE_INTEGERS),)),
    (ops.ReduceOr, (_combined("either", _WIDE_INTEGERS),)),
    (ops.ReduceAnd, (_combined("both", _WIDE_INTEGERS),)),
    (Gather, (Spelling("tl.gather({source}, {index}, 0)", _ALL),)),
    (ops.CumSum, _scan("tl.cumsum")),
    (ops.CumProd, _scan("tl.cumprod")),
    *(
        (
            getattr(ops, f"Reduce{kind}"),
            (
                Spelling(
                    "{flags}",
                    _WIDE_INTEGERS | _FLOATS,
                    flags={
                        "propagate_nan": {
                            False: f"tl.{kind.lower()}({{source}}, axis={{axis}})",
                            True: f"tl.reduce({{source}}, {{axis}}, {kind.lower()}imum_or_nan)",
                        }
                    },
                ),
            ),
        )
        for kind in ("Max", "Min")
    ),
    *(
        (
            getattr(ops, f"Arg{kind}"),
            (
                Spelling(
                    f"tl.{kind.lower()}({{source}}, axis={{axis}}, return_indices=True)", _WIDE_INTEGERS
                ),
                # Triton's own functions let NaN win or lose by its place
                Spelling(f"tl.reduce(({{source}}, {{lanes}}), {{axis}}, arg{kind.lower()})", _FLOATS),
            ),
        )
        for kind in ("Max", "Min")
    ),
)
SPELLINGS: Mapping[str, tuple[Spelling, ...]] = MappingProxyType(
    {name_of(definition): rows for definition, rows in _ROWS}
)

# Functions that texts of the table call, by name.
HELPERS: Mapping[str, str] = MappingProxyType(
    {
        "multiply": "def multiply(a, b):\n    return a * b",
        "either": "def either(a, b):\n    return a | b",
        "both": "def both(a, b):\n    return a & b",
        "maximum_or_nan": (
            "def maximum_or_nan(a, b):\n    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"
        ),
        "minimum_or_nan": (
            "def minimum_or_nan(a, b):\n    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)"
        ),
        **{
            name: (
                f"def {name}(value, index, other_value, other_index):\n"
                "    # of equal numbers the leftmost wins, and NaN only where there is nothing else\n"
                "    same = (value == other_value) | ((value != value) & (other_value != other_value))\n"
                f"    better = (value {sign} other_value) | (value == value) & (other_value != other_value)\n"
                "    keep = better | (same & (index < other_index))\n"
                "    return tl.where(keep, value, other_value), tl.where(keep, index, other_index)"
            )
            for name, sign in (("argmax", ">"), ("argmin", "<"))
        },
    }
)


def element_key(op: Op) -> str:
    """The dtype by which a spelling of an op is chosen: that of its first operand, else of its result."""
    values = op.operands or op.results
    if op.definition is ops.Select:
        values = op.results
    type = values[0].type
    assert not isinstance(type, TokenType)
    element = element_of(type)
    return POINTER if isinstance(element, PointerType) else element.name


def find_spelling(name: str, key: str, *, interpreted: bool) -> Spelling | None:
    """The row of an op for elements `key`, or None if Triton has no such operation."""
    unwanted = COMPILED if interpreted else INTERPRETED
    for row in SPELLINGS.get(name, ()):
        if key in row.kinds and row.where != unwanted:
            return row
    return None


def triton_dtype(dtype: DType) -> str:
    """A dtype as Triton code names it."""
    return f"tl.{dtype.triton}"
