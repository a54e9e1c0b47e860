"""Instructions for the lowered functions of a kernel, one for each kind of core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir import BufferType, Function, Module, Op, PointerType, ScalarType, Trait, Value, dtype_of
from xdsl_core.ir.core import Block as IrBlock
from xdsl_core.ir.types import pointee_of
from xdsl_core.ops import task
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.prepare_for_overlap import is_for_overlap
from xdsl_core.passes.memory.split_cores import CORE, KERNEL, MEMBERS
from xdsl_core.target import TargetDescription
from xdsl_dsa_sim.isa import (
    GLOBAL,
    Buffer,
    If,
    Loop,
    Operand,
    Parameter,
    Program,
    Region,
    Register,
    Scalar,
    Statement,
    Sum,
    While,
    instruction,
)
from xdsl_dsa_sim.lowering.instructions import INSTRUCTIONS
from xdsl_dsa_sim.lowering.lifetimes import statement_lifetimes

_WIDE = ScalarType(dtypes.i64)


def emit(module: Module, target: TargetDescription) -> Program:
    """The program for the functions that SplitCores made of one kernel."""
    return _program_of([each for each in module.functions.values() if not is_for_overlap(each)], target)


def emit_for_overlap(module: Module, target: TargetDescription) -> Program | None:
    """The program for arguments that overlap; None where the other one does for them too."""
    functions = [each for each in module.functions.values() if is_for_overlap(each)]
    return _program_of(functions, target) if functions else None


def _program_of(functions: Sequence[Function], target: TargetDescription) -> Program:
    machine = Machine(target)
    first = functions[0]
    cores: dict[str, tuple[Statement, ...]] = {}
    buffers: list[Buffer] = []
    for function in functions:
        emitter = Emitter(machine, function, mixed=len(functions) > 1)
        code = cores[function.attributes[CORE]] = tuple(emitter.run())
        alive = statement_lifetimes(function, emitter.emitted, code)
        buffers += [replace(made, lifetime=alive[op]) for op, made in emitter.buffers.items() if op in alive]
    names = _parameter_names(first)
    parameters = tuple(
        Parameter(
            names[value],
            pointee_of(value.type) if isinstance(value.type, PointerType) else dtype_of(value.type),
            isinstance(value.type, PointerType),
        )
        for value in first.parameters
    )
    scratch = [b.offset + b.bytes * b.copies for b in buffers if b.space == machine.global_space]
    kept = tuple(b for b in buffers if b.space != machine.global_space)
    members = {
        each.attributes[CORE]: int(each.attributes[MEMBERS])
        for each in functions
        if MEMBERS in each.attributes
    }
    return Program(
        first.attributes[KERNEL], target.name, parameters, cores, kept, max(scratch, default=0), members
    )


class Emitter:
    """Writes the code of one function. Scalars are registers or numbers; buffers are regions."""

    def __init__(self, machine: Machine, function: Function, *, mixed: bool) -> None:
        self.machine = machine
        self.function = function
        self.core: str = function.attributes[CORE]
        self.mixed = mixed
        self.scalar_engine = machine.scalar_engine(self.core)
        self.values: dict[Value, Scalar] = {}
        self.places: dict[Value, tuple[BufferType, Scalar, bool]] = {}
        self.regions: dict[Value, Region] = {}
        self.buffers: dict[Op, Buffer] = {}
        self.emitted: dict[Op, list[Statement]] = {}
        self.out: list[Statement] = []
        self.parameters = _parameter_names(function)
        self.names: set[str] = set(self.parameters.values())
        self.computed: dict[tuple[str, Scalar, Scalar], Scalar] = {}
        self.op: Op | None = None

    def run(self) -> list[Statement]:
        """The statements of the function."""
        for value, name in self.parameters.items():
            self.values[value] = Register(name)
        self.block(self.function.block)
        return self.out

    def block(self, block: IrBlock) -> None:
        """Write the ops of a block, up to its terminator."""
        for op in block.ops:
            if op.has(Trait.TERMINATOR):
                return
            self.op = op
            already = len(self.out)
            rule = _RULES.get(op.definition)
            if rule is not None:
                rule(self, op)
            else:
                self.scalar_op(op)
            self.emitted[op] = self.out[already:]

    def inside(self, block: IrBlock, finish: Callable[[], None] = lambda: None) -> tuple[Statement, ...]:
        """The statements of a block of their own; `finish` adds to its end."""
        saved, self.out = self.out, []
        computed, self.computed = self.computed, dict(self.computed)
        self.block(block)
        finish()
        found, self.out = self.out, saved
        self.computed = computed
        return tuple(found)

    def fresh(self, hint: str = "") -> Register:
        """A register with a name of its own."""
        base = _word(hint) or "t"
        name, number = base, 1
        while name in self.names or name in _TAKEN or name[0].isdigit():
            name, number = f"{base}_{number}", number + 1
            if name[0].isdigit():
                name = f"t{name}"
        self.names.add(name)
        return Register(name)

    def add(
        self,
        engine: str,
        mnemonic: str,
        *operands: Operand | None,
        dtype: DType | None = None,
        **attributes: Any,
    ) -> None:
        """Append an instruction at the location of the current op."""
        assert self.op is not None
        given = {key: value for key, value in attributes.items() if value is not None}
        self.out.append(
            instruction(engine, mnemonic, *operands, dtype=dtype, location=self.op.location, attributes=given)
        )

    def scalar(self, value: Value) -> Scalar:
        """The register or number of a scalar."""
        return self.values[value]

    def compute(
        self, mnemonic: str, dtype: DType, *operands: Scalar, hint: str = "", **attributes: Any
    ) -> Register:
        """A new register with the result of a scalar instruction."""
        made = self.fresh(hint)
        self.add(self.scalar_engine, f"s_{mnemonic}", made, *operands, dtype=dtype, **attributes)
        return made

    def scaled(self, value: Scalar, factor: int) -> Scalar:
        """An i64 times a constant."""
        if isinstance(value, int):
            return value * factor
        return value if factor == 1 else self.once("mul", value, factor)

    def once(self, mnemonic: str, left: Scalar, right: Scalar) -> Scalar:
        """The result of an i64 instruction, computed once in a block and those inside."""
        key = mnemonic, left, right
        if key not in self.computed:
            self.computed[key] = self.compute(mnemonic, dtypes.i64, left, right)
        return self.computed[key]

    def sum(self, left: Scalar, right: Scalar) -> Scalar:
        """The sum of two i64, at no cost where one is a constant."""
        if isinstance(right, int):
            return left + right
        if isinstance(left, int):
            return right + left
        return self.once("add", left, right)

    def scalar_op(self, op: Op) -> None:
        """An op on scalars as one instruction."""
        operands = [self.scalar(value) for value in op.operands]
        dtype = _instruction_dtype(op)
        attributes = dict(op.attributes)
        name = op.name.rpartition(".")[2]
        result = self.fresh(op.result.name)
        self.add(self.scalar_engine, f"s_{name}", result, *operands, dtype=dtype, **attributes)
        self.values[op.result] = result

    def wide(self, value: Value) -> Scalar:
        """A scalar integer as i64."""
        scalar = self.scalar(value)
        if value.type == _WIDE or isinstance(scalar, int):
            return scalar
        return self.compute("cast", dtype_of(value.type), scalar, to=dtypes.i64)

    def operand(self, value: Value) -> Operand:
        """A buffer as a region, a scalar as a register or number."""
        return self.region(value) if isinstance(value.type, BufferType) else self.scalar(value)

    def optional(self, op: Op, name: str) -> Operand | None:
        """An optional operand, or None."""
        value = op.optional(name)
        return None if value is None else self.operand(value)

    def region(self, value: Value) -> Region:
        """The memory behind a buffer value."""
        return self.regions[value]


_TAKEN = frozenset(
    {"core", "cores", "group", "groups", "subcore", "subcores", "programs", "workspace"}
    | {f"grid_{axis}" for axis in "xyz"}
)


def _word(name: str) -> str:
    """A name as a register's: letters, digits and underscores."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def _parameter_names(function: Function) -> dict[Value, str]:
    """A register's name for each parameter: its own, unless a register of the machine has it."""
    names: dict[Value, str] = {}
    for value in function.parameters:
        name = _word(value.name)
        while name in _TAKEN or name in names.values():
            name += "_"
        names[value] = name
    return names


def _instruction_dtype(op: Op) -> DType:
    """The dtype in the mnemonic: that of the operands, conditions aside; addresses are i64."""
    slots = zip(op.definition.operand_schema, op.groups(), strict=True)
    values = [value for slot, group in slots if slot.name != "condition" for value in group]
    kind = values[0].type
    return dtypes.i64 if isinstance(kind, PointerType) else dtype_of(kind)


def _constant(emitter: Emitter, op: Op) -> None:
    value = op.attributes["value"]
    emitter.values[op.result] = int(value) if isinstance(value, bool) else value


def _same(emitter: Emitter, op: Op) -> None:
    emitter.values[op.result] = emitter.scalar(op.operands[0])


def _offset(emitter: Emitter, op: Op) -> None:
    base, offset = (emitter.scalar(value) for value in op.operands)
    kind = dtype_of(op.operand("offset").type)
    if kind is not dtypes.i64 and not isinstance(offset, int):
        offset = emitter.compute("cast", kind, offset, to=dtypes.i64)
    size = pointee_of(op.result.type).bytes
    emitter.values[op.result] = emitter.sum(base, emitter.scaled(offset, size))


def _special(name: str, mixed: str = "") -> Callable[[Emitter, Op], None]:
    def rule(emitter: Emitter, op: Op) -> None:
        emitter.values[op.result] = Register(mixed if mixed and emitter.mixed else name)

    return rule


def _grid(emitter: Emitter, op: Op) -> None:
    axis = op.attribute("axis")
    emitter.values[op.result] = Register("programs" if axis < 0 else f"grid_{'xyz'[axis]}")


def _program(emitter: Emitter, op: Op) -> None:
    emitter.add(emitter.scalar_engine, "program", emitter.scalar(op.operand("program")))


def _load(emitter: Emitter, op: Op) -> None:
    """A scalar load; without its mask the register gets `other`, or 0."""
    dtype = dtype_of(op.result.type)
    result = emitter.fresh(op.result.name)
    emitter.values[op.result] = result
    stored = dtypes.u8 if dtype.is_bool else dtype

    def load() -> tuple[Statement, ...]:
        saved, emitter.out = emitter.out, []
        region = Region(GLOBAL, emitter.scalar(op.operand("pointer")), stored, (1,), (1,))
        if dtype.is_bool:
            byte = emitter.fresh()
            emitter.add(emitter.scalar_engine, "load", byte, region)
            emitter.add(emitter.scalar_engine, "s_ne", result, byte, 0, dtype=stored)
        else:
            emitter.add(emitter.scalar_engine, "load", result, region)
        found, emitter.out = emitter.out, saved
        return tuple(found)

    mask = op.optional("mask")
    if mask is None:
        emitter.out += load()
        return
    other = op.optional("other")
    value = emitter.scalar(other) if other is not None else (0.0 if dtype.is_float else 0)
    assert emitter.op is not None
    default = instruction(emitter.scalar_engine, "set", result, value, dtype=dtype, location=op.location)
    _branch(emitter, emitter.scalar(mask), load(), (default,))


def _branch(
    emitter: Emitter, condition: Scalar, then: tuple[Statement, ...], otherwise: tuple[Statement, ...]
) -> None:
    """A branch on a register, or what a constant chooses."""
    assert emitter.op is not None
    if isinstance(condition, Register):
        emitter.out.append(If(condition, then, otherwise, emitter.op.location))
    else:
        emitter.out += then if condition else otherwise


def _store(emitter: Emitter, op: Op) -> None:
    value = op.operand("value")
    region = Region(GLOBAL, emitter.scalar(op.operand("pointer")), dtype_of(value.type), (1,), (1,))
    made = instruction(emitter.scalar_engine, "store", region, emitter.scalar(value), location=op.location)
    mask = op.optional("mask")
    if mask is None:
        emitter.out.append(made)
    else:
        _branch(emitter, emitter.scalar(mask), (made,), ())


def _for(emitter: Emitter, op: Op) -> None:
    block = op.region("body").block
    registers = _carry(emitter, op.group("inits"), block.arguments[1:])
    induction = emitter.fresh(block.arguments[0].name)
    emitter.values[block.arguments[0]] = induction
    lower, upper, step = (emitter.scalar(value) for value in op.operands[:3])
    ends = block.ops[-1].operands
    body = emitter.inside(block, lambda: _assign(emitter, registers, ends))
    emitter.out.append(Loop(induction, lower, upper, step, body, op.location))
    emitter.values.update(zip(op.results, registers, strict=True))


def _carry(emitter: Emitter, starts: Sequence[Value], arguments: Sequence[Value]) -> list[Register]:
    """Registers for what a loop carries, set to where it starts."""
    registers = []
    for start, argument in zip(starts, arguments, strict=True):
        register = emitter.fresh(argument.name)
        emitter.add(emitter.scalar_engine, "set", register, emitter.scalar(start), dtype=_dtype_of(argument))
        emitter.values[argument] = register
        registers.append(register)
    return registers


def _dtype_of(value: Value) -> DType:
    return dtypes.i64 if isinstance(value.type, PointerType) else dtype_of(value.type)


def _assign(emitter: Emitter, registers: Sequence[Register], values: Sequence[Value]) -> None:
    """Set registers to values as if at once."""
    pairs = [
        (register, emitter.scalar(value), _dtype_of(value))
        for register, value in zip(registers, values, strict=True)
        if emitter.scalar(value) != register
    ]
    targets = {register for register, _, _ in pairs}
    for index, (register, source, dtype) in enumerate(pairs):
        inner = source.register if isinstance(source, Sum) else source
        if inner in targets:
            aside = emitter.fresh()
            emitter.add(emitter.scalar_engine, "set", aside, source, dtype=dtype)
            pairs[index] = register, aside, dtype
    for register, source, dtype in pairs:
        emitter.add(emitter.scalar_engine, "set", register, source, dtype=dtype)


def _while(emitter: Emitter, op: Op) -> None:
    before, after = op.region("before").block, op.region("after").block
    registers = _carry(emitter, op.group("inits"), before.arguments)
    passed = [emitter.fresh(value.name) for value in after.arguments]
    condition = emitter.fresh("proceed")
    decision, *values = before.ops[-1].operands

    def test() -> None:
        emitter.add(emitter.scalar_engine, "set", condition, emitter.scalar(decision), dtype=dtypes.i1)
        _assign(emitter, passed, values)

    first = emitter.inside(before, test)
    emitter.values.update(zip(after.arguments, passed, strict=True))
    ends = after.ops[-1].operands
    body = emitter.inside(after, lambda: _assign(emitter, registers, ends))
    emitter.out.append(While(first, condition, body, op.location))
    emitter.values.update(zip(op.results, passed, strict=True))


def _if(emitter: Emitter, op: Op) -> None:
    registers = [emitter.fresh(value.name) for value in op.results]
    sides = []
    for region in op.regions:
        ends = region.block.ops[-1].operands
        sides.append(emitter.inside(region.block, lambda ends=ends: _assign(emitter, registers, ends)))  # type: ignore[misc]
    emitter.op = op
    _branch(emitter, emitter.scalar(op.operand("condition")), sides[0], sides[1])
    emitter.values.update(zip(op.results, registers, strict=True))


_RULES: Mapping[object, Callable[[Emitter, Op], None]] = MappingProxyType(
    {
        **INSTRUCTIONS,
        ops.Constant: _constant,
        ops.PointerToInt: _same,
        ops.IntToPointer: _same,
        ops.PointerCast: _same,
        ops.Offset: _offset,
        ops.Load: _load,
        ops.Store: _store,
        ops.For: _for,
        ops.While: _while,
        ops.If: _if,
        task.Worker: _special("core", "group"),
        task.Workers: _special("cores", "groups"),
        task.Member: _special("subcore"),
        task.GridExtent: _grid,
        task.Program: _program,
    }
)
