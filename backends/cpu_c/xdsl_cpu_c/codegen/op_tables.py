"""Op -> name of the vector library's function: the lowering of every lane-by-lane op."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.dtypes import DType
from xdsl_core.opdef import OpDef


@dataclass(frozen=True, slots=True)
class Lanewise:
    """The library function of an op.

    `rounds`: results in a format narrower than f32 are computed in f32 and then rounded. `infix` is C's
    operator where the scalar form reads better with it. `bits`: the function for masks (i1) works on their
    0/-1 lanes.
    """

    function: str
    rounds: bool = False
    infix: str = ""


LANEWISE: MappingProxyType[OpDef, Lanewise] = MappingProxyType(
    {
        ops.Add: Lanewise("add", True, "+"),
        ops.Sub: Lanewise("sub", True, "-"),
        ops.Mul: Lanewise("mul", True, "*"),
        ops.Div: Lanewise("div", True),
        ops.Rem: Lanewise("rem", True),
        ops.Neg: Lanewise("neg"),
        ops.Abs: Lanewise("abs"),
        ops.And: Lanewise("and", False, "&"),
        ops.Or: Lanewise("or", False, "|"),
        ops.Xor: Lanewise("xor", False, "^"),
        ops.Not: Lanewise("not"),
        ops.Shl: Lanewise("shl"),
        ops.Shr: Lanewise("shr"),
        ops.Eq: Lanewise("eq", False, "=="),
        ops.Ne: Lanewise("ne", False, "!="),
        ops.Lt: Lanewise("lt", False, "<"),
        ops.Le: Lanewise("le", False, "<="),
        ops.Gt: Lanewise("gt", False, ">"),
        ops.Ge: Lanewise("ge", False, ">="),
        ops.Fma: Lanewise("fma", True),
        ops.Exp: Lanewise("exp", True),
        ops.Exp2: Lanewise("exp2", True),
        ops.Log: Lanewise("log", True),
        ops.Log2: Lanewise("log2", True),
        ops.Log1p: Lanewise("log1p", True),
        ops.Expm1: Lanewise("expm1", True),
        ops.Sqrt: Lanewise("sqrt", True),
        ops.Rsqrt: Lanewise("rsqrt", True),
        ops.Sin: Lanewise("sin", True),
        ops.Cos: Lanewise("cos", True),
        ops.Tan: Lanewise("tan", True),
        ops.Asin: Lanewise("asin", True),
        ops.Acos: Lanewise("acos", True),
        ops.Atan: Lanewise("atan", True),
        ops.Sinh: Lanewise("sinh", True),
        ops.Cosh: Lanewise("cosh", True),
        ops.Tanh: Lanewise("tanh", True),
        ops.Erf: Lanewise("erf", True),
        ops.Atan2: Lanewise("atan2", True),
        ops.Pow: Lanewise("pow", True),
        ops.Floor: Lanewise("floor"),
        ops.Ceil: Lanewise("ceil"),
        ops.Trunc: Lanewise("trunc"),
        ops.Round: Lanewise("round"),
    }
)

COMPARISONS = frozenset({ops.Eq, ops.Ne, ops.Lt, ops.Le, ops.Gt, ops.Ge})


@dataclass(frozen=True, slots=True)
class Reduction:
    """How lanes are combined: the function of two values, the horizontal one, and where the combining starts.

    `start` is "zero", "one", "lowest", "highest" or "ones" (all bits). `tracks_index`: the lane number of the
    winner is a second result.
    """

    function: str
    horizontal: str
    start: str
    tracks_index: bool = False


REDUCTIONS: MappingProxyType[OpDef, Reduction] = MappingProxyType(
    {
        ops.ReduceSum: Reduction("add", "hsum", "zero"),
        ops.ReduceProd: Reduction("mul", "hprod", "one"),
        ops.ReduceMax: Reduction("max", "hmax", "lowest"),
        ops.ReduceMin: Reduction("min", "hmin", "highest"),
        ops.ReduceXor: Reduction("xor", "hxor", "zero"),
        ops.ReduceOr: Reduction("or", "hor", "zero"),
        ops.ReduceAnd: Reduction("and", "hand", "ones"),
        ops.ArgMax: Reduction("gt", "hargmax", "lowest", True),
        ops.ArgMin: Reduction("lt", "hargmin", "highest", True),
    }
)


def register_of(element: DType) -> str:
    """The register element that holds values of `element`: narrow floats are f32, booleans are i32 masks."""
    if element.is_bool:
        return "i32"
    return "f32" if element.is_float and element.bits < 32 else element.name


def is_narrow_float(element: DType) -> bool:
    """True for the formats that exist in memory only: f16, bf16, the 8-bit kinds."""
    return element.is_float and element.bits < 32


def buffer_element(element: DType) -> str:
    """The memory element of a tile's buffer: as in registers, booleans as bytes."""
    return "i1" if element.is_bool else register_of(element)


C_TYPES: MappingProxyType[str, str] = MappingProxyType(
    {
        **{
            f"{kind}{bits}": f"{'u' if kind == 'u' else ''}int{bits}_t"
            for kind in "iu"
            for bits in (8, 16, 32, 64)
        },
        "f32": "float",
        "f64": "double",
        "i1": "uint8_t",
        "f16": "uint16_t",
        "bf16": "uint16_t",
        "f8e4m3fn": "uint8_t",
        "f8e4m3fnuz": "uint8_t",
        "f8e4m3b11fnuz": "uint8_t",
        "f8e5m2": "uint8_t",
        "f8e5m2fnuz": "uint8_t",
    }
)
