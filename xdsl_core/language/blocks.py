"""A block of an array in memory: the pointers to its elements, and which of them lie inside the array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import dtype_of
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics import arithmetic
from xdsl_core.language.semantics.conversion import cast, is_scalar, to_tensor
from xdsl_core.language.shape import insert_axis
from xdsl_core.language.values import tensor, unwrap


def integers(
    context: Context, function: str, parameter: str, values: Any, dtype: DType
) -> tuple[tensor, ...]:
    """Integer scalars of one dtype from a tuple of numbers and scalars, or one of them. X0115 otherwise."""
    values = unwrap(values)
    items = values if isinstance(values, tuple | list) else (values,)
    found = []
    for item in map(unwrap, items):
        scalar = to_tensor(context, item) if isinstance(item, tensor | int) else None
        if scalar is None or not is_scalar(scalar) or dtype_of(scalar.handle.type).is_float:
            raise fail(
                "X0115",
                f"tl.{function}: {parameter} must hold integer scalars",
                label=f"{parameter} holds {describe(item)}",
                help="one integer for each axis of the array",
            )
        found.append(cast(context, scalar, dtype))
    return tuple(found)


def one_each(function: str, **parameters: Sequence[Any]) -> int:
    """The rank of which all parameters have one value for each axis. X0135 where they differ in length."""
    lengths = {name: len(values) for name, values in parameters.items()}
    rank = next(iter(lengths.values()))
    if rank and all(length == rank for length in lengths.values()):
        return rank
    shown = ", ".join(f"{length} in {name}" for name, length in lengths.items())
    raise fail(
        "X0135",
        f"tl.{function} needs one value for each axis",
        label=f"there are {shown}",
        help="give all of them the length of the array's rank, at least 1",
    )


def positions(context: Context, start: tensor, extent: int) -> tensor:
    """start, start + 1, ... as `extent` indexes of 64 bits."""
    counted = cast(context, context.emit(ops.Arange, start=0, end=extent), dtypes.i64)
    return arithmetic.add(context, cast(context, start, dtypes.i64), counted)


def along(context: Context, values: tensor, axis: int, rank: int) -> tensor:
    """A one-dimensional tile along an axis of a tile of some rank, with extent 1 along the others."""
    for place in range(rank):
        if place != axis:
            values = insert_axis(context, values, place)
    return values


def addresses(context: Context, base: tensor, strides: Sequence[tensor], indexes: Sequence[tensor]) -> tensor:
    """Pointers to base + the sum of index * stride over the axes, as a tile; strides count elements.

    `indexes` holds a one-dimensional tile for each axis.
    """
    pointer = base
    for axis, (index, stride) in enumerate(zip(indexes, strides, strict=True)):
        distance = arithmetic.mul(context, index, cast(context, stride, dtypes.i64))
        pointer = arithmetic.offset(context, pointer, along(context, distance, axis, len(indexes)))
    return pointer


def inside(
    context: Context, shape: Sequence[tensor], indexes: Sequence[tensor], axes: Sequence[int]
) -> tensor | None:
    """Where 0 <= index < extent along each of `axes`; None if there are none."""
    tests = []
    for axis in axes:
        index, extent = indexes[axis], cast(context, shape[axis], dtypes.i64)
        within = arithmetic.logical_and(
            context,
            arithmetic.greater_equal(context, index, 0),
            arithmetic.less(context, index, extent),
        )
        tests.append(along(context, within, axis, len(indexes)))
    return reduce(lambda left, right: arithmetic.bit_and(context, left, right), tests) if tests else None


def padding(context: Context, function: str, option: str, element: DType) -> float | int | None:
    """What elements outside the array read as: "zero", "nan", or anything for the empty string.

    X0138 for other words, X0132 for NaN in an array of integers.
    """
    values: dict[str, float | int | None] = {"": None, "zero": 0, "nan": float("nan")}
    if option not in values:
        raise fail(
            "X0138", f"tl.{function}: padding_option {option!r} does not exist", help="one of: 'zero', 'nan'"
        )
    if option == "nan" and not element.is_float:
        raise fail(
            "X0132", f"tl.{function}: {element} has no NaN", help='use padding_option="zero" for integers'
        )
    return values[option]
