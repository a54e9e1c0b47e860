"""What an operand or result may be: named sets of types that constraints and docs can print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import BufferType, PointerType, ScalarType, TileType, TokenType, Type


@dataclass(frozen=True, slots=True)
class TypePattern:
    """A set of types: `text` says it in words, `dtypes` lists the elements it admits (pointers: none)."""

    text: str
    dtypes: tuple[DType, ...]
    pointers: bool = False
    scalars: bool = True
    tiles: bool = True
    tokens: bool = False
    buffers: bool = False

    def admits(self, type: Type) -> bool:
        if isinstance(type, TokenType):
            return self.tokens
        if isinstance(type, BufferType):
            return self.buffers and type.element in self.dtypes
        if isinstance(type, TileType):
            shape_ok = self.tiles
        else:
            shape_ok = self.scalars and isinstance(type, ScalarType | PointerType)
        if not shape_ok:
            return False
        if isinstance(type.element, PointerType):
            return self.pointers
        return type.element in self.dtypes


def _where(predicate: Callable[[DType], bool]) -> tuple[DType, ...]:
    return tuple(dtype for dtype in dtypes.ALL if predicate(dtype))


def scalar(pattern: TypePattern) -> TypePattern:
    """The scalars of a pattern."""
    return TypePattern(
        f"scalar {pattern.text}", pattern.dtypes, pattern.pointers, True, False, pattern.tokens
    )


def tile(pattern: TypePattern) -> TypePattern:
    """The tiles of a pattern."""
    return TypePattern(
        f"tile of {pattern.text}", pattern.dtypes, pattern.pointers, False, True, pattern.tokens
    )


def buffer(pattern: TypePattern) -> TypePattern:
    """Buffers with the elements of a pattern."""
    return TypePattern(f"buffer of {pattern.text}", pattern.dtypes, False, False, False, False, True)


def buffer_or_scalar(pattern: TypePattern) -> TypePattern:
    """Buffers and scalars with the elements of a pattern."""
    text = f"buffer or scalar of {pattern.text}"
    return TypePattern(text, pattern.dtypes, pattern.pointers, True, False, False, True)


AnyNumber = TypePattern("bool, integer or float", dtypes.ALL)
Numeric = TypePattern("integer or float", _where(lambda dtype: not dtype.is_bool))
Integer = TypePattern("integer", _where(lambda dtype: dtype.kind in ("int", "uint")))
IntegerOrBool = TypePattern("integer or bool", _where(lambda dtype: dtype.is_integer))
Float = TypePattern("float", _where(lambda dtype: dtype.is_float))
ComputeFloat = TypePattern("f16, bf16, f32 or f64", (dtypes.f16, dtypes.bf16, dtypes.f32, dtypes.f64))
WideFloat = TypePattern("f32 or f64", (dtypes.f32, dtypes.f64))
Bool = TypePattern("bool", (dtypes.i1,))
Pointer = TypePattern("pointer", (), pointers=True)
AnyValue = TypePattern("number or pointer", dtypes.ALL, pointers=True)
Anything = TypePattern("any value", dtypes.ALL, pointers=True, tokens=True)
