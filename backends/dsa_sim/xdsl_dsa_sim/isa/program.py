"""Programs of the simulated machine: for each kind of core, the code its scalar unit runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.dtypes import DType
from xdsl_dsa_sim.isa.operands import Operand, Register, Scalar

# Registers that are set before a core starts, beside the kernel's parameters.
SPECIAL_REGISTERS: Mapping[str, str] = MappingProxyType(
    {
        "core": "index of this core among the cores of its kind that take part in the launch",
        "cores": "how many cores of this kind take part",
        "group": "index of the group of cores this one belongs to (one matrix core and its vector cores)",
        "groups": "how many groups take part",
        "subcore": "index of this core among those of its kind in its group",
        "subcores": "how many cores of its kind a group has",
        "grid_x": "programs along axis 0 of the grid",
        "grid_y": "programs along axis 1",
        "grid_z": "programs along axis 2",
        "programs": "programs in the grid",
        "workspace": "address of the global scratch memory of this group",
    }
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: the scalar unit resolves its registers and puts it on the queue of `engine`.

    `name` and `dtype` are the mnemonic (`add.f32`); `operands` stand in the order of the instruction's
    definition, `attributes` are constants. Make them with `xdsl_dsa_sim.isa.instruction`, which checks them.
    """

    engine: str
    name: str
    operands: tuple[Operand, ...] = ()
    dtype: DType | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    location: Location = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """Runs `body` with `register` at lower, lower + step, ... below `upper` (above it for a negative step).

    Bounds and step are read once. The body may change other registers, which keep their values.
    """

    register: Register
    lower: Scalar
    upper: Scalar
    step: Scalar
    body: tuple[Statement, ...]
    location: Location = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """Runs `before`, then as long as `condition` is not 0 `body` and `before` again."""

    before: tuple[Statement, ...]
    condition: Register
    body: tuple[Statement, ...]
    location: Location = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """Runs `then` if `condition` is not 0, else `otherwise`."""

    condition: Register
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    location: Location = field(default=UNKNOWN, compare=False)


Statement: TypeAlias = Instruction | Loop | While | If


@dataclass(frozen=True, slots=True)
class Parameter:
    """A run-time parameter of the kernel and the register that holds it; of a pointer, the pointee's
    dtype.
    """

    name: str
    dtype: DType
    is_pointer: bool = False


@dataclass(frozen=True, slots=True)
class Buffer:
    """Where a value of the kernel lives: for capacity tables and messages; no instruction refers to it.

    `offset` and `bytes` are those of one of `copies` equal parts that follow each other. `core` is the kind
    of core. `lifetime` counts statements of the core's code, first to last use.
    """

    name: str
    core: str
    space: str
    offset: int
    bytes: int
    copies: int = 1
    lifetime: tuple[int, int] = (0, 0)
    location: Location = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel in instructions.

    `cores` maps a kind of core to its code; kinds that are absent stay idle. `workspace` is the bytes of
    global scratch memory each group of cores gets. `members` says of a kind how many cores of a group run
    the code; all of them where it says nothing.
    """

    kernel: str
    target: str
    parameters: tuple[Parameter, ...]
    cores: Mapping[str, tuple[Statement, ...]]
    buffers: tuple[Buffer, ...] = ()
    workspace: int = 0
    members: Mapping[str, int] = field(default_factory=dict, hash=False)


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """All statements in the order of the text."""
    for statement in body:
        yield statement
        for part in children(statement):
            yield from walk(part)


def children(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The statement lists inside a statement."""
    if isinstance(statement, Loop):
        return (statement.body,)
    if isinstance(statement, While):
        return statement.before, statement.body
    if isinstance(statement, If):
        return statement.then, statement.otherwise
    return ()
