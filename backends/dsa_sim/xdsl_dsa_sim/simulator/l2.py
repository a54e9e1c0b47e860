"""The L2 in front of global memory: a write-back cache with least-recently-used replacement, shared by all
cores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl_dsa_sim.machine import MemoryModel
from xdsl_dsa_sim.simulator.geometry import Geometry

# Cycles within which two cores count as wanting a line at once.
SHARED_WINDOW = 1000.0


@dataclass(frozen=True, slots=True)
class Access:
    """What a transfer costs the memory system, in bytes: `moved` over the bus, of them `shared` of lines that
    another core wants too; `read` and `written` in DRAM; `missed` says whether any line was not in L2.
    """

    moved: int
    shared: int
    read: int
    written: int
    missed: bool


@dataclass(slots=True)
class _Line:
    dirty: bool
    core: int
    time: float


@dataclass(slots=True)
class L2:
    """The cache's state; without capacity every byte goes to DRAM."""

    model: MemoryModel
    lines: OrderedDict[int, _Line] = field(default_factory=OrderedDict)

    @property
    def capacity(self) -> int:
        """Lines it holds."""
        return self.model.l2_capacity // self.model.line

    def transfer(self, region: Geometry, *, write: bool, bypass: bool, core: int, time: float) -> Access:
        """Account for a transfer between a core and a region of global memory."""
        moved = shared = read = written = 0
        missed = False
        for start, size, whole in pieces(region, self.model):
            moved += size
            if not self.capacity:
                read, written = (read, written + size) if write else (read + size, written)
                continue
            first, last = start // self.model.line, (start + size - 1) // self.model.line
            passes_by = bypass or not (whole or write)
            for line in range(first, last + 1):
                hit, together, evicted = self._touch(line, write, passes_by, core, time)
                shared += size if together else 0
                missed = missed or not hit
                read += 0 if hit or write else self.model.line
                written += evicted + (size if write and bypass and not hit else 0)
        return Access(moved, shared, read, written, missed)

    def _touch(
        self, number: int, write: bool, passes_by: bool, core: int, time: float
    ) -> tuple[bool, bool, int]:
        """Use a line: whether it was there, whether another core just used it, bytes written back to make
        room.
        """
        line = self.lines.get(number)
        if line is not None:
            together = line.core != core and time - line.time < SHARED_WINDOW
            line.dirty, line.core, line.time = line.dirty or write, core, time
            self.lines.move_to_end(number)
            return True, together, 0
        if passes_by:
            return False, False, 0
        self.lines[number] = _Line(write, core, time)
        if len(self.lines) <= self.capacity:
            return False, False, 0
        _, victim = self.lines.popitem(last=False)
        return False, False, self.model.line if victim.dirty else 0


def pieces(region: Geometry, model: MemoryModel) -> Iterator[tuple[int, int, bool]]:
    """Requests of the bus for a region: start, bytes, and whether all of them were asked for.

    Runs are cut at multiples of the segment; a piece that does not start and end on a request's boundary
    moves the whole segment, which a read then does not leave in L2.
    """
    segment, request = model.segment, model.request
    for first in region.starts():
        start, end = first, first + region.run
        while start < end:
            border = (start // segment + 1) * segment
            size = min(border, end) - start
            if start % request or size % request:
                yield border - segment, segment, False
            else:
                yield start, size, True
            start += size
