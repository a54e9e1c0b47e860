"""Tiles in buffers, read and written lane by lane inside a loop nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_core.ir import Value
from xdsl_cpu_c.codegen.context import Buffer, hint_of
from xdsl_cpu_c.codegen.lanes import Lanes, vector_name
from xdsl_cpu_c.codegen.op_tables import C_TYPES
from xdsl_cpu_c.codegen.text import bare

if TYPE_CHECKING:
    from xdsl_cpu_c.codegen.nest import Index, NestWriter


def read_buffer(nest: NestWriter, value: Value, buffer: Buffer, index: Index) -> Lanes:
    """Lanes of a buffered tile. Whole vectors may run past a row's end: buffers have slack and the lanes are
    not used.
    """
    place, stride, scope = _buffer_place(nest, buffer, index)
    hint = hint_of(value)
    shape = nest._shape_of(value, 1)
    if stride is None:
        text = f"{buffer.name}[{place}]"
        if shape.pointee:
            text = f"({shape.pointee} *)(intptr_t){text}"
        name = nest.emit(scope, shape.c_type, text, hint)
        return Lanes(name, 1, shape.element, shape.boolean, shape.pointee)
    vector = vector_name(shape.element, nest.lanes)
    address = f"{buffer.name} + {place}"
    if stride != 1:
        part = nest.scratch(C_TYPES[buffer.element], f"{hint}_part")
        count = nest.count or str(nest.lanes)
        arguments = (part, address, str(stride), count, "0", str(nest.lanes))
        address = nest.context.call(f"strided_load_{buffer.element}", *arguments)
    text = nest.context.call(f"load_{buffer.element}_{vector}", address)
    return Lanes(nest.emit(scope, vector, text, hint), nest.lanes, shape.element, shape.boolean)


def write_buffer(nest: NestWriter, buffer: Buffer, index: Index, value: Lanes) -> None:
    """Store lanes into a buffer at an index that has the vectorised dimension, or a scalar where it has
    not.
    """
    place, stride, scope = _buffer_place(nest, buffer, index)
    if stride is None:
        nest.before[scope].add(f"{buffer.name}[{place}] = {pointer_bits(value)};")
        return
    text, address = nest.vector_text(value), f"{buffer.name} + {place}"
    lines = nest.before[scope]
    store = f"store_{buffer.element}_{vector_name(value.element, nest.lanes)}"
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
    return f"(int64_t)(intptr_t){value.text}" if value.pointee else bare(value.text)


def _buffer_place(nest: NestWriter, buffer: Buffer, index: Index) -> tuple[str, int | None, int]:
    """(C index, stride along the vectorised dimension or None if the index lacks it, scope)."""
    stride = next((step for dim, step in zip(index, buffer.strides, strict=True) if dim == nest.vector), None)
    return buffer_index(nest, buffer, index), None if nest.vector is None else stride, nest.scope(index)


def buffer_index(nest: NestWriter, buffer: Buffer, index: Index) -> str:
    """C index of an element of a buffer."""
    terms = [
        nest.variables[dim] if step == 1 else f"{nest.variables[dim]} * {step}"
        for dim, step in zip(index, buffer.strides, strict=True)
        if dim >= 0
    ]
    return " + ".join(terms) or "0"
