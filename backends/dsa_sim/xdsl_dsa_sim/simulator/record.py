"""What a run leaves behind: cycles, what each engine and instruction did, and if wanted every event."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl_dsa_sim.simulator.setup import Setup


@dataclass(slots=True)
class EngineTotals:
    """What an engine of a core did: cycles it worked, instructions, when it first began and last ended.

    It works while an instruction of its has begun and is not done, start-up and latency included, as the
    counters of a board have it; what overlaps counts once.
    `waits` are cycles its queue stood at a wait, by the engine that had to set the flag; the last entry is
    for flags of other cores. `held` are cycles an instruction waited for one before it on the same engine.
    """

    busy: float = 0.0
    count: int = 0
    first: float = -1.0
    last: float = 0.0
    held: float = 0.0
    waits: list[float] = field(default_factory=list)


@dataclass(slots=True)
class ItemTotals:
    """What all executions of one instruction add up to, on all cores: how often, cycles, bytes moved, and
    work (products of a matrix unit, lanes of a vector unit).
    """

    count: int = 0
    busy: float = 0.0
    bytes: int = 0
    work: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One execution: begun at `start`, the engine free again at `free`, done at `end`."""

    core: int
    engine: int
    item: int
    program: int
    start: float
    free: float
    end: float


@dataclass(frozen=True, slots=True)
class Arrow:
    """A flag: set by an engine at `set_at`, taken by another at `taken_at`."""

    core: int
    engine: int
    set_at: float
    to_core: int
    to_engine: int
    taken_at: float


@dataclass(slots=True)
class Record:
    """The outcome of a run; `cycles` is when the last core ended.

    `engines` is by core of the run and engine, `items` by core image and instruction, `high_water` by core
    image and space (bytes from the start of the space that were ever touched).
    """

    cycles: float
    core_cycles: list[float]
    engines: list[list[EngineTotals]]
    items: list[list[ItemTotals]]
    high_water: list[list[int]]
    dram_read: int = 0
    dram_written: int = 0
    l2_moved: int = 0
    executed: int = 0
    events: list[Event] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)


def empty_record(setup: Setup) -> Record:
    """A record of nothing yet."""
    engines = [
        [EngineTotals(waits=[0.0] * (len(core.image.kind.engines) + 1)) for _ in core.image.kind.engines]
        for core in setup.cores
    ]
    items = [[ItemTotals() for _ in image.items] for image in setup.image.cores]
    high_water = [[0] * len(setup.image.spaces) for _ in setup.image.cores]
    return Record(0.0, [0.0] * len(setup.cores), engines, items, high_water)


def completed(record: Record) -> Record:
    """The record with what follows from its parts: when cores ended, the cycles, the instructions
    executed.
    """
    record.executed = sum(totals.count for engines in record.engines for totals in engines)
    for core, engines in enumerate(record.engines):
        record.core_cycles[core] = max([record.core_cycles[core], *(totals.last for totals in engines)])
    record.cycles = max(record.core_cycles, default=0.0)
    return record
