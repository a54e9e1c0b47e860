"""What instructions work on: scalar registers, numbers, and regions of memory."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl_core.dtypes import DType

GLOBAL = "GM"


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """A register of the scalar unit: 64 bits, an integer or a float as the instruction that sets it says.

    Sum with an integer gives a `Sum`, so that addresses and extents can be written `%base + 128`.
    """

    name: str

    def __add__(self, constant: int) -> Register | Sum:
        return Sum(self, constant) if constant else self

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Sum:
    """A register plus a constant, which an instruction adds at no cost."""

    register: Register
    constant: int

    def __add__(self, constant: int) -> Register | Sum:
        return self.register + (self.constant + constant)

    def __str__(self) -> str:
        return f"{self.register}{self.constant:+d}"


# What may stand wherever an instruction takes one number.
Scalar: TypeAlias = int | float | Register | Sum


@dataclass(frozen=True, slots=True)
class Block:
    """How a matrix is cut into small blocks, each stored without gaps: a fractal layout.

    `order` is that of the elements in a block: "z" row by row, "n" column by column. The last two extents of
    a region in blocks count elements, its last two strides lead from block to block. A block that the extents
    cut off is still stored whole.
    """

    order: str
    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Elements in a block."""
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"{self.order}{self.rows}x{self.columns}"

    @staticmethod
    def parse(text: str) -> Block:
        """The block that `str` printed, such as "z16x16"; ValueError otherwise."""
        found = re.fullmatch(r"([zn])(\d+)x(\d+)", text)
        if found is None:
            raise ValueError(f"{text!r} is no block: write for example z16x16 or n16x32")
        return Block(found[1], int(found[2]), int(found[3]))


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a memory space: where, how many elements, how far apart, of which dtype.

    `offset` is in bytes from the start of the space; in global memory it is an address. `shape` counts
    elements; `strides` are in elements (0 repeats an element, for operands that are read), or from block to
    block in the last two places of a region with `block`. Make regions with `dense` or `blocked`, or name
    the strides.
    """

    space: str
    offset: Scalar
    dtype: DType
    shape: tuple[Scalar, ...]
    strides: tuple[Scalar, ...]
    block: Block | None = None

    def __post_init__(self) -> None:
        if len(self.shape) != len(self.strides):
            raise ValueError(f"{len(self.shape)} extents but {len(self.strides)} strides")
        if self.block is not None and len(self.shape) < 2:
            raise ValueError("a region in blocks has at least two extents")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_dense(self) -> bool:
        """Whether the elements follow each other without gaps, the last extent fastest (known extents
        only).
        """
        return self.block is None and self.strides == dense_strides(self.shape)

    def transposed(self) -> Region:
        """The same memory with the last two extents exchanged."""
        block = self.block
        if block is not None:
            block = Block("n" if block.order == "z" else "z", block.columns, block.rows)
        swap = _swap_last
        return Region(self.space, self.offset, self.dtype, swap(self.shape), swap(self.strides), block)

    def __str__(self) -> str:
        parts = [", ".join(map(str, self.shape))]
        if not self.is_dense:
            parts.append(", ".join(map(str, self.strides)))
        if self.block is not None:
            parts.append(str(self.block))
        return f"{self.space}[{self.offset}] {self.dtype}<{'; '.join(parts)}>"


def _swap_last(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*items[:-2], items[-1], items[-2])


def dense_strides(shape: tuple[Scalar, ...]) -> tuple[Scalar, ...] | None:
    """Strides without gaps, the last extent fastest; None where an extent but the first is not a number."""
    if not all(isinstance(extent, int) for extent in shape[1:]):
        return None
    inner = [extent for extent in shape[1:] if isinstance(extent, int)]
    return tuple(math.prod(inner[axis:]) for axis in range(len(shape)))


def dense(space: str, offset: Scalar, dtype: DType, shape: tuple[Scalar, ...]) -> Region:
    """A region without gaps, the last extent fastest; all extents but the first must be numbers."""
    strides = dense_strides(shape)
    if strides is None:
        raise ValueError(f"extents {shape}: with a register among the inner ones, name the strides")
    return Region(space, offset, dtype, shape, strides)


def blocked(
    space: str,
    offset: Scalar,
    dtype: DType,
    shape: tuple[int, int],
    *,
    block: tuple[int, int],
    layout: str = "Nz",
    within: tuple[int, int] | None = None,
) -> Region:
    """A matrix in blocks of `block` rows and columns, blocks without gaps between them.

    `layout` has two letters as in the hardware manuals: "N" stores one column of blocks after the other, "Z"
    one row; "z" stores a block row by row, "n" column by column. `within` are the extents of the whole
    buffer, where the region is a part of it; `offset` then leads to the part's first block.
    """
    kind = Block(layout[1], *block)
    rows, columns = within or shape
    down, across = -(-rows // kind.rows), -(-columns // kind.columns)
    strides = (kind.size, down * kind.size) if layout[0] == "N" else (across * kind.size, kind.size)
    return Region(space, offset, dtype, shape, strides, kind)


Operand: TypeAlias = Region | Scalar | str
"""A region, a number or register, or the name of an engine or core kind."""
