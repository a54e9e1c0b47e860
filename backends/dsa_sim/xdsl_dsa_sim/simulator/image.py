"""A program made ready to run on a target: code flattened, names resolved, timing parameters at hand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from xdsl_core.diagnostics import Location
from xdsl_core.dtypes import DType
from xdsl_core.target import CoreKind, MemorySpace, TargetDescription
from xdsl_dsa_sim.isa import Block, Instruction, InstructionDef, Program
from xdsl_dsa_sim.machine import MachineModel


class Code(IntEnum):
    """What the scalar unit does in one step of flattened code."""

    ITEM = 0
    JUMP = 1
    BRANCH_ZERO = 2
    LOOP = 3
    NEXT = 4
    END = 5


class Action(IntEnum):
    """What an instruction is to the engine of the simulator."""

    COMPUTE = 0
    SET_FLAG = 1
    WAIT_FLAG = 2
    BARRIER = 3
    SET_CROSS = 4
    WAIT_CROSS = 5
    BARRIER_CORES = 6
    REGISTER = 7
    LOAD = 8
    STORE = 9
    WORK = 10
    PROGRAM = 11
    EFFECT = 12


@dataclass(frozen=True, slots=True)
class Slot:
    """One number an instruction takes: the register with this index (-1: none) plus a constant."""

    register: int
    constant: int | float


@dataclass(frozen=True, slots=True)
class RegionImage:
    """A region of an instruction whose numbers are `offset`, extents and strides from `first` on in its
    slots.
    """

    name: str
    access: str
    space: int
    dtype: DType
    rank: int
    first: int
    block: Block | None

    @property
    def reads(self) -> bool:
        return self.access in ("read", "update")

    @property
    def writes(self) -> bool:
        return self.access in ("write", "update")


@dataclass(frozen=True, slots=True)
class NumberImage:
    """A number of an instruction: the slot at `first`."""

    name: str
    first: int


OperandImage: TypeAlias = RegionImage | NumberImage | None


@dataclass(frozen=True, slots=True)
class Timing:
    """Parameters of an instruction's timing rule; see `costs` for what each rule makes of them.

    `rate` is bytes (or products) a cycle, `startup` and `latency` cycles, `traffic` "" or "read" or "write"
    for what crosses to global memory.
    """

    rule: str
    rate: float = 0.0
    latency: float = 0.0
    issue: float = 0.0
    row_cycles: float = 0.0
    per_step: float = 1.0
    startup: float = 0.0
    traffic: str = ""
    bypass: bool = False
    fractal: tuple[int, int, int] = (1, 1, 1)
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One instruction of the image.

    `engine` is its index in the core kind's engines, `other` the engine or core kind its flag is about,
    `register` the one it defines (-1: none), of dtype `result`; `path` names the data path for profiles.
    `shape_rule` relates the extents of the operands `alike`; the destination of a copy that `fills` may be
    larger. An instruction that `starts_sum` does not read what it updates if its last number is 0.
    """

    index: int
    source: Instruction
    definition: InstructionDef
    action: Action
    engine: int
    slots: tuple[Slot, ...] = ()
    operands: tuple[OperandImage, ...] = ()
    other: int = -1
    register: int = -1
    result: DType | None = None
    timing: Timing = Timing("none")
    path: str = ""
    shape_rule: str = ""
    alike: tuple[int, ...] = ()
    fills: bool = False
    starts_sum: bool = False

    @property
    def location(self) -> Location:
        return self.source.location


@dataclass(frozen=True, slots=True)
class Step:
    """One step of flattened code: an item, or a jump to step `target`.

    LOOP sets `register` and the hidden registers `hidden` (upper bound) and `hidden + 1` (step) from its
    slots and goes to `target` if there is no turn; NEXT adds the step and goes to `target` for another turn.
    """

    code: Code
    item: int = -1
    register: int = -1
    hidden: int = -1
    target: int = -1
    slots: tuple[Slot, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreImage:
    """The code of one kind of core. `registers` names the first ones; hidden ones follow up to
    `register_count`. `members` cores of each group run it.
    """

    kind: CoreKind
    steps: tuple[Step, ...]
    items: tuple[Item, ...]
    registers: tuple[str, ...]
    register_count: int
    float_registers: frozenset[int]
    scalar_engine: int
    members: int


@dataclass(frozen=True, slots=True)
class Image:
    """A program and all that a run needs to know of its target."""

    program: Program
    description: TargetDescription
    model: MachineModel
    spaces: tuple[MemorySpace, ...]
    cores: tuple[CoreImage, ...]

    @property
    def groups(self) -> int:
        """How many groups of cores the device has."""
        return min(image.kind.count // image.kind.per_group for image in self.cores)
