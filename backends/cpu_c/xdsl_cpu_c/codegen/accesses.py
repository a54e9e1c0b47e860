"""Loads and stores inside a loop nest: contiguous with bounds where the analysis proved it, else strided or
gathered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xdsl_core import ops
from xdsl_core.analysis.access import Access, Bounds, Irregular
from xdsl_core.analysis.polynomial import Lane, Monomial, Opaque, Polynomial, Uniform
from xdsl_core.dtypes import DType, f32
from xdsl_core.ir import Op, Value, pointee_of
from xdsl_cpu_c.codegen.context import Buffer, literal
from xdsl_cpu_c.codegen.lanes import Lanes, vector_name
from xdsl_cpu_c.codegen.op_tables import C_TYPES, is_narrow_float, register_of

if TYPE_CHECKING:
    from xdsl_cpu_c.codegen.nest import Index, NestWriter


@dataclass(frozen=True, slots=True)
class Place:
    """Where the lanes of one access are: C pointer to lane 0 of the row, C stride, lane count ("" if all are
    active).

    `end` is the C name of the row's end if the access has one.
    """

    row: str
    stride: str
    count: str
    end: str


def read_buffer(nest: NestWriter, value: Value, buffer: Buffer, index: Index) -> Lanes:
    """Lanes of a buffered tile. Whole vectors may run past a row's end: buffers have slack and the lanes are
    not used.
    """
    address, stride, scope = _buffer_address(nest, buffer, index)
    hint = value.name or "tile"
    shape = nest._shape_of(value, 1)
    if stride is None:
        text = nest.context.call(f"load_{buffer.element}_{shape.element}", address)
        if buffer.element == "i1":
            text = f"*({address})"
        if shape.pointee:
            text = f"({shape.pointee} *)(intptr_t)*({address})"
        return Lanes(
            nest.emit(scope, shape.c_type, text, hint), 1, shape.element, shape.boolean, shape.pointee
        )
    vector = vector_name(shape.element, nest.lanes)
    if stride != 1:
        c_type = C_TYPES[buffer.element]
        part = nest.scratch(c_type, f"{hint}_part")
        count = nest.count or str(nest.lanes)
        arguments = (part, address, str(stride), count, "0", str(nest.lanes))
        address = nest.context.call(f"strided_load_{buffer.element}", *arguments)
    text = nest.context.call(f"load_{buffer.element}_{vector}", address)
    return Lanes(nest.emit(scope, vector, text, hint), nest.lanes, shape.element, shape.boolean)


def write_buffer(nest: NestWriter, buffer: Buffer, index: Index, value: Lanes) -> None:
    """Store lanes into a buffer at an index that has the vectorised dimension, or a scalar where it has
    not.
    """
    address, stride, scope = _buffer_address(nest, buffer, index)
    lines = nest.before[scope]
    if stride is None:
        lines.add(f"*({address}) = {pointer_bits(value)};")
        return
    text = nest.vector_text(value, scope)
    vector = vector_name(value.element, nest.lanes)
    store = f"store_{buffer.element}_{vector}"
    if stride == 1 and not nest.count:
        lines.add(f"{nest.context.call(store, address, text)};")
        return
    part = nest.scratch(C_TYPES[buffer.element], "part")
    lines.add(f"{nest.context.call(store, part, text)};")
    count = nest.count or str(nest.lanes)
    if stride == 1:
        lines.add(f"{nest.context.call(f'partial_store_{buffer.element}', address, part, count)};")
    else:
        lines.add(
            f"{nest.context.call(f'strided_store_{buffer.element}', address, str(stride), part, count)};"
        )


def pointer_bits(value: Lanes) -> str:
    """A scalar as it stands in a buffer: pointers as integers."""
    return f"(int64_t)(intptr_t){value.text}" if value.pointee else value.text


def _buffer_address(nest: NestWriter, buffer: Buffer, index: Index) -> tuple[str, int | None, int]:
    """(C pointer, stride along the vectorised dimension or None if the index lacks it, scope)."""
    terms, stride = [buffer.name], None
    for dim, step in zip(index, buffer.strides, strict=True):
        if dim < 0:
            continue
        terms.append(nest.variables[dim] if step == 1 else f"{step} * {nest.variables[dim]}")
        if dim == nest.vector:
            stride = step
    return " + ".join(terms), stride, nest.scope(index)


def load(nest: NestWriter, op: Op, index: Index) -> Lanes:
    """The lanes of a load."""
    access = nest.context.order.access(op)
    pointee = pointee_of(op.operand("pointer").type)
    fill, replacement = _fill(nest, op, pointee, index)
    register = register_of(pointee)
    hint = op.result.name or "value"
    scalar_index = nest.vector is None or nest.vector not in index
    regular = not isinstance(access, Irregular) and access.bounds is not None
    if scalar_index:
        return _scalar_load(nest, op, access, index, replacement)
    place = _place(nest, access, index) if regular else None  # type: ignore[arg-type]
    if place is not None and nest.resting and place.end == nest.resting:
        return replacement or Lanes(_fill_register(op), 1, register, pointee.is_bool)
    vector = vector_name(register, nest.lanes)
    scope = len(nest.levels)
    if place is not None and place.stride == "1" and not place.count:
        address = f"{place.row} + {nest.variables[nest.vector]}"  # type: ignore[index]
        mask = ""
    elif place is not None:
        address, mask = _partial_address(nest, place, pointee, fill, hint), ""
    else:
        address, mask = _gathered(nest, op, access, index, fill)
    text = nest.context.call(f"load_{pointee.name}_{vector}", address)
    name = nest.emit(scope, vector, text, hint)
    if replacement is not None and (mask or (place is not None and place.count)):
        active = mask or active_lanes(nest, place.count)  # type: ignore[union-attr]
        other = nest.vector_text(replacement, scope)
        name = nest.emit(scope, vector, nest.context.call(f"{vector}_select", active, name, other), hint)
    return Lanes(name, nest.lanes, register, pointee.is_bool)


def store(nest: NestWriter, op: Op) -> None:
    """The lanes of a store, at the nest's own index."""
    index = nest.identity
    access = nest.context.order.access(op)
    pointee = pointee_of(op.operand("pointer").type)
    scope = len(nest.levels)
    lines = nest.before[scope]
    if nest.vector is None:
        _scalar_store(nest, op, access, index, nest.evaluate(op.operand("value"), index), pointee)
        return
    regular = not isinstance(access, Irregular) and access.bounds is not None
    place = _place(nest, access, index) if regular else None  # type: ignore[arg-type]
    if place is not None and nest.resting and place.end == nest.resting:
        return
    vector = vector_name(register_of(pointee), nest.lanes)
    text = nest.vector_text(nest.evaluate(op.operand("value"), index), scope)
    store_name = f"store_{pointee.name}_{vector}"
    variable = nest.variables[nest.vector]
    if place is not None and place.stride == "1":
        whole = nest.context.call(store_name, f"{place.row} + {variable}", text)
        if not place.count:
            lines.add(f"{whole};")
            return
        part = nest.scratch(C_TYPES[pointee.name], "part")
        lines.add(f"if ({place.count} == {nest.lanes})")
        lines.add(f"    {whole};")
        with lines.block("else"):
            lines.add(f"{nest.context.call(store_name, part, text)};")
            tail = nest.context.call(
                f"partial_store_{pointee.name}", f"{place.row} + {variable}", part, place.count
            )
            lines.add(f"{tail};")
        return
    part = nest.scratch(C_TYPES[pointee.name], "part")
    lines.add(f"{nest.context.call(store_name, part, text)};")
    if place is not None:
        count = place.count or str(nest.lanes)
        address = f"{place.row} + {variable} * {place.stride}"
        call = nest.context.call(f"strided_store_{pointee.name}", address, place.stride, part, count)
    else:
        base, offsets, mask = _lane_addresses(nest, op, access, index, pointee)
        call = nest.context.call(f"scatter_{pointee.name}", base, offsets, mask, part, str(nest.lanes))
    lines.add(f"{call};")


def _fill(nest: NestWriter, op: Op, pointee: DType, index: Index) -> tuple[str, Lanes | None]:
    """C constant for inactive lanes in memory form, and the lanes of `other` where it is no constant."""
    other = op.optional("other")
    while other is not None and other.defining_op is not None and other.defining_op.definition is ops.Splat:
        other = other.defining_op.operands[0]
    if other is None:
        return "0", None
    definer = other.defining_op
    if definer is not None and definer.definition is ops.Constant:
        return memory_literal(definer.attributes["value"], pointee), None
    source = op.optional("other")
    assert source is not None
    return "0", nest.evaluate(source, index)


def memory_literal(value: float | int | bool, element: DType) -> str:
    """A C constant with the bits that `value` has in memory."""
    if element.is_bool:
        return str(int(bool(value)))
    if is_narrow_float(element):
        bits = np.array(value, np.float64).astype(element.numpy).view(f"u{element.bytes}")
        return hex(int(bits))
    return literal(value, element)


def _place(nest: NestWriter, access: Access, index: Index) -> Place | None:
    """The lanes of a structured access as row pointer, stride and count; None if that is not what they
    are.
    """
    assert nest.vector is not None
    assert access.bounds is not None
    parts = nest.in_iteration(access.offset, index).split(nest.vector)
    if parts is None or (not parts[0].is_uniform and nest.vector in parts[0].lane_dims()):
        return None
    stride, rest = parts
    if stride.constant == 0:
        return None
    end = _row_end(nest, access.bounds, index)
    if end is None:
        return None
    row = _row_pointer(nest, access.base, rest)
    stride_text = "1"
    if stride.constant != 1:
        stride_text = nest.name(nest.polynomial_scope(stride), "int64_t", nest.polynomial(stride), "stride")
    if nest.resting and end == nest.resting:
        return Place(row, stride_text, "0", end)
    return Place(row, stride_text, nest.count_until(end) if end else nest.count, end)


def _row_pointer(nest: NestWriter, base: Value, rest: Polynomial) -> str:
    name = nest.context.scalar(base)
    if not rest.terms:
        return name
    pointee = C_TYPES[pointee_of(base.type).name]
    scope = nest.polynomial_scope(rest)
    return nest.name(scope, f"{pointee} *", f"{name} + ({nest.polynomial(rest)})", f"{name}_row")


def _row_end(nest: NestWriter, bounds: Bounds, index: Index) -> str | None:
    """C name of the first inactive lane of a row, "" if all are active, None if the bounds are no such
    thing.
    """
    if bounds.never:
        return "0"
    limits: list[str] = []
    conditions = _conditions(nest, bounds)
    scopes = [0, *(nest.polynomial_scope(limit) for limit in bounds.negative)]
    for dim, polynomials in bounds.upper.items():
        for polynomial in polynomials:
            limit = nest.in_iteration(polynomial, index)
            if nest.vector in limit.lane_dims():
                return None
            scopes += [
                nest.polynomial_scope(limit),
                0 if index[dim] == nest.vector else nest.scope((index[dim],)),
            ]
            if index[dim] == nest.vector:
                limits.append(nest.polynomial(limit))
            else:
                lane = nest.variables[index[dim]] if index[dim] >= 0 else "0"
                conditions.append(f"{lane} < {nest.polynomial(limit)}")
    return _named_end(nest, limits, conditions, max(scopes)) if limits or conditions else ""


def _named_end(nest: NestWriter, limits: list[str], conditions: list[str], scope: int) -> str:
    """The variable that holds the end of a row: the smallest limit, 0 where a condition fails."""
    text, *others = [*limits, str(nest.extent)] if nest.count or not limits else limits
    for other in others:
        nest.context.helpers["smaller"] = SMALLER
        text = f"smaller({text}, {other})"
    if conditions:
        text = f"{' && '.join(conditions)} ? {text} : 0"
    name = nest.name(scope, "int64_t", text, "end")
    if limits:
        nest.row_ends[name] = scope
    return name


SMALLER = """\
static inline int64_t smaller(int64_t x, int64_t y)
{
    return x < y ? x : y;
}
"""


LARGER = """\
static inline int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}
"""


def _conditions(nest: NestWriter, bounds: Bounds) -> list[str]:
    found = [nest.context.scalar(value) for value in bounds.conditions]
    return found + [f"{nest.polynomial(limit)} < 0" for limit in bounds.negative]


def _partial_address(nest: NestWriter, place: Place, pointee: DType, fill: str, hint: str) -> str:
    """Pointer to lanes of which some may be inactive, or apart: they are collected in a scratch array."""
    assert nest.vector is not None
    c_type, variable = C_TYPES[pointee.name], nest.variables[nest.vector]
    part = nest.scratch(c_type, f"{hint}_part")
    count = place.count or str(nest.lanes)
    whole = f"{place.row} + {variable}"
    conditions = [f"{place.count} == {nest.lanes}"] if place.count else []
    if place.stride == "1":
        call = nest.context.call(f"partial_load_{pointee.name}", part, whole, count, fill, str(nest.lanes))
    else:
        address = f"{place.row} + {variable} * {place.stride}"
        arguments = (part, address, place.stride, count, fill, str(nest.lanes))
        call = nest.context.call(f"strided_load_{pointee.name}", *arguments)
        conditions.insert(0, f"{place.stride} == 1")
    text = f"{' && '.join(conditions)} ? {whole} : {call}"
    return nest.emit(len(nest.levels), f"{c_type} *", text, f"{hint}_lanes", const="const ")


def active_lanes(nest: NestWriter, count: str) -> str:
    """Mask of the first `count` lanes."""
    prefix = f"i32x{nest.lanes}"
    numbers = nest.name(0, prefix, nest.context.call(f"{prefix}_iota"), "i32_lanes")
    text = nest.context.call(f"{prefix}_lt", numbers, nest.context.call(f"{prefix}_splat", count))
    return nest.name(len(nest.levels), prefix, text, "active")


def _gathered(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, fill: str
) -> tuple[str, str]:
    """(call that collects the lanes and gives a pointer to them, their mask as a vector or "")."""
    pointee = pointee_of(op.operand("pointer").type)
    base, offsets, mask = _lane_addresses(nest, op, access, index, pointee)
    part = nest.scratch(C_TYPES[pointee.name], f"{op.result.name or 'value'}_part")
    lanes = str(nest.lanes)
    address = nest.context.call(f"gather_{pointee.name}", part, base, offsets, mask, fill, lanes)
    vector_mask = "" if mask == "0" else nest.context.call(f"load_i32_i32x{lanes}", mask)
    return address, vector_mask


def _lane_addresses(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, pointee: DType
) -> tuple[str, str, str]:
    """(base pointer, name of an array of element offsets, name of an array of lane masks or "0")."""
    nest.regular = False
    scope, prefix = len(nest.levels), f"i64x{nest.lanes}"
    if isinstance(access, Irregular):
        addresses = nest.evaluate(op.operand("pointer"), index)
        text = nest.vector_text(addresses, scope)
        size = pointee.bytes
        base = f"({C_TYPES[pointee.name]} *)0"
        if size > 1:
            first = nest.name(scope, "int64_t", nest.context.call(f"{prefix}_lane", text, "0"), "first")
            base = f"({C_TYPES[pointee.name]} *)(intptr_t)({first} & {size - 1})"
            shift = nest.context.call(f"{prefix}_splat", str(size.bit_length() - 1))
            text = nest.context.call(f"{prefix}_shr", text, shift)
    else:
        offset = nest.in_iteration(access.offset, index)
        vector_part, rest = _by_vector(offset, nest.vector)
        base = _row_pointer(nest, access.base, rest)
        text = _vector_polynomial(nest, vector_part)
    offsets = nest.scratch("int64_t", "offsets")
    nest.before[scope].add(f"{nest.context.call(f'store_i64_{prefix}', offsets, text)};")
    return base, offsets, _lane_mask(nest, op, access, index)


def _lane_mask(nest: NestWriter, op: Op, access: Access | Irregular, index: Index) -> str:
    scope, prefix = len(nest.levels), f"i32x{nest.lanes}"
    active: list[str] = []
    mask = op.optional("mask")
    if mask is not None:
        end = None
        if not isinstance(access, Irregular) and access.bounds is not None:
            end = _row_end(nest, access.bounds, index)
        if end is None:
            active.append(nest.vector_text(nest.evaluate(mask, index), scope))
        elif end:
            active.append(active_lanes(nest, nest.count_until(end)))
    if nest.count:
        active.append(active_lanes(nest, nest.count))
    if not active:
        return "0"
    text = active[0]
    for other in active[1:]:
        text = nest.context.call(f"{prefix}_and", text, other)
    array = nest.scratch("int32_t", "lane_mask")
    nest.before[scope].add(f"{nest.context.call(f'store_i32_{prefix}', array, text)};")
    return array


def _by_vector(offset: Polynomial, vector: int | None) -> tuple[Polynomial, Polynomial]:
    """(terms that change along the vectorised dimension, the other terms)."""
    moving: dict[Monomial, int] = {}
    fixed: dict[Monomial, int] = {}
    for monomial, coefficient in offset.terms.items():
        part = Polynomial({monomial: coefficient})
        (moving if vector in part.lane_dims() else fixed)[monomial] = coefficient
    return Polynomial(moving), Polynomial(fixed)


def _vector_polynomial(nest: NestWriter, value: Polynomial) -> str:
    """A polynomial with vector lanes, in 64-bit arithmetic."""
    scope, prefix = len(nest.levels), f"i64x{nest.lanes}"
    total = ""
    for monomial, coefficient in value.terms.items():
        product = ""
        for symbol in monomial:
            factor = _vector_symbol(nest, symbol)
            product = nest.context.call(f"{prefix}_mul", product, factor) if product else factor
        if coefficient != 1 or not product:
            constant = nest.context.call(f"{prefix}_splat", str(coefficient))
            product = nest.context.call(f"{prefix}_mul", product, constant) if product else constant
        total = nest.context.call(f"{prefix}_add", total, product) if total else product
    if not total:
        total = nest.context.call(f"{prefix}_zero")
    return nest.name(scope, prefix, total, "offset")


def _vector_symbol(nest: NestWriter, symbol: Lane | Uniform | Opaque) -> str:
    scope, prefix = len(nest.levels), f"i64x{nest.lanes}"
    if isinstance(symbol, Lane):
        if symbol.dim == nest.vector:
            return nest.iota("i64")
        return nest.context.call(f"{prefix}_splat", nest.variables[symbol.dim])
    if isinstance(symbol, Uniform):
        return nest.context.call(f"{prefix}_splat", f"(int64_t){nest.context.scalar(symbol.value)}")
    lanes = nest.opaque(symbol)
    if lanes.lanes == 1:
        return nest.context.call(f"{prefix}_splat", f"(int64_t){lanes.text}")
    text = nest.vector_text(lanes, scope)
    if lanes.element == "i64":
        return text
    return nest.name(
        scope, prefix, nest.context.call(f"cast_{lanes.element}x{nest.lanes}_{prefix}", text), "wide"
    )


def _scalar_condition(nest: NestWriter, op: Op, access: Access | Irregular, index: Index) -> str:
    """C truth of the mask at an index without vector lanes; "" if there is none."""
    mask = op.optional("mask")
    if mask is None:
        return ""
    if isinstance(access, Irregular) or access.bounds is None:
        return nest.evaluate(mask, index).text
    if access.bounds.never:
        return "0"
    parts = _conditions(nest, access.bounds)
    for dim, polynomials in access.bounds.upper.items():
        lane = nest.variables[index[dim]] if index[dim] >= 0 else "0"
        parts += [f"{lane} < {nest.polynomial(nest.in_iteration(limit, index))}" for limit in polynomials]
    return " && ".join(parts)


def _scalar_address(nest: NestWriter, op: Op, access: Access | Irregular, index: Index) -> str:
    if isinstance(access, Irregular):
        return nest.evaluate(op.operand("pointer"), index).text
    rest = nest.in_iteration(access.offset, index)
    name = nest.context.scalar(access.base)
    return f"{name} + ({nest.polynomial(rest)})" if rest.terms else name


def _scalar_load(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, replacement: Lanes | None
) -> Lanes:
    pointee = pointee_of(op.operand("pointer").type)
    register, scope = register_of(pointee), nest.scope(index)
    condition = _scalar_condition(nest, op, access, index)
    text = nest.context.call(f"load_{pointee.name}_{register}", _scalar_address(nest, op, access, index))
    if condition:
        other = replacement.text if replacement is not None else _fill_register(op)
        text = f"{condition} ? {text} : {other}"
    c_type = "bool_t" if pointee.is_bool else C_TYPES[register]
    return Lanes(nest.emit(scope, c_type, text, op.result.name or "value"), 1, register, pointee.is_bool)


def _fill_register(op: Op) -> str:
    """The constant that inactive lanes get, as it is in a register; 0 where the kernel leaves it open."""
    element = pointee_of(op.operand("pointer").type)
    other = op.optional("other")
    while other is not None and other.defining_op is not None and other.defining_op.definition is ops.Splat:
        other = other.defining_op.operands[0]
    value = (
        other.defining_op.attributes["value"] if other is not None and other.defining_op is not None else 0
    )
    if is_narrow_float(element):
        return literal(float(np.array(value, np.float64).astype(element.numpy)), f32)
    return literal(value, element)


def _scalar_store(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, value: Lanes, pointee: DType
) -> None:
    condition = _scalar_condition(nest, op, access, index)
    address = _scalar_address(nest, op, access, index)
    call = nest.context.call(f"store_{pointee.name}_{register_of(pointee)}", address, value.text)
    nest.before[0].add(f"if ({condition}) {call};" if condition else f"{call};")
