"""Where a program stands in the grid."""

from __future__ import annotations

from typing import Any

from xdsl_core.dtypes import i32
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import ScalarType
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    Sample,
    attribute,
    constraint,
    op,
    reference,
    result,
    type_rule,
)


class _OfGrid:
    axis = attribute(int, doc="the axis of the grid: 0, 1 or 2")
    result = result(doc="i32")
    constraints = (
        constraint(
            "C1",
            "0 <= axis <= 2",
            "a grid has three axes",
            help="use axis 0, 1 or 2; axes that a launch does not give have extent 1",
            code="X0212",
        ),
    )
    samples = tuple(Sample({}, {"axis": axis}) for axis in range(3))
    error_samples = (ErrorSample("C1", {}, {"axis": 3}), ErrorSample("C1", {}, {"axis": -1}))
    budget = Exact()

    @type_rule
    def _() -> ScalarType:
        return ScalarType(i32)


@op("grid.program_id", since="0.1", profile="core", traits=(Trait.PURE,))
class ProgramId(_OfGrid):
    """The number of this program along an axis of the grid, from 0."""

    @reference
    def _compute(machine: Any, axis: int) -> Any:
        return machine.program_id(axis)


@op("grid.num_programs", since="0.1", profile="core", traits=(Trait.PURE,))
class NumPrograms(_OfGrid):
    """The extent of the grid along an axis."""

    @reference
    def _compute(machine: Any, axis: int) -> Any:
        return machine.num_programs(axis)
