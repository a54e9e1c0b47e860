"""Prints and assertions: what a program says, and how it says that something is wrong."""

from __future__ import annotations

import math

from xdsl_core.dtypes import DType
from xdsl_core.ir import Op, TileType, Value, element_of
from xdsl_cpu_c.codegen.context import Context

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
    """Print the program's id once, then every value with all of its elements."""
    context.helpers["stdio"] = "#include <stdio.h>\n"
    lines, add = context.lines, context.lines.add
    with lines.block(""):
        add("flockfile(stdout);")
        add(f'printf("pid (%d, %d, %d) %s", program_x, program_y, program_z, "{_escape(op.attributes["prefix"])}");')
        for value in op.operands:
            _print_value(context, value, op.attribute("hex"))
        add('printf("\\n");')
        add("fflush(stdout);")
        add("funlockfile(stdout);")


def _print_value(context: Context, value: Value, hexadecimal: bool) -> None:
    element = element_of(value.type)
    form, cast = _format(element if isinstance(element, DType) else None, hexadecimal)
    if not isinstance(value.type, TileType):
        context.lines.add(f'printf(" {form}", {cast}{context.scalar(value)});')
        return
    buffer = context.buffers[value]
    index = context.names.fresh("e")
    context.lines.add('printf(" [");')
    count = math.prod(value.type.shape)
    context.lines.add(f"for (int {index} = 0; {index} < {count}; ++{index})")
    separator = f'{index} ? ", " : ""'
    context.lines.add(f'    printf("%s{form}", {separator}, {cast}{buffer.name}[{index}]);')
    context.lines.add('printf("]");')


def _format(element: DType | None, hexadecimal: bool) -> tuple[str, str]:
    """(printf conversion, C cast); pointers are addresses."""
    if element is None:
        return "%p", "(void *)(intptr_t)"
    if element.is_float:
        return "%.9g", "(double)"
    if hexadecimal:
        return f"0x%0{max(1, element.bits // 4)}llx", f"(unsigned long long)(uint{8 * element.bytes}_t)"
    return ("%llu", "(unsigned long long)") if element.kind == "uint" else ("%lld", "(long long)")


def write_assert(context: Context, op: Op) -> None:
    """Record the first failure; the launch reports it after the programs have run."""
    context.helpers["failure"] = FAILURE
    context.failures.append((op.attributes["message"], op))
    site = len(context.failures)
    condition, mask = op.operand("condition"), op.optional("mask")
    if not isinstance(condition.type, TileType):
        text = f"!{context.scalar(condition)}"
        if mask is not None:
            text += f" && {context.scalar(mask)}"
        context.lines.add(f"if ({text}) fail({site}, program);")
        return
    index = context.names.fresh("e")
    text = f"!{context.buffers[condition].name}[{index}]"
    if mask is not None:
        text += f" && {context.buffers[mask].name}[{index}]"
    context.lines.add(f"for (int {index} = 0; {index} < {math.prod(condition.type.shape)}; ++{index})")
    context.lines.add(f"    if ({text}) fail({site}, program);")


def _escape(text: str) -> str:
    table = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return "".join(table.get(character, character) for character in text)

