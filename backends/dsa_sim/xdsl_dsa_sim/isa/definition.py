"""How an instruction is declared once: operands, text, meaning and timing rule beside each other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """An operand: what may stand there and what the instruction does to it.

    `access` is "read", "write", "update" (both), or "define" for a register that the instruction sets.
    `kinds` are of "region", "scalar" (a number or register), "register", "engine" and "core" (names).
    """

    name: str
    access: str
    kinds: tuple[str, ...]
    doc: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    """A constant of an instruction, with its Python types, default (an instruction may leave it out),
    choices.
    """

    name: str
    kinds: tuple[type, ...]
    doc: str
    default: Any = None
    choices: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class TimingRule:
    """How many cycles an instruction occupies its engine; `formula` says it in the words of
    docs/dsa_accuracy.md.

    The function of the same name is in `xdsl_dsa_sim.simulator.costs`, its twin in the C engine.
    """

    name: str
    formula: str


@dataclass(frozen=True, slots=True)
class InstructionDef:
    """All there is to know about an instruction.

    `unit` says which engines execute it: "path" (the engine of the data path between its operands), "vector",
    "matrix", "scalar", or "any". `typed` instructions carry a dtype in their mnemonic. `cost_class` picks the
    row of the unit's cost table. `shapes` says how extents of regions have to fit: "copy" (equal, the
    destination may be larger if it is filled), "broadcast" (to the first), "matrix" (M x N, M x K, K x N),
    "reduce" (the last without the axis, or with extent 1 there), "same" and names (equal extents).

    `semantics` changes memory in place and returns the value of the register it defines, if any. It is called
    with the parameters it names: operands (regions as `View`, numbers and registers as Python numbers, None
    for an optional one that is absent) and attributes by their names; `operands` and `attributes` as
    mappings; `dtype` of the mnemonic; `memory` (global memory) and `console`.
    """

    name: str
    doc: str
    unit: str
    operands: tuple[OperandSpec, ...]
    semantics: Callable[..., Any] | None
    timing: TimingRule
    attributes: tuple[AttributeSpec, ...] = ()
    typed: bool = False
    cost_class: str = ""
    shapes: str = ""
    parameters: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.semantics is not None:
            names = tuple(inspect.signature(self.semantics).parameters)
            object.__setattr__(self, "parameters", names)

    def attribute_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All attributes, the defaults where none is given."""
        return {spec.name: given.get(spec.name, spec.default) for spec in self.attributes}


def writes(name: str, doc: str, *, optional: bool = False) -> OperandSpec:
    """A region that is written."""
    return OperandSpec(name, "write", ("region",), doc, optional)


def reads(name: str, doc: str, *, optional: bool = False) -> OperandSpec:
    """A region that is read."""
    return OperandSpec(name, "read", ("region",), doc, optional)


def updates(name: str, doc: str) -> OperandSpec:
    """A region that is read and written."""
    return OperandSpec(name, "update", ("region",), doc)


def reads_either(name: str, doc: str, *, optional: bool = False) -> OperandSpec:
    """A region or a number, which then stands for every element."""
    return OperandSpec(name, "read", ("region", "scalar"), doc, optional)


def number(name: str, doc: str, *, optional: bool = False) -> OperandSpec:
    """A number or register."""
    return OperandSpec(name, "read", ("scalar",), doc, optional)


def defines(name: str, doc: str) -> OperandSpec:
    """A register the instruction sets."""
    return OperandSpec(name, "define", ("register",), doc)


def engine(name: str, doc: str) -> OperandSpec:
    """The name of an engine of the same core."""
    return OperandSpec(name, "read", ("engine",), doc)


MOVE = TimingRule(
    "move",
    "occupancy = max(issue, row_cycles * rows if the layout changes, bytes / rate); done after latency. "
    "To or from global memory whole segments of 512 bytes count, and rate is the least of the path's and "
    "this engine's share of L2 and of DRAM",
)
VECTOR = TimingRule(
    "vector",
    "per_step * steps * conflicts + startup; a step is one full width of the unit; mask_cycles more if the "
    "last step is partial; startup is hidden behind the previous instruction if that is independent",
)
REDUCTION = TimingRule(
    "reduction", "per_step * steps + startup, a step for every full width of each row reduced"
)
SCAN = TimingRule("scan", "log2(extent) passes of an elementwise instruction over the source")
LANES = TimingRule("lanes", "per_step * elements + startup: one element after the other")
INDIRECT = TimingRule("indirect", "issue * elements, and a whole segment of global memory for each element")
MATRIX = TimingRule("matrix", "products of fractals / rate + head; the head is longer if the queue ran empty")
SCALAR = TimingRule("scalar", "issue cycles of the scalar unit")
SCALAR_MEMORY = TimingRule("scalar_memory", "the scalar unit stands still for the latency of the space")
WAIT_CYCLES = TimingRule("cycles", "as many cycles as it says")
FLAG = TimingRule(
    "flag", "flag cycles; a wait lasts until the flag is set; between cores cross_core_latency more"
)
