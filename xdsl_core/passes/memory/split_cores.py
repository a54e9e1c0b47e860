"""One function for each kind of core that a kernel needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.dtypes import i64
from xdsl_core.ir import Block, Builder, Function, Module, Op, Region, ScalarType, Value, clone_function
from xdsl_core.ir.core import clone_op
from xdsl_core.ops import Constant, Eq, If, Store, Yield
from xdsl_core.ops.buffer import Allocate
from xdsl_core.ops.task import Member, SetCross, WaitCross
from xdsl_core.passes.eliminate_dead_code import EliminateDeadCode
from xdsl_core.passes.memory.footprints import cores_of
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.prepare_for_overlap import kernel_of
from xdsl_core.target import TargetDescription

KERNEL, CORE = "kernel", "core"
Keep = Callable[[Op], bool]


@dataclass(frozen=True)
class SplitCores:
    """Gives each kind of core the ops of its engines, with the control flow and scalar code around them.

        func @f(...) {
          buffer.multiply ... {engine = "M", core = "AIC"}
          task.set_cross {source_core = "AIC", target_core = "AIV", engine = "FIX", flag = 0}
          task.wait_cross {source_core = "AIC", target_core = "AIV", engine = "MTE2", flag = 0}
          buffer.compute ... {engine = "V", core = "AIV"}
        }
    ->
        func @f.AIC(...) { buffer.multiply ...; task.set_cross ... }
        func @f.AIV(...) { task.wait_cross ...; buffer.compute ... }

    Where a group has several cores of a kind and works on one program together, the first of them does the
    work and the others only answer flags.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "split_cores"

    def run(self, module: Module) -> Module:
        machine = Machine(self.target)
        split = Module(attributes=dict(module.attributes))
        for function in module.functions.values():
            kinds = cores_of(function, machine)
            for kind in kinds:
                made = _for_core(function, kind, machine, alone=len(kinds) == 1)
                made.name = f"{function.name}.{kind}"
                split.add(made)
        EliminateDeadCode().run(split)
        for made in split.functions.values():
            _require_definitions(made)
        return split


def _for_core(function: Function, kind: str, machine: Machine, *, alone: bool) -> Function:
    made = _kept(function, lambda op: belongs(op, kind, machine))
    description = next(each for each in machine.target.kinds if each.name == kind)
    if not alone and description.per_group > 1:
        others = _kept(function, lambda op: _answers(op, kind))
        made = _either(made, others)
    made.attributes |= {KERNEL: kernel_of(function), CORE: kind}
    return made


def belongs(op: Op, kind: str, machine: Machine) -> bool:
    """Whether an op runs on a kind of core: by its engine, and scalar code everywhere."""
    if op.definition is SetCross:
        return bool(op.attributes["source_core"] == kind)
    if op.definition is WaitCross:
        return bool(op.attributes["target_core"] == kind)
    if op.definition is Store:
        return kind == machine.core_of(machine.vector)
    if op.definition is Allocate:
        owner = machine.space(op.result.type.space).core  # type: ignore[union-attr]
        return owner in ("", kind)
    return op.attributes.get(CORE, "") in ("", kind)


def _answers(op: Op, kind: str) -> bool:
    """Whether a core without work of its own runs the op: flags between cores, control, scalar code."""
    if op.definition is SetCross:
        return bool(op.attributes["source_core"] == kind)
    if op.definition is WaitCross:
        return bool(op.attributes["target_core"] == kind)
    return op.definition is not Store and op.definition is not Allocate and not op.attributes.get(CORE)


def _kept(function: Function, keep: Keep) -> Function:
    """A copy of a function without the ops that do not belong."""
    copy = clone_function(function)
    copy.name = function.name
    for op in reversed(list(copy.walk())):
        if not keep(op):
            for value in op.results:
                value.uses.clear()
            op.drop_uses()
            assert op.block is not None
            op.block.ops.remove(op)
    return copy


def _either(first: Function, others: Function) -> Function:
    """The first core of a group runs one body, the others another."""
    *work, end = first.block.ops
    then, otherwise = Block(), Block()
    for op in work:
        then.append(op)
    Builder(then).build(Yield, ())
    mapping = dict(zip(others.parameters, first.parameters, strict=True))
    for op in others.block.ops[:-1]:
        otherwise.append(clone_op(op, mapping))
    Builder(otherwise).build(Yield, ())
    first.block.ops.clear()
    builder = Builder(first.block, location=first.location)
    zero = builder.value(Constant, value=0, type=ScalarType(i64))
    is_first = builder.value(Eq, builder.value(Member), zero)
    builder.build(If, is_first, regions=(Region([then]), Region([otherwise])))
    first.block.append(end)
    return first


def _require_definitions(function: Function) -> None:
    """CompilationError X0711 where scalar code of one core needs what another core's engines computed."""
    visible: set[Value] = set(function.parameters)
    for op in function.walk():
        for region in op.regions:
            visible.update(region.block.arguments)
        visible.update(op.results)
    for op in function.walk():
        for value in op.operands:
            if value not in visible:
                raise CompilationError(
                    error(
                        "X0711",
                        "a number computed from tiles on one kind of core steers another kind",
                        location=op.location,
                        label=f"needs {value.name or 'a scalar'} on core {function.attributes[CORE]}",
                        help="compute loop bounds and addresses from arguments and loads of single elements",
                    )
                )
