"""Bit operations, shifts, and the high half of a product."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.opdef import ErrorSample, Exact, Sample, op, operand, reference, undefined_lanes
from xdsl_core.opdef.patterns import Integer, IntegerOrBool, TypePattern
from xdsl_core.ops._shared import (
    BOOLS,
    COMMUTATIVE,
    ELEMENTWISE,
    INTEGERS,
    Binary,
    Unary,
    samples,
    shift_counts,
)

WIDE_INTEGERS = TypePattern("i32, u32, i64 or u64", (dtypes.i32, dtypes.i64, dtypes.u32, dtypes.u64))
_WIDE_TYPES = ("i32", "tile<5xi32>", "tile<3x4xi64>", "u32", "tile<7xu32>", "tile<1xu64>", "tile<9xu64>")


class _Logic(Binary):
    lhs = operand(IntegerOrBool, doc="left operand, a scalar or a tile")
    rhs = operand(IntegerOrBool, doc="right operand, of the same type as lhs")
    samples = samples("lhs rhs", *INTEGERS, *BOOLS)
    error_samples = (ErrorSample("C1", {"lhs": "tile<4xi32>", "rhs": "tile<4xi1>"}),)
    budget = Exact()


@op("tile.and", since="0.1", profile="core", traits=COMMUTATIVE)
class And(_Logic):
    """Bitwise and; logical and of bools. Both operands are evaluated."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs & rhs

    @undefined_lanes
    def _undefined(lhs: Any, rhs: Any, undefined: Any) -> Any:
        settled = (lhs == 0) & ~undefined["lhs"] | (rhs == 0) & ~undefined["rhs"]
        return (undefined["lhs"] | undefined["rhs"]) & ~settled


@op("tile.or", since="0.1", profile="core", traits=COMMUTATIVE)
class Or(_Logic):
    """Bitwise or; logical or of bools. Both operands are evaluated."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs | rhs

    @undefined_lanes
    def _undefined(lhs: Any, rhs: Any, undefined: Any) -> Any:
        settled = (~lhs == 0) & ~undefined["lhs"] | (~rhs == 0) & ~undefined["rhs"]
        return (undefined["lhs"] | undefined["rhs"]) & ~settled


@op("tile.xor", since="0.1", profile="core", traits=COMMUTATIVE)
class Xor(_Logic):
    """Bitwise exclusive or; of bools, whether they differ."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs ^ rhs


@op("tile.not", since="0.1", profile="core", traits=ELEMENTWISE)
class Not(Unary):
    """All bits inverted; logical not of bools."""

    operand = operand(IntegerOrBool, doc="the value, a scalar or a tile")
    samples = samples("operand", *INTEGERS, *BOOLS)
    budget = Exact()

    @reference
    def _compute(operand: Any) -> Any:
        return ~operand


class _Shift(Binary):
    lhs = operand(Integer, doc="what is shifted, a scalar or a tile")
    rhs = operand(Integer, doc="the number of bits, of the same type as lhs")
    samples = samples("lhs rhs", *INTEGERS, values={"rhs": shift_counts})
    error_samples = (ErrorSample("C1", {"lhs": "tile<4xi32>", "rhs": "tile<4xi64>"}),)
    budget = Exact()


@op("tile.shl", since="0.1", profile="core", traits=ELEMENTWISE)
class Shl(_Shift):
    """lhs shifted left, zeros coming in; bits shifted out are lost.

    A count below zero or not below the width gives an undefined value and must not trap, so it is not tested.
    """

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return np.left_shift(lhs, rhs)


@op("tile.shr", since="0.1", profile="core", traits=ELEMENTWISE)
class Shr(_Shift):
    """lhs shifted right: copies of the sign come in for signed integers, zeros for unsigned ones.

    A count below zero or not below the width gives an undefined value and must not trap, so it is not tested.
    """

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return np.right_shift(lhs, rhs)


@op("tile.mulhi", since="0.1", profile="core", traits=COMMUTATIVE)
class MulHi(Binary):
    """The high half of the product of twice the width: floor(lhs * rhs / 2**width). Signed for signed
    integers.
    """

    lhs = operand(WIDE_INTEGERS, doc="left factor, a scalar or a tile")
    rhs = operand(WIDE_INTEGERS, doc="right factor, of the same type as lhs")
    samples = (
        *samples("lhs rhs", *_WIDE_TYPES),
        Sample(
            {"lhs": "tile<3xu64>", "rhs": "tile<3xu64>"},
            values={"lhs": [2**64 - 1, 2**63, 3], "rhs": [2**64 - 1, 2, 5]},
            name="carry",
        ),
    )
    error_samples = (ErrorSample("C1", {"lhs": "tile<4xi32>", "rhs": "tile<4xu32>"}),)
    budget = Exact()

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        width = lhs.dtype.itemsize * 8
        exact = np.asarray(lhs).astype(object) * np.asarray(rhs).astype(object)
        return np.asarray(exact >> width).astype(lhs.dtype)
