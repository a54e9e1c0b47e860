"""Functions of CUDA's device library by their symbols, as tile IR has them.

The names and meanings are those of NVIDIA's libdevice user's guide: `__nv_exp` for f64, `__nv_expf` for f32.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from xdsl_core import ops
from xdsl_core.frontend.ttir.scope import Convert, Scope, unsupported
from xdsl_core.frontend.ttir.syntax import Tree
from xdsl_core.ir import Value

_SAME_NAME = (
    *("acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor"),
    *("fma", "log", "log1p", "log2", "pow", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
_FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {
        **{name: getattr(ops, name.capitalize()) for name in _SAME_NAME},
        "fabs": ops.Abs,
        "rint": ops.Round,
        "nearbyint": ops.Round,
        "fmin": ops.Min,
        "fmax": ops.Max,
        "fmod": ops.Rem,
        "fast_exp": ops.Exp,
        "fast_log": ops.Log,
        "fast_log2": ops.Log2,
        "fast_sin": ops.Sin,
        "fast_cos": ops.Cos,
        "fast_tan": ops.Tan,
        "fast_pow": ops.Pow,
        "fast_tanh": ops.Tanh,
        "div_rn": ops.Div,
        "fdiv_rn": ops.Div,
        "ddiv_rn": ops.Div,
        "fast_fdivide": ops.Div,
        "sqrt_rn": ops.Sqrt,
        "fsqrt_rn": ops.Sqrt,
        "dsqrt_rn": ops.Sqrt,
        "fma_rn": ops.Fma,
        "abs": ops.Abs,
        "llabs": ops.Abs,
        "min": ops.Min,
        "max": ops.Max,
    }
)


def _call(scope: Scope, tree: Tree) -> list[Value]:
    symbol = tree.attributes["symbol"]
    name = symbol.removeprefix("__nv_")
    operands = scope.operands(tree)
    if name in ("isnand", "isnanf"):
        return [scope.cast(scope.value(ops.Ne, operands[0], operands[0]), _result(scope, tree))]
    if name in ("isinfd", "isinff"):
        infinite = scope.constant(operands[0].type, float("inf"))
        found = scope.value(ops.Eq, scope.value(ops.Abs, operands[0]), infinite)
        return [scope.cast(found, _result(scope, tree))]
    definition = _FUNCTIONS.get(name) or _FUNCTIONS.get(name.removesuffix("f"))
    if definition is None:
        raise unsupported(tree, f"the function {symbol} of the device library is not known")
    return [scope.value(definition, *operands)]


def _result(scope: Scope, tree: Tree) -> Any:
    from xdsl_core.ir.types import dtype_of

    return dtype_of(scope.result_type(tree))


CONVERTERS: Mapping[str, Convert] = MappingProxyType({"tt.extern_elementwise": _call})
