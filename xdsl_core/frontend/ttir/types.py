"""Types of TTIR's text as types of tile IR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import Element, PointerType, Type, tile_or_scalar

# MLIR's names of elements; integers have no sign there and are signed here.
ELEMENTS: Mapping[str, DType] = MappingProxyType(
    {
        **{name: dtypes.BY_NAME[name] for name in ("i1", "i8", "i16", "i32", "i64")},
        **{name: dtypes.BY_NAME[name] for name in ("f16", "bf16", "f32", "f64")},
        "f8E4M3FN": dtypes.f8e4m3fn,
        "f8E4M3FNUZ": dtypes.f8e4m3fnuz,
        "f8E4M3B11FNUZ": dtypes.f8e4m3b11fnuz,
        "f8E5M2": dtypes.f8e5m2,
        "f8E5M2FNUZ": dtypes.f8e5m2fnuz,
        "index": dtypes.i64,
    }
)
UNSIGNED: Mapping[DType, DType] = MappingProxyType(
    {dtypes.BY_NAME[f"i{bits}"]: dtypes.BY_NAME[f"u{bits}"] for bits in (8, 16, 32, 64)}
)
_POINTER = re.compile(r"!tt\.ptr<(.*?)(?:, \d+)?>")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)(.*)>")


class UnknownType(ValueError):
    """A type that tile IR does not have; the text says which."""


def read_type(text: str) -> Type:
    """The type of tile IR; UnknownType for pointers to tensors, descriptors and encodings."""
    match = _TENSOR.fullmatch(text)
    if match:
        extents = tuple(int(extent) for extent in match[1].split("x") if extent)
        return tile_or_scalar(extents, _element(match[2]))
    return tile_or_scalar((), _element(text))


def _element(text: str) -> Element:
    if text in ELEMENTS:
        return ELEMENTS[text]
    match = _POINTER.fullmatch(text)
    if match and match[1] in ELEMENTS:
        return PointerType(ELEMENTS[match[1]])
    if match and match[1].startswith("!tt.ptr<"):
        return PointerType(dtypes.i64)
    raise UnknownType(text)
