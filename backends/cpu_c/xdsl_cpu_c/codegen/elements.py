"""Single elements in memory, read and written as scalars."""

from __future__ import annotations

import re

from xdsl_core.dtypes import DType
from xdsl_cpu_c.codegen.context import Context
from xdsl_cpu_c.codegen.op_tables import register_of
from xdsl_cpu_c.codegen.text import bare, grouped, is_term


def load_text(context: Context, element: DType, address: str) -> str:
    """The C expression of what stands at an address."""
    if element.name == register_of(element):
        return _place(address)
    return context.call(f"load_{element.name}_{register_of(element)}", address)


def store_text(context: Context, element: DType, address: str, value: str) -> str:
    """The C statement that puts a value at an address."""
    if element.name == register_of(element):
        return f"{_place(address)} = {bare(value)};"
    return f"{context.call(f'store_{element.name}_{register_of(element)}', address, value)};"


def _place(address: str) -> str:
    """The element at an address: `x[i]` for `x + i`."""
    text = bare(address)
    parts = re.fullmatch(r"(\w+) \+ (.+)", text)
    return f"{parts[1]}[{bare(parts[2])}]" if parts and is_term(parts[2]) else f"*{grouped(text)}"
