"""One function for each kind of core that a kernel needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.ir import Function, Module, Op, Value, clone_function
from xdsl_core.ops import Store
from xdsl_core.ops.buffer import Allocate
from xdsl_core.ops.task import SetCross, WaitCross
from xdsl_core.passes.eliminate_dead_code import EliminateDeadCode
from xdsl_core.passes.memory.footprints import cores_of
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.prepare_for_overlap import kernel_of
from xdsl_core.passes.memory.share_rows import SHARED
from xdsl_core.target import TargetDescription

KERNEL, CORE, MEMBERS = "kernel", "core", "members"
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

    Where a group has several cores of a kind and works on one program together, all take part if they share
    its rows (ShareRows), else one.
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
    made.attributes |= {KERNEL: kernel_of(function), CORE: kind}
    if not alone and description.per_group > 1 and SHARED not in function.attributes:
        made.attributes[MEMBERS] = 1
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
