"""Regions of memory as numpy arrays: reading and writing through strides and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_core.dtypes import DType
from xdsl_core.ops.numerics import round_to
from xdsl_dsa_sim.isa.operands import Block

Array = Any


@dataclass(frozen=True, slots=True)
class View:
    """A region with its bytes: its first element is `offset` bytes into `data`; strides count elements.

    `read` gives a logical array of `shape` (a copy where the layout is in blocks); `write` stores one.
    """

    data: Array
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block: Block | None = None
    offset: int = 0

    def read(self) -> Array:
        """The elements as stored, in the logical shape."""
        if self.block is None:
            return self._strided(self.shape, self.strides)
        blocks = self._blocks()
        rows, columns = self.shape[-2:]
        matrix = blocks.reshape(*blocks.shape[:-4], blocks.shape[-4] * blocks.shape[-3], -1)
        return matrix[..., :rows, :columns]

    def write(self, values: Array) -> None:
        """Store values that already are numbers of the dtype; whatever is no part of the region stays."""
        if self.block is None:
            self._strided(self.shape, self.strides)[...] = values
            return
        target = self._blocks()
        rows, columns = self.shape[-2:]
        whole = target.reshape(*target.shape[:-4], target.shape[-4] * target.shape[-3], -1).copy()
        whole[..., :rows, :columns] = values
        target[...] = whole.reshape(target.shape)

    def numbers(self) -> Array:
        """The elements as an op's reference takes them: floats in float64."""
        found = self.read()
        return found.astype(np.float64) if self.dtype.is_float else found

    def store(self, values: Array) -> None:
        """Round results of an op's reference to the dtype and store them."""
        self.write(to_storage(values, self.dtype))

    def _strided(self, shape: Sequence[int], strides: Sequence[int]) -> Array:
        if 0 in shape:
            return np.empty(shape, self.dtype.numpy)
        steps = [stride * self.dtype.bytes for stride in strides]
        return np.ndarray(shape, self.dtype.numpy, self.data, self.offset, steps)

    def _blocks(self) -> Array:
        """Axes (..., block row, row in block, block column, column in block)."""
        assert self.block is not None
        size_rows, size_columns = self.block.rows, self.block.columns
        block_rows, block_columns = -(-self.shape[-2] // size_rows), -(-self.shape[-1] // size_columns)
        row, column = (size_columns, 1) if self.block.order == "z" else (1, size_rows)
        shape = (*self.shape[:-2], block_rows, size_rows, block_columns, size_columns)
        strides = (*self.strides[:-2], self.strides[-2], row, self.strides[-1], column)
        return self._strided(shape, strides)


def to_storage(values: Array, dtype: DType) -> Array:
    """Results of a reference (floats in float64) rounded once to the dtype they are stored in."""
    if dtype.is_float:
        return np.asarray(round_to(dtype, np.asarray(values, np.float64))).astype(dtype.numpy)
    return np.asarray(values).astype(dtype.numpy)
