"""Numbers that one kind of core computes from tiles and another kind needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.ir import Block, BufferType, Builder, Function, Module, Op, Value, dtype_of
from xdsl_core.ops import For, If, While
from xdsl_core.ops.buffer import Allocate, Fill, Read
from xdsl_core.passes.memory.footprints import cores_of
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.target import TargetDescription

_CORE = "core"


@dataclass(frozen=True)
class ShareScalars:
    """Hands numbers over through scratch in global memory, from where every kind of core reads them.

        %n = buffer.read %total {engine = "S", core = "AIV"} : i32
        control.for %lo, %n, %step body (%i: i32) { buffer.multiply ... {core = "AIC"} }
    ->
        %own = buffer.read %total {engine = "S", core = "AIV"} : i32
        %shared = buffer.allocate {type = buffer<1xi32, GM>}
        buffer.fill %shared, %own {engine = "S", core = "AIV"}
        %n = buffer.read %shared {engine = "S", core = ""} : i32
        control.for %lo, %n, %step body (%i: i32) { buffer.multiply ... {core = "AIC"} }

    Only numbers that bounds, conditions and addresses of another kind of core depend on are shared.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "share_scalars"

    def run(self, module: Module) -> None:
        machine = Machine(self.target)
        for function in module.functions.values():
            cores = cores_of(function, machine)
            if len(cores) > 1:
                needed = {core: _Needed(core).of(function) for core in cores}
                for op in list(function.walk()):
                    if op.definition is Read and any(
                        op.result in values for core, values in needed.items() if core != op.attributes[_CORE]
                    ):
                        _share(op, machine)


def _share(read: Op, machine: Machine) -> None:
    """Put a number into global memory, and read it from there."""
    block = read.block
    assert block is not None
    builder = Builder(block, before=block.ops[block.ops.index(read) + 1], location=read.location)
    users = [(user, index) for (_, index), user in read.result.uses.items()]
    kind = BufferType((1,), dtype_of(read.result.type), machine.global_space)
    scratch = builder.value(Allocate, type=kind)
    scratch.name = read.result.name
    where = {"engine": read.attributes["engine"], _CORE: read.attributes[_CORE]}
    builder.build(Fill, scratch, read.result, **where)
    shared = builder.value(Read, scratch, engine=read.attributes["engine"], core="")
    shared.name = read.result.name
    for user, index in users:
        user.set_operand(index, shared)


@dataclass
class _Needed:
    """Finds the values that a kind of core needs for what its engines do."""

    core: str
    found: set[Value] = field(default_factory=set)
    pending: list[Value] = field(default_factory=list)

    def of(self, function: Function) -> set[Value]:
        for op in function.walk():
            if op.attributes.get(_CORE) == self.core:
                self._need(op.operands)
                self._need_control(op)
        while self.pending:
            self._follow(self.pending.pop())
        return self.found

    def _need(self, values: Iterable[Value]) -> None:
        for value in values:
            if value not in self.found:
                self.found.add(value)
                self.pending.append(value)

    def _need_control(self, op: Op) -> None:
        """What decides whether and how often an op runs."""
        parent = op.parent_op
        while parent is not None:
            self._need(_CONTROLS[parent.definition](parent))
            parent = parent.parent_op

    def _follow(self, value: Value) -> None:
        owner = value.owner
        op = value.defining_op
        if op is None:
            region = owner.region if isinstance(owner, Block) else None
            op = region.parent if region is not None and isinstance(region.parent, Op) else None
            if op is None:
                return
        if op.regions:
            self._need(_sources(op, value))
            self._need(_CONTROLS[op.definition](op))
        else:
            self._need(op.operands)
        self._need_control(op)


def _sources(op: Op, value: Value) -> Sequence[Value]:
    """What a result or block argument of control flow is made of."""
    if op.definition is not For:
        ends = [end for region in op.regions for end in region.block.ops[-1].operands]
        return [*op.operands, *ends]
    position = value.index if value.defining_op is op else value.index - 1
    if position < 0:
        return op.operands[:3]
    first = len(op.operands) - len(op.results)
    return op.operands[first + position], op.region("body").block.ops[-1].operands[position]


_CONTROLS: Mapping[object, Callable[[Op], Sequence[Value]]] = {
    For: lambda op: op.operands[:3],
    If: lambda op: (op.operand("condition"),),
    While: lambda op: (op.region("before").block.ops[-1].operands[0],),
}
