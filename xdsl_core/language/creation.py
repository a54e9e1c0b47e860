"""Program ids, and tiles made from nothing."""

from __future__ import annotations

from xdsl_core import ops
from xdsl_core.dtypes import DType
from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, fail
from xdsl_core.language.semantics.broadcasting import splat
from xdsl_core.language.semantics.conversion import cast, constant, element_type
from xdsl_core.language.shape import Ints, checked_shape, scalar_of
from xdsl_core.language.types import dtype
from xdsl_core.language.values import Operand, tensor

AXES = (0, 1, 2)


def _axis(function: str, axis: int) -> int:
    if axis in AXES:
        return axis
    raise fail("X0134", f"tl.{function}: axis {axis} does not exist", help="a grid has the axes 0, 1 and 2")


@builtin
def program_id(context: Context, axis: int) -> tensor:
    """Which program this is along an axis (0, 1 or 2) of the grid, as int32."""
    return context.emit(ops.ProgramId, axis=_axis("program_id", axis))


@builtin
def num_programs(context: Context, axis: int) -> tensor:
    """How many programs there are along an axis (0, 1 or 2) of the grid, as int32."""
    return context.emit(ops.NumPrograms, axis=_axis("num_programs", axis))


@builtin
def arange(context: Context, start: int, end: int) -> tensor:
    """The integers start, ..., end - 1 as a tile of int32. Any extent of at least one will do."""
    return context.emit(ops.Arange, start=start, end=end)


@builtin
def full(context: Context, shape: Ints, value: Operand, dtype: dtype) -> tensor:
    """A tile of a shape with the scalar `value` in every lane, as `dtype`; a scalar for the empty shape."""
    shape = checked_shape("full", shape)
    element = element_type(dtype)
    if not isinstance(value, tensor):
        if not isinstance(element, DType):
            raise fail("X0132", f"tl.full: {value!r} is no pointer", help="add offsets to a pointer argument")
        return constant(context, value, element, shape)
    if value.numel != 1:
        raise fail(
            "X0115", "tl.full: value must be a scalar", help="a tile takes another shape with tl.broadcast_to"
        )
    return splat(context, cast(context, scalar_of(context, value), element), shape)


@builtin
def to_tensor(context: Context, x: tensor) -> tensor:
    """A Python number as a scalar of the running kernel; tensors are returned as they are."""
    return x
