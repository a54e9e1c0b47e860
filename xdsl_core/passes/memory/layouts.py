"""Sizes of buffers by their layout."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from xdsl_core.dtypes import DType

_BLOCKED = re.compile(r"([NZ])([zn])(\d+)x(\d+)")


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix in blocks: `outer` "N" stores one column of blocks after the other, "Z" one row; `inner` "z"
    stores
    a block row by row, "n" column by column.
    """

    outer: str
    inner: str
    rows: int
    columns: int


def blocks_of(layout: str) -> Blocks | None:
    """The blocks that a layout such as "Nz16x16" names; None for layouts without."""
    found = _BLOCKED.fullmatch(layout)
    return None if found is None else Blocks(found[1], found[2], int(found[3]), int(found[4]))


def bytes_of_buffer(shape: tuple[int, ...], element: DType, layout: str) -> int:
    """Bytes that one part of a buffer takes: blocks are stored whole."""
    blocks = blocks_of(layout)
    if blocks is None:
        return math.prod(shape) * element.bytes
    *lead, rows, columns = shape
    down, across = -(-rows // blocks.rows), -(-columns // blocks.columns)
    return math.prod(lead) * down * across * blocks.rows * blocks.columns * element.bytes
