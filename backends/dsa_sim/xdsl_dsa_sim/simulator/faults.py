"""Mistakes of a running program: found as plain facts by an engine, then said with line, instruction, core
and cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from xdsl_core.diagnostics import UNKNOWN, Diagnostic, ExecutionError, error
from xdsl_dsa_sim.isa import print_instruction
from xdsl_dsa_sim.simulator.global_memory import GlobalMemory
from xdsl_dsa_sim.simulator.image import Action, CoreImage, Image, Item, RegionImage

# More engines than these that wait are counted, not listed.
_MOST_WAITING = 8


class Kind(IntEnum):
    """Kinds of mistakes; `Fault.detail` holds what is named here."""

    MISALIGNED = 1  # operand, address, alignment
    RACE = 2  # operand, core, engine and item of the earlier access, whether that one writes
    UNWRITTEN = 3  # operand, first byte that nothing wrote
    FLAG_RANGE = 4  # flag, how many there are
    FLAG_COUNT = 5  # flag, how often it may be set
    OUTSIDE_GLOBAL = 6  # operand, low, high, whether it writes
    OUTSIDE_SPACE = 7  # operand, low, high
    DEADLOCK = 8
    FLAG_LEFT = 9  # setting engine, waiting engine, flag, whether it is one between cores
    LIMIT = 10  # steps or cycles
    EXTENTS = 11  # two operands whose extents differ

    @property
    def details(self) -> int:
        """How many facts there are."""
        return _DETAILS[self]


_DETAILS = {
    Kind.MISALIGNED: 3,
    Kind.RACE: 5,
    Kind.UNWRITTEN: 2,
    Kind.FLAG_RANGE: 2,
    Kind.FLAG_COUNT: 2,
    Kind.OUTSIDE_GLOBAL: 4,
    Kind.OUTSIDE_SPACE: 3,
    Kind.DEADLOCK: 0,
    Kind.FLAG_LEFT: 4,
    Kind.LIMIT: 0,
    Kind.EXTENTS: 2,
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """An engine that cannot go on: the item at the head of its queue and the flag it wants (-1: something
    else).
    """

    core: int
    engine: int
    item: int
    flag: int = -1


@dataclass(frozen=True, slots=True)
class Fault(Exception):
    """One mistake: the core (its index in the run), the item (-1: none), the cycle, facts by kind."""

    kind: Kind
    core: int
    item: int
    cycle: float
    detail: tuple[int, ...] = ()
    waiting: tuple[Waiting, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a core of the run stands: its image, and its index among the cores of its kind."""

    image: CoreImage
    index: int

    @property
    def name(self) -> str:
        return f"{self.image.kind.name}[{self.index}]"


def error_of(fault: Fault, image: Image, places: Sequence[Place], memory: GlobalMemory) -> ExecutionError:
    """The error of a fault, ready to be raised."""
    return ExecutionError(_Teller(image, places, memory).tell(fault))


@dataclass(frozen=True, slots=True)
class _Teller:
    image: Image
    places: Sequence[Place]
    memory: GlobalMemory

    def tell(self, fault: Fault) -> Diagnostic:
        tellers = {
            Kind.MISALIGNED: self._misaligned,
            Kind.RACE: self._race,
            Kind.UNWRITTEN: self._unwritten,
            Kind.FLAG_RANGE: self._flag_range,
            Kind.FLAG_COUNT: self._flag_count,
            Kind.OUTSIDE_GLOBAL: self._outside_global,
            Kind.OUTSIDE_SPACE: self._outside_space,
            Kind.DEADLOCK: self._deadlock,
            Kind.FLAG_LEFT: self._flag_left,
            Kind.LIMIT: self._limit,
            Kind.EXTENTS: self._extents,
        }
        code, message, requires, help = tellers[fault.kind](fault)
        place = self.places[fault.core]
        item = place.image.items[fault.item] if fault.item >= 0 else None
        where = f"on {place.name}, cycle {fault.cycle:.0f}"
        found = error(
            code,
            message,
            location=item.location if item else UNKNOWN,
            label=f"{where}: {print_instruction(item.source)}" if item else where,
            requires=requires,
        )
        for waiting in fault.waiting[:_MOST_WAITING]:
            found = found.with_note("note", self._waits(waiting))
        if len(fault.waiting) > _MOST_WAITING:
            found = found.with_note("note", f"and {len(fault.waiting) - _MOST_WAITING} more")
        return found.with_note("help", help) if help else found

    def _item(self, fault: Fault) -> Item:
        return self.places[fault.core].image.items[fault.item]

    def _operand(self, fault: Fault) -> tuple[RegionImage, str]:
        operand = self._item(fault).operands[fault.detail[0]]
        assert isinstance(operand, RegionImage)
        return operand, self.image.spaces[operand.space].name

    def _buffer_at(self, core: int, space: str, byte: int) -> str:
        kind = self.places[core].image.kind.name
        for buffer in self.image.program.buffers:
            if (
                buffer.space == space
                and buffer.core == kind
                and buffer.offset <= byte < buffer.offset + buffer.bytes * buffer.copies
            ):
                return f" ({buffer.name})"
        return ""

    def _misaligned(self, fault: Fault) -> tuple[str, str, str, str]:
        operand, space = self._operand(fault)
        _, address, alignment = fault.detail
        message = f"misaligned access: {operand.name} is at {space}[{address}]"
        return (
            "X0911",
            message,
            f"addresses in {space} that are multiples of {alignment}",
            "move the buffer or pad its rows",
        )

    def _race(self, fault: Fault) -> tuple[str, str, str, str]:
        operand, space = self._operand(fault)
        _, core, engine, number, writes = fault.detail
        other = self.places[core].image
        item = other.items[number]
        verb = "writes" if operand.writes else "reads"
        earlier = "written" if writes else "read"
        mine = self._item(fault).source.engine
        theirs = other.kind.engines[engine]
        message = f"race: {mine} {verb} {space} that {theirs} has {earlier}, and no flag is between them"
        flag = (
            "set_cross and wait_cross"
            if core != fault.core
            else f"{theirs} set_flag {mine} and {mine} wait_flag {theirs}"
        )
        return "X0912", message, f"{flag} after: {_at(item)}", ""

    def _unwritten(self, fault: Fault) -> tuple[str, str, str, str]:
        operand, space = self._operand(fault)
        byte = fault.detail[1]
        name = self._buffer_at(fault.core, space, byte)
        message = f"{operand.name} reads {space}[{byte}]{name}, which nothing has written in this program"
        return (
            "X0913",
            message,
            "",
            "write the whole region first, or restrict the extents to what was written",
        )

    def _flag_range(self, fault: Fault) -> tuple[str, str, str, str]:
        flag, count = fault.detail
        return "X0915", f"flag {flag} is none of the target's {count}", f"0 <= flag < {count}", ""

    def _flag_count(self, fault: Fault) -> tuple[str, str, str, str]:
        flag, limit = fault.detail
        times = "once" if limit == 1 else f"{limit} times"
        message = f"flag {flag} is set again before it was waited for"
        return (
            "X0915",
            message,
            f"a flag may be set {times} ahead of its wait",
            "wait for it, or use another flag",
        )

    def _outside_global(self, fault: Fault) -> tuple[str, str, str, str]:
        _, low, high, writes = fault.detail
        verb = "writes" if writes else "reads"
        near = self.memory.nearest(low)
        if near is None:
            return (
                "X0916",
                f"the instruction {verb} global memory, and the kernel has no pointer arguments",
                "",
                "",
            )
        if near.address <= low and high <= near.end:
            message = f"the instruction writes {near.name}, which is read-only"
            return "X0406", message, "", "pass an array that may be written"
        outside = near.address - low if low < near.address else high - near.end
        side = "before the start" if low < near.address else "behind the end"
        message = f"the instruction {verb} {outside} bytes {side} of {near.name}, which has {len(near.data)}"
        return "X0916", message, "", "restrict the extents to the array, or correct the mask"

    def _outside_space(self, fault: Fault) -> tuple[str, str, str, str]:
        operand, space = self._operand(fault)
        _, low, high = fault.detail
        capacity = self.image.description.space(space).capacity
        return (
            "X0918",
            f"{operand.name} is {space}[{low}] to {space}[{high}]",
            f"{space} has {capacity} bytes",
            "",
        )

    def _deadlock(self, fault: Fault) -> tuple[str, str, str, str]:
        message = "deadlock: every engine that has something to do waits"
        return "X0914", message, "", "set each flag before, in program order, what waits for it"

    def _waits(self, waiting: Waiting) -> str:
        place = self.places[waiting.core]
        image = place.image
        name = f"{image.kind.engines[waiting.engine]} of {place.name}"
        if waiting.item < 0:
            return f"{name} waits for the others"
        item = image.items[waiting.item]
        if waiting.flag < 0 and item.source.engine != image.kind.engines[waiting.engine]:
            return f"{name} cannot put an instruction on the full queue of {item.source.engine}: {_at(item)}"
        if waiting.flag < 0:
            return f"{name} stands at: {_at(item)}"
        setters = self._setters(image, item)
        by = "set by " + " or ".join(_at(setter) for setter in setters) if setters else "which nothing sets"
        other = item.source.operands[0] if item.source.operands else "the other cores"
        return f"{name} waits for flag {waiting.flag} of {other}{_line(item)}, {by}"

    def _setters(self, image: CoreImage, waiting: Item) -> list[Item]:
        if waiting.action is Action.WAIT_FLAG:
            candidates = [item for item in image.items if item.action is Action.SET_FLAG]
            return [s for s in candidates if s.engine == waiting.other and s.other == waiting.engine]
        if waiting.action is Action.WAIT_CROSS:
            kinds = [kind.name for kind in self.image.description.kinds]
            sender = next((core for core in self.image.cores if core.kind.name == kinds[waiting.other]), None)
            mine = kinds.index(image.kind.name)
            candidates = [item for item in sender.items if item.action is Action.SET_CROSS] if sender else []
            return [item for item in candidates if item.other == mine]
        return []

    def _flag_left(self, fault: Fault) -> tuple[str, str, str, str]:
        source, target, flag, crosses = fault.detail
        place = self.places[fault.core]
        if crosses:
            message = f"flag {flag} between cores of {place.name} is still set when the kernel ends"
        else:
            engines = place.image.kind.engines
            message = (
                f"flag {flag} from {engines[source]} to {engines[target]} is still set when the kernel ends"
            )
        return "X0917", message, "every flag that is set is waited for", "add the wait, or set it once less"

    def _limit(self, fault: Fault) -> tuple[str, str, str, str]:
        return (
            "X0919",
            "the kernel did not end within the limit of the simulation",
            "",
            "look for an endless loop",
        )

    def _extents(self, fault: Fault) -> tuple[str, str, str, str]:
        operands = self._item(fault).operands
        names = [
            operand.name for operand in (operands[fault.detail[0]], operands[fault.detail[1]]) if operand
        ]
        return "X0905", f"the extents of {' and '.join(names)} differ", "", "give both regions one shape"


def _line(item: Item) -> str:
    return f" ({item.location})" if item.location.line else ""


def _at(item: Item) -> str:
    return f"{print_instruction(item.source)}{_line(item)}"
