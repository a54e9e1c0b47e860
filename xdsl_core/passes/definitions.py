"""Op definitions with their type: a class made by `@op` is an OpDef, which a type checker cannot see."""

from __future__ import annotations

from typing import Any

from xdsl_core.ir.core import Op, Value
from xdsl_core.opdef import OpDef


def name_of(definition: Any) -> str:
    """The name of an op definition."""
    assert isinstance(definition, OpDef)
    return definition.name


def is_a(op: Op, definition: Any) -> bool:
    """Whether an op is of a definition."""
    return op.definition is definition


def made_by(value: Value, definition: Any) -> Op | None:
    """The op that makes a value, if it is of a definition."""
    owner = value.owner
    return owner if isinstance(owner, Op) and owner.definition is definition else None
