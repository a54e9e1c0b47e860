"""Ops on scalars alone: one C statement each."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, TileType, Value, element_of, pointee_of
from xdsl_cpu_c.codegen.atomics import atomic_cas, atomic_rmw
from xdsl_cpu_c.codegen.context import Context, hint_of, literal, scalar_c_type
from xdsl_cpu_c.codegen.effects import write_assert, write_print
from xdsl_cpu_c.codegen.elements import load_text, store_text
from xdsl_cpu_c.codegen.lanewise import expression, is_lanewise
from xdsl_cpu_c.codegen.text import bare, grouped


def write_scalar(context: Context, op: Op) -> None:
    """Write the statement of a scalar op."""
    rule = _RULES.get(op.definition)
    if rule is not None:
        rule(context, op)
        return
    texts = [context.scalar(value) for value in op.operands]
    text = expression(context, op, texts, 1)
    if _is_part(op):
        context.scalars[op.result] = grouped(text)
    else:
        define(context, op.result, text)


def _is_part(op: Op) -> bool:
    """True for a term without a name of its own, computed where the only expression with it is."""
    value = op.result
    if value.name or len(value.uses) != 1 or op.definition is ops.Select:
        return False
    (user,) = value.uses.values()
    tile = any(isinstance(other.type, TileType) for other in (*user.operands, *user.results))
    if user.block is not op.block:
        return False
    return user.definition in _TERMINATORS or (
        not tile and (is_lanewise(user) or user.definition in (ops.Load, ops.Store))
    )


_TERMINATORS = frozenset({ops.Yield, ops.Condition})


def define(context: Context, value: Value, text: str) -> None:
    """A C constant for a scalar value."""
    name = context.names.fresh(hint_of(value))
    c_type = scalar_c_type(value.type)
    head = c_type if c_type.endswith("*") else f"const {c_type} "
    context.lines.add(f"{head}{name} = {bare(text)};")
    context.scalars[value] = name


def _constant(context: Context, op: Op) -> None:
    element = element_of(op.result.type)
    assert isinstance(element, DType)
    context.scalars[op.result] = literal(op.attributes["value"], element)


def _program_id(context: Context, op: Op) -> None:
    context.scalars[op.result] = f"program_{'xyz'[op.attributes['axis']]}"


def _num_programs(context: Context, op: Op) -> None:
    context.scalars[op.result] = f"(int32_t)grid[{op.attributes['axis']}]"


def _load(context: Context, op: Op) -> None:
    pointee = pointee_of(op.operand("pointer").type)
    text = load_text(context, pointee, context.scalar(op.operand("pointer")))
    mask = op.optional("mask")
    if mask is not None:
        other = op.optional("other")
        fill = context.scalar(other) if other is not None else literal(0, pointee)
        text = f"{context.scalar(mask)} ? {text} : {fill}"
    define(context, op.result, text)


def _store(context: Context, op: Op) -> None:
    pointee = pointee_of(op.operand("pointer").type)
    address, value = (context.scalar(op.operand(name)) for name in ("pointer", "value"))
    statement = store_text(context, pointee, address, value)
    mask = op.optional("mask")
    context.lines.add(f"if ({bare(context.scalar(mask))}) {statement}" if mask is not None else statement)


def _atomic_rmw(context: Context, op: Op) -> None:
    pointer, value = (context.scalar(op.operand(name)) for name in ("pointer", "value"))
    text = atomic_rmw(context, op, pointer, value)
    mask = op.optional("mask")
    define(context, op.result, text if mask is None else f"{context.scalar(mask)} ? {text} : 0")


def _atomic_cas(context: Context, op: Op) -> None:
    names = ("pointer", "compare", "value")
    define(context, op.result, atomic_cas(context, op, *(context.scalar(op.operand(name)) for name in names)))


_RULES: MappingProxyType[object, Callable[[Context, Op], None]] = MappingProxyType(
    {
        ops.Constant: _constant,
        ops.ProgramId: _program_id,
        ops.NumPrograms: _num_programs,
        ops.Load: _load,
        ops.Store: _store,
        ops.AtomicRmw: _atomic_rmw,
        ops.AtomicCas: _atomic_cas,
        ops.Print: write_print,
        ops.Assert: write_assert,
    }
)
