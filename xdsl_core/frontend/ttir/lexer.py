"""Tokens of MLIR's text. Whatever stands in angle brackets after a type's name is one token with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl_core.diagnostics import CompilationError, Location, error


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is value, label, alias, string, symbol, angled, location, number, word, mark or end."""

    kind: str
    text: str
    line: int


_PATTERN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*)
  | (?P<newline>\n)
  | (?P<location>loc\()
  | (?P<angled>(?:tensor|vector|dense|array|memref|![\w.]+)<)
  | (?P<value>%[\w$.-]+(?:[\#:]\d+)?)
  | (?P<label>\^\w+)
  | (?P<symbol>@(?:"[^"]*"|[\w$.]+))
  | (?P<alias>[\#!][\w.]+)
  | (?P<string>"(?:\\.|[^"\\])*")
  | (?P<number>0x[0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
  | (?P<word>[A-Za-z_][\w$.]*)
  | (?P<mark>->|::|.)""",
    re.VERBOSE,
)
_BRACKETS = {"location": ("(", ")"), "angled": ("<", ">")}


def tokens(text: str, file: str) -> list[Token]:
    """The tokens of `text`, the last one of kind end; X0850 where a bracket or string does not end."""
    found: list[Token] = []
    place, line = 0, 1
    while place < len(text):
        match = _PATTERN.match(text, place)
        assert match is not None  # the last alternative takes any character
        kind, end = str(match.lastgroup), match.end()
        if kind == "newline":
            line += 1
        elif kind != "space":
            if kind in _BRACKETS:
                end = _closing(text, end, _BRACKETS[kind], Location(file, line))
            found.append(Token(kind, text[place:end], line))
        place = end
    return [*found, Token("end", "", line)]


def _closing(text: str, place: int, brackets: tuple[str, str], location: Location) -> int:
    """The place after the bracket that closes the one before `place`."""
    opening, closing = brackets
    depth, quoted = 1, False
    while place < len(text):
        character = text[place]
        if quoted:
            place += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character == opening:
            depth += 1
        elif character == closing and text[place - 1] != "-":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    hint = "the text may be cut off: write the whole of kernel.asm['ttir']"
    raise CompilationError(error("X0850", f"{opening} is never closed", location=location, help=hint))
