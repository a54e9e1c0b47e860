"""The state of a run: events to come, cores with their queues, flags, memories, shared bandwidth."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from xdsl_dsa_sim.simulator.hazards import Clock, Watched
from xdsl_dsa_sim.simulator.image import Item, RegionImage, Slot
from xdsl_dsa_sim.simulator.l2 import L2
from xdsl_dsa_sim.simulator.record import Record, empty_record
from xdsl_dsa_sim.simulator.setup import CoreSetup, Setup
from xdsl_dsa_sim.simulator.sharing import Flow, Pools, dram_rates

Values = tuple[int | float, ...]
# Runs an instruction's meaning: core, item, its numbers, its program; gives the value of the register it
# sets.
Executor = Callable[[int, Item, Values, int], Any]
NEVER = float("inf")


class Happening(IntEnum):
    """Kinds of events, and what `Event.subject` is."""

    SCALAR = 0  # core
    ENGINE = 1  # core * engines + engine
    COMPLETE = 2  # likewise
    FLAG = 3  # index of a set flag on its way
    POOL = 4  # version of the shares it was computed from


def value_of(registers: list[Any], slot: Slot) -> Any:
    """The number in a slot."""
    return slot.constant if slot.register < 0 else registers[slot.register] + slot.constant


@dataclass(slots=True)
class Pending:
    """An instruction on a queue, its registers resolved; `known` is what the scalar unit knew when it put it
    there.
    """

    item: Item
    values: Values
    known: Clock
    available: float
    program: int


@dataclass(slots=True)
class Flight:
    """An instruction under way, and the flags that are set when it is done (with what is then known)."""

    pending: Pending
    touches: list[Any]
    start: float
    free: float = 0.0
    flags: list[tuple[Item, Values, Clock]] = field(default_factory=list)


@dataclass(slots=True)
class Engine:
    """A queue and what is under way.

    The head waits for the flag `waiting` (its item's numbers are not looked at again), is `held` by an
    instruction before it, or a `flow` occupies the engine. `stalled` says that it had nothing to do since the
    last instruction.
    """

    queue: deque[Pending] = field(default_factory=deque)
    flights: deque[Flight] = field(default_factory=deque)
    free_at: float = 0.0
    last_end: float = 0.0
    wake_at: float = NEVER
    waiting: bool = False
    held: bool = False
    flow: Flow | None = None
    stalled: bool = True
    blocked_since: float = 0.0

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or under way."""
        return not self.queue and not self.flights and self.flow is None


@dataclass(slots=True)
class Core:
    """A core of the run. The scalar unit stands still while a queue is full (`full_queue`), it waits for a
    flag, for its engines (`draining`), or for other cores at a barrier.
    """

    number: int
    setup: CoreSetup
    image: int
    registers: list[Any]
    engines: list[Engine]
    spaces: dict[int, Watched]
    step: int = 0
    clock: float = 0.0
    program: int = -1
    wake_at: float = NEVER
    full_queue: int = -1
    waiting: bool = False
    draining: bool = False
    at_barrier: str = ""
    passed_barrier: bool = False
    ended: bool = False
    blocked_since: float = 0.0

    @property
    def scalar(self) -> int:
        """The index of the scalar unit among the engines."""
        return self.setup.image.scalar_engine


# A flag within a core: (core, setting engine, waiting engine, flag); between cores: (core, setting core,
# flag).
FlagKey = tuple[int, ...]


@dataclass(slots=True)
class Flag:
    """How often a flag is set, and for each time what its setter knew, when, and which instruction it was."""

    count: int = 0
    sets: deque[tuple[Clock, float, int, int, int]] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class Setting:
    """A flag on its way: who set it (core, engine, item) and what it knew."""

    key: FlagKey
    known: Clock
    core: int
    engine: int
    item: int


@dataclass(slots=True)
class Run:
    """Everything that changes while a program runs. `known` is by group and engine of the group."""

    setup: Setup
    executor: Executor
    record: Record
    cores: list[Core]
    known: list[list[Clock]]
    l2: L2
    pools: Pools
    depth: int
    events: list[tuple[float, int, Happening, int]] = field(default_factory=list)
    sequence: int = 0
    flags: dict[FlagKey, Flag] = field(default_factory=dict)
    settings: list[Setting] = field(default_factory=list)
    steps: int = 0
    stride: int = 1

    def push(self, time: float, happening: Happening, subject: int) -> None:
        """Let something happen; what was pushed first happens first at equal times."""
        heapq.heappush(self.events, (time, self.sequence, happening, subject))
        self.sequence += 1

    def wake(self, core: Core, engine: int, time: float) -> None:
        """Look at the head of a queue at `time`, unless that is going to happen before."""
        state = core.engines[engine]
        if time < state.wake_at:
            state.wake_at = time
            self.push(time, Happening.ENGINE, core.number * self.stride + engine)

    def wake_scalar(self, core: Core, time: float) -> None:
        """Let the scalar unit go on at `time`."""
        if time < core.wake_at:
            core.wake_at = time
            self.push(time, Happening.SCALAR, core.number)

    def group_engine(self, core: Core, engine: int) -> int:
        """An engine's index among those of its group."""
        return core.setup.first_engine + engine

    def knowledge(self, core: Core, engine: int) -> Clock:
        """What an engine knows of the others in its group."""
        return self.known[core.setup.group][self.group_engine(core, engine)]

    def learn(self, core: Core, engine: int, clock: Clock) -> None:
        """Let an engine know more."""
        mine = self.known[core.setup.group]
        index = self.group_engine(core, engine)
        mine[index] = tuple(map(max, mine[index], clock))

    def tick(self, core: Core, engine: int) -> Clock:
        """Count one more access of an engine."""
        mine = self.known[core.setup.group]
        index = self.group_engine(core, engine)
        clock = mine[index]
        mine[index] = (*clock[:index], clock[index] + 1, *clock[index + 1 :])
        return mine[index]


def begin(setup: Setup, executor: Executor) -> Run:
    """The state before the first step."""
    description, model = setup.image.description, setup.image.model
    zero = (0,) * setup.group_engines
    groups = max((core.group for core in setup.cores), default=-1) + 1
    shared: dict[tuple[int, int], Watched] = {}
    cores = []
    for number, core in enumerate(setup.cores):
        engines = [Engine() for _ in core.image.kind.engines]
        image = setup.image.cores.index(core.image)
        cores.append(Core(number, core, image, list(core.registers), engines, _memories(setup, core, shared)))
    hertz = description.clock_hz or 1.0
    dram = tuple(rate / hertz or NEVER for rate in dram_rates(description, model.memory))
    l2 = (model.memory.l2_bandwidth.get(core.kind.name, 0.0) / hertz or NEVER for core in setup.image.cores)
    return Run(
        setup,
        executor,
        empty_record(setup),
        cores,
        [[zero] * setup.group_engines for _ in range(groups)],
        L2(model.memory),
        Pools((*dram, *l2)),
        description.limits.get("queue_depth", 32),
        stride=max((len(core.engines) for core in cores), default=1),
    )


def _memories(setup: Setup, core: CoreSetup, shared: dict[tuple[int, int], Watched]) -> dict[int, Watched]:
    """The memories of a core: its own, and those it shares with the cores of its group."""
    found = {}
    for index, space in enumerate(setup.image.spaces):
        if space.owner == "core":
            if space.core in ("", core.image.kind.name):
                found[index] = Watched(np.zeros(space.capacity, np.uint8))
        elif space.owner == "device":
            found[index] = shared.setdefault((core.group, index), _global(setup, core.group, index))
        else:
            found[index] = shared.setdefault((core.group, index), Watched(np.zeros(space.capacity, np.uint8)))
    return found


def _global(setup: Setup, group: int, index: int) -> Watched:
    """Global memory as one group sees it: its own scratch memory begins unwritten."""
    size = setup.image.program.workspace
    users = []
    for core in setup.cores:
        if core.group == group:
            uses = {
                item.engine
                for item in core.image.items
                if any(isinstance(o, RegionImage) and o.space == index for o in item.operands)
            }
            users += [core.first_engine + engine for engine in sorted(uses)]
    base = setup.workspace[0] + group * size
    return Watched(np.zeros(size, np.uint8), base, by_program=True, users=tuple(users))
