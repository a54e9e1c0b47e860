"""Assembler text read back into programs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from xdsl_core import dtypes
from xdsl_core.diagnostics import UNKNOWN, CompilationError, Location, error
from xdsl_core.dtypes import DType
from xdsl_dsa_sim.isa.build import definition_of, instruction
from xdsl_dsa_sim.isa.operands import Block, Operand, Region, Register, Scalar, Sum, dense_strides
from xdsl_dsa_sim.isa.program import Buffer, If, Instruction, Loop, Parameter, Program, Statement, While

_TOKEN = re.compile(
    r"""\s*(?:(?P<comment>\#.*)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<place>@\d+:\d+:\d+)|(?P<register>%[\w.]+)
    |(?P<number>[+-]?(?:inf|nan|\d[\w.]*(?:(?<=e)[+-]\d+)?))|(?P<word>[^\W\d][\w.]*)|(?P<sign>[\[\]<>(){},;=]))""",
    re.VERBOSE,
)


@dataclass(slots=True)
class _Reader:
    """The tokens of a text and the place in them."""

    tokens: list[tuple[str, str, int]]
    position: int = 0
    files: dict[str, str] = field(default_factory=dict)
    name: str = "<assembler>"

    @property
    def line(self) -> int:
        return self.tokens[min(self.position, len(self.tokens) - 1)][2] if self.tokens else 1

    def peek(self) -> str:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else "end"

    def take(self) -> str:
        text = self.peek()
        self.position += 1
        return text

    def wrong(self, expected: str) -> CompilationError:
        found = self.peek() or "the end"
        place = Location(self.name, self.line)
        return CompilationError(error("X0902", f"expected {expected}, found {found}", location=place))

    def expect(self, text: str) -> None:
        if self.peek() != text:
            raise self.wrong(repr(text))
        self.position += 1

    def accept(self, text: str) -> bool:
        if self.peek() != text:
            return False
        self.position += 1
        return True

    def word(self) -> str:
        if self.kind() != "word":
            raise self.wrong("a name")
        return self.take()

    def integer(self) -> int:
        value = self.number()
        if not isinstance(value, int):
            raise self.wrong("a whole number")
        return value

    def number(self) -> int | float:
        if self.kind() != "number":
            raise self.wrong("a number")
        text = self.take()
        try:
            return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
        except ValueError:
            self.position -= 1
            raise self.wrong("a number") from None

    def string(self) -> str:
        if self.kind() != "string":
            raise self.wrong("a text in quotes")
        return str(json.loads(self.take()))

    def dtype(self) -> DType:
        found = dtypes.BY_NAME.get(self.peek())
        if found is None:
            raise self.wrong("a dtype")
        self.position += 1
        return found

    def place(self) -> Location:
        if self.kind() != "place":
            return UNKNOWN
        number, line, column = self.take()[1:].split(":")
        return Location(self.files.get(number, self.name), int(line), int(column))


def parse_program(text: str, *, file: str = "<assembler>") -> Program:
    """The program that `print_program` wrote, or one written by hand; CompilationError X0902 with the line.

    A `#` begins a comment. Line ends mean nothing.
    """
    reader = _Reader(_tokens(text, file), name=file)
    reader.expect("program")
    kernel = reader.word()
    reader.expect("target")
    target = reader.word()
    workspace = reader.integer() if reader.accept("workspace") else 0
    parameters: list[Parameter] = []
    buffers: list[Buffer] = []
    cores: dict[str, tuple[Statement, ...]] = {}
    members: dict[str, int] = {}
    while reader.peek():
        if reader.accept("file"):
            number = reader.take()
            reader.files[number] = reader.string()
        elif reader.accept("param"):
            parameters.append(_parameter(reader))
        elif reader.accept("buffer"):
            buffers.append(_buffer(reader))
        else:
            reader.expect("core")
            kind = reader.word()
            if reader.accept("members"):
                members[kind] = reader.integer()
            cores[kind] = _body(reader)
    return Program(kernel, target, tuple(parameters), cores, tuple(buffers), workspace, members)


def _tokens(text: str, file: str) -> list[tuple[str, str, int]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        position = 0
        end = len(line.rstrip())
        while position < end:
            match = _TOKEN.match(line, position)
            if match is None:
                problem = f"cannot read {line[position:].strip()!r}"
                raise CompilationError(error("X0902", problem, location=Location(file, number, position)))
            position = match.end()
            kind = match.lastgroup or ""
            if kind != "comment":
                found.append((kind, match[kind], number))
    return found


def _parameter(reader: _Reader) -> Parameter:
    name = reader.word()
    if not reader.accept("ptr"):
        return Parameter(name, reader.dtype())
    reader.expect("<")
    dtype = reader.dtype()
    reader.expect(">")
    return Parameter(name, dtype, is_pointer=True)


def _buffer(reader: _Reader) -> Buffer:
    name, core, space = reader.string(), reader.word(), reader.word()
    reader.expect("offset")
    offset = reader.integer()
    reader.expect("bytes")
    size = reader.integer()
    copies, lifetime = 1, (0, 0)
    if reader.accept("copies"):
        copies = reader.integer()
    if reader.accept("lifetime"):
        lifetime = (reader.integer(), reader.integer())
    return Buffer(name, core, space, offset, size, copies, lifetime, reader.place())


def _body(reader: _Reader) -> tuple[Statement, ...]:
    return _placed_body(reader)[1]


def _placed_body(reader: _Reader) -> tuple[Location, tuple[Statement, ...]]:
    """Statements in braces, and the place of the statement they belong to, which stands behind the brace."""
    reader.expect("{")
    place = reader.place()
    found = []
    while reader.peek() != "}":
        if not reader.peek():
            raise reader.wrong("'}'")
        found.append(_statement(reader))
    reader.expect("}")
    return place, tuple(found)


def _statement(reader: _Reader) -> Statement:
    keyword = reader.peek()
    if keyword == "for":
        return _loop(reader)
    if keyword == "while":
        reader.take()
        place, before = _placed_body(reader)
        condition = _register(reader)
        return While(before, condition, _body(reader), place)
    if keyword == "if":
        reader.take()
        condition = _register(reader)
        place, then = _placed_body(reader)
        return If(condition, then, _body(reader) if reader.accept("else") else (), place)
    return _instruction(reader)


def _loop(reader: _Reader) -> Loop:
    reader.take()
    register = _register(reader)
    reader.expect("=")
    lower = _scalar(reader)
    reader.expect("to")
    upper = _scalar(reader)
    reader.expect("step")
    step = _scalar(reader)
    place, body = _placed_body(reader)
    return Loop(register, lower, upper, step, body, place)


def _register(reader: _Reader) -> Register:
    if reader.kind() != "register":
        raise reader.wrong("a register")
    return Register(reader.take()[1:])


def _scalar(reader: _Reader) -> Scalar:
    if reader.kind() != "register":
        return reader.number()
    register = _register(reader)
    if reader.kind() == "number" and reader.peek()[0] in "+-":
        return Sum(register, reader.integer())
    return register


def _instruction(reader: _Reader) -> Instruction:
    start = reader.line
    engine = reader.word()
    mnemonic = reader.word()
    name, _, suffix = mnemonic.partition(".")
    dtype = dtypes.BY_NAME.get(suffix)
    if suffix and dtype is None:
        reader.position -= 1
        raise reader.wrong(f"a dtype after {name}.")
    try:
        takes_operands = bool(definition_of(name).operands)
    except CompilationError as problem:
        raise problem.at(Location(reader.name, start)) from None
    operands: list[Operand] = []
    if takes_operands and reader.kind() not in ("place", "sign", "end"):
        operands.append(_operand(reader))
        while reader.accept(","):
            operands.append(_operand(reader))
    attributes = _attributes(reader) if reader.peek() == "{" else {}
    place = reader.place()
    try:
        return instruction(engine, name, *operands, dtype=dtype, location=place, attributes=attributes)
    except CompilationError as problem:
        raise problem.at(Location(reader.name, start)) from None


def _operand(reader: _Reader) -> Operand:
    if reader.kind() in ("register", "number"):
        return _scalar(reader)
    name = reader.word()
    return _region(reader, name) if reader.peek() == "[" else name


def _region(reader: _Reader, space: str) -> Region:
    reader.expect("[")
    offset = _scalar(reader)
    reader.expect("]")
    dtype = reader.dtype()
    reader.expect("<")
    shape = _scalars(reader)
    strides: tuple[Scalar, ...] | None = None
    block = None
    if reader.accept(";"):
        strides = _scalars(reader)
    if reader.accept(";"):
        block = Block.parse(reader.word())
    reader.expect(">")
    strides = dense_strides(shape) if strides is None else strides
    if strides is None:
        raise reader.wrong("strides: an inner extent is a register")
    return Region(space, offset, dtype, shape, strides, block)


def _scalars(reader: _Reader) -> tuple[Scalar, ...]:
    found: list[Scalar] = []
    while reader.peek() not in (";", ">"):
        found.append(_scalar(reader))
        reader.accept(",")
    return tuple(found)


def _attributes(reader: _Reader) -> dict[str, Any]:
    reader.expect("{")
    found: dict[str, Any] = {}
    while not reader.accept("}"):
        key = reader.word()
        reader.expect("=")
        found[key] = _value(reader)
        reader.accept(",")
    return found


def _value(reader: _Reader) -> Any:
    if reader.kind() == "string":
        return reader.string()
    if reader.kind() == "number":
        return reader.number()
    word = reader.word()
    constants = {"true": True, "false": False, **dtypes.BY_NAME}
    if word not in constants:
        raise reader.wrong("a value")
    return constants[word]
