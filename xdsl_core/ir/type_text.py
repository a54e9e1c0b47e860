"""Reads the text of a type, as `str(type)` writes it."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from xdsl_core.diagnostics import CompilationError, Location, error
from xdsl_core.dtypes import BY_NAME
from xdsl_core.ir.types import BufferType, Element, PointerType, ScalarType, TileType, TokenType, Type

_WORD = r'([^\W\d][\w.]*|"(?:[^"\\\n]|\\.)*")'
_POINTER = re.compile(rf"ptr<\s*(\w+)\s*(?:,\s*{_WORD}\s*)?>")
_TILE = re.compile(r"tile<\s*((?:\d+x)+)(.+?)\s*>", re.DOTALL)
_BUFFER = re.compile(rf"buffer<\s*((?:\d+x)*)(\w+)\s*,\s*{_WORD}\s*(?:,\s*{_WORD}\s*)?>")
_LONGEST_EXTENT = 18  # digits; longer numbers are no extents of anything


def parse_type(text: str) -> Type:
    """The type that `text` names; CompilationError X0303 if it names none."""
    type = read_type(text.strip())
    if type is None:
        location = Location("<type>", 1, 0, 1, len(text))
        raise CompilationError(
            error(
                "X0303",
                f"{text!r} is no type",
                location=location,
                help="types look like f32, ptr<f32>, tile<4x8xf32>, buffer<4xf16, space, layout> or token",
            )
        )
    return type


@lru_cache(maxsize=4096)
def read_type(text: str) -> Type | None:
    """The type that `text` names, or None. Equal texts give the same object, so comparing types is cheap."""
    if text in BY_NAME:
        return ScalarType(BY_NAME[text])
    if text == "token":
        return TokenType()
    if match := _TILE.fullmatch(text):
        return _tile(match)
    if match := _BUFFER.fullmatch(text):
        return _buffer(match)
    return _pointer(text)


def _pointer(text: str) -> PointerType | None:
    match = _POINTER.fullmatch(text)
    if match is None or match[1] not in BY_NAME:
        return None
    return PointerType(BY_NAME[match[1]], _unquote(match[2]) if match[2] else "global")


def _tile(match: re.Match[str]) -> TileType | None:
    shape = _shape(match[1])
    element: Element | None = BY_NAME.get(match[2]) or _pointer(match[2])
    return TileType(shape, element) if shape and element is not None else None


def _buffer(match: re.Match[str]) -> BufferType | None:
    shape = _shape(match[1])
    if shape is None or match[2] not in BY_NAME:
        return None
    layout = _unquote(match[4]) if match[4] else "row_major"
    return BufferType(shape, BY_NAME[match[2]], _unquote(match[3]), layout)


def _shape(text: str) -> tuple[int, ...] | None:
    digits = text.split("x")[:-1]
    if any(len(extent) > _LONGEST_EXTENT for extent in digits):
        return None
    shape = tuple(map(int, digits))
    return shape if all(extent > 0 for extent in shape) else None


def _unquote(word: str) -> str:
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word))
    except ValueError:
        return word
