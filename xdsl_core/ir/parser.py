"""Reads the text form that `printer` writes; whatever is malformed gets a diagnostic with line and column."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.ir.attribute_text import AttributeReader
from xdsl_core.ir.core import Block, Function, Module, Op, Region, Value
from xdsl_core.ir.lexer import Source, Token
from xdsl_core.ir.schema import Definition, Definitions, OperandSchema
from xdsl_core.ir.types import Type

_DEEPEST = 100
Item = TypeVar("Item")


def parse_module(text: str, definitions: Definitions, *, file: str = "<text>") -> Module:
    """The module that `text` describes; CompilationError X03xx, with line and column, at the first mistake.

    Ops are looked up in `definitions`. Ops and functions without `loc(...)` are located in the text itself,
    in a file called `file`. Only the form is checked; `verify` says whether the module makes sense.
    """
    return _Parser(Source(text, file), definitions).module()


class _Parser(AttributeReader):
    """Recursive descent; `values` maps visible names to their values and the tokens that define them."""

    def __init__(self, source: Source, definitions: Definitions) -> None:
        super().__init__(source)
        self.definitions = definitions
        self.values: dict[str, tuple[Value, Token]] = {}
        self.depth = 0

    def module(self) -> Module:
        self.expect_word("module")
        module = Module()
        if self.accept_word("attributes"):
            module.attributes = self.attributes()
        self.expect("{")
        while not self.accept("}"):
            module.add(self.function(module))
        self.expect_end()
        return module

    def function(self, module: Module) -> Function:
        start = self.expect_word("func")
        name = self.token
        if name.kind != "symbol":
            self.fail_expected("a function name such as @kernel")
        self.index += 1
        if self.unquote(name, name.text[1:]) in module.functions:
            self.fail("X0311", f"function {name.text} is defined twice", name)
        self.values = {}
        self.expect("(")
        parameters = self.items(")", self.parameter)
        self.expect(")")
        attributes = self.attributes() if self.accept_word("attributes") else {}
        location = self.location(start, name)
        function = Function(
            self.unquote(name, name.text[1:]),
            [(_hint(token.text, self, token), type) for token, type, _ in parameters],
            attributes,
            [hints for _, _, hints in parameters],
            location,
        )
        for (token, _, _), value in zip(parameters, function.parameters, strict=True):
            self.define(token, value)
        self.expect("{")
        self.ops(function.block)
        self.expect("}")
        return function

    def parameter(self) -> tuple[Token, Type, dict[str, Any]]:
        token, type = self.argument()
        return token, type, self.attributes() if self.token.text == "{" else {}

    def argument(self) -> tuple[Token, Type]:
        token = self.expect_kind("value", "a value such as %x")
        self.expect(":")
        return token, self.type()

    def ops(self, block: Block) -> None:
        while self.token.text != "}" and self.token.kind != "end":
            block.append(self.op())

    def op(self) -> Op:
        start = self.token
        names = self.result_names()
        definition = self.definition()
        name = self.tokens[self.index - 1]
        operands = self.operands(definition, name)
        attributes = self.attributes() if self.token.text == "{" else {}
        types = self.result_types(definition, names, name)
        location = self.location(start, self.tokens[self.index - 1])
        regions = [self.region(definition, region) for region in definition.region_names]
        op = Op(definition, operands, types, attributes, regions, location)
        for token, value in zip(names, op.results, strict=True):
            value.name = _hint(token.text, self, token)
            self.define(token, value)
        return op

    def result_names(self) -> list[Token]:
        names: list[Token] = []
        while self.token.kind == "value":
            names.append(self.take())
            if self.accept("="):
                return names
            self.expect(",", "',' or '=' after a result")
        if names:
            self.fail_expected("another result after ','")
        return names

    def definition(self) -> Definition:
        token = self.expect_kind("word", "the name of an op")
        definition = self.definitions.get(token.text)
        if definition is None:
            near = ", ".join(difflib.get_close_matches(token.text, self.definitions.names(), n=3))
            self.fail("X0304", f"there is no op {token.text}", token, help=near and f"did you mean: {near}")
        return definition

    def operands(self, definition: Definition, name: Token) -> list[list[Value]]:
        slots = definition.operand_schema
        if len(slots) == 1 and slots[0].variadic:
            return [self.values_in_brackets() if self.token.text == "[" else []]
        found: dict[str, list[Value]] = {}
        required = [slot for slot in slots if not (slot.optional or slot.variadic)]
        for position, slot in enumerate(required):
            if position and not self.accept(","):
                break
            if self.token.kind != "value":
                break
            found[slot.name] = [self.value()]
        missing = [slot.name for slot in required if slot.name not in found]
        if missing:
            wanted = ", ".join(slot.name for slot in required)
            self.fail(
                "X0307", f"{definition.name} needs the operands {wanted}", name, label=f"no {missing[0]}"
            )
        named = {slot.name: slot for slot in slots if slot.optional or slot.variadic}
        while self.accept(",") if found else self.next_is_named_slot():
            self.named_operand(definition, named, found)
        return [found.get(slot.name, []) for slot in slots]

    def named_operand(
        self, definition: Definition, named: dict[str, OperandSchema], found: dict[str, list[Value]]
    ) -> None:
        token = self.token
        slot = named.get(token.text) if token.kind == "word" else None
        if slot is None or slot.name in found:
            why = "is given twice" if slot else f"is no optional operand of {definition.name}"
            known = ", ".join(named)
            self.fail("X0307", f"{token.shown} {why}", token, help=f"it has: {known or 'none'}")
        self.index += 1
        self.expect("=")
        found[slot.name] = self.values_in_brackets() if slot.variadic else [self.value()]

    def next_is_named_slot(self) -> bool:
        return self.token.kind == "word" and self.tokens[self.index + 1].text == "="

    def values_in_brackets(self) -> list[Value]:
        self.expect("[", "'[' and the values of a variadic operand")
        values = self.items("]", self.value)
        self.expect("]")
        return values

    def value(self) -> Value:
        token = self.expect_kind("value", "a value such as %x")
        known = self.values.get(token.text)
        if known is None:
            near = difflib.get_close_matches(token.text, self.values, n=1)
            help = f"did you mean {near[0]}?" if near else "a value is visible after the op that defines it"
            self.fail("X0305", f"{token.text} is not defined here", token, help=help)
        return known[0]

    def define(self, token: Token, value: Value) -> None:
        known = self.values.get(token.text)
        if known is not None:
            problem = self.source.error("X0306", f"{token.text} is defined twice", token)
            first = self.source.location(known[1].start, known[1].end)
            (diagnostic,) = problem.diagnostics
            raise type(problem)(diagnostic.with_note("note", "first defined here", first))
        self.values[token.text] = (value, token)

    def result_types(self, definition: Definition, names: list[Token], name: Token) -> list[Type]:
        types: list[Type] = []
        if self.accept(":"):
            if self.accept("("):
                types = self.items(")", self.type)
                self.expect(")")
            else:
                types = [self.type()]
        schema = definition.result_schema
        wanted = len(names) if any(result.variadic for result in schema) else len(schema)
        if not len(names) == len(types) == wanted:
            found = f"{_count(len(names), 'name')} and {_count(len(types), 'type')}"
            message = f"{definition.name} has {_count(wanted, 'result')}"
            self.fail("X0308", message, name, label=f"{found} stand here")
        return types

    def region(self, definition: Definition, name: str) -> Region:
        if self.token.text != name or self.token.kind != "word":
            message = f"{definition.name} has a region {name}, found {self.token.shown}"
            self.fail("X0309", message, self.token, help=f"write: {name} {{ ... }}")
        self.index += 1
        with self.scope():
            arguments: list[tuple[Token, Type]] = []
            if self.accept("("):
                arguments = self.items(")", self.argument)
                self.expect(")")
            block = Block()
            for token, type in arguments:
                self.define(token, block.add_argument(type, _hint(token.text, self, token)))
            self.expect("{")
            self.ops(block)
            self.expect("}")
        return Region([block])

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Values defined inside are forgotten at the end."""
        if self.depth >= _DEEPEST:
            self.fail("X0312", f"regions are nested more than {_DEEPEST} deep", self.token)
        visible = len(self.values)
        self.depth += 1
        yield
        self.depth -= 1
        while len(self.values) > visible:
            self.values.popitem()

    def location(self, start: Token, end: Token) -> Location:
        """`loc(...)` if it stands here, otherwise the place of the tokens in the text."""
        if self.token.text == "loc" and self.tokens[self.index + 1].text == "(":
            self.index += 2
            location = self.source_location()
            self.expect(")")
            return location
        return self.source.location(start.start, end.end)

    def source_location(self) -> Location:
        if self.accept_word("unknown"):
            return UNKNOWN
        file = self.string("a file name in quotes")
        self.expect(":")
        line, column = self.place()
        end_line, end_column = self.place() if self.accept_word("to") else (0, 0)
        function = self.string("a function name in quotes") if self.accept_word("in") else ""
        callers: list[Location] = []
        if self.accept_word("from"):
            self.expect("[")
            with self.scope():
                callers = self.items("]", self.source_location)
            self.expect("]")
        return Location(file, line, column, end_line, end_column, function, tuple(callers))

    def place(self) -> tuple[int, int]:
        line = self.natural_number()
        self.expect(":")
        return line, max(0, self.natural_number() - 1)

    def items(self, close: str, read: Callable[[], Item]) -> list[Item]:
        """Items with commas between them, up to `close`, which is left there."""
        found: list[Item] = []
        while self.token.text != close:
            if found:
                self.expect(",", f"',' or {close!r}")
            found.append(read())
        return found


def _hint(text: str, parser: _Parser, token: Token) -> str:
    """The name that `%name`, `%name.1`, `%"any name".2` or `%0` stands for."""
    if text[1] == '"':
        return parser.unquote(token, text[1 : text.rindex('"') + 1])
    name = text[1:].partition(".")[0]
    return "" if name.isdecimal() else name


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
