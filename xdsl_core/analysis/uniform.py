"""Tiles with the same number in every lane."""

from __future__ import annotations

from xdsl_core.ir import Value
from xdsl_core.ops import Constant, Splat


def lane_constant(value: Value) -> bool | int | float | None:
    """The number that a scalar, or every lane of a tile, has when compiling; None if it is not known.

    Sees through splats of constants.
    """
    op = value.defining_op
    while op is not None and op.definition is Splat:
        op = op.operands[0].defining_op
    if op is None or op.definition is not Constant:
        return None
    number: bool | int | float = op.attributes["value"]
    return number


def fills_with_zero(other: Value | None) -> bool:
    """True if the masked-off lanes of a load with this `other` are 0: it is absent, or a constant 0."""
    return other is None or lane_constant(other) == 0
