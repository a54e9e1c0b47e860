"""What computing a lane again costs, in cheap vector instructions; rough on purpose."""

from __future__ import annotations

from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.analysis.access import Irregular
from xdsl_core.ir import Op, Trait, pointee_of
from xdsl_core.opdef import OpDef
from xdsl_cpu_c.codegen.memory_order import MemoryOrder

REPEAT_LIMIT = 4

_COSTS: MappingProxyType[OpDef, int] = MappingProxyType(
    {
        ops.Splat: 0,
        ops.Constant: 0,
        ops.Arange: 1,
        ops.Broadcast: 0,
        ops.ExpandDims: 0,
        ops.Permute: 0,
        ops.Reshape: 0,
        ops.Div: 5,
        ops.Rem: 20,
        ops.Sqrt: 5,
        ops.Rsqrt: 8,
        ops.Exp: 12,
        ops.Exp2: 12,
        ops.Log: 15,
        ops.Log2: 15,
        ops.Sin: 20,
        ops.Cos: 20,
        ops.Tanh: 20,
        ops.Erf: 20,
        ops.Pow: 100,
    }
)
_IRREGULAR_LOAD = 30


def own_cost(op: Op, order: MemoryOrder) -> int:
    """Cost of one lane of `op`, its operands aside."""
    if op.has(Trait.READS_MEMORY):
        return _load_cost(op, order)
    return _COSTS.get(op.definition, 1)  # type: ignore[call-overload, no-any-return]


def _load_cost(op: Op, order: MemoryOrder) -> int:
    access = order.access(op)
    if isinstance(access, Irregular) or access.bounds is None:
        return _IRREGULAR_LOAD
    last = len(op.result.type.shape) - 1
    stride = access.stride(last)
    if stride is None or stride.constant not in (0, 1):
        return _IRREGULAR_LOAD
    narrow = pointee_of(op.operand("pointer").type).bits < 32
    return 3 if narrow else 2
