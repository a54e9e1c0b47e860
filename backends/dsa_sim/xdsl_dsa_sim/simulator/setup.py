"""What a run begins with: which cores take part, and what their registers hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_core.backend import Grid
from xdsl_dsa_sim.isa import SPECIAL_REGISTERS
from xdsl_dsa_sim.simulator.faults import Place
from xdsl_dsa_sim.simulator.global_memory import WORKSPACE, GlobalMemory
from xdsl_dsa_sim.simulator.image import Action, CoreImage, Image, RegionImage

MODES = ("both", "timing", "functional")


@dataclass(frozen=True, slots=True)
class CoreSetup:
    """One core of the run.

    `first_engine` is its first engine's index among those of its group, `registers` what they hold at the
    start.
    """

    place: Place
    group: int
    first_engine: int
    registers: tuple[int | float, ...]

    @property
    def image(self) -> CoreImage:
        return self.place.image


@dataclass(frozen=True, slots=True)
class Setup:
    """A run that is about to begin.

    `workspace` is (address, bytes of all groups); `group_engines` counts the engines of a group.
    """

    image: Image
    cores: tuple[CoreSetup, ...]
    memory: GlobalMemory
    workspace: tuple[int, int]
    group_engines: int
    mode: str = "both"
    trace: bool = False
    max_steps: int = 0

    @property
    def places(self) -> list[Place]:
        return [core.place for core in self.cores]

    @property
    def functional(self) -> bool:
        return self.mode != "timing"

    @property
    def timed(self) -> bool:
        return self.mode != "functional"


def prepare(
    image: Image,
    grid: Grid,
    memory: GlobalMemory,
    *,
    mode: str = "both",
    trace: bool = False,
    max_steps: int = 0,
) -> Setup:
    """The setup of a launch: no more cores than programs, whole groups where cores of a group work together.

    In timing mode a program whose scalar unit reads on-chip memory is run with values too, as they may decide
    what runs.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}, none of {', '.join(MODES)}")
    if mode == "timing" and any(_reads_values(core) for core in image.cores):
        mode = "both"
    programs = grid[0] * grid[1] * grid[2]
    counts = _core_counts(image, programs)
    groups = max(-(-count // core.members) for core, count in zip(image.cores, counts, strict=True))
    total = groups * image.program.workspace
    workspace = 0
    if total:
        workspace = memory.add(WORKSPACE, np.zeros(total, np.uint8)).address
    cores: list[CoreSetup] = []
    for group in range(groups):
        first_engine = 0
        for core, count in zip(image.cores, counts, strict=True):
            for subcore in range(core.kind.per_group):
                index = group * core.members + subcore
                if subcore < core.members and index < count:
                    special = _special(
                        core, index, count, groups, grid, workspace + group * image.program.workspace
                    )
                    registers = _registers(core, special, memory.values)
                    place = Place(core, group * core.kind.per_group + subcore)
                    cores.append(CoreSetup(place, group, first_engine, registers))
                first_engine += len(core.kind.engines)
    engines = sum(core.kind.per_group * len(core.kind.engines) for core in image.cores)
    return Setup(image, tuple(cores), memory, (workspace, total), engines, mode, trace, max_steps)


def _core_counts(image: Image, programs: int) -> list[int]:
    """How many cores of each kind take part."""
    together = len(image.cores) > 1 or any(_works_in_group(image, core) for core in image.cores)
    if together:
        groups = min(image.groups, programs)
        return [groups * core.members for core in image.cores]
    return [min(core.kind.count // core.kind.per_group * core.members, programs) for core in image.cores]


def _works_in_group(image: Image, core: CoreImage) -> bool:
    shared = {number for number, space in enumerate(image.spaces) if space.owner == "cluster"}
    if core.members == 1:
        return False
    return any(
        item.action in (Action.SET_CROSS, Action.WAIT_CROSS, Action.BARRIER_CORES)
        or any(isinstance(operand, RegionImage) and operand.space in shared for operand in item.operands)
        for item in core.items
    )


def _reads_values(core: CoreImage) -> bool:
    return any(item.action is Action.LOAD and not item.timing.traffic for item in core.items)


def _special(
    core: CoreImage, index: int, count: int, groups: int, grid: Grid, workspace: int
) -> dict[str, int]:
    values = {
        "core": index,
        "cores": count,
        "group": index // core.members,
        "groups": groups,
        "subcore": index % core.members,
        "subcores": core.members,
        "grid_x": grid[0],
        "grid_y": grid[1],
        "grid_z": grid[2],
        "programs": grid[0] * grid[1] * grid[2],
        "workspace": workspace,
    }
    assert values.keys() == SPECIAL_REGISTERS.keys()
    return values


def _registers(
    core: CoreImage, special: dict[str, int], arguments: Sequence[int | float]
) -> tuple[int | float, ...]:
    first = len(special)
    values: list[Any] = [0] * core.register_count
    for number, name in enumerate(core.registers):
        if name in special:
            values[number] = special[name]
        elif number < first + len(arguments):
            values[number] = arguments[number - first]
    return tuple(values)
