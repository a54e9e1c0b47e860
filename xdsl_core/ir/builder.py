"""Inserts ops at a point, infers their result types and gives them the current location."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl_core.diagnostics import UNKNOWN, Location, XdslError
from xdsl_core.ir.core import Block, Op, Region, Value
from xdsl_core.ir.schema import Definition
from xdsl_core.ir.types import Type


class Builder:
    """Appends to `block`, or inserts before the op that `before` names; new ops get `location`."""

    def __init__(self, block: Block, *, before: Op | None = None, location: Location = UNKNOWN) -> None:
        self.block = block
        self.before = before
        self.location = location

    def insert(self, op: Op) -> Op:
        if self.before is None:
            return self.block.append(op)
        return self.block.insert(self.block.ops.index(self.before), op)

    def create(
        self,
        definition: Definition,
        operands: Sequence[Sequence[Value]],
        attributes: Mapping[str, Any] | None = None,
        regions: Sequence[Region] = (),
        *,
        result_types: Sequence[Type] | None = None,
    ) -> Op:
        """A new op at the insertion point from operands by slot; types are inferred unless given.

        Attributes that are None are left out. Raises CompilationError, at the current location, where a
        constraint of the definition does not hold.
        """
        kept = {key: value for key, value in (attributes or {}).items() if value is not None}
        if result_types is None:
            try:
                result_types = definition.infer(operands, kept, regions)
            except XdslError as problem:
                raise problem.at(self.location) from None
        return self.insert(Op(definition, operands, result_types, kept, regions, self.location))

    def build(
        self,
        definition: Any,
        *operands: Value | Sequence[Value] | None,
        regions: Sequence[Region] = (),
        result_types: Sequence[Type] | None = None,
        **attributes: Any,
    ) -> Op:
        """A new op from one argument an operand slot: a value, None (absent) or a sequence (variadic).

        Slots left out at the end are absent. `definition` is a class made by `xdsl_core.opdef.op`.
        """
        groups = [_group(operand) for operand in operands]
        groups += [()] * (len(definition.operand_schema) - len(groups))
        return self.create(definition, groups, attributes, regions, result_types=result_types)

    def value(self, definition: Any, *operands: Value | Sequence[Value] | None, **attributes: Any) -> Value:
        """The only result of a new op."""
        return self.build(definition, *operands, **attributes).result

    @contextmanager
    def at(self, block: Block) -> Iterator[Builder]:
        """Build at the end of another block for a while."""
        saved = self.block, self.before
        self.block, self.before = block, None
        try:
            yield self
        finally:
            self.block, self.before = saved


def _group(operand: Value | Sequence[Value] | None) -> tuple[Value, ...]:
    if operand is None:
        return ()
    return (operand,) if isinstance(operand, Value) else tuple(operand)
