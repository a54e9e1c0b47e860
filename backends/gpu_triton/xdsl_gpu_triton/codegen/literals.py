"""Numbers as Python and Triton write them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import Type, dtype_of
from xdsl_gpu_triton.codegen.spellings import triton_dtype
from xdsl_gpu_triton.codegen.text import ATOM, UNARY, Text, tuple_text

_SMALLEST_NORMAL = 2.0**-126


def literal(value: Any, dtype: DType) -> Text:
    """A number as a Python literal, whose dtype depends on where it stands."""
    text = _number(value, dtype)
    return Text(text, UNARY if text.startswith("-") else ATOM, literal=True)


def _number(value: Any, dtype: DType) -> str:
    if not dtype.is_float:
        return repr(value)
    if math.isnan(value):
        return 'float("nan")'
    if math.isinf(value):
        return 'float("inf")' if value > 0 else '-float("inf")'
    if dtype is not dtypes.f32:
        return repr(float(value))
    # the shortest text that rounds to this f32
    text = np.format_float_positional(np.float32(value), unique=True, trim="0")
    return text if len(text) < 18 else repr(float(str(np.float32(value))))


def is_default(value: Any, dtype: DType) -> bool:
    """Whether Triton gives a lone literal this dtype."""
    if dtype is dtypes.f32:
        return value == 0 or not math.isfinite(value) or abs(value) >= _SMALLEST_NORMAL
    return dtype in (dtypes.i32, dtypes.i1)


def typed(value: Any, kind: Type) -> Text:
    """A constant of exactly this type."""
    dtype, shape = dtype_of(kind), kind.shape
    if not shape and is_default(value, dtype):
        return literal(value, dtype)
    if dtype.is_float and dtype.bits == 8:
        wide = _full(value, dtypes.f32, shape)
        return Text(f"{wide}.to({triton_dtype(dtype)})", shape=shape)
    return Text(_full(value, dtype, shape), shape=shape)


def _full(value: Any, dtype: DType, shape: tuple[int, ...]) -> str:
    extents = tuple_text(shape) if shape else "()"
    if shape and value == 0 and math.copysign(1, value) > 0 and not dtype.is_bool:
        return f"tl.zeros({extents}, dtype={triton_dtype(dtype)})"
    return f"tl.full({extents}, {_number(value, dtype)}, dtype={triton_dtype(dtype)})"
