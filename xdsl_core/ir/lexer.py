"""Splits IR text into tokens that know their place."""

from __future__ import annotations

import linecache
import re
from bisect import bisect_right
from dataclasses import dataclass

from xdsl_core.diagnostics import CompilationError, Location, error

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_TOKEN = re.compile(
    rf"""
      (?P<space>(?:\s+|//[^\n]*)+)
    | (?P<value>%(?:\d+|[^\W\d]\w*|{_STRING})(?:\.\d+)?)
    | (?P<symbol>@(?:[^\W\d][\w.$]*|{_STRING}))
    | (?P<type>(?:tile|buffer|ptr|dtype)<(?:[^<>"\n]|{_STRING}|<(?:[^<>"\n]|{_STRING})*>)*>)
    | (?P<number>-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf|nan(?:\(0x[0-9a-fA-F]{{16}}\))?)(?![\w.]))
    | (?P<word>[^\W\d][\w.]*)
    | (?P<string>{_STRING})
    | (?P<punctuation>[(){{}}\[\]=:,])
    """,
    re.VERBOSE,
)


@dataclass(slots=True)
class Token:
    """A piece of text. `kind` is value, symbol, type, number, word, string, punctuation or end."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def shown(self) -> str:
        """How a message names the token."""
        return f"{self.text!r}" if self.kind != "end" else "the end of the text"


class Source:
    """A text with a file name: turns offsets into locations and makes errors."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        if file.startswith("<"):
            # linecache is where the renderer finds lines that are in no file
            linecache.cache[file] = (len(text), None, [f"{line}\n" for line in text.split("\n")], file)

    def location(self, start: int, end: int) -> Location:
        """The span of two offsets."""
        line = bisect_right(self.starts, start)
        end_line = bisect_right(self.starts, end)
        begin, stop = self.starts[line - 1], self.starts[end_line - 1]
        return Location(self.file, line, start - begin, end_line, end - stop)

    def error(
        self, code: str, message: str, token: Token, *, label: str = "", help: str = ""
    ) -> CompilationError:
        """An error under a token."""
        location = self.location(token.start, token.end)
        return CompilationError(error(code, message, location=location, label=label, help=help))

    def tokens(self) -> list[Token]:
        """All tokens and one of kind `end`; CompilationError X0301 at a character that starts none."""
        found: list[Token] = []
        position, text = 0, self.text
        for match in _TOKEN.finditer(text):
            if match.start() != position:
                break
            position = match.end()
            kind = match.lastgroup or ""
            if kind != "space":
                found.append(Token(kind, match.group(), match.start()))
        if position != len(text):
            character = text[position]
            unclosed = character == '"'
            message = (
                "a string does not end on its line" if unclosed else f"{character!r} is no part of IR text"
            )
            raise self.error("X0301", message, Token("character", character, position))
        found.append(Token("end", "", len(text)))
        return found
