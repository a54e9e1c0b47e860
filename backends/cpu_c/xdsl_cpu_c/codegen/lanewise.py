"""One lane-by-lane op as one C expression, for a vector of lanes and for a scalar alike."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.ir import Op, PointerType, dtype_of, element_of
from xdsl_cpu_c.codegen.context import Context, register_element
from xdsl_cpu_c.codegen.conversions import bitcast, cast, round_to
from xdsl_cpu_c.codegen.index_text import displaced
from xdsl_cpu_c.codegen.lanes import Lanes, vector_name
from xdsl_cpu_c.codegen.op_tables import C_TYPES, COMPARISONS, LANEWISE, is_narrow_float
from xdsl_cpu_c.codegen.text import grouped, infix


def splat(context: Context, value: Lanes, lanes: int) -> str:
    """A scalar repeated in every lane."""
    if value.boolean:
        return context.call(f"maskx{lanes}_splat", value.text)
    if value.pointee:
        return context.call(f"i64x{lanes}_splat", f"(int64_t)(intptr_t){value.text}")
    return context.call(f"{vector_name(value.element, lanes)}_splat", value.text)


def expression(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    """The C expression of `op` applied to `arguments`, all of `lanes` lanes."""
    special = _SPECIAL.get(op.definition)
    if special is not None:
        return special(context, op, arguments, lanes)
    return _plain(context, op, arguments, lanes)


def is_lanewise(op: Op) -> bool:
    """True if `expression` knows the op."""
    return op.definition in _SPECIAL or op.definition in LANEWISE


def _plain(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    row = LANEWISE[op.definition]  # type: ignore[index]
    operand = op.operands[0].type
    boolean = not isinstance(element_of(operand), PointerType) and dtype_of(operand).is_bool
    name = row.function
    if boolean and lanes > 1 and op.definition in COMPARISONS:
        name = _MASK_ORDER.get(name, name)
    if boolean and lanes == 1 and op.definition is ops.Not:
        return f"!{grouped(arguments[0])}"
    register = register_element(operand)
    if lanes == 1 and row.infix and register in ("i32", "i64", "f32", "f64", "u32", "u64"):
        text = infix(arguments[0], row.infix, arguments[1])
    else:
        text = context.call(f"{vector_name(register, lanes)}_{name}", *arguments)
    return _rounded(context, op, text, lanes) if row.rounds else text


_MASK_ORDER = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _rounded(context: Context, op: Op, text: str, lanes: int) -> str:
    """Round an f32 result to the narrow format of the op's result, if it has one."""
    element = dtype_of(op.results[0].type)
    return round_to(context, element.name, text, lanes) if is_narrow_float(element) else text


def _select(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    if lanes == 1:
        return f"{arguments[0]} ? {arguments[1]} : {arguments[2]}"
    return context.call(f"{vector_name(register_element(op.result.type), lanes)}_select", *arguments)


def _extreme(name: str) -> Callable[[Context, Op, list[str], int], str]:
    def text(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
        suffix = "_nan" if op.attribute("propagate_nan") else ""
        return context.call(
            f"{vector_name(register_element(op.result.type), lanes)}_{name}{suffix}", *arguments
        )

    return text


def _multiply_high(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    register = register_element(op.result.type)
    name = "umulhi" if register.startswith("u") else "mulhi"
    return context.call(f"{vector_name(register, lanes)}_{name}", *arguments)


def _clamp(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    name = vector_name(register_element(op.result.type), lanes)
    value, low, high = arguments
    if op.attribute("propagate_nan"):
        return context.call(f"{name}_min_nan", context.call(f"{name}_max_nan", value, low), high)
    return context.call(f"{name}_min", context.call(f"{name}_max", value, low), high)


def _offset(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    """Vectors of pointers are 64-bit byte addresses; a scalar pointer is a C pointer."""
    offset_element = register_element(op.operand("offset").type)
    pointer = element_of(op.result.type)
    assert isinstance(pointer, PointerType)
    if lanes == 1:
        return displaced(arguments[0], arguments[1])
    wide = f"i64x{lanes}"
    offset = arguments[1]
    if offset_element != "i64":
        offset = context.call(f"cast_{offset_element}x{lanes}_{wide}", offset)
    scaled = context.call(f"{wide}_mul", offset, context.call(f"{wide}_splat", str(pointer.pointee.bytes)))
    return context.call(f"{wide}_add", arguments[0], scaled)


def _pointer_to_int(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    return f"(int64_t)(intptr_t){arguments[0]}" if lanes == 1 else arguments[0]


def _int_to_pointer(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    pointer = element_of(op.result.type)
    assert isinstance(pointer, PointerType)
    if lanes == 1:
        return f"({C_TYPES[pointer.pointee.name]} *)(intptr_t){arguments[0]}"
    source = register_element(op.operands[0].type)
    return (
        arguments[0]
        if source == "i64"
        else context.call(f"bitcast_{source}x{lanes}_i64x{lanes}", arguments[0])
    )


def _pointer_cast(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    pointer = element_of(op.result.type)
    assert isinstance(pointer, PointerType)
    return f"({C_TYPES[pointer.pointee.name]} *){arguments[0]}" if lanes == 1 else arguments[0]


_SPECIAL: MappingProxyType[object, Callable[[Context, Op, list[str], int], str]] = MappingProxyType(
    {
        ops.Select: _select,
        ops.Max: _extreme("max"),
        ops.Min: _extreme("min"),
        ops.Clamp: _clamp,
        ops.MulHi: _multiply_high,
        ops.Cast: cast,
        ops.BitCast: bitcast,
        ops.Offset: _offset,
        ops.PointerToInt: _pointer_to_int,
        ops.IntToPointer: _int_to_pointer,
        ops.PointerCast: _pointer_cast,
    }
)
