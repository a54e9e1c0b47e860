"""Attribute values: their text, and a key that tells apart what == does not (True and 1, 0.0 and -0.0)."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from xdsl_core.dtypes import DType
from xdsl_core.ir.types import BufferType, PointerType, ScalarType, TileType, TokenType

_WORD = re.compile(r"[^\W\d][\w.]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER_WORDS = ("inf", "nan")
_PLAIN_NAN = struct.pack(">d", math.nan)


def print_attribute(value: Any) -> str:
    """The text of one attribute value, which `parse_module` reads back exactly.

    Values are bool, int, float, str, None, DType, Type, and tuples and string-keyed mappings of these;
    TypeError for others.
    """
    printer = _PRINTERS.get(type(value))
    if printer is None:
        printer = next((use for kind, use in _PRINTERS.items() if isinstance(value, kind)), None)
        if printer is None:
            raise TypeError(f"{value!r} (a {type(value).__name__}) has no text form as an attribute")
    return printer(value)


def print_attributes(attributes: Mapping[str, Any]) -> str:
    """`{key = value, ...}` in the order of the mapping."""
    entries = (f"{print_key(key)} = {print_attribute(value)}" for key, value in attributes.items())
    return "{" + ", ".join(entries) + "}"


def print_key(key: str) -> str:
    """An attribute's name: a bare word where it is one, quoted otherwise."""
    return key if _WORD.fullmatch(key) and key not in _NUMBER_WORDS else quote(key)


def quote(text: str) -> str:
    """A string in double quotes with JSON's escapes; always encodable as UTF-8."""
    quoted = json.dumps(text, ensure_ascii=False)
    if text.isascii():
        return quoted
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def attribute_key(value: Any) -> Any:
    """A hashable key that is equal for two attribute values only if they are the same value of the same type.

    Floats are compared by bits: 0.0 and -0.0 differ, a NaN equals itself.
    """
    kind = type(value)
    if kind is int or kind is str or kind is bool:
        return kind, value
    if isinstance(value, float):
        return "float", struct.pack(">d", value)
    if isinstance(value, tuple):
        return "tuple", tuple(map(attribute_key, value))
    if isinstance(value, Mapping):
        return "mapping", tuple((key, attribute_key(value[key])) for key in sorted(value))
    return kind, value


def _print_float(value: float) -> str:
    if not math.isnan(value):
        return float.__repr__(value)
    bits = struct.pack(">d", value)
    if bits == _PLAIN_NAN:
        return "nan"
    return f"nan(0x{bits.hex()})"


def _print_tuple(value: tuple[Any, ...]) -> str:
    return "[" + ", ".join(map(print_attribute, value)) + "]"


_PRINTERS: Mapping[type, Callable[[Any], str]] = MappingProxyType(
    {
        bool: lambda value: "true" if value else "false",
        int: int.__repr__,
        float: _print_float,
        str: quote,
        tuple: _print_tuple,
        type(None): lambda value: "none",
        DType: lambda value: f"dtype<{value.name}>",
        dict: print_attributes,
        MappingProxyType: print_attributes,
        **dict.fromkeys((ScalarType, PointerType, TileType, BufferType, TokenType), str),
    }
)
