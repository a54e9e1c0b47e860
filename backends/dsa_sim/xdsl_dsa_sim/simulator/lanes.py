"""How a vector unit goes through its operands: full-width steps over lanes that lie together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_dsa_sim.simulator.geometry import Geometry


@dataclass(frozen=True, slots=True)
class Iteration:
    """The lanes of an instruction: `extents`, outermost first, and for each operand its offset, strides in
    bytes (0 where it repeats) and element size. The first operand is the destination. Axes on which every
    operand goes on without a gap are one.
    """

    extents: tuple[int, ...]
    offsets: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    @property
    def itemsize(self) -> int:
        """Size of the widest element, which decides how many lanes a step has."""
        return max(self.sizes)

    @property
    def inner(self) -> int:
        """Lanes along the last axis."""
        return self.extents[-1] if self.extents else 1

    @property
    def rows(self) -> int:
        """How often the last axis is gone through."""
        return math.prod(self.extents[:-1])

    @property
    def contiguous(self) -> bool:
        """Whether lanes of the last axis lie together, or repeat, in every operand."""
        if not self.extents:
            return True
        return all(strides[-1] in (0, size) for strides, size in zip(self.strides, self.sizes, strict=True))


def iteration_space(geometries: Sequence[Geometry | None]) -> Iteration:
    """The lanes of an instruction whose operands broadcast to the first one's shape."""
    regions = [geometry for geometry in geometries if geometry is not None]
    shape = regions[0].shape
    rank = len(shape)
    aligned = [_aligned_strides(region, shape) for region in regions]
    extents: list[int] = []
    strides: list[list[int]] = [[] for _ in regions]
    for axis in range(rank - 1, -1, -1):
        if shape[axis] == 1:
            continue
        steps = [lines[axis] for lines in aligned]
        if extents and all(step == line[-1] * extents[-1] for step, line in zip(steps, strides, strict=True)):
            extents[-1] *= shape[axis]
            continue
        extents.append(shape[axis])
        for line, step in zip(strides, steps, strict=True):
            line.append(step)
    # the merged axis keeps the inner stride, which is what was appended first
    return Iteration(
        tuple(reversed(extents)),
        tuple(region.offset for region in regions),
        tuple(tuple(reversed(line)) for line in strides),
        tuple(region.itemsize for region in regions),
    )


def _aligned_strides(region: Geometry, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides for every axis of `shape`: 0 where the region lacks the axis or has one element."""
    missing = len(shape) - len(region.shape)
    own = (0 if extent == 1 else stride for extent, stride in zip(region.shape, region.strides, strict=True))
    return (*[0] * missing, *own)


def steps_of(space: Iteration, rate: float, block: int) -> tuple[int, bool]:
    """Steps of `rate` bytes an elementwise instruction takes, and whether its last step is partial.

    Rows that fit in a block share a step, a block each; lanes that do not lie together take a block each.
    """
    if 0 in space.extents:
        return 0, False
    blocks = max(1, int(rate // block))
    if not space.contiguous:
        return -(-space.rows * space.inner // blocks), False
    lanes = max(1, int(rate // space.itemsize))
    if len(space.extents) > 1 and space.inner * space.itemsize <= block:
        return -(-space.rows // blocks), False
    return space.rows * -(-space.inner // lanes), space.inner % lanes != 0


def along_axis(source: Geometry, axis: int, rate: float) -> tuple[int, int, bool]:
    """For a reduction: rows, steps a row, and whether the axis runs along the lanes of a step."""
    extent = source.shape[axis]
    lanes = max(1, int(rate // source.itemsize))
    along_lanes = extent > 1 and source.strides[axis] == source.itemsize
    if along_lanes:
        return source.elements // extent, -(-extent // lanes), True
    last = source.shape[-1]
    return source.elements // last, -(-last // lanes), False
