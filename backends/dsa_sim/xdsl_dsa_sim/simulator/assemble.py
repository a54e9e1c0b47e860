"""Program -> Image: flattens the code and finds everything that does not fit the target."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl_core.diagnostics import CompilationError, Diagnostic, Location, error
from xdsl_core.dtypes import DType
from xdsl_core.target import CoreKind, TargetDescription
from xdsl_dsa_sim.isa import (
    SPECIAL_REGISTERS,
    If,
    Instruction,
    InstructionDef,
    Loop,
    Program,
    Region,
    Register,
    Scalar,
    Statement,
    Sum,
    While,
)
from xdsl_dsa_sim.isa.build import ABSENT, definition_of
from xdsl_dsa_sim.isa.scalar import scalar_result
from xdsl_dsa_sim.machine import machine_model
from xdsl_dsa_sim.simulator.image import (
    Action,
    Code,
    CoreImage,
    Image,
    Item,
    NumberImage,
    OperandImage,
    RegionImage,
    Slot,
    Step,
)
from xdsl_dsa_sim.simulator.timing import Problem, timing_of

_ACTIONS = {
    "set_flag": Action.SET_FLAG,
    "wait_flag": Action.WAIT_FLAG,
    "barrier": Action.BARRIER,
    "set_cross": Action.SET_CROSS,
    "wait_cross": Action.WAIT_CROSS,
    "barrier_cores": Action.BARRIER_CORES,
    "load": Action.LOAD,
    "store": Action.STORE,
    "work": Action.WORK,
    "program": Action.PROGRAM,
    "print": Action.EFFECT,
    "assert": Action.EFFECT,
}
_FLAG_LIMITS = {
    Action.SET_FLAG: "event_flags",
    Action.WAIT_FLAG: "event_flags",
    Action.SET_CROSS: "cross_flags",
    Action.WAIT_CROSS: "cross_flags",
}


def assemble(program: Program, description: TargetDescription) -> Image:
    """The image of a program for a target; CompilationError X0905 with everything that does not fit it."""
    kinds = {kind.name: kind for kind in description.kinds}
    found: list[Diagnostic] = []
    cores = []
    for name, body in program.cores.items():
        kind = kinds.get(name)
        if kind is None:
            known = ", ".join(kinds)
            found.append(
                error("X0905", f"target {description.target} has no cores {name!r}", note=f"it has {known}")
            )
            continue
        assembler = _Assembler(program, description, kind)
        cores.append(assembler.run(body))
        found += assembler.found
    if found:
        raise CompilationError(found)
    return Image(program, description, machine_model(description), description.memory_spaces, tuple(cores))


@dataclass(slots=True)
class _Assembler:
    """Collects the steps and items of one kind of core."""

    program: Program
    description: TargetDescription
    kind: CoreKind
    found: list[Diagnostic] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    registers: dict[str, int] = field(default_factory=dict)
    floats: set[int] = field(default_factory=set)
    hidden: int = 0

    def run(self, body: tuple[Statement, ...]) -> CoreImage:
        for name in SPECIAL_REGISTERS:
            self._register(name)
        for parameter in self.program.parameters:
            index = self._register(parameter.name)
            if parameter.dtype.is_float and not parameter.is_pointer:
                self.floats.add(index)
        self._body(body)
        self.steps.append(Step(Code.END))
        base = len(self.registers)
        steps = tuple(_shifted(step, base) for step in self.steps)
        scalar = next((unit.queue for unit in self.description.units("scalar", core=self.kind.name)), "")
        if scalar not in self.kind.engines:
            self.wrong(f"cores {self.kind.name} have no scalar unit, which runs the code", Location("", 0))
            scalar = self.kind.engines[0]
        return CoreImage(
            self.kind,
            steps,
            tuple(self.items),
            tuple(self.registers),
            base + self.hidden,
            frozenset(self.floats),
            self.kind.engines.index(scalar),
            self._members(),
        )

    def _members(self) -> int:
        """How many cores of a group run the code."""
        there = self.kind.per_group
        members = self.program.members.get(self.kind.name, there)
        if not 1 <= members <= there:
            self.wrong(
                f"{members} cores {self.kind.name} of a group are to run, it has {there}", Location("", 0)
            )
        return members

    def wrong(self, message: str, location: Location, *, help: str = "") -> None:
        self.found.append(error("X0905", message, location=location, help=help))

    def _register(self, name: str) -> int:
        return self.registers.setdefault(name, len(self.registers))

    def _slot(self, scalar: Scalar) -> Slot:
        if isinstance(scalar, Register):
            return Slot(self._register(scalar.name), 0)
        if isinstance(scalar, Sum):
            return Slot(self._register(scalar.register.name), scalar.constant)
        return Slot(-1, scalar)

    def _slots(self, scalars: Iterable[Scalar]) -> tuple[Slot, ...]:
        return tuple(self._slot(scalar) for scalar in scalars)

    def _body(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            if isinstance(statement, Instruction):
                self._instruction(statement)
            elif isinstance(statement, Loop):
                self._loop(statement)
            elif isinstance(statement, While):
                self._while(statement)
            else:
                self._if(statement)

    def _reserve(self) -> int:
        """A step to be filled in later; its index."""
        self.steps.append(Step(Code.END))
        return len(self.steps) - 1

    def _loop(self, loop: Loop) -> None:
        hidden = self.hidden
        self.hidden += 2
        head = self._reserve()
        register = self._register(loop.register.name)
        self._body(loop.body)
        self.steps.append(Step(Code.NEXT, register=register, hidden=hidden, target=head + 1))
        bounds = self._slots((loop.lower, loop.upper, loop.step))
        self.steps[head] = Step(
            Code.LOOP, register=register, hidden=hidden, target=len(self.steps), slots=bounds
        )

    def _while(self, loop: While) -> None:
        start = len(self.steps)
        self._body(loop.before)
        branch = self._reserve()
        self._body(loop.body)
        self.steps.append(Step(Code.JUMP, target=start))
        register = self._register(loop.condition.name)
        self.steps[branch] = Step(Code.BRANCH_ZERO, register=register, target=len(self.steps))

    def _if(self, statement: If) -> None:
        branch = self._reserve()
        self._body(statement.then)
        end = self._reserve() if statement.otherwise else -1
        register = self._register(statement.condition.name)
        self.steps[branch] = Step(Code.BRANCH_ZERO, register=register, target=len(self.steps))
        self._body(statement.otherwise)
        if end >= 0:
            self.steps[end] = Step(Code.JUMP, target=len(self.steps))

    def _instruction(self, instruction: Instruction) -> None:
        definition = definition_of(instruction.name, instruction.location)
        if instruction.engine not in self.kind.engines:
            engines = ", ".join(self.kind.engines)
            self.wrong(
                f"cores {self.kind.name} have no engine {instruction.engine}; they have {engines}",
                instruction.location,
            )
            return
        slots: list[Slot] = []
        operands: list[OperandImage] = []
        other, register = -1, -1
        for spec, operand in zip(definition.operands, instruction.operands, strict=True):
            if isinstance(operand, Region):
                operands.append(self._region(spec.name, spec.access, operand, len(slots), instruction))
                slots += self._slots((operand.offset, *operand.shape, *operand.strides))
            elif isinstance(operand, str):
                other = other if operand == ABSENT else self._name(spec.kinds, operand, instruction)
                operands.append(None)
            elif spec.access == "define":
                assert isinstance(operand, Register)
                register = self._register(operand.name)
                operands.append(None)
            else:
                operands.append(NumberImage(spec.name, len(slots)))
                slots.append(self._slot(operand))
        self._add(instruction, definition, tuple(slots), tuple(operands), other, register)

    def _add(
        self,
        instruction: Instruction,
        definition: InstructionDef,
        slots: tuple[Slot, ...],
        operands: tuple[OperandImage, ...],
        other: int,
        register: int,
    ) -> None:
        default = Action.REGISTER if definition.unit == "scalar" else Action.COMPUTE
        action = _ACTIONS.get(definition.name, default)
        try:
            timing, path = timing_of(instruction, definition, self.description, self.kind)
        except Problem as problem:
            self.wrong(
                f"{instruction.engine} {instruction.name}: {problem}", instruction.location, help=problem.help
            )
            return
        self._check_flags(instruction, action, slots)
        result = _result_dtype(instruction, definition) if register >= 0 else None
        if result is not None and result.is_float:
            self.floats.add(register)
        item = Item(
            index=len(self.items),
            source=instruction,
            definition=definition,
            action=action,
            engine=self.kind.engines.index(instruction.engine),
            slots=slots,
            operands=operands,
            other=other,
            register=register,
            result=result,
            timing=timing,
            path=path,
            shape_rule=definition.shapes.partition(" ")[0],
            alike=_alike(definition),
            fills=instruction.attributes.get("fill") is not None,
            starts_sum=definition.shapes == "matrix",
        )
        self.steps.append(Step(Code.ITEM, item=item.index))
        self.items.append(item)

    def _region(
        self, name: str, access: str, region: Region, first: int, instruction: Instruction
    ) -> RegionImage:
        spaces = self.description.memory_spaces
        own = {
            space.name: number for number, space in enumerate(spaces) if space.core in ("", self.kind.name)
        }
        index = own.get(region.space, -1)
        if index < 0:
            have = ", ".join(own)
            self.wrong(
                f"cores {self.kind.name} have no memory {region.space}; they have {have}",
                instruction.location,
            )
        constants = [
            extent for extent in (*region.shape, *region.strides) if isinstance(extent, (int, float))
        ]
        if any(not isinstance(extent, int) or extent < 0 for extent in constants):
            self.wrong(f"{region} has an extent or stride below 0 or no whole number", instruction.location)
        return RegionImage(name, access, index, region.dtype, region.rank, first, region.block)

    def _name(self, kinds: tuple[str, ...], name: str, instruction: Instruction) -> int:
        cores = [kind.name for kind in self.description.kinds]
        known = list(self.kind.engines) if "engine" in kinds else cores
        if name not in known:
            what = "engine" if "engine" in kinds else "kind of core"
            self.wrong(f"there is no {what} {name}; there are {', '.join(known)}", instruction.location)
            return 0
        return known.index(name)

    def _check_flags(self, instruction: Instruction, action: Action, slots: tuple[Slot, ...]) -> None:
        limit = _FLAG_LIMITS.get(action)
        if limit is None or slots[-1].register >= 0:
            return
        number, bound = slots[-1].constant, self.description.limits.get(limit, 0)
        if not 0 <= number < bound:
            what = f"{instruction.engine} {instruction.name}: flag {number}"
            self.wrong(
                f"{what} is none of the target's {bound} {limit.replace('_', ' ')}", instruction.location
            )


def _shifted(step: Step, base: int) -> Step:
    """The step with hidden registers behind the named ones."""
    if step.hidden < 0:
        return step
    return Step(step.code, step.item, step.register, step.hidden + base, step.target, step.slots)


def _alike(definition: InstructionDef) -> tuple[int, ...]:
    """The operands whose extents are related, all if the rule names none."""
    names = definition.shapes.split()[1:]
    return tuple(n for n, spec in enumerate(definition.operands) if not names or spec.name in names)


def _result_dtype(instruction: Instruction, definition: InstructionDef) -> DType:
    """The dtype of the register an instruction sets."""
    if definition.name == "load":
        region = instruction.operands[1]
        assert isinstance(region, Region)
        return region.dtype
    assert instruction.dtype is not None
    return scalar_result(definition.name, instruction.dtype, instruction.attributes)
