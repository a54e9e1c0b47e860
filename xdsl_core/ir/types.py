"""Types of values: scalars, pointers, tiles, buffers, tokens; frozen, hashable, compared by value."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from xdsl_core.dtypes import DType, i1


@dataclass(frozen=True, slots=True)
class PointerType:
    """The address of elements of one dtype in a memory space. Offsets count elements."""

    pointee: DType
    space: str = "global"

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def element(self) -> Element:
        return self

    def __str__(self) -> str:
        if self.space == "global":
            return f"ptr<{self.pointee}>"
        return f"ptr<{self.pointee}, {_word(self.space)}>"


Element: TypeAlias = DType | PointerType


@dataclass(frozen=True, slots=True)
class ScalarType:
    """One value of a dtype, the same for the whole program."""

    element: DType

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __str__(self) -> str:
        return str(self.element)


@dataclass(frozen=True, slots=True)
class TileType:
    """A tile of values with a static shape of rank >= 1; the element is a dtype or a pointer."""

    shape: tuple[int, ...]
    element: Element

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def __str__(self) -> str:
        return f"tile<{'x'.join(map(str, self.shape))}x{self.element}>"


@dataclass(frozen=True, slots=True)
class BufferType:
    """Memory of a static shape in a named memory space, in a layout the target knows."""

    shape: tuple[int, ...]
    element: DType
    space: str
    layout: str = "row_major"

    def __str__(self) -> str:
        extents = "".join(f"{extent}x" for extent in self.shape)
        return f"buffer<{extents}{self.element}, {_word(self.space)}, {_word(self.layout)}>"


@dataclass(frozen=True, slots=True)
class TokenType:
    """Orders effects; carries no data."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def __str__(self) -> str:
        return "token"


Type: TypeAlias = ScalarType | PointerType | TileType | BufferType | TokenType


def _word(text: str) -> str:
    return text if re.fullmatch(r"[^\W\d][\w.]*", text) else json.dumps(text, ensure_ascii=False)


def tile_or_scalar(shape: tuple[int, ...], element: Element) -> Type:
    """The type of `element` values with `shape`: a tile, or for rank 0 a scalar or pointer."""
    if shape:
        return TileType(shape, element)
    return element if isinstance(element, PointerType) else ScalarType(element)


def with_element(type: Type, element: Element) -> Type:
    """The type of the same shape with another element."""
    return tile_or_scalar(type.shape, element)


def element_of(type: Type) -> Element:
    """The element of a scalar, pointer, tile or buffer type."""
    if isinstance(type, TokenType):
        raise TypeError("a token has no element")
    return type.element


def dtype_of(type: Type) -> DType:
    """The dtype of a scalar or of a tile of numbers; TypeError for pointers and tokens."""
    element = element_of(type)
    if isinstance(element, PointerType):
        raise TypeError(f"{type} holds pointers, not numbers")
    return element


def pointee_of(type: Type) -> DType:
    """The dtype a pointer, or a tile of pointers, points to."""
    element = element_of(type)
    if not isinstance(element, PointerType):
        raise TypeError(f"{type} is no pointer")
    return element.pointee


def is_pointer(type: Type) -> bool:
    """True for a pointer and for a tile of pointers."""
    return isinstance(type, PointerType | TileType) and isinstance(type.element, PointerType)


BOOL = ScalarType(i1)
