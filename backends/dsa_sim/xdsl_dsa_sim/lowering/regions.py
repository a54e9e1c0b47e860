"""Buffers of the IR as regions of memory: layouts, views, windows of global memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl_core.ir import BufferType
from xdsl_core.ops.buffer import dense_strides
from xdsl_core.passes.memory.layouts import Blocks, blocks_of
from xdsl_dsa_sim.isa import Block, Region, Scalar


@dataclass(frozen=True, slots=True)
class Placed:
    """A buffer value with an address: where its allocation starts, its type, and what a view makes of it."""

    type: BufferType
    region: Region


def allocation_region(kind: BufferType, space: str, offset: Scalar) -> Region:
    """The whole of an allocation."""
    blocks = blocks_of(kind.layout)
    if blocks is None:
        return Region(space, offset, kind.element, kind.shape, dense_strides(kind.shape))
    return _blocked(kind, blocks, space, offset, (0, 0), (kind.shape[0], kind.shape[1]), any_row=False)


def view_region(
    source: BufferType,
    space: str,
    offset: Scalar,
    *,
    shape: Sequence[int],
    strides: Sequence[int],
    start: int,
    any_row: bool,
) -> Region:
    """A view of an allocation at a byte offset; `start` counts elements. `any_row` if the offset is at any
    row.
    """
    blocks = blocks_of(source.layout)
    if blocks is None:
        return Region(
            space, offset + start * source.element.bytes, source.element, tuple(shape), tuple(strides)
        )
    columns = source.shape[1]
    transposed = tuple(strides) == (1, columns) and (columns != 1 or shape[1] > 1)
    corner = divmod(start, columns)
    extents = (shape[1], shape[0]) if transposed else (shape[0], shape[1])
    region = _blocked(source, blocks, space, offset, corner, extents, any_row=any_row)
    return region.transposed() if transposed else region


def _blocked(
    kind: BufferType,
    blocks: Blocks,
    space: str,
    offset: Scalar,
    corner: tuple[int, int],
    shape: tuple[int, int],
    *,
    any_row: bool,
) -> Region:
    """A part of a matrix in blocks. In columns of blocks rows follow each other, so that a part may begin at
    any.
    """
    rows, columns = kind.shape
    down, across = -(-rows // blocks.rows), -(-columns // blocks.columns)
    size = blocks.rows * blocks.columns
    steps = (size, down * size) if blocks.outer == "N" else (across * size, size)
    row, column = corner[0] // blocks.rows, corner[1] // blocks.columns
    start = row * steps[0] + column * steps[1]
    block = Block(blocks.inner, blocks.rows, blocks.columns)
    inside = corner[0] % blocks.rows
    if any_row or inside:
        start += inside * blocks.columns
        block, steps = Block(blocks.inner, 1, blocks.columns), (blocks.columns, steps[1])
    return Region(space, offset + start * kind.element.bytes, kind.element, shape, steps, block)


def row_bytes(kind: BufferType) -> tuple[int, ...]:
    """Bytes from one index to the next along each dimension of an allocation, as view origins count them."""
    blocks = blocks_of(kind.layout)
    if blocks is None:
        return tuple(stride * kind.element.bytes for stride in dense_strides(kind.shape))
    return blocks.columns * kind.element.bytes, 0


def with_extents(region: Region, extents: Sequence[Scalar]) -> Region:
    """The first elements of a region along each dimension."""
    return replace(region, shape=tuple(extents)) if extents else region
