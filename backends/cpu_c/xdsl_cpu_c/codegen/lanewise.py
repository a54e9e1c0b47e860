"""One lane-by-lane op as one C expression, for a vector of lanes and for a scalar alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.dtypes import DType, bf16
from xdsl_core.ir import Op, PointerType, dtype_of, element_of
from xdsl_cpu_c.codegen.context import Context, register_element
from xdsl_cpu_c.codegen.op_tables import C_TYPES, COMPARISONS, LANEWISE, is_narrow_float, register_of


@dataclass(frozen=True, slots=True)
class Lanes:
    """A computed value: C expression (a name), number of lanes (1: a scalar), register element.

    `boolean` marks truth values (a vector of them is a mask of 0 and -1, a scalar is 0 or 1); `pointee` is
    the C type that a scalar pointer points to (vectors of pointers are i64 byte addresses).
    """

    text: str
    lanes: int
    element: str
    boolean: bool = False
    pointee: str = ""

    @property
    def c_type(self) -> str:
        """C type of a variable that holds this."""
        if self.lanes > 1:
            return f"{self.element}x{self.lanes}"
        if self.pointee:
            return f"{self.pointee} *"
        return "bool_t" if self.boolean else C_TYPES[self.element]


def vector_name(element: str, lanes: int) -> str:
    """Prefix of the library's functions, and C type for more than one lane."""
    return element if lanes == 1 else f"{element}x{lanes}"


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
        return f"!{arguments[0]}"
    register = register_element(operand)
    if lanes == 1 and row.infix and register in ("i32", "i64", "f32", "f64", "u32", "u64"):
        text = f"{arguments[0]} {row.infix} {arguments[1]}"
    else:
        text = context.call(f"{vector_name(register, lanes)}_{name}", *arguments)
    return _rounded(context, op, text, lanes) if row.rounds else text


_MASK_ORDER = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _rounded(context: Context, op: Op, text: str, lanes: int) -> str:
    """Round an f32 result to the narrow format of the op's result, if it has one."""
    element = dtype_of(op.results[0].type)
    return round_to(context, element.name, text, lanes) if is_narrow_float(element) else text


def round_to(context: Context, format: str, text: str, lanes: int) -> str:
    """f32 lanes rounded to a narrow format."""
    return context.call(f"round_{format}_{vector_name('f32', lanes)}", text)


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


def _cast(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    source, target = dtype_of(op.operands[0].type), op.attributes["to"]
    before, after = register_of(source), register_of(target)
    text = arguments[0]
    if target.is_bool:
        if source.is_bool:
            return text
        return f"{text} != 0" if lanes == 1 else context.call(f"bool_{vector_name(before, lanes)}", text)
    if source.is_bool:
        return f"({C_TYPES[after]}){text}" if lanes == 1 else context.call(f"cast_mask_{after}x{lanes}", text)
    if before != after:
        verb = _conversion(before, target, op.attribute("rounding"))
        text = context.call(f"{verb}_{vector_name(before, lanes)}_{vector_name(after, lanes)}", text)
    if not is_narrow_float(target) or source is target or _fits(source.name, target.name):
        return text
    if op.attribute("rounding") == "rtz":
        return _round_toward_zero(context, target.name, text, lanes)
    return round_to(context, target.name, text, lanes)


_WIDE_INTEGERS = frozenset({"i32", "u32", "i64", "u64"})


def _conversion(before: str, target: DType, rounding: str) -> str:
    """How a register becomes one of the target's kind; to odd where an f32 is only half of the way.

    Integers that an f32 does not hold exactly are beyond the range of all narrow formats but bf16.
    """
    if is_narrow_float(target) and (before == "f64" or (before in _WIDE_INTEGERS and target is bf16)):
        return "odd"
    return "truncate" if (before, target.name, rounding) == ("f64", "f32", "rtz") else "cast"


def _fits(source: str, target: str) -> bool:
    """True where every value of `source` is one of `target`."""
    return (source, target) in {
        ("f8e5m2", "f16"),
        ("f8e4m3fn", "f16"),
        ("f8e4m3fn", "bf16"),
        ("f8e5m2", "bf16"),
    }


def _round_toward_zero(context: Context, format: str, text: str, lanes: int) -> str:
    """Round to nearest, then one step back toward zero where that went away from it."""
    name = vector_name("f32", lanes)
    helper = f"truncate_{format}_{name}"
    if helper not in context.helpers:
        bits = "u8" if format.startswith("f8") else "u16"
        wide = vector_name(bits, lanes)
        calls = {
            "code": context.call(f"bits_{format}_{name}", context.call(f"round_{format}_{name}", "x")),
            "gone": context.call(
                f"{name}_gt",
                context.call(f"{name}_abs", context.call(f"round_{format}_{name}", "x")),
                context.call(f"{name}_abs", "x"),
            ),
        }
        one = "gone" if lanes == 1 else context.call(f"cast_mask_{wide}", "gone")
        back = context.call(f"from_bits_{format}_{name}", context.call(f"{wide}_sub", "code", one))
        float_type, bits_type = Lanes("", lanes, "f32").c_type, Lanes("", lanes, bits).c_type
        mask_type = Lanes("", lanes, "i32", boolean=True).c_type
        context.helpers[helper] = (
            f"static inline {float_type} {helper}({float_type} x)\n{{\n"
            f"    const {bits_type} code = {calls['code']};\n"
            f"    const {mask_type} gone = {calls['gone']};\n"
            f"    return {back};\n}}\n"
        )
    return f"{helper}({text})"


def _bitcast(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    source, target = dtype_of(op.operands[0].type), op.attributes["to"]
    text, before = arguments[0], register_of(source)
    if source is target:
        return text
    if is_narrow_float(source):
        text = context.call(f"bits_{source.name}_{vector_name('f32', lanes)}", text)
        before = f"u{source.bits}"
    after = f"u{target.bits}" if is_narrow_float(target) else register_of(target)
    if before != after:
        text = context.call(f"bitcast_{vector_name(before, lanes)}_{vector_name(after, lanes)}", text)
    if is_narrow_float(target):
        text = context.call(f"from_bits_{target.name}_{vector_name('f32', lanes)}", text)
    return text


def _offset(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    """Vectors of pointers are 64-bit byte addresses; a scalar pointer is a C pointer."""
    offset_element = register_element(op.operand("offset").type)
    pointer = element_of(op.result.type)
    assert isinstance(pointer, PointerType)
    if lanes == 1:
        return f"{arguments[0]} + {arguments[1]}"
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
        ops.Cast: _cast,
        ops.BitCast: _bitcast,
        ops.Offset: _offset,
        ops.PointerToInt: _pointer_to_int,
        ops.IntToPointer: _int_to_pointer,
        ops.PointerCast: _pointer_cast,
    }
)
