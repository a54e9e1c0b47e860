"""A kernel's Triton file: from a lowered Module to text and the facts that compilation and launch need."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

from xdsl_core.backend import Source
from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.ir import Module, PointerType, Type, Value, dtype_of
from xdsl_gpu_triton.codegen.decisions import Decisions
from xdsl_gpu_triton.codegen.names import Names
from xdsl_gpu_triton.codegen.spellings import HELPERS, LIBDEVICE, triton_dtype
from xdsl_gpu_triton.codegen.statements import Function, Line, Writer, write_block

TEMPLATE = "kernel.py.j2"
LANGUAGE = "triton"
_INDENT = "    "
_WIDTH = 108
# Dtypes that Triton gives Python's numbers by itself; other parameters are annotated.
_DEFAULT_DTYPES = ("i32", "i1", "f32")


def generate(module: Module, templates: Mapping[str, str], *, interpreted: bool) -> Source:
    """Triton code for the only function of a module.

    Metadata: `name`, `parameters` ([name, type as in Triton's signatures, divisible by 16] in order),
    `dtypes` (of the numbers or of what pointers point to) and `lines` (the kernel's [file, line, column] for
    each line of the text that has one, by its number from 1).
    """
    (function,) = module.functions.values()
    names = Names(HELPERS)
    name = names.fresh(function.name)
    writer = Writer(Decisions(function), names, interpreted, [])
    for value in function.parameters:
        writer.bind(value, names.fresh(value.name or "argument"))
    write_block(writer, function.block)
    if not writer.lines:
        writer.write("pass")
    body, functions = writer.lines, writer.functions
    written = "\n".join(line.text for part in [body, *(f.lines for f in functions)] for line in part)
    home = function.location.file
    text = _compiled(templates[TEMPLATE]).render(
        title=_title(function.name, function.location),
        file=PurePath(home).name if function.location is not UNKNOWN else "the kernel's file",
        notes=writer.notes,
        libdevice=LIBDEVICE in written,
        helpers=[text for key, text in HELPERS.items() if re.search(rf"\b{key}\b", written)],
        functions=[_function(each, home) for each in functions],
        name=name,
        parameters=", ".join(_parameter(value, writer) for value in function.parameters),
        lines=_with_numbers(body, home),
    )
    metadata = {
        "name": name,
        "parameters": [
            [value.name, signature_type(value.type), hint.get("divisible_by", 1) % 16 == 0]
            for value, hint in zip(function.parameters, function.parameter_attributes, strict=True)
        ],
        "dtypes": [_element(value.type) for value in function.parameters],
        "lines": _locate(text, [*(line for f in functions for line in f.lines), *body]),
    }
    return Source(LANGUAGE, text, metadata=metadata)


@cache
def _compiled(text: str) -> Any:
    """A template ready to render."""
    import jinja2

    return jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True).from_string(
        text
    )


def _title(name: str, location: Location) -> str:
    place = "" if location is UNKNOWN else f" ({PurePath(location.file).name}:{location.line})"
    return f"Kernel {name}{place}, written by xdsl_core's backend gpu_triton."


def signature_type(type: Type) -> str:
    """A type as Triton's signatures write it."""
    if isinstance(type, PointerType):
        return f"*{type.pointee.mangled}"
    dtype = dtype_of(type)
    return "u1" if dtype.is_bool else dtype.mangled


def _element(type: Type) -> str:
    return type.pointee.name if isinstance(type, PointerType) else dtype_of(type).name


def _parameter(value: Value, writer: Writer) -> str:
    name = writer.values[value].text
    if isinstance(value.type, PointerType) or dtype_of(value.type).name in _DEFAULT_DTYPES:
        return name
    return f"{name}: {triton_dtype(dtype_of(value.type))}"


def _function(function: Function, home: str) -> dict[str, Any]:
    return {
        "name": function.name,
        "parameters": ", ".join(function.parameters),
        "lines": _with_numbers(function.lines, home),
    }


def _with_numbers(lines: Sequence[Line], home: str) -> list[str]:
    """The lines with indentation, and the number of the kernel's line at the end where it is a new one."""
    found, previous = [], None
    for line in lines:
        text = _wrapped(_INDENT * line.depth + line.text)
        here = _place(line.location, home)
        # a wrapped line has its number on the last part
        found += text
        if here and here != previous:
            found[-1] += f"  # {here}"
        previous = here
    return found


def _place(location: Location, home: str) -> str:
    if location is UNKNOWN or not location.line:
        return ""
    outer = next((place for place in (location, *location.callers) if place.file == home), location)
    return str(outer.line) if outer.file == home else f"{PurePath(outer.file).name}:{outer.line}"


def _wrapped(text: str) -> list[str]:
    """A statement on several lines if it is too long and is a call, one argument a line."""
    indent = text[: len(text) - len(text.lstrip())]
    if len(text) <= _WIDTH or not text.endswith(")"):
        return [text]
    opening = _outer_call(text)
    if opening is None:
        return [text]
    parts = _arguments(text[opening + 1 : -1])
    inner = [f"{indent}{_INDENT}{part}," for part in parts]
    return [text[: opening + 1], *inner, f"{indent})"]


def _outer_call(text: str) -> int | None:
    """The index of the parenthesis that the last one of a text closes."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(text[index], 0)
        if depth == 0:
            return index if text[index] == "(" and index and text[index - 1].isalnum() else None
    return None


def _arguments(text: str) -> list[str]:
    parts, depth, start, quoted = [], 0, 0, False
    for index, character in enumerate(text):
        if character == '"' and text[index - 1 : index] != "\\":
            quoted = not quoted
        if quoted:
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def _locate(text: str, lines: Sequence[Line]) -> dict[str, list[Any]]:
    """Where the lines of the body stand in the text, by looking for them in order."""
    found: dict[str, list[Any]] = {}
    wanted = iter(lines)
    line = next(wanted, None)
    number, listed = 0, text.splitlines()
    while line is not None and number < len(listed):
        parts = [part.strip() for part in _wrapped(_INDENT * line.depth + line.text)]
        shown = listed[number].strip()
        if shown == parts[0] or shown.startswith(f"{parts[0]}  # "):
            for offset in range(len(parts)):
                if line.location is not UNKNOWN:
                    at = line.location
                    found[str(number + offset + 1)] = [at.file, at.line, at.column]
            number += len(parts) - 1
            line = next(wanted, None)
        number += 1
    return found
