"""The definitions of all ops, one family a file, by class name; `CORE` holds them all, `opset()` gives it."""

from xdsl_core.opdef import OpDef, OpSet
from xdsl_core.ops.arithmetic import Abs, Add, Clamp, Div, Fma, Max, Min, Mul, Neg, Rem, Sub
from xdsl_core.ops.atomic import AtomicCas, AtomicRmw
from xdsl_core.ops.bits import And, MulHi, Not, Or, Shl, Shr, Xor
from xdsl_core.ops.comparison import Eq, Ge, Gt, Le, Lt, Ne, Select
from xdsl_core.ops.control import Condition, For, If, Return, While, Yield
from xdsl_core.ops.conversion import BitCast, Cast
from xdsl_core.ops.creation import Arange, Constant, Splat
from xdsl_core.ops.debug import Assert, Print
from xdsl_core.ops.grid import NumPrograms, ProgramId
from xdsl_core.ops.math import (
    Acos,
    Asin,
    Atan,
    Atan2,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Exp,
    Exp2,
    Expm1,
    Floor,
    Log,
    Log1p,
    Log2,
    Pow,
    Round,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    Trunc,
)
from xdsl_core.ops.matmul import Dot
from xdsl_core.ops.memory import Load, Store
from xdsl_core.ops.pointer import IntToPointer, Offset, PointerCast, PointerToInt
from xdsl_core.ops.reduction import (
    ArgMax,
    ArgMin,
    Reduce,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
    ReduceXor,
)
from xdsl_core.ops.scan import CumProd, CumSum, Scan
from xdsl_core.ops.shape import Broadcast, ExpandDims, Permute, Reshape

_DEFINITIONS: tuple[object, ...] = tuple(globals().values())
CORE = OpSet(definition for definition in _DEFINITIONS if isinstance(definition, OpDef))


def opset() -> OpSet:
    """All ops of the language."""
    return CORE


__all__ = [
    "CORE",
    "opset",
    "Abs",
    "Acos",
    "Add",
    "And",
    "Arange",
    "ArgMax",
    "ArgMin",
    "Asin",
    "Assert",
    "Atan",
    "Atan2",
    "AtomicCas",
    "AtomicRmw",
    "BitCast",
    "Broadcast",
    "Cast",
    "Ceil",
    "Clamp",
    "Condition",
    "Constant",
    "Cos",
    "Cosh",
    "CumProd",
    "CumSum",
    "Div",
    "Dot",
    "Eq",
    "Erf",
    "Exp",
    "Exp2",
    "ExpandDims",
    "Expm1",
    "Floor",
    "Fma",
    "For",
    "Ge",
    "Gt",
    "If",
    "IntToPointer",
    "Le",
    "Load",
    "Log",
    "Log1p",
    "Log2",
    "Lt",
    "Max",
    "Min",
    "Mul",
    "MulHi",
    "Ne",
    "Neg",
    "Not",
    "NumPrograms",
    "Offset",
    "Or",
    "Permute",
    "PointerCast",
    "PointerToInt",
    "Pow",
    "Print",
    "ProgramId",
    "Reduce",
    "ReduceAnd",
    "ReduceMax",
    "ReduceMin",
    "ReduceOr",
    "ReduceProd",
    "ReduceSum",
    "ReduceXor",
    "Rem",
    "Reshape",
    "Return",
    "Round",
    "Rsqrt",
    "Scan",
    "Select",
    "Shl",
    "Shr",
    "Sin",
    "Sinh",
    "Splat",
    "Sqrt",
    "Store",
    "Sub",
    "Tan",
    "Tanh",
    "Trunc",
    "While",
    "Xor",
    "Yield",
]
