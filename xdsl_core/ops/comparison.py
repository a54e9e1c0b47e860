"""Comparisons lane by lane, and the choice between two values."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.dtypes import i1
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type, with_element
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    Sample,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
    undefined_lanes,
)
from xdsl_core.opdef.patterns import AnyNumber, AnyValue, Bool
from xdsl_core.ops._shared import (
    BOOLS,
    COMMUTATIVE,
    ELEMENTWISE,
    NUMBERS,
    SAME_TYPE,
    SAME_TYPE_ERRORS,
    few_values,
    samples,
)


class _Comparison:
    lhs = operand(AnyNumber, doc="left operand, a scalar or a tile")
    rhs = operand(AnyNumber, doc="right operand, of the same type as lhs")
    result = result(doc="i1, of the shape of lhs")
    constraints = (SAME_TYPE,)
    samples = (*samples("lhs rhs", *NUMBERS, *BOOLS, values={"lhs": few_values, "rhs": few_values}),)
    error_samples = SAME_TYPE_ERRORS
    budget = Exact()

    @type_rule
    def _(lhs: Type) -> Type:
        return with_element(lhs, i1)


@op("tile.eq", since="0.1", profile="core", traits=COMMUTATIVE)
class Eq(_Comparison):
    """Whether lhs equals rhs. False where either is NaN; -0.0 equals 0.0."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs == rhs


@op("tile.ne", since="0.1", profile="core", traits=COMMUTATIVE)
class Ne(_Comparison):
    """Whether lhs differs from rhs. True where either is NaN; -0.0 equals 0.0."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs != rhs


@op("tile.lt", since="0.1", profile="core", traits=ELEMENTWISE)
class Lt(_Comparison):
    """Whether lhs is less than rhs. False where either is NaN; false < true; signed or unsigned as the
    element is.
    """

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs < rhs


@op("tile.le", since="0.1", profile="core", traits=ELEMENTWISE)
class Le(_Comparison):
    """Whether lhs is less than or equal to rhs. False where either is NaN."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs <= rhs


@op("tile.gt", since="0.1", profile="core", traits=ELEMENTWISE)
class Gt(_Comparison):
    """Whether lhs is greater than rhs. False where either is NaN."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs > rhs


@op("tile.ge", since="0.1", profile="core", traits=ELEMENTWISE)
class Ge(_Comparison):
    """Whether lhs is greater than or equal to rhs. False where either is NaN."""

    @reference
    def _compute(lhs: Any, rhs: Any) -> Any:
        return lhs >= rhs


def _select_sample(kind: str) -> Sample:
    dimensions = kind.removeprefix("tile<").rsplit("x", 1)[0] if kind.startswith("tile<") else ""
    condition = f"tile<{dimensions}xi1>" if dimensions else "i1"
    return Sample({"condition": condition, "on_true": kind, "on_false": kind})


@op("tile.select", since="0.1", profile="core", traits=(Trait.PURE, Trait.ELEMENTWISE))
class Select:
    """on_true where the condition holds, on_false elsewhere; both are evaluated.

    Bits pass through unchanged. The condition has the shape of the values: a scalar condition for tiles is
    repeated with `tile.splat` first.
    """

    condition = operand(Bool, doc="i1 of the shape of the values")
    on_true = operand(AnyValue, doc="what is taken where the condition is true")
    on_false = operand(AnyValue, doc="what is taken elsewhere, of the same type")
    result = result(doc="scalar, pointer or tile of the type of on_true")
    constraints = (
        constraint(
            "C1",
            "on_true == on_false",
            "the values differ in type",
            help="cast one side, or broadcast it to the shape of the other",
            code="X0209",
        ),
        constraint(
            "C2",
            "condition.shape == on_true.shape",
            "condition and values differ in shape",
            help="broadcast the condition to the shape of the values",
            code="X0210",
        ),
    )
    samples = tuple(_select_sample(kind) for kind in (*NUMBERS, *BOOLS, "ptr<f32>", "tile<5xptr<f16>>"))
    error_samples = (
        ErrorSample("C1", {"condition": "tile<4xi1>", "on_true": "tile<4xf32>", "on_false": "tile<4xi32>"}),
        ErrorSample("C2", {"condition": "i1", "on_true": "tile<4xf32>", "on_false": "tile<4xf32>"}),
    )
    budget = Exact()

    @type_rule
    def _(on_true: Type) -> Type:
        return on_true

    @reference
    def _compute(condition: Any, on_true: Any, on_false: Any) -> Any:
        return np.where(condition, on_true, on_false)

    @undefined_lanes
    def _undefined(condition: Any, undefined: Any) -> Any:
        return undefined["condition"] | np.where(condition, undefined["on_true"], undefined["on_false"])
