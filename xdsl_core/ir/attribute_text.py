"""Reads attribute values and the small change of the text form: words, strings, numbers, punctuation."""

from __future__ import annotations

import json
import math
import struct
from typing import Any, NoReturn

from xdsl_core.dtypes import BY_NAME
from xdsl_core.ir.lexer import Source, Token
from xdsl_core.ir.type_text import read_type
from xdsl_core.ir.types import Type

_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}
_DEEPEST = 100
_LONGEST_NUMBER = 4000  # digits; Python refuses to convert much longer ones


class AttributeReader:
    """A position in the tokens of a source, and what is read from there."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = source.tokens()
        self.index = 0
        self.nesting = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.index]

    def take(self) -> Token:
        token = self.tokens[self.index]
        self.index += 1
        return token

    def fail(self, code: str, message: str, token: Token, *, label: str = "", help: str = "") -> NoReturn:
        raise self.source.error(code, message, token, label=label, help=help)

    def fail_expected(self, wanted: str) -> NoReturn:
        self.fail("X0302", f"expected {wanted}, found {self.token.shown}", self.token)

    def accept(self, text: str) -> bool:
        """Step over a punctuation mark if it is next."""
        token = self.tokens[self.index]
        if token.text == text and token.kind == "punctuation":
            self.index += 1
            return True
        return False

    def accept_word(self, text: str) -> bool:
        token = self.tokens[self.index]
        if token.text == text and token.kind == "word":
            self.index += 1
            return True
        return False

    def expect(self, text: str, wanted: str = "") -> None:
        if not self.accept(text):
            self.fail_expected(wanted or repr(text))

    def expect_word(self, text: str) -> Token:
        if not self.accept_word(text):
            self.fail_expected(repr(text))
        return self.tokens[self.index - 1]

    def expect_kind(self, kind: str, wanted: str) -> Token:
        if self.token.kind != kind:
            self.fail_expected(wanted)
        return self.take()

    def expect_end(self) -> None:
        if self.token.kind != "end":
            self.fail_expected("the end of the text")

    def string(self, wanted: str) -> str:
        token = self.expect_kind("string", wanted)
        return self.unquote(token, token.text)

    def unquote(self, token: Token, text: str) -> str:
        """The content of `text` if it is in quotes, otherwise `text`."""
        if not text.startswith('"'):
            return text
        try:
            return str(json.loads(text, strict=False))
        except ValueError as problem:
            self.fail("X0301", f"{text} has a wrong escape sequence: {problem}", token)

    def natural_number(self) -> int:
        token = self.expect_kind("number", "a number")
        if not token.text.isdecimal() or len(token.text) > _LONGEST_NUMBER:
            self.fail("X0302", f"expected a line or column, found {token.shown}", token)
        return int(token.text)

    def type(self) -> Type:
        token = self.token
        type = read_type(token.text) if token.kind in ("type", "word") else None
        if type is None:
            self.fail("X0303", f"expected a type, found {token.shown}", token)
        self.index += 1
        return type

    def attributes(self) -> dict[str, Any]:
        """`{key = value, ...}`."""
        self.expect("{")
        found: dict[str, Any] = {}
        while not self.accept("}"):
            if found:
                self.expect(",", "',' or '}'")
            token = self.token
            if token.kind not in ("word", "string"):
                self.fail_expected("the name of an attribute")
            self.index += 1
            key = self.unquote(token, token.text)
            if key in found:
                self.fail("X0311", f"attribute {key} is given twice", token)
            self.expect("=")
            found[key] = self.attribute()
        return found

    def attribute(self) -> Any:
        """One attribute value."""
        token = self.token
        if token.text in ("[", "{"):
            return self.nested(token)
        self.index += 1
        if token.kind == "number":
            return self.number(token)
        if token.kind == "string":
            return self.unquote(token, token.text)
        if token.kind == "word" and token.text in _WORDS:
            return _WORDS[token.text]
        if token.text.startswith("dtype<"):
            dtype = BY_NAME.get(token.text[6:-1].strip())
            if dtype is None:
                self.fail("X0303", f"{token.text} names no element type", token)
            return dtype
        type = read_type(token.text) if token.kind in ("type", "word") else None
        if type is None:
            self.fail("X0310", f"{token.shown} is no attribute value", token)
        return type

    def nested(self, token: Token) -> Any:
        if self.nesting >= _DEEPEST:
            self.fail("X0312", f"attribute values are nested more than {_DEEPEST} deep", token)
        self.nesting += 1
        value = self.attributes() if token.text == "{" else self.tuple()
        self.nesting -= 1
        return value

    def tuple(self) -> tuple[Any, ...]:
        self.expect("[")
        found: list[Any] = []
        while not self.accept("]"):
            if found:
                self.expect(",", "',' or ']'")
            found.append(self.attribute())
        return (*found,)

    def number(self, token: Token) -> int | float:
        text = token.text
        if text.startswith("nan("):
            return float(struct.unpack(">d", bytes.fromhex(text[6:-1]))[0])
        if text.lstrip("-").isdecimal():
            if len(text) > _LONGEST_NUMBER:
                self.fail("X0310", "the number is too long", token, label=f"{len(text)} digits")
            return int(text)
        value = float(text)
        if math.isinf(value) and "inf" not in text:
            self.fail("X0310", f"{text} is too large for a float", token, help="write inf for infinity")
        return value
