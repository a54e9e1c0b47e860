"""Conversions between element types as C expressions: by value, rounded or saturating, and by bits."""

from __future__ import annotations

from xdsl_core.dtypes import DType, bf16, f32, f64
from xdsl_core.ir import Op, dtype_of
from xdsl_cpu_c.codegen.context import Context, literal
from xdsl_cpu_c.codegen.lanes import Lanes, vector_name
from xdsl_cpu_c.codegen.op_tables import C_TYPES, is_narrow_float, register_of


def cast(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    """The C expression of a cast."""
    source, target = dtype_of(op.operands[0].type), op.attributes["to"]
    before, after = register_of(source), register_of(target)
    text = arguments[0]
    if target.is_bool:
        if source.is_bool:
            return text
        return f"{text} != 0" if lanes == 1 else context.call(f"bool_{vector_name(before, lanes)}", text)
    if source.is_bool:
        return f"({C_TYPES[after]}){text}" if lanes == 1 else context.call(f"cast_mask_{after}x{lanes}", text)
    saturate = op.attribute("saturate")
    if saturate and target.is_integer:
        return _saturated_integer(context, source, target, text, lanes)
    if saturate and before == "f64":
        text = _clamped(context, text, target, f64, lanes)
    text = _converted(context, source, target, op.attribute("rounding"), text, lanes)
    if saturate and before != "f64":
        text = _clamped(context, text, target, f64 if after == "f64" else f32, lanes)
    if not is_narrow_float(target) or source is target or (source.name, target.name) in _WIDENING:
        return text
    if op.attribute("rounding") == "rtz":
        return _round_toward_zero(context, target.name, text, lanes)
    return round_to(context, target.name, text, lanes)


def round_to(context: Context, format: str, text: str, lanes: int) -> str:
    """f32 lanes rounded to a narrow format."""
    return context.call(f"round_{format}_{vector_name('f32', lanes)}", text)


_WIDE_INTEGERS = frozenset({"i32", "u32", "i64", "u64"})
# Narrow formats of which the second one holds every number of the first.
_WIDENING = frozenset({("f8e5m2", "f16"), ("f8e4m3fn", "f16"), ("f8e4m3fn", "bf16"), ("f8e5m2", "bf16")})


def _converted(context: Context, source: DType, target: DType, rounding: str, text: str, lanes: int) -> str:
    """A register of the target's kind from one of the source's."""
    before, after = register_of(source), register_of(target)
    if before == after:
        return text
    verb = _verb(before, after, target, rounding)
    if lanes == 1 and verb == "cast" and not (source.is_float and target.is_integer):
        return f"({C_TYPES[after]}){text}"
    return context.call(f"{verb}_{vector_name(before, lanes)}_{vector_name(after, lanes)}", text)


def _verb(before: str, after: str, target: DType, rounding: str) -> str:
    """How a register becomes another one; to odd where an f32 is only half of the way.

    Integers that an f32 does not hold exactly are beyond the range of all narrow formats but bf16.
    """
    if is_narrow_float(target):
        return "odd" if before == "f64" or (before in _WIDE_INTEGERS and target is bf16) else "cast"
    inexact = (after == "f32" and before in ("f64", *_WIDE_INTEGERS)) or (
        after == "f64" and before in ("i64", "u64")
    )
    return "truncate" if rounding == "rtz" and inexact else "cast"


def _clamped(context: Context, text: str, target: DType, register: DType, lanes: int) -> str:
    """Floats limited to the finite range of the target; NaN stays."""
    name = vector_name(register.name, lanes)
    low, high = (_filled(context, float(bound), register, lanes) for bound in (target.lowest, target.highest))
    return context.call(f"{name}_min_nan", context.call(f"{name}_max_nan", text, low), high)


def _filled(context: Context, value: float | int, element: DType, lanes: int) -> str:
    text = literal(value, element)
    return text if lanes == 1 else context.call(f"{vector_name(element.name, lanes)}_splat", text)


def _saturated_integer(context: Context, source: DType, target: DType, text: str, lanes: int) -> str:
    if source.is_float:
        return _saturated_float(context, source, target, text, lanes)
    name = vector_name(source.name, lanes)
    if source.lowest < target.lowest:
        text = context.call(f"{name}_max", text, _filled(context, target.lowest, source, lanes))
    if source.highest > target.highest:
        text = context.call(f"{name}_min", text, _filled(context, target.highest, source, lanes))
    return _converted(context, source, target, "rtne", text, lanes)


_SATURATE = """\
static inline {result} {name}({argument} x)
{{
    const {mask} above = {above}, below = {below}, number = {number};
    return {chosen};
}}
"""


def _saturated_float(context: Context, source: DType, target: DType, text: str, lanes: int) -> str:
    """Floats as integers: the nearest bound where they are out of range, 0 for NaN."""
    register = f64 if source is f64 else f32
    before, after = vector_name(register.name, lanes), vector_name(target.name, lanes)
    name = f"saturate_{before}_{after}"
    if name not in context.helpers:
        call = context.call
        limit = 2.0 ** (target.bits - target.is_signed)
        low, high, zero = (
            _filled(context, bound, target, lanes) for bound in (target.lowest, target.highest, 0)
        )
        inside = call(f"{after}_select", "below", low, call(f"cast_{before}_{after}", "x"))
        inside = call(f"{after}_select", "above", high, inside)
        context.helpers[name] = _SATURATE.format(
            result=Lanes("", lanes, target.name).c_type,
            argument=Lanes("", lanes, register.name).c_type,
            mask=Lanes("", lanes, "i32", boolean=True).c_type,
            name=name,
            above=call(f"{before}_ge", "x", _filled(context, limit, register, lanes)),
            below=call(f"{before}_le", "x", _filled(context, float(target.lowest), register, lanes)),
            number=call(f"{before}_eq", "x", "x"),
            chosen=call(f"{after}_select", "number", inside, zero),
        )
    return f"{name}({text})"


_TRUNCATE = """\
static inline {floats} {name}({floats} x)
{{
    const {bits} code = {code};
    const {mask} gone = {gone};
    const {floats} back = {back};
    return {result};
}}
"""


def _round_toward_zero(context: Context, format: str, text: str, lanes: int) -> str:
    """Round to nearest, then one step back toward zero where that went away from it."""
    floats = vector_name("f32", lanes)
    name = f"truncate_{format}_{floats}"
    if name not in context.helpers:
        bits = "u8" if format.startswith("f8") else "u16"
        wide, call = vector_name(bits, lanes), context.call
        rounded = round_to(context, format, "x", lanes)
        one = "gone" if lanes == 1 else call(f"cast_mask_{wide}", "gone")
        result = "back"
        if format.endswith("fnuz"):  # what would be -0.0 is the code of NaN there
            vanished = call(f"{vector_name('i32', lanes)}_and", "gone", call(f"{floats}_isnan", "back"))
            result = call(f"{floats}_select", vanished, _filled(context, 0.0, f32, lanes), "back")
        context.helpers[name] = _TRUNCATE.format(
            floats=Lanes("", lanes, "f32").c_type,
            bits=Lanes("", lanes, bits).c_type,
            mask=Lanes("", lanes, "i32", boolean=True).c_type,
            name=name,
            code=call(f"bits_{format}_{floats}", rounded),
            gone=call(f"{floats}_gt", call(f"{floats}_abs", rounded), call(f"{floats}_abs", "x")),
            back=call(f"from_bits_{format}_{floats}", call(f"{wide}_sub", "code", one)),
            result=result,
        )
    return f"{name}({text})"


def bitcast(context: Context, op: Op, arguments: list[str], lanes: int) -> str:
    """The C expression of a bitcast; narrow floats go through their codes."""
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
