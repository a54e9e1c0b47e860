"""Notices that one program writes a byte that another one reads or writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xdsl_core.diagnostics import ExecutionError, Location, error
from xdsl_core.interp.memory import Segment, element_offset

_MANY = -1
_LARGEST = 1 << 32  # bytes of storage that are watched; memory of unknown size is larger


@dataclass(slots=True)
class _Shadow:
    """Who touched the bytes of memory from `address` on: numbers of programs from 1, 0 for none."""

    address: int
    size: int
    writer: Any = None
    reader: Any = None
    line: Any = None


@dataclass(slots=True)
class Races:
    """Who touched which byte in a launch.

    Programs have no order but the one that atomics make: what a program did before an atomic operation is
    ordered before what another one does after an atomic operation on the same address.
    """

    shadows: list[_Shadow]
    grid: tuple[int, int, int]
    lines: list[Location] = field(default_factory=list)
    released: dict[int, set[int]] = field(default_factory=dict)
    ordered_before: set[int] = field(default_factory=set)
    program: int = 0

    @staticmethod
    def watching(segments: Iterable[Segment | None], grid: tuple[int, int, int]) -> Races:
        """For the storages of these segments; storages that overlap are one."""
        spans = sorted(
            (s.storage.address, s.storage.address + s.storage.size) for s in segments if s is not None
        )
        merged: list[list[int]] = []
        for low, high in spans:
            if merged and low < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        shadows = [_Shadow(low, high - low) for low, high in merged if 0 < high - low <= _LARGEST]
        return Races(shadows, grid)

    def start(self, number: int) -> None:
        """Another program begins; `number` counts from 1."""
        self.program = number
        self.ordered_before = set()

    def read(self, segment: Segment, offsets: Any, width: int) -> None:
        """This program reads elements; ExecutionError X0404 if another one wrote there."""
        shadow, places = self._places(segment, offsets, width)
        if shadow is None:
            return
        self._expect_own(shadow, shadow.writer, places, segment, width, "reads")
        seen = shadow.reader[places]
        shadow.reader[places] = np.where((seen == 0) | (seen == self.program), self.program, _MANY)

    def write(self, segment: Segment, offsets: Any, width: int, location: Location) -> None:
        """This program writes elements; ExecutionError X0404 if another one read or wrote there."""
        shadow, places = self._places(segment, offsets, width)
        if shadow is None:
            return
        self._expect_own(shadow, shadow.writer, places, segment, width, "writes")
        self._expect_own(shadow, shadow.reader, places, segment, width, "writes")
        shadow.writer[places] = self.program
        shadow.line[places] = len(self.lines)
        self.lines.append(location)

    def synchronise(self, segment: Segment, offsets: Any) -> None:
        """This program does an atomic operation that orders memory at these addresses."""
        for offset in np.unique(offsets):
            earlier = self.released.setdefault(segment.storage.address + int(offset), set())
            self.ordered_before |= earlier
            earlier |= {self.program, *self.ordered_before}

    def _places(self, segment: Segment, offsets: Any, width: int) -> tuple[_Shadow | None, Any]:
        address = segment.storage.address
        shadow = next((s for s in self.shadows if s.address <= address < s.address + s.size), None)
        if shadow is None:
            return None, None
        if shadow.writer is None:
            shadow.writer, shadow.reader, shadow.line = (np.zeros(shadow.size, np.int32) for _ in range(3))
        first = np.asarray(offsets).reshape(-1, 1) + (address - shadow.address)
        return shadow, (first + np.arange(width)).reshape(-1)

    def _expect_own(
        self, shadow: _Shadow, seen: Any, places: Any, segment: Segment, width: int, action: str
    ) -> None:
        others = seen[places]
        conflict = (others != 0) & (others != self.program)
        if not conflict.any():
            return
        conflict &= ~np.isin(others, np.array(sorted(self.ordered_before), np.int32))
        if len(self.ordered_before) >= self.program - 1:
            conflict &= others != _MANY
        if conflict.any():
            place = int(places[np.flatnonzero(conflict)[0]])
            raise self._race(shadow, place, segment, width, action, wrote=seen is shadow.writer)

    def _race(
        self, shadow: _Shadow, place: int, segment: Segment, width: int, action: str, *, wrote: bool
    ) -> ExecutionError:
        byte = place - (segment.storage.address - shadow.address)
        element = element_offset(segment, byte - (byte - segment.origin) % width, width)
        number = int((shadow.writer if wrote else shadow.reader)[place])
        other = "other programs" if number == _MANY else f"program {program_id(number, self.grid)}"
        found = error(
            "X0404",
            f"a race: the program {action} element {element} of {segment.name}, which {other} "
            f"{'writes' if wrote else 'read' if number == _MANY else 'reads'}",
            help="programs run in any order: give each its own elements, or use an atomic operation",
        )
        if wrote:
            line = self.lines[int(shadow.line[place])]
            found = found.with_note("note", f"{other} writes it at {line}", line)
        return ExecutionError(found)


def program_id(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """The place in the grid of program `number`, counted from 1 with the first axis fastest."""
    rest, x = divmod(number - 1, grid[0])
    z, y = divmod(rest, grid[1])
    return x, y, z
