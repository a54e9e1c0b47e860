"""Prints and assertions: what a program says, and how it says that something is wrong."""

from __future__ import annotations

import math

from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, TileType, Value, element_of
from xdsl_cpu_c.codegen.context import Context, row_major

FAILURE = """\
/* The first assertion that failed: its number, counted from 1, and the program's. */
int64_t failure[2];

static void fail(int64_t site, int64_t program)
{
    int64_t none = 0;
    if (__atomic_compare_exchange_n(&failure[0], &none, site, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        failure[1] = program;
}
"""


def write_print(context: Context, op: Op) -> None:
    """Print as the op says: a line a value, each with the program's id and the prefix, all elements, rows in
    brackets.
    """
    context.helpers["stdio"] = "#include <stdio.h>\n"
    prefix = _escape(op.attributes["prefix"])
    head = f'printf("(%d, %d, %d) %s", program_x, program_y, program_z, "{prefix}");'
    with context.scope(""):
        context.lines.add("flockfile(stdout);")
        for value in op.operands or (None,):
            context.lines.add(head)
            if value is not None:
                _print_value(context, value, " " if prefix else "", op.attribute("hex"))
            context.lines.add('printf("\\n");')
        context.lines.add("fflush(stdout);")
        context.lines.add("funlockfile(stdout);")


def _print_value(context: Context, value: Value, space: str, hexadecimal: bool) -> None:
    element = element_of(value.type)
    form, cast = _format(element if isinstance(element, DType) else None, hexadecimal)
    lines = context.lines
    if not isinstance(value.type, TileType):
        lines.add(f'printf("{space}{form}", {_number(cast, context.scalar(value))});')
        return
    if space:
        lines.add(f'printf("{space}");')
    index = context.names.fresh("e")
    strides = row_major(value.type.shape)
    rows = [extent * stride for extent, stride in zip(value.type.shape, strides, strict=True)]
    with context.scope(f"for (int {index} = 0; {index} < {math.prod(value.type.shape)}; ++{index})"):
        lines.add(f"if ({index}) putchar(' ');")
        for row in rows:
            lines.add(f"if ({index} % {row} == 0) putchar('[');")
        number = _number(cast, f"{context.buffers[value].name}[{index}]")
        lines.add(f'printf("{form}", {number});')
        for row in reversed(rows):
            lines.add(f"if ({index} % {row} == {row - 1}) putchar(']');")


def _format(element: DType | None, hexadecimal: bool) -> tuple[str, str]:
    """(printf conversion, C cast); pointers are addresses."""
    if element is None:
        return "0x%016llx", "(unsigned long long)(uintptr_t)"
    if element.is_float:
        return "%g", "(double)"
    if hexadecimal:
        return f"0x%0{max(1, element.bits // 4)}llx", f"(unsigned long long)(uint{8 * element.bytes}_t)"
    return ("%llu", "(unsigned long long)") if element.kind == "uint" else ("%lld", "(long long)")


def _number(cast: str, text: str) -> str:
    """The C value to print; C prints the sign of NaN, which means nothing."""
    return f'{text} == {text} ? {text} : __builtin_nan("")' if cast == "(double)" else f"{cast}{text}"


def write_assert(context: Context, op: Op) -> None:
    """Record the first failure and leave the program; the launch reports it after the others have run."""
    context.helpers["failure"] = FAILURE
    context.failures.append((op.attributes["message"], op))
    condition, mask = op.operand("condition"), op.optional("mask")
    lines = context.lines
    if isinstance(condition.type, TileType):
        index = context.names.fresh("e")
        lines.add(f"for (int {index} = 0; {index} < {math.prod(condition.type.shape)}; ++{index})")
        holds = f"{context.buffers[condition].name}[{index}]"
        counts = f"{context.buffers[mask].name}[{index}]" if mask is not None else ""
        lines.depth += 1
        _stop_unless(context, holds, counts)
        lines.depth -= 1
    else:
        _stop_unless(context, context.scalar(condition), context.scalar(mask) if mask is not None else "")


def _stop_unless(context: Context, holds: str, counts: str) -> None:
    with context.scope(f"if (!{holds} && {counts})" if counts else f"if (!{holds})"):
        context.lines.add(f"fail({len(context.failures)}, program);")
        context.lines.add("goto next_program;")


def _escape(text: str) -> str:
    """The text inside a C string literal: bytes that are no plain characters in octal."""
    plain = {ord(character) for character in map(chr, range(32, 127)) if character not in '"\\?'}
    return "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode())
