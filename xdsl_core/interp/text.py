"""How a value is printed while a kernel runs; `debug.print` says what is promised."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.dtypes import DType
from xdsl_core.ir.types import Element


def format_value(value: Any, element: Element, hexadecimal: bool) -> str:
    """All elements of a value, rows in brackets."""
    array = np.asarray(value)
    if array.ndim == 0:
        return _format_element(array.item(), element, hexadecimal)
    return "[" + " ".join(format_value(part, element, hexadecimal) for part in array) + "]"


def _format_element(number: Any, element: Element, hexadecimal: bool) -> str:
    if not isinstance(element, DType):
        return f"0x{number & 0xFFFFFFFFFFFFFFFF:016x}"
    if element.is_float:
        return f"{number:g}"
    if hexadecimal:
        return f"0x{int(number) & (1 << element.bits) - 1:0{max(1, element.bits // 4)}x}"
    return f"{int(number)}"
