"""What the generated text calls: tiles are numpy arrays, pointers are arrays of addresses."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from xdsl_core.dtypes import BY_NAME

Array = np.ndarray[Any, Any]


def full(shape: tuple[int, ...], value: Any, dtype: str) -> Array:
    return np.full(shape, value, BY_NAME[dtype].numpy)


def arange(start: int, end: int) -> Array:
    return np.arange(start, end, dtype=np.int32)


def splat(value: Any, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(value, shape)


def _cell(address: Any, dtype: str) -> Array:
    size = BY_NAME[dtype].bytes
    return np.frombuffer((ctypes.c_char * size).from_address(int(address)), BY_NAME[dtype].numpy)


def load(pointers: Any, mask: Array | None, other: Array | None, dtype: str) -> Array:
    addresses = np.asarray(pointers)
    result = np.zeros(addresses.shape, BY_NAME[dtype].numpy)
    if other is not None:
        result[...] = other
    for index in np.ndindex(addresses.shape):
        if mask is None or mask[index]:
            result[index] = _cell(addresses[index], dtype)[0]
    return result


def store(pointers: Any, values: Array, mask: Array | None, dtype: str) -> None:
    addresses = np.asarray(pointers)
    for index in np.ndindex(addresses.shape):
        if mask is None or mask[index]:
            _cell(addresses[index], dtype)[0] = np.asarray(values)[index]
