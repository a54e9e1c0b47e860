"""Order between engines, checked with vector clocks: races, and reads of memory that nothing wrote.

An engine counts its own instructions. A flag carries what the engine that sets it knows of all engines'
counts, and the engine that waits learns it. Two accesses to the same bytes are in order if the later one's
engine knows of the earlier one; if not, and one of them writes, they race, whatever the cycles say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xdsl_dsa_sim.simulator.geometry import Geometry, overlap

Clock = tuple[int, ...]


# Marks of bytes: not written, written by code before the first program, or by a program.
UNWRITTEN, OUTSIDE_PROGRAMS = 0, 1
_MARKS = 254
# Accesses to global memory that every engine knows of are forgotten when there are more than this.
FEW_USES = 256


def mark_of(program: int) -> int:
    """The mark of a program's bytes; far apart programs may share one."""
    return OUTSIDE_PROGRAMS if program < 0 else 2 + program % _MARKS


@dataclass(frozen=True, slots=True)
class Use:
    """An access: by which instruction, the count of its engine, the program of the grid it belongs to."""

    geometry: Geometry
    writes: bool
    count: int
    item: int
    program: int


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses that nothing orders: the engine of the earlier one and that access."""

    engine: int
    use: Use


# Accesses an engine made to one memory, by (first byte, end, whether it writes, shape of the runs).
Log = dict[tuple[Any, ...], Use]


@dataclass(slots=True)
class Watched:
    """One memory that engines share: who used what, and which bytes hold something.

    `written` has a flag for each byte from `base` on; bytes outside count as written. `by_program` says that
    only accesses of the same program of the grid can race, but for those of the bytes that have flags, the
    group's scratch memory; `users` are the engines whose code has such accesses.
    """

    written: Any
    base: int = 0
    by_program: bool = False
    users: tuple[int, ...] = ()
    logs: dict[int, Log] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)

    def check(self, engine: int, use: Use, known: Clock) -> Race | None:
        """The race of an access with an earlier one of another engine, or None; then remembers the access."""
        by_program = self.by_program and not self.base <= use.geometry.low < self.base + len(self.written)
        for other, log in sorted(self.logs.items()):
            if other == engine:
                continue
            for earlier in log.values():
                if earlier.count <= known[other] or not (use.writes or earlier.writes):
                    continue
                if by_program and earlier.program != use.program:
                    continue
                if overlap(earlier.geometry, use.geometry):
                    return Race(other, earlier)
        return None

    def remember(self, engine: int, use: Use, clocks: list[Clock]) -> None:
        """Keep an access; of equal ones by an engine the last is enough, as an engine works in order."""
        log = self.logs.setdefault(engine, {})
        geometry = use.geometry
        log[geometry.low, geometry.run, geometry.dimensions, use.writes] = use
        if self.by_program and len(log) > max(FEW_USES, self.limits.get(engine, 0)):
            known = min(clocks[user][engine] for user in self.users)
            for key in [key for key, old in log.items() if old.count <= known]:
                del log[key]
            self.limits[engine] = 2 * len(log)

    def unwritten(self, geometry: Geometry, program: int) -> int:
        """The first byte of a region that neither this program nor code outside of programs wrote, or -1."""
        mine = mark_of(program)
        for start, part in self._parts(geometry):
            held = (part == mine) | (part == OUTSIDE_PROGRAMS)
            if not held.all():
                return start + int(np.argmin(held))
        return -1

    def mark(self, geometry: Geometry, program: int) -> None:
        """Note that a program wrote a region."""
        for _, part in self._parts(geometry):
            part[:] = mark_of(program)

    def _parts(self, geometry: Geometry) -> Iterator[tuple[int, Any]]:
        """The marks of the bytes that are kept track of, with the address each part begins at."""
        end = self.base + len(self.written)
        if geometry.high <= self.base or geometry.low >= end:
            return
        for start in geometry.starts():
            first = max(start, self.base)
            yield first, self.written[first - self.base : max(start + geometry.run - self.base, 0)]
