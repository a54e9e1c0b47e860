"""Programs as assembler text, one instruction a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.dtypes import DType
from xdsl_dsa_sim.isa.operands import Operand
from xdsl_dsa_sim.isa.program import Buffer, Instruction, Loop, Parameter, Program, Statement, While

_INDENT = "  "


def print_program(program: Program) -> str:
    """The assembler text of a program; `parse_program` reads it back."""
    lines = [f"program {program.kernel} target {program.target} workspace {program.workspace}"]
    files = _files(program)
    lines += [f"file {number} {json.dumps(name)}" for name, number in files.items()]
    lines += [_parameter(parameter) for parameter in program.parameters]
    lines += [_buffer(buffer, files) for buffer in program.buffers]
    for kind, body in program.cores.items():
        members = f" members {program.members[kind]}" if kind in program.members else ""
        lines += [f"core {kind}{members} {{", *(_INDENT + line for line in _body(body, files)), "}"]
    return "\n".join(lines) + "\n"


def print_instruction(instruction: Instruction) -> str:
    """One instruction without its place in the source."""
    name = instruction.name if instruction.dtype is None else f"{instruction.name}.{instruction.dtype}"
    text = f"{instruction.engine} {name}"
    if instruction.operands:
        text += " " + ", ".join(map(_operand, instruction.operands))
    if instruction.attributes:
        pairs = ", ".join(f"{key}={_value(value)}" for key, value in sorted(instruction.attributes.items()))
        text += f" {{{pairs}}}"
    return text


def _body(body: tuple[Statement, ...], files: dict[str, int]) -> Iterator[str]:
    for statement in body:
        yield from _statement(statement, files)


def _statement(statement: Statement, files: dict[str, int]) -> Iterator[str]:
    place = _place(statement.location, files)
    if isinstance(statement, Instruction):
        yield print_instruction(statement) + place
        return
    if isinstance(statement, Loop):
        bounds = f"{statement.lower} to {statement.upper} step {statement.step}"
        parts = [(f"for {statement.register} = {bounds} {{", statement.body)]
    elif isinstance(statement, While):
        parts = [("while {", statement.before), (f"}} {statement.condition} {{", statement.body)]
    else:
        parts = [(f"if {statement.condition} {{", statement.then)]
        if statement.otherwise:
            parts.append(("} else {", statement.otherwise))
    for index, (head, inner) in enumerate(parts):
        yield head + (place if index == 0 else "")
        yield from (_INDENT + line for line in _body(inner, files))
    yield "}"


def _operand(operand: Operand) -> str:
    return _value(operand) if isinstance(operand, float) else str(operand)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return str(value) if isinstance(value, DType) else repr(value)


def _parameter(parameter: Parameter) -> str:
    kind = f"ptr<{parameter.dtype}>" if parameter.is_pointer else str(parameter.dtype)
    return f"param {parameter.name} {kind}"


def _buffer(buffer: Buffer, files: dict[str, int]) -> str:
    first, last = buffer.lifetime
    what = f"buffer {json.dumps(buffer.name)} {buffer.core} {buffer.space}"
    where = f"offset {buffer.offset} bytes {buffer.bytes} copies {buffer.copies} lifetime {first} {last}"
    return f"{what} {where}{_place(buffer.location, files)}"


def _place(location: Location, files: dict[str, int]) -> str:
    if location is UNKNOWN or not location.line:
        return ""
    return f" @{files[location.file]}:{location.line}:{location.column}"


def _files(program: Program) -> dict[str, int]:
    from xdsl_dsa_sim.isa.program import walk

    locations = [buffer.location for buffer in program.buffers]
    locations += [statement.location for body in program.cores.values() for statement in walk(body)]
    names = dict.fromkeys(location.file for location in locations if location.line)
    return {name: number for number, name in enumerate(names, 1)}
