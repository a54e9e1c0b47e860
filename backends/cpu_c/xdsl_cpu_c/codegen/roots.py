"""The roots of a nest in C: stores, values that get a buffer, reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.analysis.access import Irregular
from xdsl_core.analysis.polynomial import Polynomial
from xdsl_core.ir import Op, TileType, Value
from xdsl_cpu_c.codegen import accesses
from xdsl_cpu_c.codegen.buffers import write_buffer
from xdsl_cpu_c.codegen.context import Buffer, Context, buffer_name, tile_element
from xdsl_cpu_c.codegen.nest import NestWriter
from xdsl_cpu_c.codegen.reductions import reduce
from xdsl_cpu_c.codegen.rows import SMALLER
from xdsl_cpu_c.codegen.steps import Closure, Nest, Root

# The buffer for a value made now; the names are of buffers that are being read at other lanes (None: all may
# be).
Target = Callable[[Value, set[str] | None], Buffer]


def write_nest(context: Context, nest: Nest, target: Target) -> None:
    """Write the loops of a nest; `target` gives the buffers of the values made here."""
    made = [root.op.result for root in nest.roots if root.kind == "materialise"]
    writer = NestWriter(context, nest.shape, nest.closure, set(made))
    _trim(writer, nest)
    for root in nest.roots:
        _ROOTS[root.kind](writer, root, target)
    busy = {
        context.buffers[value].name
        for value, index in writer.known
        if value in context.buffers and index != writer.identity
    }
    buffers = {value: target(value, busy) for value in made}
    _fill_buffers(writer, buffers)
    if writer.begin_rest():
        for root in nest.roots:
            _ROOTS[root.kind](writer, root, target)
        _fill_buffers(writer, buffers)
        writer.end_rest()
    context.buffers.update(buffers)
    writer.write(context.lines)


def _fill_buffers(writer: NestWriter, buffers: dict[Value, Buffer]) -> None:
    for value, buffer in buffers.items():
        write_buffer(writer, buffer, writer.identity, writer.evaluate(value, writer.identity))


def write_value(context: Context, value: Value, buffer: Buffer, closure: Closure) -> None:
    """Loops that evaluate an inline value into a given buffer; zeros are set at once."""
    assert isinstance(value.type, TileType)
    if _is_zero(value):
        count = math.prod(buffer.shape)
        context.lines.add(f"__builtin_memset({buffer.name}, 0, {count} * sizeof *{buffer.name});")
        return
    writer = NestWriter(context, value.type.shape, closure, {value})
    lanes = writer.evaluate(value, writer.identity)
    write_buffer(writer, buffer, writer.identity, lanes)
    writer.write(context.lines)


def _is_zero(value: Value) -> bool:
    """True for a constant all of whose bits are 0."""
    op = value.defining_op
    if op is None or op.definition is not ops.Constant:
        return False
    number = op.attributes["value"]
    return bool(number == 0) and math.copysign(1.0, number) > 0


def copy_buffer(context: Context, target: Buffer, source: Buffer) -> None:
    """Copy a whole tile."""
    if target.name != source.name:
        count = math.prod(target.shape)
        size = f"{count} * sizeof *{target.name}"
        context.lines.add(f"__builtin_memcpy({target.name}, {source.name}, {size});")


def _trim(writer: NestWriter, nest: Nest) -> None:
    """Where every root is a store with the same bounds, loop over outer dimensions just to the bounds."""
    if any(root.kind != "store" for root in nest.roots):
        return
    limits = [_upper(writer, root.op) for root in nest.roots]
    for dim in writer.levels[:-1]:
        first = limits[0].get(dim)
        if first is None or any(other.get(dim) != first for other in limits):
            continue
        writer.context.helpers["smaller"] = SMALLER
        text = str(writer.shape[dim])
        for limit in first:
            text = f"smaller({writer.polynomial(limit)}, {text})"
            writer.kept.add((dim, limit))
        writer.ends[dim] = writer.name(0, "int64_t", text, f"{writer.variables[dim]}_end")


def _upper(writer: NestWriter, op: Op) -> dict[int, tuple[Polynomial, ...]]:
    access = writer.context.order.access(op)
    if isinstance(access, Irregular) or access.bounds is None:
        return {}
    return {
        dim: limits
        for dim, limits in access.bounds.upper.items()
        if all(limit.is_uniform and not _looks_up(limit) for limit in limits)
    }


def _looks_up(limit: Polynomial) -> bool:
    return any(hasattr(symbol, "dims") for symbol in limit.symbols())


def _store(writer: NestWriter, root: Root, target: Target) -> None:
    accesses.store(writer, root.op)


def _materialise(writer: NestWriter, root: Root, target: Target) -> None:
    writer.evaluate(root.op.result, writer.identity)


def _reduce(writer: NestWriter, root: Root, target: Target) -> None:
    op = root.op
    for value in op.results if not writer.resting else ():
        if isinstance(value.type, TileType):
            writer.context.buffers[value] = target(value, None)
    reduce(writer, op)


_ROOTS: MappingProxyType[str, Callable[[NestWriter, Root, Target], None]] = MappingProxyType(
    {"store": _store, "materialise": _materialise, "reduce": _reduce}
)


def new_buffer(context: Context, value: Value) -> Buffer:
    """Fresh scratch memory for a tile value."""
    assert isinstance(value.type, TileType)
    return context.allocate(value.type.shape, tile_element(value.type), buffer_name(value))
