"""Atomic updates: a compare-and-swap loop on the bits, for every element type and kind alike."""

from __future__ import annotations

from types import MappingProxyType

from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, pointee_of
from xdsl_cpu_c.codegen.context import Context
from xdsl_cpu_c.codegen.conversions import round_to
from xdsl_cpu_c.codegen.op_tables import C_TYPES, is_narrow_float, register_of

_COMBINE: MappingProxyType[str, str] = MappingProxyType(
    {"add": "add", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}
)

_UPDATE = """\
static inline {register} {name}({memory} *p, {register} value)
{{
    uint{bits}_t seen = __atomic_load_n((uint{bits}_t *)p, {order}), wanted;
    {register} before;
    do {{
        {memory} bits;
        __builtin_memcpy(&bits, &seen, sizeof bits);
        before = {load};
        {store};
        __builtin_memcpy(&wanted, &bits, sizeof bits);
    }} while (!__atomic_compare_exchange_n((uint{bits}_t *)p, &seen, wanted, 0, {order}, {order}));
    return before;
}}
"""

_EXCHANGE = """\
static inline {register} {name}({memory} *p, {register} expected, {register} value)
{{
    {memory} bits;
    uint{bits}_t seen, wanted;
    {store_expected};
    __builtin_memcpy(&seen, &bits, sizeof bits);
    {store_value};
    __builtin_memcpy(&wanted, &bits, sizeof bits);
    __atomic_compare_exchange_n((uint{bits}_t *)p, &seen, wanted, 0, {order}, {order});
    __builtin_memcpy(&bits, &seen, sizeof bits);
    return {load};
}}
"""


def atomic_rmw(context: Context, op: Op, pointer: str, value: str) -> str:
    """C call that updates one element and gives what was there before."""
    element, kind = pointee_of(op.operand("pointer").type), op.attributes["kind"]
    name = f"atomic_{kind}_{element.name}"
    if name not in context.helpers:
        register = register_of(element)
        combined = "value"
        if kind in _COMBINE:
            combined = context.call(f"{register}_{_COMBINE[kind]}", "before", "value")
        if is_narrow_float(element):
            combined = round_to(context, element.name, combined, 1)
        context.helpers[name] = _UPDATE.format(
            name=name, store=_store(context, element, combined), **_parts(context, element)
        )
    return f"{name}({pointer}, {value})"


def atomic_cas(context: Context, op: Op, pointer: str, expected: str, value: str) -> str:
    """C call that writes `value` where `expected` was, and gives what was there before."""
    element = pointee_of(op.operand("pointer").type)
    name = f"atomic_cas_{element.name}"
    if name not in context.helpers:
        context.helpers[name] = _EXCHANGE.format(
            name=name,
            store_expected=_store(context, element, "expected"),
            store_value=_store(context, element, "value"),
            **_parts(context, element),
        )
    return f"{name}({pointer}, {expected}, {value})"


def _parts(context: Context, element: DType) -> dict[str, str]:
    register = register_of(element)
    return {
        "register": "bool_t" if element.is_bool else C_TYPES[register],
        "memory": C_TYPES[element.name],
        "bits": str(8 * element.bytes),
        "order": "__ATOMIC_SEQ_CST",
        "load": context.call(f"load_{element.name}_{register}", "&bits"),
    }


def _store(context: Context, element: DType, value: str) -> str:
    return context.call(f"store_{element.name}_{register_of(element)}", "&bits", value)
