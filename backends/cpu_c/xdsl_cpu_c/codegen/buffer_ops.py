"""Ops on whole tiles in buffers: reshapes, scans, general reductions, atomics, prints and assertions."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.ir import Op, PointerType, TileType, Value, dtype_of, element_of
from xdsl_cpu_c.codegen.atomics import atomic_cas, atomic_rmw
from xdsl_cpu_c.codegen.context import Buffer, Context, row_major, scalar_c_type
from xdsl_cpu_c.codegen.dot import write_dot
from xdsl_cpu_c.codegen.effects import write_assert, write_print
from xdsl_cpu_c.codegen.op_tables import C_TYPES, is_narrow_float, register_of
from xdsl_cpu_c.codegen.roots import Target, copy_buffer
from xdsl_cpu_c.codegen.scalars import write_scalar
from xdsl_cpu_c.codegen.text import bare


def write_buffer_op(context: Context, op: Op, target: Target) -> None:
    """Write an op whose tile operands are in buffers."""
    _RULES[op.definition](context, op, target)


def _reshape(context: Context, op: Op, target: Target) -> None:
    """Buffers are dense and row-major, so the elements stay where they are: only a copy, for a new owner."""
    held = context.buffers[op.operands[0]]
    buffer = target(op.result, None)
    assert isinstance(op.result.type, TileType)
    same = Buffer(held.name, held.element, buffer.shape, row_major(buffer.shape), held.place)
    copy_buffer(context, buffer, same)
    context.buffers[op.result] = buffer


def _element(context: Context, value: Value, index: str) -> str:
    """C text of element `index` of a buffered tile, or of a scalar."""
    if not isinstance(value.type, TileType):
        return context.scalar(value)
    text = f"{context.buffers[value].name}[{index}]"
    element = element_of(value.type)
    if isinstance(element, PointerType):
        return f"({C_TYPES[element.pointee.name]} *)(intptr_t){text}"
    return text


def _element_type(value: Value) -> str:
    element = element_of(value.type)
    assert not isinstance(element, PointerType)
    return "bool_t" if element.is_bool else C_TYPES[register_of(element)]


def _combine(context: Context, op: Op, accumulated: list[str], following: list[str]) -> list[str]:
    """The combine region as scalar statements; names of what it yields."""
    block = op.region("combine").block
    for argument, name in zip(block.arguments, [*accumulated, *following], strict=True):
        context.scalars[argument] = name
    for inner in block.ops[:-1]:
        write_scalar(context, inner)
    return [context.scalar(value) for value in block.ops[-1].operands]


def _axis_extents(op: Op) -> tuple[int, int, int]:
    """(elements before, along and after the axis)."""
    shape, axis = op.operands[0].type.shape, op.attributes["axis"]
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def _walk(
    context: Context,
    op: Op,
    target: Target,
    step: Callable[[list[str], list[str]], list[str]],
    *,
    scan: bool,
    finish: Callable[[str], str] = str,
) -> None:
    """Loops over everything but the axis, and along it; `step(accumulated, next)` gives the combined
    values, `finish` what becomes of one that is a result.
    """
    outer, extent, inner = _axis_extents(op)
    scalar_results = not isinstance(op.results[0].type, TileType)
    for value in op.results:
        if scalar_results:
            context.scalars[value] = context.names.fresh(value.name or "total")
            context.lines.add(f"{scalar_c_type(value.type)} {context.scalars[value]};")
        else:
            context.buffers[value] = target(value, None)
    o, i, k = (context.names.fresh(name) for name in ("outer", "inner", "k"))
    reverse = scan and op.attribute("reverse")
    lines = context.lines
    with (
        context.scope(f"for (int64_t {o} = 0; {o} < {outer}; ++{o})"),
        context.scope(f"for (int64_t {i} = 0; {i} < {inner}; ++{i})"),
    ):
        totals = [context.names.fresh("acc") for _ in op.operands]
        first = extent - 1 if reverse else 0
        for total, value in zip(totals, op.operands, strict=True):
            start = _element(context, value, f"({o} * {extent} + {first}) * {inner} + {i}")
            lines.add(f"{_element_type(value)} {total} = {start};")
        if scan:
            _put(context, op, list(map(finish, totals)), f"({o} * {extent} + {first}) * {inner} + {i}")
        head = f"{k} = {extent - 2}; {k} >= 0; --{k}" if reverse else f"{k} = 1; {k} < {extent}; ++{k}"
        with context.scope(f"for (int64_t {head})"):
            place = f"({o} * {extent} + {k}) * {inner} + {i}"
            following = []
            for value in op.operands:
                following.append(context.names.fresh("next"))
                lines.add(
                    f"const {_element_type(value)} {following[-1]} = {_element(context, value, place)};"
                )
            joined = step(totals, following)
            spare = [context.names.fresh("joined") for _ in joined]
            for value, name, text in zip(op.operands, spare, joined, strict=True):
                lines.add(f"const {_element_type(value)} {name} = {bare(text)};")
            for total, name in zip(totals, spare, strict=True):
                lines.add(f"{total} = {name};")
            if scan:
                _put(context, op, list(map(finish, totals)), place)
        if not scan:
            _put(context, op, list(map(finish, totals)), f"{o} * {inner} + {i}")


def _put(context: Context, op: Op, totals: list[str], place: str) -> None:
    for value, total in zip(op.results, totals, strict=True):
        target = (
            f"{context.buffers[value].name}[{place}]" if value in context.buffers else context.scalars[value]
        )
        context.lines.add(f"{target} = {total};")


def _reduce(context: Context, op: Op, target: Target) -> None:
    _walk(context, op, target, lambda held, new: _combine(context, op, held, new), scan=False)


def _scan(context: Context, op: Op, target: Target) -> None:
    _walk(context, op, target, lambda held, new: _combine(context, op, held, new), scan=True)


def _cumulative(function: str) -> Callable[[Context, Op, Target], None]:
    def write(context: Context, op: Op, target: Target) -> None:
        element = dtype_of(op.operands[0].type)

        def step(held: list[str], new: list[str]) -> list[str]:
            return [context.call(f"{register_of(element)}_{function}", held[0], new[0])]

        def finish(total: str) -> str:
            # only results are rounded: a sum of many equal terms would stop growing
            return context.call(f"round_{element.name}_f32", total) if is_narrow_float(element) else total

        _walk(context, op, target, step, scan=True, finish=finish)

    return write


def _atomic_rmw(context: Context, op: Op, target: Target) -> None:
    mask = op.optional("mask")

    def call(index: str) -> str:
        pointer, value = (_element(context, op.operand(name), index) for name in ("pointer", "value"))
        text = atomic_rmw(context, op, pointer, value)
        return text if mask is None else f"{_element(context, mask, index)} ? {text} : 0"

    _each_element(context, op, target, call)


def _atomic_cas(context: Context, op: Op, target: Target) -> None:
    names = ("pointer", "compare", "value")

    def call(index: str) -> str:
        return atomic_cas(context, op, *(_element(context, op.operand(name), index) for name in names))

    _each_element(context, op, target, call)


def _each_element(context: Context, op: Op, target: Target, call: Callable[[str], str]) -> None:
    """One element after the other: lanes with equal addresses take effect one by one."""
    buffer = target(op.result, None)
    index = context.names.fresh("e")
    with context.scope(f"for (int {index} = 0; {index} < {math.prod(buffer.shape)}; ++{index})"):
        context.lines.add(f"{buffer.name}[{index}] = {call(index)};")
    context.buffers[op.result] = buffer


def _print(context: Context, op: Op, target: Target) -> None:
    write_print(context, op)


def _assert(context: Context, op: Op, target: Target) -> None:
    write_assert(context, op)


_RULES: MappingProxyType[object, Callable[[Context, Op, Target], None]] = MappingProxyType(
    {
        ops.Dot: write_dot,
        ops.Reshape: _reshape,
        ops.Reduce: _reduce,
        ops.Scan: _scan,
        ops.CumSum: _cumulative("add"),
        ops.CumProd: _cumulative("mul"),
        ops.AtomicRmw: _atomic_rmw,
        ops.AtomicCas: _atomic_cas,
        ops.Print: _print,
        ops.Assert: _assert,
    }
)
