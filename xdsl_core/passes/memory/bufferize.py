"""Gives every tile a place, and every op an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from xdsl_core import ops
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.ir import Block, Builder, Function, Module, Op, Trait
from xdsl_core.ops import task
from xdsl_core.passes.memory import combine, computation, control, products, transfers
from xdsl_core.passes.memory.computation import is_lanewise
from xdsl_core.passes.memory.facts import facts_of
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.places import Lowering, refuse
from xdsl_core.target import TargetDescription


@dataclass(frozen=True)
class Bufferize:
    """Turns tiles into buffers of the target's spaces, and ops on tiles into copies and instructions on
    engines.

        %x = memory.load (tile.offset (tile.splat %p), (tile.arange {start = 0, end = 64})) : tile<64xf32>
        %y = tile.exp %x : tile<64xf32>
        memory.store ..., %y
    ->
        %in = buffer.window %p, strides = [%one] {shape = (64), space = "GM"}
        %x = buffer.allocate {type = buffer<64xf32, UB>}
        buffer.copy %x, %in {engine = "MTE2", core = "AIV"}
        %y = buffer.allocate {type = buffer<64xf32, UB>}
        buffer.compute [%y], [%x] {operation = "tile.exp", engine = "V", core = "AIV"}
        %out = buffer.window %q, strides = [%one] {shape = (64), space = "GM"}
        buffer.copy %out, %y {engine = "MTE3", core = "AIV"}

    Index arithmetic becomes scalar code wherever access analysis finds strides and bounds; masks become
    extents of copies. Broadcasts, transpositions and splats are views or scalar operands. Factors of matrix
    products go along the target's data paths to where the matrix unit takes them, and what is computed on
    another kind of core goes through the memory that both reach. CompilationError X0711 says what the target
    cannot do.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "bufferize"

    def run(self, module: Module) -> Module:
        machine = Machine(self.target)
        lowered = Module(attributes=dict(module.attributes))
        for function in module.functions.values():
            lowered.add(_lower(function, machine))
        return lowered


def _lower(function: Function, machine: Machine) -> Function:
    analysis = IndexAnalysis()
    facts = facts_of(function, machine, analysis)
    made = Function(
        function.name,
        [(value.name, value.type) for value in function.parameters],
        function.attributes,
        function.parameter_attributes,
        function.location,
    )
    state = Lowering(machine, analysis, Builder(made.block), facts)
    state.scalars.update(zip(function.parameters, made.parameters, strict=True))
    _lower_block(state, function.block)
    state.builder.build(ops.Return)
    return made


def _lower_block(state: Lowering, block: Block) -> None:
    """Lower the ops of a block, up to its terminator."""
    for op in block.ops:
        if op.has(Trait.TERMINATOR):
            return
        state.builder.location = op.location
        rule = _RULES.get(op.definition)
        if rule is not None:
            rule(state, op)
        elif is_lanewise(op):
            computation.lower_elementwise(state, op)
        elif op.has(Trait.MOVEMENT):
            computation.lower_movement(state, op)
        elif op.has(Trait.REDUCTION) or op.definition in (ops.CumSum, ops.CumProd):
            computation.lower_along_axis(state, op)
        else:
            raise refuse(op, f"there is no lowering for {op.name}", help="run this kernel on another backend")


def _load(state: Lowering, op: Op) -> None:
    products.bring(state, op)
    transfers.lower_load(state, op)


def _keep(state: Lowering, op: Op) -> None:
    """Scalar code and marks that mean the same on every core."""
    groups = [[state.scalar(value) for value in group] for group in op.groups()]
    made = state.builder.create(op.definition, groups, op.attributes)
    for old, new in zip(op.results, made.results, strict=True):
        state.scalars[old] = new
        new.name = old.name


_RULES: MappingProxyType[object, Callable[[Lowering, Op], None]] = MappingProxyType(
    {
        ops.Constant: computation.lower_constant,
        ops.Arange: computation.lower_arange,
        ops.Splat: computation.lower_splat,
        ops.Reduce: combine.lower_reduce,
        ops.Scan: combine.lower_scan,
        ops.Load: _load,
        ops.Store: transfers.lower_store,
        ops.AtomicRmw: transfers.lower_atomic,
        ops.AtomicCas: transfers.lower_atomic,
        ops.Dot: products.lower_dot,
        ops.For: lambda state, op: control.lower_for(state, op, _lower_block),
        ops.If: lambda state, op: control.lower_if(state, op, _lower_block),
        ops.While: lambda state, op: control.lower_while(state, op, _lower_block),
        ops.Print: computation.lower_print,
        ops.Assert: computation.lower_assert,
        ops.ProgramId: _keep,
        ops.NumPrograms: _keep,
        task.Worker: _keep,
        task.Workers: _keep,
        task.GridExtent: _keep,
        task.Program: _keep,
    }
)
