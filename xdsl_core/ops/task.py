"""The dialect `task`: which worker runs what, and the flags that order engines and cores."""

from __future__ import annotations

from typing import Any

from xdsl_core.dtypes import i64
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import ScalarType
from xdsl_core.opdef import (
    Exact,
    OpSet,
    Sample,
    attribute,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import Integer, scalar

_EFFECT = (Trait.EFFECT,)


class _Number:
    result = result(doc="i64")
    samples = (Sample({}),)
    budget = Exact()

    @type_rule
    def _() -> ScalarType:
        return ScalarType(i64)


@op("task.worker", since="0.1", profile="ext-dsa", traits=(Trait.PURE,))
class Worker(_Number):
    """The number of this worker: a core, or a group of cores where a kernel needs several kinds."""

    @reference
    def _compute() -> Any:
        return i64.numpy.type(0)


@op("task.workers", since="0.1", profile="ext-dsa", traits=(Trait.PURE,))
class Workers(_Number):
    """How many workers share the grid."""

    @reference
    def _compute() -> Any:
        return i64.numpy.type(1)


@op("task.member", since="0.1", profile="ext-dsa", traits=(Trait.PURE,))
class Member(_Number):
    """The number of this core among those of its kind in its group."""

    @reference
    def _compute() -> Any:
        return i64.numpy.type(0)


@op("task.grid", since="0.1", profile="ext-dsa", traits=(Trait.PURE,))
class GridExtent:
    """Programs along an axis of the grid as i64, or with axis -1 in all of it."""

    axis = attribute(int, doc="0, 1, 2, or -1 for the product of all", default=-1, choices=(-1, 0, 1, 2))
    result = result(doc="i64")
    samples = tuple(Sample({}, {"axis": axis}) for axis in (-1, 0, 1, 2))
    budget = Exact()

    @type_rule
    def _() -> ScalarType:
        return ScalarType(i64)

    @reference
    def _compute(machine: Any, axis: int) -> Any:
        extents = [int(machine.num_programs(each)) for each in range(3)]
        product = extents[0] * extents[1] * extents[2]
        return i64.numpy.type(product if axis < 0 else extents[axis])


@op("task.program", since="0.1", profile="ext-dsa", traits=_EFFECT)
class Program:
    """Says which program of the grid what follows belongs to."""

    program = operand(scalar(Integer), doc="x + grid_x * (y + grid_y * z)")
    samples = tuple(Sample({"program": kind}) for kind in ("i64", "i32", "u8"))

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, program: Any) -> None:
        x, y, _ = (int(machine.num_programs(axis)) for axis in range(3))
        number = int(program)
        machine.program = (number % x, number // x % y, number // (x * y))


class _Flag:
    slot = operand(scalar(Integer), doc="added to the flag's number: the part of a buffer", optional=True)
    source = attribute(str, doc="the engine that sets the flag")
    target = attribute(str, doc="the engine that waits for it")
    flag = attribute(int, doc="the number of the flag among those of the two engines")
    core = attribute(str, doc="the kind of core, empty where all are alike", default="")
    samples = (
        Sample({}, {"source": "MTE2", "target": "V", "flag": 0}),
        Sample({"slot": "i32"}, {"source": "MTE2", "target": "V", "flag": 0, "core": "AIV"}),
        Sample({"slot": "u8"}, {"source": "V", "target": "MTE2", "flag": 1}),
    )

    @type_rule
    def _() -> None:
        return None


@op("task.set_flag", since="0.1", profile="ext-dsa", traits=_EFFECT)
class SetFlag(_Flag):
    """Sets a flag of another engine once everything before it on its own engine is done."""

    @reference
    def _compute() -> None:
        """Nothing: one op after the other is in order already."""


@op("task.wait_flag", since="0.1", profile="ext-dsa", traits=_EFFECT)
class WaitFlag(_Flag):
    """Holds an engine until a flag is set, and takes the flag back."""

    @reference
    def _compute() -> None:
        """Nothing: one op after the other is in order already."""


class _CrossFlag:
    source_core = attribute(str, doc="the kind of core that sets the flag")
    target_core = attribute(str, doc="the kind of core that waits for it")
    engine = attribute(str, doc="the engine that sets or waits")
    flag = attribute(int, doc="the number of the flag")
    samples = (Sample({}, {"source_core": "AIC", "target_core": "AIV", "engine": "FIX", "flag": 0}),)

    @type_rule
    def _() -> None:
        return None


@op("task.set_cross", since="0.1", profile="ext-dsa", traits=_EFFECT)
class SetCross(_CrossFlag):
    """Counts a flag up for each core of a kind in the group, once what is before it on its engine is done."""

    @reference
    def _compute() -> None:
        """Nothing: one op after the other is in order already."""


@op("task.wait_cross", since="0.1", profile="ext-dsa", traits=_EFFECT)
class WaitCross(_CrossFlag):
    """Holds an engine until each core of a kind in the group has counted a flag up, and takes that back."""

    @reference
    def _compute() -> None:
        """Nothing: one op after the other is in order already."""


@op("task.barrier", since="0.1", profile="ext-dsa", traits=_EFFECT)
class Barrier:
    """Holds a core's scalar unit until all its engines are done with what they were given.

    With `group` every core of the group waits so, and then for the others to have come to the same barrier.
    """

    core = attribute(str, doc="the kind of core, empty where all are alike", default="")
    group = attribute(bool, doc="whether the cores of a group wait for each other", default=False)
    samples = (Sample({}), Sample({}, {"core": "AIV"}), Sample({}, {"group": True}))

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute() -> None:
        """Nothing: one op after the other is in order already."""


TASK = OpSet((Worker, Workers, Member, GridExtent, Program, SetFlag, WaitFlag, SetCross, WaitCross, Barrier))

__all__ = [
    "TASK",
    "Barrier",
    "GridExtent",
    "Member",
    "Program",
    "SetCross",
    "SetFlag",
    "WaitCross",
    "WaitFlag",
    "Worker",
    "Workers",
]
