"""Removes what nobody can see the absence of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.ir.core import Block, Function, Module, Op, Region, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.passes.control_flow import (
    YIELDED,
    Flow,
    flows_of,
    keep_source,
    keep_target,
    source_values,
    target_values,
)
from xdsl_core.passes.effects import has_lasting_effect


@dataclass(frozen=True)
class EliminateDeadCode:
    """Removes ops without effect whose results nobody needs, and values that loops carry for nothing.

        %a = tile.add %x, %y : i32                                  (unused)
        %s, %n = control.for ..., inits = [%u, %v] : (f32, i32) body (%i: i32, %p: f32, %q: i32) {
          %next = tile.add %q, %one : i32
          control.yield [%f, %next]
        }
        memory.store %pointer, %s
    ->
        %s = control.for ..., inits = [%u] : f32 body (%i: i32, %p: f32) {
          control.yield [%f]
        }
        memory.store %pointer, %s

    Needed is what an op with a lasting effect uses, and what leads there. Reads of memory are removed unless
    they are volatile. Loops are taken to end: one that only computes what nobody needs is removed.
    """

    name: ClassVar[str] = "eliminate_dead_code"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            _Sweeper(function).sweep(function.block)


class _Sweeper:
    """Marks what is needed, from effects backwards; then removes the rest."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self.pending: list[Value] = []
        self.mark_effects(function.block)
        while self.pending:
            self.follow(self.pending.pop())

    def mark_effects(self, block: Block) -> None:
        for op in block.ops:
            if op.regions:
                for region in op.regions:
                    for inner in region.blocks:
                        self.mark_effects(inner)
            # terminators inside ops are needed as soon as their op is
            terminates_region = Trait.TERMINATOR in op.definition.traits and op.parent_op is not None
            if not terminates_region and has_lasting_effect(op):
                self.need_op(op)

    def need(self, values: Sequence[Value]) -> None:
        for value in values:
            if value not in self.values:
                self.values.add(value)
                self.pending.append(value)

    def need_op(self, op: Op) -> None:
        """The op must run: what it uses itself is needed, and the op around it must run."""
        if op in self.ops:
            return
        self.ops.add(op)
        flows = flows_of(op)
        if flows:
            carried = {source for flow in flows for source in flow.sources}
            for slot, group in zip(op.definition.operand_schema, op.groups(), strict=True):
                if slot.name not in carried:
                    self.need(group)
        else:
            self.need(op.operands)
        for region in op.regions:
            self.need_terminator(region, carried=bool(flows))
        parent = op.parent_op
        if parent is not None:
            self.need_op(parent)

    def need_terminator(self, region: Region, *, carried: bool) -> None:
        terminator = region.block.terminator
        if terminator is None:
            return
        self.ops.add(terminator)
        for slot, group in zip(terminator.definition.operand_schema, terminator.groups(), strict=True):
            if not carried or slot.name != YIELDED:
                self.need(group)

    def follow(self, value: Value) -> None:
        """A value is needed: so is the op that makes it, or what flows into it."""
        owner = value.owner
        if isinstance(owner, Op):
            self.need_op(owner)
            self.need_sources(owner, "", value)
            return
        parent = owner.region.parent if owner.region is not None else None
        if isinstance(parent, Op):
            self.need_op(parent)
            position = next(index for index, region in enumerate(parent.regions) if region is owner.region)
            self.need_sources(parent, parent.definition.region_names[position], value)

    def need_sources(self, op: Op, region: str, value: Value) -> None:
        for flow in flows_of(op):
            for target in flow.targets:
                position = value.index - target.skip
                if target.region == region and position >= 0:
                    for source in flow.sources:
                        self.need((source_values(op, source)[position],))

    def sweep(self, block: Block) -> None:
        """Remove from the end, so that users go before what they use."""
        for op in reversed(block.ops[:]):
            if op not in self.ops:
                op.erase()
            elif op.regions:
                self.trim(op)

    def trim(self, op: Op) -> None:
        """Drop the positions of flows that are not needed anywhere, and sweep the regions in between."""
        unneeded: list[tuple[Flow, list[int]]] = []
        for flow in flows_of(op):
            columns = zip(*(target_values(op, target) for target in flow.targets), strict=True)
            keep = [index for index, column in enumerate(columns) if not self.values.isdisjoint(column)]
            if len(keep) < len(target_values(op, flow.targets[0])):
                unneeded.append((flow, keep))
                for source in flow.sources:
                    keep_source(op, source, keep)
        for region in op.regions:
            for block in region.blocks:
                self.sweep(block)
        for flow, keep in unneeded:
            for target in flow.targets:
                keep_target(op, target, keep)
