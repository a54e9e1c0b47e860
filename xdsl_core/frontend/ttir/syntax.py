"""Tokens to a tree of ops, blocks and functions, without knowing what any op means."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from xdsl_core.diagnostics import CompilationError, Location, error
from xdsl_core.frontend.ttir.lexer import Token, tokens


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a block or function: its name, its type's text, its attributes."""

    name: str
    type: str
    attributes: dict[str, Any]


@dataclass(slots=True)
class Tree:
    """An op. `operands` are all values named before the types, in order; `words` the keywords among them.

    `types` are the texts of all types after the colon, `result_types` those after an arrow or `to`.
    """

    name: str
    results: tuple[str, ...]
    location: Location
    operands: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    labels: list[tuple[str, list[str]]] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)
    result_types: list[str] = field(default_factory=list)
    regions: list[list[TreeBlock]] = field(default_factory=list)


@dataclass(slots=True)
class TreeBlock:
    """A block: its label, its arguments and its ops."""

    label: str
    arguments: list[Argument] = field(default_factory=list)
    ops: list[Tree] = field(default_factory=list)


@dataclass(slots=True)
class TreeFunction:
    """A function of the module."""

    name: str
    public: bool
    arguments: list[Argument]
    blocks: list[TreeBlock]
    location: Location


Locate = Callable[[str], Location]


def parse(text: str, file: str, locate: Locate) -> list[TreeFunction]:
    """The functions of a module; `locate` reads the text of a location. X0850 for what is no TTIR."""
    return list(_Parser(tokens(text, file), file, locate).module())


class _Parser:
    def __init__(self, found: list[Token], file: str, locate: Locate) -> None:
        self.tokens = found
        self.place = 0
        self.file = file
        self.locate = locate

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self, text: str = "", kind: str = "") -> Token:
        token = self.next
        if (text and token.text != text) or (kind and token.kind != kind):
            raise self.wrong(f"{token.text or 'the end'!r} where {text or kind} is expected")
        self.place += 1
        return token

    def accept(self, text: str) -> bool:
        if self.next.text == text:
            self.place += 1
            return True
        return False

    def wrong(self, message: str) -> CompilationError:
        location = Location(self.file, self.next.line)
        hint = "TTIR is what Triton's own frontend writes: kernel.asm['ttir']"
        return CompilationError(error("X0850", f"this is no TTIR: {message}", location=location, help=hint))

    def module(self) -> Iterator[TreeFunction]:
        while self.next.kind != "end":
            if self.next.text == "tt.func":
                yield self.function()
            elif self.next.text == "module" or self.next.kind in ("alias", "location", "mark", "word"):
                self.top_level()
            else:
                raise self.wrong(f"{self.next.text!r} outside of a function")

    def top_level(self) -> None:
        """Skips `module attributes {...} {`, its end, and aliases of locations."""
        token = self.take()
        if token.text == "attributes":
            self.attributes()

    def function(self) -> TreeFunction:
        self.take("tt.func")
        public = True
        while self.next.kind == "word":
            public = self.take().text != "private"
        name = self.take(kind="symbol").text[1:].strip('"')
        arguments = self.arguments()
        while self.next.text not in ("{", "attributes"):
            self.take()
        if self.accept("attributes"):
            self.attributes()
        blocks = self.region()
        location = self.location()
        return TreeFunction(name, public, arguments, blocks, location)

    def arguments(self) -> list[Argument]:
        self.take("(")
        found = []
        while not self.accept(")"):
            name = self.take(kind="value").text
            self.take(":")
            type = self.take().text
            attributes = self.attributes() if self.next.text == "{" else {}
            self.location()
            found.append(Argument(name, type, attributes))
            self.accept(",")
        return found

    def location(self) -> Location:
        if self.next.kind == "location":
            return self.locate(self.take().text)
        return Location(self.file, self.next.line)

    def region(self) -> list[TreeBlock]:
        self.take("{")
        blocks = [TreeBlock("")]
        while not self.accept("}"):
            if self.next.kind == "label":
                block = TreeBlock(self.take().text)
                block.arguments = self.arguments() if self.next.text == "(" else []
                self.take(":")
                blocks.append(block)
            else:
                blocks[-1].ops.append(self.op())
        return blocks if blocks[0].ops or len(blocks) == 1 else blocks[1:]

    def op(self) -> Tree:
        results: list[str] = []
        while self.next.kind == "value":
            results += _expanded(self.take().text)
            self.accept(",")
        if results:
            self.take("=")
        token = self.take()
        if token.kind not in ("word", "string"):
            raise self.wrong(f"{token.text!r} where an op is expected")
        tree = Tree(token.text.strip('"'), tuple(results), Location(self.file, token.line))
        self.body(tree)
        return tree

    def body(self, tree: Tree) -> None:
        """Everything after the op's name, up to its location or the next line without one."""
        typed = returned = False
        line = self.tokens[self.place - 1].line
        while self.next.kind != "location":
            token = self.next
            if token.text == "{" or (token.text == "<" and self.tokens[self.place + 1].text == "{"):
                self.braces(tree)
            elif token.line != line and token.text not in ("else", "do", ")", ":"):
                break
            else:
                self.place += 1
                typed = typed or token.text in (":", "->")
                returned = returned or token.text == "->" or (typed and token.text == "to")
                self.part(tree, token, typed=typed, returned=returned)
            line = self.tokens[self.place - 1].line
        else:
            tree.location = self.locate(self.take().text)

    def braces(self, tree: Tree) -> None:
        """A region or attributes."""
        if self.accept("<"):
            tree.attributes.update(self.attributes())
            self.take(">")
            return
        first, second = self.tokens[self.place + 1 : self.place + 3]
        named = first.kind in ("word", "string") and second.text in ("=", ",", "}")
        if named or (first.text == "}" and not tree.name.startswith("scf.")):
            tree.attributes.update(self.attributes())
        else:
            tree.regions.append(self.region())

    def part(self, tree: Tree, token: Token, *, typed: bool, returned: bool) -> None:
        if token.kind == "label":
            tree.labels.append((token.text, self.forwarded()))
        elif typed and (token.kind in ("angled", "word", "alias")) and token.text != "to":
            (tree.result_types if returned else tree.types).append(token.text)
        elif token.kind == "value":
            tree.operands += [token.text]
        elif token.kind in ("word", "symbol", "angled"):
            tree.words.append(token.text)
        elif token.kind == "string":
            tree.strings.append(_string(token.text))
        elif token.kind == "number":
            tree.numbers.append(token.text)

    def forwarded(self) -> list[str]:
        """The values that a branch gives to a block: (%a, %b : types)."""
        values: list[str] = []
        if self.accept("("):
            while not self.accept(")"):
                token = self.take()
                if token.kind == "value":
                    values.append(token.text)
        return values

    def attributes(self) -> dict[str, Any]:
        self.take("{")
        found: dict[str, Any] = {}
        while not self.accept("}"):
            name = self.take().text.strip('"')
            found[name] = self.attribute() if self.accept("=") else True
            self.accept(",")
        return found

    def attribute(self) -> Any:
        depth, parts = 0, []
        while depth or self.next.text not in (",", "}"):
            token = self.take()
            depth += (token.text in ("[", "{", "(", "<")) - (token.text in ("]", "}", ")", ">"))
            parts.append(token)
        return _plain(parts)


def _expanded(name: str) -> list[str]:
    """%x as itself, %x:2 as %x#0 and %x#1."""
    base, _, count = name.partition(":")
    return [f"{base}#{index}" for index in range(int(count))] if count else [base]


def _string(text: str) -> str:
    # MLIR writes bytes as \0A; quotes and backslashes as themselves
    body, found, place = text[1:-1], bytearray(), 0
    while place < len(body):
        if body[place] == "\\":
            escaped = body[place + 1 : place + 3]
            hexadecimal = len(escaped) == 2 and all(each in "0123456789ABCDEFabcdef" for each in escaped)
            found += bytes([int(escaped, 16)]) if hexadecimal else escaped[:1].encode()
            place += 3 if hexadecimal else 2
        else:
            found += body[place].encode()
            place += 1
    return found.decode(errors="replace")


def _plain(parts: list[Token]) -> Any:
    """An attribute's value as Python's, or its text."""
    first = parts[0]
    if first.kind == "string":
        return _string(first.text)
    if first.text in ("true", "false"):
        return first.text == "true"
    if first.kind == "number":
        return ast.literal_eval(first.text)
    if first.kind == "angled" and first.text.startswith("array<"):
        numbers = first.text[6:-1].partition(":")[2]
        return tuple(
            ast.literal_eval(each.strip().capitalize()) for each in numbers.split(",") if each.strip()
        )
    return " ".join(part.text for part in parts)
