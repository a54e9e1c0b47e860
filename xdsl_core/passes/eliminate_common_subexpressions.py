"""Computes nothing twice."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.ir.attributes import attribute_key
from xdsl_core.ir.core import Block, Module, Op
from xdsl_core.ir.traits import Trait


@dataclass(frozen=True)
class EliminateCommonSubexpressions:
    """Replaces a pure op by an earlier one with the same operands and attributes that dominates it.

        %a = tile.mul %x, %y : i32
        %b = tile.mul %y, %x : i32        (the op is commutative)
        %c = tile.add %a, %b : i32
    ->
        %a = tile.mul %x, %y : i32
        %c = tile.add %a, %a : i32

    Loads are left alone: memory may change between two of them.
    """

    name: ClassVar[str] = "eliminate_common_subexpressions"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            _eliminate(function.block, {})


def _eliminate(block: Block, known: dict[Hashable, Op]) -> None:
    """Process a block; `known` holds the ops that dominate the point reached."""
    added: list[Hashable] = []
    for op in block.ops[:]:
        for region in op.regions:
            for inner in region.blocks:
                _eliminate(inner, known)
        if op.regions or Trait.PURE not in op.definition.traits:
            continue
        key = _key(op)
        earlier = known.get(key)
        if earlier is None:
            known[key] = op
            added.append(key)
            continue
        for old, new in zip(op.results, earlier.results, strict=True):
            old.replace_uses_with(new)
        op.erase()
    for key in added:
        del known[key]


def _key(op: Op) -> Hashable:
    """Equal for two ops that compute the same: definition, operands, attributes with defaults."""
    definition = op.definition
    operands = tuple(map(id, op.operands))
    if Trait.COMMUTATIVE in definition.traits and operands[0] > operands[1]:
        operands = (operands[1], operands[0], *operands[2:])
    if not definition.attribute_schema:
        return definition.name, op.segments, operands
    attributes = op.attributes
    values = tuple(
        attribute_key(attributes.get(schema.name, schema.default)) for schema in definition.attribute_schema
    )
    return definition.name, op.segments, operands, values
