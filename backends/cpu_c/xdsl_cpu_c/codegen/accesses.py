"""Loads and stores inside a loop nest: contiguous with bounds where the analysis proved it, else strided or
gathered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xdsl_core.analysis.access import Access, Irregular
from xdsl_core.analysis.uniform import lane_constant
from xdsl_core.dtypes import DType, f32
from xdsl_core.ir import Op, pointee_of
from xdsl_cpu_c.codegen.context import literal
from xdsl_cpu_c.codegen.elements import load_text, store_text
from xdsl_cpu_c.codegen.gathers import gathered, lane_addresses
from xdsl_cpu_c.codegen.index_text import displaced
from xdsl_cpu_c.codegen.lanes import Lanes, vector_name
from xdsl_cpu_c.codegen.op_tables import C_TYPES, is_narrow_float, register_of
from xdsl_cpu_c.codegen.rows import Place, active_lanes, conditions_of, place_of, value_name
from xdsl_cpu_c.codegen.text import is_number

if TYPE_CHECKING:
    from xdsl_cpu_c.codegen.nest import Index, NestWriter


def load(nest: NestWriter, op: Op, index: Index) -> Lanes:
    """The lanes of a load."""
    access = nest.context.order.access(op)
    pointee = pointee_of(op.operand("pointer").type)
    fill, replacement = _fill(nest, op, pointee, index)
    register = register_of(pointee)
    hint = value_name(op)
    scalar_index = nest.vector is None or nest.vector not in index
    regular = not isinstance(access, Irregular) and access.bounds is not None
    if scalar_index:
        return _scalar_load(nest, op, access, index, replacement)
    place = place_of(nest, access, index) if regular else None  # type: ignore[arg-type]
    if place is not None and nest.resting and place.end == nest.resting:
        return replacement or Lanes(_fill_register(op), 1, register, pointee.is_bool, literal=True)
    vector = vector_name(register, nest.lanes)
    scope, mask = len(nest.levels), ""
    if place is None:
        address, mask = gathered(nest, op, access, index, fill)
    elif place.stride == "1" and not place.count:
        address = displaced(place.row, nest.variables[nest.vector])  # type: ignore[index]
    else:
        address = _partial_address(nest, place, pointee, fill, hint)
    text = nest.context.call(f"load_{pointee.name}_{vector}", address)
    name = nest.emit(scope, vector, text, hint)
    if replacement is not None and (mask or (place is not None and place.count)):
        active = mask or active_lanes(nest, place.count)  # type: ignore[union-attr]
        other = nest.vector_text(replacement)
        name = nest.emit(scope, vector, nest.context.call(f"{vector}_select", active, name, other), hint)
    return Lanes(name, nest.lanes, register, pointee.is_bool)


def store(nest: NestWriter, op: Op) -> None:
    """The lanes of a store, at the nest's own index."""
    index = nest.identity
    access = nest.context.order.access(op)
    pointee = pointee_of(op.operand("pointer").type)
    lines = nest.before[len(nest.levels)]
    if nest.vector is None:
        _scalar_store(nest, op, access, index, nest.evaluate(op.operand("value"), index), pointee)
        return
    regular = not isinstance(access, Irregular) and access.bounds is not None
    place = place_of(nest, access, index) if regular else None  # type: ignore[arg-type]
    if place is not None and nest.resting and place.end == nest.resting:
        return
    text = nest.vector_text(nest.evaluate(op.operand("value"), index))
    store_name = f"store_{pointee.name}_{vector_name(register_of(pointee), nest.lanes)}"
    if place is not None and place.stride == "1":
        _store_row(nest, place, pointee, store_name, text)
        return
    variable = nest.variables[nest.vector]
    part = nest.scratch(C_TYPES[pointee.name], "part")
    lines.add(f"{nest.context.call(store_name, part, text)};")
    if place is not None:
        count = place.count or str(nest.lanes)
        address = displaced(place.row, f"{variable} * {place.stride}")
        call = nest.context.call(f"strided_store_{pointee.name}", address, place.stride, part, count)
    else:
        base, offsets, mask = lane_addresses(nest, op, access, index, pointee)
        call = nest.context.call(f"scatter_{pointee.name}", base, offsets, mask, part, str(nest.lanes))
    lines.add(f"{call};")


def _store_row(nest: NestWriter, place: Place, pointee: DType, store_name: str, text: str) -> None:
    """Lanes side by side: all at once, or the active ones where the row ends."""
    assert nest.vector is not None
    lines = nest.before[len(nest.levels)]
    address = displaced(place.row, nest.variables[nest.vector])
    whole = nest.context.call(store_name, address, text)
    if not place.count:
        lines.add(f"{whole};")
        return
    lines.add(f"if ({place.count} == {nest.lanes})")
    lines.add(f"    {whole};")
    with lines.block("else"):
        part = nest.scratch(C_TYPES[pointee.name], "part", lines)
        lines.add(f"{nest.context.call(store_name, part, text)};")
        tail = nest.context.call(f"partial_store_{pointee.name}", address, part, place.count)
        lines.add(f"{tail};")


def _fill(nest: NestWriter, op: Op, pointee: DType, index: Index) -> tuple[str, Lanes | None]:
    """C constant for inactive lanes in memory form, and the lanes of `other` where it is no constant."""
    other = op.optional("other")
    if other is None:
        return "0", None
    constant = lane_constant(other)
    if constant is not None:
        return memory_literal(constant, pointee), None
    return "0", nest.evaluate(other, index)


def memory_literal(value: float | int | bool, element: DType) -> str:
    """A C constant with the bits that `value` has in memory."""
    if element.is_bool:
        return str(int(bool(value)))
    if is_narrow_float(element):
        bits = np.array(value, np.float64).astype(element.numpy).view(f"u{element.bytes}")
        return hex(int(bits))
    return literal(value, element)


def _partial_address(nest: NestWriter, place: Place, pointee: DType, fill: str, hint: str) -> str:
    """Pointer to lanes of which some may be inactive, or apart: they are collected in a scratch array."""
    assert nest.vector is not None
    c_type, variable = C_TYPES[pointee.name], nest.variables[nest.vector]
    part = nest.scratch(c_type, f"{hint}_part")
    count = place.count or str(nest.lanes)
    whole = displaced(place.row, variable)
    if place.stride == "1":
        arguments = (part, whole, count, fill, str(nest.lanes))
        call = nest.context.call(f"partial_load_{pointee.name}", *arguments)
        return f"{count} == {nest.lanes} ? {whole} : {call}"
    address = displaced(place.row, f"{variable} * {place.stride}")
    call = nest.context.call(
        f"strided_load_{pointee.name}", part, address, place.stride, count, fill, str(nest.lanes)
    )
    if is_number(place.stride):
        return call
    conditions = [f"{place.stride} == 1", *([f"{place.count} == {nest.lanes}"] if place.count else [])]
    return f"{' && '.join(conditions)} ? {whole} : {call}"


def _scalar_condition(nest: NestWriter, op: Op, access: Access | Irregular, index: Index) -> str:
    """C truth of the mask at an index without vector lanes; "" if there is none."""
    mask = op.optional("mask")
    if mask is None:
        return ""
    if isinstance(access, Irregular) or access.bounds is None:
        return nest.evaluate(mask, index).text
    if access.bounds.never:
        return "0"
    parts = conditions_of(nest, access.bounds)
    for dim, polynomials in access.bounds.upper.items():
        lane = nest.variables[index[dim]] if index[dim] >= 0 else "0"
        limits = [nest.in_iteration(limit, index) for limit in polynomials]
        parts += [
            f"{lane} < {nest.polynomial(limit)}" for limit in limits if (index[dim], limit) not in nest.kept
        ]
    return " && ".join(parts)


def _scalar_address(nest: NestWriter, op: Op, access: Access | Irregular, index: Index) -> str:
    if isinstance(access, Irregular):
        return nest.evaluate(op.operand("pointer"), index).text
    rest = nest.in_iteration(access.offset, index)
    return displaced(nest.context.scalar(access.base), nest.polynomial(rest))


def _scalar_load(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, replacement: Lanes | None
) -> Lanes:
    pointee = pointee_of(op.operand("pointer").type)
    register, scope = register_of(pointee), nest.scope(index)
    condition = _scalar_condition(nest, op, access, index)
    text = load_text(nest.context, pointee, _scalar_address(nest, op, access, index))
    if condition:
        other = replacement.text if replacement is not None else _fill_register(op)
        text = f"{condition} ? {text} : {other}"
    c_type = "bool_t" if pointee.is_bool else C_TYPES[register]
    return Lanes(nest.emit(scope, c_type, text, value_name(op)), 1, register, pointee.is_bool)


def _fill_register(op: Op) -> str:
    """The constant that inactive lanes get, as it is in a register; 0 where the kernel leaves it open."""
    element = pointee_of(op.operand("pointer").type)
    other = op.optional("other")
    value = 0 if other is None else lane_constant(other)
    assert value is not None
    if is_narrow_float(element):
        return literal(float(np.array(value, np.float64).astype(element.numpy)), f32)
    return literal(value, element)


def _scalar_store(
    nest: NestWriter, op: Op, access: Access | Irregular, index: Index, value: Lanes, pointee: DType
) -> None:
    condition = _scalar_condition(nest, op, access, index)
    address = _scalar_address(nest, op, access, index)
    statement = store_text(nest.context, pointee, address, value.text)
    nest.before[0].add(f"if ({condition}) {statement}" if condition else statement)
