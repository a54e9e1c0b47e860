"""A kernel made ready to run: every op of every block as a closure over slots of a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from xdsl_core.diagnostics import XdslError
from xdsl_core.dtypes import DType
from xdsl_core.interp.poison import Poisoned, data_of, spread
from xdsl_core.ir.core import Block, Function, Op, Region, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import TokenType, Type, element_of
from xdsl_core.opdef import OpDef
from xdsl_core.ops.numerics import round_to

if TYPE_CHECKING:
    from xdsl_core.interp.machine import Machine

Frame = list[Any]
Step = Callable[["Machine", Frame], None]
_LANEWISE = frozenset({Trait.ELEMENTWISE, Trait.CONSTANT, Trait.TERMINATOR})


@dataclass(slots=True)
class BlockPlan:
    """The steps of a block; `arguments` and `yielded` are the slots of what it takes and what it hands over.

    `lanewise` says that its ops treat every lane alike, so that arrays may stand for its scalars.
    """

    arguments: tuple[int, ...]
    steps: list[Step]
    yielded: tuple[int, ...]
    lanewise: bool

    def run(self, machine: Machine, frame: Frame) -> None:
        for step in self.steps:
            step(machine, frame)

    def call(self, machine: Machine, frame: Frame, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run with arguments; the operands of the terminator."""
        for slot, value in zip(self.arguments, arguments, strict=True):
            frame[slot] = value
        for step in self.steps:
            step(machine, frame)
        return tuple([frame[slot] for slot in self.yielded])


@dataclass(slots=True)
class Plan:
    """A kernel as steps: `initial` is the frame before the arguments are there, `blocks` the plan of each
    region.
    """

    function: Function
    checks: bool
    initial: Frame = field(default_factory=list)
    blocks: dict[Region, BlockPlan] = field(default_factory=dict)
    slots: dict[Value, int] = field(default_factory=dict)

    @property
    def body(self) -> BlockPlan:
        return self.blocks[self.function.body]

    def fresh_frame(self, arguments: Sequence[Any]) -> Frame:
        """A frame with the kernel's arguments in place."""
        frame = self.initial.copy()
        for slot, value in zip(self.body.arguments, arguments, strict=True):
            frame[slot] = value
        return frame

    def slot(self, value: Value) -> int:
        """The place of a value in frames."""
        if value not in self.slots:
            self.slots[value] = len(self.initial)
            self.initial.append(None)
        return self.slots[value]


def make_plan(function: Function, *, checks: bool) -> Plan:
    """The plan of a kernel. With `checks`, undefined lanes are followed through the program."""
    plan = Plan(function, checks)
    with np.errstate(all="ignore"):
        _plan_region(function.body, plan)
    return plan


def _plan_region(region: Region, plan: Plan) -> None:
    block = region.block
    arguments = tuple(plan.slot(value) for value in block.arguments)
    steps = [step for op in block.ops if (step := _plan_op(op, plan)) is not None]
    last = block.terminator
    yielded = tuple(plan.slot(value) for value in last.operands) if last is not None else ()
    plan.blocks[region] = BlockPlan(arguments, steps, yielded, _is_lanewise(block))


def _is_lanewise(block: Block) -> bool:
    return all(op.definition.traits & _LANEWISE for op in block.ops)


def _plan_op(op: Op, plan: Plan) -> Step | None:
    definition = op.definition
    assert isinstance(definition, OpDef)
    for region in op.regions:
        _plan_region(region, plan)
    if Trait.TERMINATOR in definition.traits:
        return None
    call = _Call(op, definition, plan)
    if Trait.CONSTANT in definition.traits:
        plan.initial[call.results[0]] = call.finish(definition.call_meaning(None, op, ()))[0]
        return None
    if Trait.PURE not in definition.traits:
        return call.run_with_machine
    return call.run_checked if plan.checks and op.operands else call.run


class _Call:
    """One op bound to its reference: which slots it reads and writes, and how results are rounded."""

    __slots__ = (
        *("definition", "finishers", "location", "machine_at", "meaning", "op", "operands", "results"),
        *("single", "template", "variadic"),
    )

    def __init__(self, op: Op, definition: OpDef, plan: Plan) -> None:
        self.op = op
        self.definition = definition
        self.meaning = definition.meaning
        self.location = op.location
        self.results = tuple(plan.slot(value) for value in op.results)
        rounds = Trait.MOVEMENT not in definition.traits and Trait.PURE in definition.traits
        self.finishers = tuple(_finisher(value.type) if rounds else None for value in op.results)
        self.operands: dict[str, int | tuple[int, ...] | None] = {}
        for schema, group in zip(definition.operand_schema, op.groups(), strict=True):
            slots = tuple(plan.slot(value) for value in group)
            self.operands[schema.name] = slots if schema.variadic else (slots[0] if slots else None)
        self._bind(_constants(op, definition))

    def _bind(self, constants: Mapping[str, Any]) -> None:
        self.template: list[Any] = []
        self.single: list[tuple[int, int]] = []
        self.variadic: list[tuple[int, tuple[int, ...]]] = []
        self.machine_at: int | None = None
        for position, name in enumerate(self.definition.meaning_parameters):
            slots = self.operands.get(name)
            if isinstance(slots, tuple):
                self.variadic.append((position, slots))
            elif slots is not None:
                self.single.append((position, slots))
            elif name == "machine":
                self.machine_at = position
            self.template.append(constants.get(name))

    def run(self, machine: Machine, frame: Frame) -> None:
        arguments = self.template.copy()
        for position, slot in self.single:
            arguments[position] = frame[slot]
        self._finish_call(machine, frame, arguments)

    def run_with_machine(self, machine: Machine, frame: Frame) -> None:
        machine.location = self.location
        self.run(machine, frame)

    def run_checked(self, machine: Machine, frame: Frame) -> None:
        """As `run`, where operands may have undefined lanes."""
        operands = {name: _fetch(frame, slots) for name, slots in self.operands.items()}
        if not any(_is_poisoned(value) for value in operands.values()):
            self.run(machine, frame)
            return
        arguments = self.template.copy()
        for position, slot in self.single:
            arguments[position] = data_of(frame[slot])
        outcome = self._call(machine, frame, arguments)
        for slot, value in zip(
            self.results, spread(self.definition, self.op, operands, outcome), strict=True
        ):
            frame[slot] = value

    def _finish_call(self, machine: Machine, frame: Frame, arguments: list[Any]) -> None:
        outcome = self._call(machine, frame, arguments)
        for slot, value in zip(self.results, outcome, strict=True):
            frame[slot] = value

    def _call(self, machine: Machine, frame: Frame, arguments: list[Any]) -> tuple[Any, ...]:
        for position, slots in self.variadic:
            values = tuple([frame[slot] for slot in slots])
            arguments[position] = data_of(values) if Trait.PURE in self.definition.traits else values
        if self.machine_at is not None:
            arguments[self.machine_at] = machine
        try:
            return self.finish(self.meaning(*arguments))
        except XdslError as problem:
            raise problem.at(self.location) from None

    def finish(self, outcome: Any) -> tuple[Any, ...]:
        """What the reference returned as one value a result, each of the result's type."""
        if outcome is None:
            return ()
        values = outcome if isinstance(outcome, tuple | list) else (outcome,)
        return tuple(
            [
                value if finisher is None else finisher(value)
                for finisher, value in zip(self.finishers, values, strict=True)
            ]
        )


def _constants(op: Op, definition: OpDef) -> dict[str, Any]:
    """What the reference may ask for that does not change: attributes, regions, the op."""
    names: dict[str, Any] = {"op": op, **dict(zip(definition.region_names, op.regions, strict=True))}
    for attribute in definition.attribute_schema:
        names[attribute.name] = op.attributes.get(attribute.name, attribute.default)
    return names


def _fetch(frame: Frame, slots: int | tuple[int, ...] | None) -> Any:
    if isinstance(slots, tuple):
        return tuple([frame[slot] for slot in slots])
    return None if slots is None else frame[slots]


def _is_poisoned(value: Any) -> bool:
    return any(map(_is_poisoned, value)) if isinstance(value, tuple) else isinstance(value, Poisoned)


def _finisher(kind: Type) -> Callable[[Any], Any] | None:
    """Brings a reference's result into a type: floats rounded and kept as float64, integers wrapped."""
    if isinstance(kind, TokenType):
        return None
    element = element_of(kind)
    if isinstance(element, DType) and element.is_float:
        return partial(round_to, element)
    wanted = element.numpy if isinstance(element, DType) else np.dtype(np.int64)

    def wrap(value: Any) -> Any:
        return value if value.dtype == wanted else value.astype(wanted)

    return wrap
