"""What each op of the dialects `buffer` and `task` becomes: one instruction, or a region of memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from xdsl_core import dtypes, ops
from xdsl_core.ir import BufferType, Op, dtype_of
from xdsl_core.ops import buffer, task
from xdsl_core.passes.memory.layouts import bytes_of_buffer
from xdsl_core.passes.memory.plan_memory import aligned
from xdsl_dsa_sim.isa import GLOBAL, Buffer, Region, Register, Scalar, instruction_set
from xdsl_dsa_sim.lowering.regions import allocation_region, row_bytes, view_region, with_extents

if TYPE_CHECKING:
    from xdsl_dsa_sim.lowering.emit import Emitter

_BYPASS = frozenset({".cs", ".cv", "evict_first"})


def _allocate(emitter: Emitter, op: Op) -> None:
    kind = op.result.type
    assert isinstance(kind, BufferType)
    space = emitter.machine.space(kind.space)
    offset = int(op.attribute("offset"))
    size = aligned(bytes_of_buffer(kind.shape, kind.element, kind.layout), space)
    copies = int(op.attribute("copies"))
    if offset < 0:
        return
    name = op.result.name or "temporary"
    emitter.buffers[op] = Buffer(name, emitter.core, kind.space, offset, size, copies, location=op.location)
    start: Scalar = offset
    if kind.space == emitter.machine.global_space:
        start = Register("workspace") + offset
    emitter.places[op.result] = kind, start, False
    emitter.regions[op.result] = allocation_region(kind, kind.space, start)


def _select(emitter: Emitter, op: Op) -> None:
    kind, start, _ = emitter.places[op.operand("source")]
    space = emitter.machine.space(kind.space)
    size = aligned(bytes_of_buffer(kind.shape, kind.element, kind.layout), space)
    part = emitter.wide(op.operand("part"))
    moved = emitter.sum(emitter.scaled(part, size), start)
    emitter.places[op.result] = kind, moved, False
    emitter.regions[op.result] = allocation_region(kind, kind.space, moved)


def _view(emitter: Emitter, op: Op) -> None:
    kind, start, _ = emitter.places[op.operand("source")]
    origins = op.group("origins")
    for origin, step in zip(origins, row_bytes(kind), strict=False):
        start = emitter.sum(emitter.scaled(emitter.wide(origin), step), start)
    emitter.regions[op.result] = view_region(
        kind,
        kind.space,
        start,
        shape=op.attributes["shape"],
        strides=op.attributes["strides"],
        start=op.attribute("offset"),
        any_row=bool(origins),
    )


def _step(emitter: Emitter, stride: Scalar) -> Scalar:
    """A stride as an instruction takes it: one that runs backwards is in a register."""
    if not isinstance(stride, int) or stride >= 0:
        return stride
    register = emitter.fresh("step")
    emitter.add(emitter.scalar_engine, "set", register, stride, dtype=dtypes.i64)
    return register


def _window(emitter: Emitter, op: Op) -> None:
    kind = op.result.type
    assert isinstance(kind, BufferType)
    strides = tuple(_step(emitter, emitter.wide(stride)) for stride in op.group("strides"))
    address = emitter.scalar(op.operand("pointer"))
    emitter.regions[op.result] = Region(GLOBAL, address, kind.element, kind.shape, strides)


def _copy(emitter: Emitter, op: Op) -> None:
    destination, source = (emitter.region(op.operand(name)) for name in ("destination", "source"))
    if destination.space == source.space:
        emitter.add(op.attributes["engine"], "move", destination, source)
        return
    extents = [emitter.wide(extent) for extent in op.group("extents")]
    fill = op.attribute("fill")
    source = with_extents(source, extents)
    if fill is None:
        destination = with_extents(destination, extents)
    elif isinstance(fill, bool):
        fill = int(fill)
    emitter.add(
        op.attributes["engine"], "copy", destination, source,
        fill=fill if extents else None,
        atomic=op.attribute("atomic") or None,
        cache="bypass" if op.attribute("cache") in _BYPASS else None,
    )  # fmt: skip


def _fill(emitter: Emitter, op: Op) -> None:
    engine = op.attributes["engine"]
    emitter.add(
        engine,
        "store" if engine == emitter.scalar_engine else "fill",
        emitter.region(op.operand("destination")),
        emitter.scalar(op.operand("value")),
    )


def _iota(emitter: Emitter, op: Op) -> None:
    region, start = emitter.region(op.operand("destination")), emitter.scalar(op.operand("start"))
    emitter.add(op.attributes["engine"], "iota", region, start, 1, axis=op.attribute("axis"))


def _compute(emitter: Emitter, op: Op) -> None:
    name = op.attributes["operation"].rpartition(".")[2]
    definition = instruction_set()[name]
    operation = ops.opset()[op.attributes["operation"]]
    sources = op.group("sources")
    slots = [slot.name for slot in operation.operand_schema]
    typed = next(
        (value for slot, value in zip(slots, sources, strict=True) if slot != "condition"), sources[0]
    )
    element = dtype_of(typed.type)
    known = {spec.name for spec in definition.attributes}
    attributes = {key: value for key, value in (op.attribute("attributes") or {}).items() if key in known}
    emitter.add(
        op.attributes["engine"],
        name,
        *(emitter.region(value) for value in op.group("destinations")),
        *(emitter.operand(value) for value in sources),
        dtype=element if definition.typed else None,
        **attributes,
    )


def _read(emitter: Emitter, op: Op) -> None:
    result = emitter.fresh(op.result.name)
    emitter.values[op.result] = result
    emitter.add(emitter.scalar_engine, "load", result, emitter.region(op.operand("source")))


def _gather(emitter: Emitter, op: Op) -> None:
    emitter.add(
        op.attributes["engine"], "gather",
        emitter.region(op.operand("destination")), 0, emitter.region(op.operand("addresses")),
        emitter.optional(op, "mask"), None, scale=1,
    )  # fmt: skip


def _scatter(emitter: Emitter, op: Op) -> None:
    source = op.operand("source")
    emitter.add(
        op.attributes["engine"], "scatter",
        0, emitter.region(op.operand("addresses")), emitter.operand(source), emitter.optional(op, "mask"),
        dtype=dtype_of(source.type), scale=1,
    )  # fmt: skip


def _atomic(emitter: Emitter, op: Op) -> None:
    source = op.operand("source")
    emitter.add(
        op.attributes["engine"], "atomic",
        emitter.optional(op, "destination"), 0,
        emitter.region(op.operand("addresses")), emitter.operand(source),
        emitter.optional(op, "compare"), emitter.optional(op, "mask"),
        dtype=dtype_of(source.type), scale=1, kind=op.attributes["kind"],
    )  # fmt: skip


def _multiply(emitter: Emitter, op: Op) -> None:
    regions = [emitter.region(op.operand(name)) for name in ("accumulator", "lhs", "rhs")]
    emitter.add(
        op.attributes["engine"], "mmad", *regions, emitter.scalar(op.operand("accumulate")),
        precision=op.attribute("precision"),
    )  # fmt: skip


def _print(emitter: Emitter, op: Op) -> None:
    value = op.optional("value")
    operand = None if value is None else emitter.operand(value)
    element = dtypes.i32 if value is None else dtype_of(value.type)
    emitter.add(
        emitter.scalar_engine, "print", operand, dtype=element,
        prefix=op.attributes["prefix"], hex=op.attribute("hex"),
    )  # fmt: skip


def _assert(emitter: Emitter, op: Op) -> None:
    emitter.add(
        emitter.scalar_engine, "assert",
        emitter.operand(op.operand("condition")), emitter.optional(op, "mask"),
        message=op.attributes["message"],
    )  # fmt: skip


def _flag(emitter: Emitter, op: Op) -> None:
    source, target = op.attributes["source"], op.attributes["target"]
    number: Scalar = op.attributes["flag"]
    slot = op.optional("slot")
    if slot is not None:
        number = emitter.sum(emitter.wide(slot), number)
    if op.definition is task.SetFlag:
        emitter.add(source, "set_flag", target, number)
    else:
        emitter.add(target, "wait_flag", source, number)


def _cross(emitter: Emitter, op: Op) -> None:
    sets = op.definition is task.SetCross
    other = op.attributes["target_core" if sets else "source_core"]
    emitter.add(op.attributes["engine"], "set_cross" if sets else "wait_cross", other, op.attributes["flag"])


def _barrier(emitter: Emitter, op: Op) -> None:
    among_cores = op.attribute("group") and emitter.mixed
    emitter.add(emitter.scalar_engine, "barrier_cores" if among_cores else "barrier")


# The rule of each op; scalar code and control flow are in `emit`.
INSTRUCTIONS: Mapping[object, Callable[[Emitter, Op], None]] = MappingProxyType(
    {
        task.SetFlag: _flag,
        task.WaitFlag: _flag,
        task.SetCross: _cross,
        task.WaitCross: _cross,
        task.Barrier: _barrier,
        buffer.Allocate: _allocate,
        buffer.Select: _select,
        buffer.View: _view,
        buffer.Window: _window,
        buffer.Copy: _copy,
        buffer.Fill: _fill,
        buffer.Iota: _iota,
        buffer.Compute: _compute,
        buffer.Read: _read,
        buffer.Gather: _gather,
        buffer.Scatter: _scatter,
        buffer.Atomic: _atomic,
        buffer.Multiply: _multiply,
        buffer.Print: _print,
        buffer.Assert: _assert,
    }
)
