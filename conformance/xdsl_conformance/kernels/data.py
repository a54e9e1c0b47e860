"""Inputs of the kernels: random arrays, contiguous and not."""

from __future__ import annotations

from typing import Any

import numpy as np

Generator = np.random.Generator


def normal(generator: Generator, *shape: int, dtype: Any = np.float32, scale: float = 1.0) -> Any:
    """Normal numbers, rounded to a dtype."""
    return (generator.standard_normal(shape) * scale).astype(dtype)


def padded(array: Any, pad: int = 3) -> Any:
    """The same numbers in rows that are longer than they need to be."""
    wide = np.zeros((*array.shape[:-1], array.shape[-1] + pad), array.dtype)
    view = wide[..., : array.shape[-1]]
    view[...] = array
    return view


def turned(array: Any) -> Any:
    """The same matrix, its columns contiguous."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def strides(array: Any) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(stride // array.itemsize for stride in array.strides)


def blocks(extent: int, block: int) -> int:
    """How many blocks cover an extent."""
    return -(-extent // block)
