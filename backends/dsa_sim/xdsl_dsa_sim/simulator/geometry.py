"""Where the bytes of a region lie, once its numbers are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl_dsa_sim.simulator.image import RegionImage

Dimensions = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Runs of bytes without gaps: `run` bytes at `offset` and at every combination of `dimensions` (count,
    stride in bytes) from there; `elements` of `itemsize` bytes are meant (a cut-off block is stored whole).

    Strides of `dimensions` are positive: `offset` is the lowest byte even if the region runs backwards.
    `shape` and `strides` are the region's own, strides in bytes, for the rules that look at lanes; an extent
    below 0 counts as 0.
    """

    offset: int
    run: int
    dimensions: Dimensions
    elements: int
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        count = 1 if self.run else 0
        for extent, _ in self.dimensions:
            count *= extent
        return count

    @property
    def low(self) -> int:
        """The first byte."""
        return self.offset

    @property
    def high(self) -> int:
        """One behind the last byte; `low` if there are no elements."""
        if not self.runs:
            return self.offset
        return self.offset + self.run + sum((extent - 1) * stride for extent, stride in self.dimensions)

    def starts(self) -> Iterator[int]:
        """The first byte of every run, in the order of the elements."""
        if not self.run:
            return
        for place in product(*(range(extent) for extent, _ in self.dimensions)):
            steps = zip(place, self.dimensions, strict=True)
            yield self.offset + sum(index * stride for index, (_, stride) in steps)


def geometry_of(region: RegionImage, values: Sequence[int | float]) -> Geometry:
    """The geometry of a region from the numbers of its instruction."""
    first, rank = region.first, region.rank
    offset = int(values[first])
    shape = tuple(max(int(value), 0) for value in values[first + 1 : first + 1 + rank])
    counts = tuple(int(value) for value in values[first + 1 + rank : first + 1 + 2 * rank])
    size = region.dtype.bytes
    elements = 1
    for extent in shape:
        elements *= extent
    strides = tuple(count * size for count in counts)
    run, dimensions = size, list(zip(shape, strides, strict=True))
    if region.block is not None:
        rows, columns = dimensions[-2], dimensions[-1]
        down, across = -(-rows[0] // region.block.rows), -(-columns[0] // region.block.columns)
        dimensions[-2:] = [(down, rows[1]), (across, columns[1])]
        run = region.block.size * size
        elements = elements // max(rows[0] * columns[0], 1) * down * across * region.block.size
    if elements == 0:
        return Geometry(offset, 0, (), 0, size, shape, strides)
    offset += sum((extent - 1) * stride for extent, stride in dimensions if stride < 0)
    run, merged = _merged(run, [(extent, abs(stride)) for extent, stride in dimensions])
    return Geometry(offset, run, merged, elements, size, shape, strides)


def _merged(run: int, dimensions: list[tuple[int, int]]) -> tuple[int, Dimensions]:
    """Joins what follows without a gap into runs, and leaves out axes that do not move."""
    kept: list[tuple[int, int]] = []
    for extent, stride in reversed(dimensions):
        if extent == 1 or stride == 0:
            continue
        if not kept and stride == run:
            run *= extent
        elif kept and stride == kept[-1][0] * kept[-1][1]:
            kept[-1] = (kept[-1][0] * extent, kept[-1][1])
        else:
            kept.append((extent, stride))
    return run, tuple(reversed(kept))


def overlap(first: Geometry, second: Geometry) -> bool:
    """Whether two regions share a byte."""
    if first.low >= second.high or second.low >= first.high:
        return False
    if first.runs == 1 and second.runs == 1:
        return True
    return _runs_meet(first, second)


def _runs_meet(first: Geometry, second: Geometry) -> bool:
    """Whether runs of two regions meet, by going through both in the order of addresses."""
    left, right = sorted(first.starts()), sorted(second.starts())
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] + first.run <= right[j]:
            i += 1
        elif right[j] + second.run <= left[i]:
            j += 1
        else:
            return True
    return False
