"""Functions that move elements without looking at them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from xdsl_core import ops
from xdsl_core.ir.types import PointerType, element_of
from xdsl_core.language.builtin import builtin, static_ints
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics import broadcasting
from xdsl_core.language.values import tensor

Ints: TypeAlias = Sequence[int]


def checked_shape(function: str, shape: Sequence[int]) -> tuple[int, ...]:
    """A shape with positive extents. X0135 otherwise."""
    if all(extent >= 1 for extent in shape):
        return tuple(shape)
    label = f"the shape is {list(shape)}"
    raise fail("X0135", f"tl.{function}: extents must be 1 or more", label=label, help="drop empty axes")


def checked_axis(function: str, axis: int, rank: int) -> int:
    """An axis counted from the front; negative ones count from the end. X0134 where there is no such axis."""
    if -rank <= axis < rank:
        return axis % rank
    raise fail(
        "X0134",
        f"tl.{function}: axis {axis} does not exist",
        label=f"the rank is {rank}",
        help=f"axes are {-rank} to {rank - 1}" if rank else "a scalar has no axes",
    )


def _flattened(function: str, parameter: str, values: tuple[Any, ...]) -> tuple[int, ...]:
    """Integers given one by one, or as one tuple."""
    if len(values) == 1 and isinstance(values[0], tuple | list):
        return static_ints(function, parameter, values[0])
    return static_ints(function, parameter, values)


def scalar_of(context: Context, source: tensor) -> tensor:
    """The only element of a tile. X0119 for pointers."""
    if not source.shape:
        return source
    element = element_of(source.handle.type)
    if isinstance(element, PointerType):
        raise fail(
            "X0119", "a tile of pointers has no scalar form", label=describe(source), help="use the pointer"
        )
    flat = source if len(source.shape) == 1 else context.emit(ops.Reshape, source, shape=(1,))
    # a reduction of one element is that element
    return context.emit(ops.ReduceMax if element.is_float else ops.ReduceOr, flat, axis=0)


@builtin
def broadcast(context: Context, input: tensor, other: tensor) -> Any:
    """Both tiles with their common shape."""
    return broadcasting.broadcast(context, input, other)


@builtin(member=True)
def broadcast_to(context: Context, input: tensor, *shape: Any) -> tensor:
    """The tile stretched to a shape; extents must be equal or 1. The shape is a tuple or single integers."""
    target = checked_shape("broadcast_to", _flattened("broadcast_to", "shape", shape))
    if input.shape and len(input.shape) != len(target):
        raise fail(
            "X0122",
            f"tl.broadcast_to: the rank changes from {len(input.shape)} to {len(target)}",
            label=describe(input),
            help="add axes first: x[:, None]",
        )
    return broadcasting.broadcast_to(context, input, target)


@builtin(member=True)
def reshape(context: Context, input: tensor, *shape: Any, can_reorder: bool = False) -> tensor:
    """The same elements in row-major order with another shape.

    The shape is a tuple or single integers; the empty shape makes a scalar of a tile with one element.
    `can_reorder` allows a backend to permute elements; none needs to.
    """
    target = checked_shape("reshape", _flattened("reshape", "shape", shape))
    if prod(target) != input.numel:
        raise fail(
            "X0135",
            f"tl.reshape: {list(target)} holds {prod(target)} elements, not {input.numel}",
            label=describe(input),
            help="a reshape keeps the number of elements",
        )
    if target == input.shape:
        return input
    if not target:
        return scalar_of(context, input)
    if not input.shape:
        return broadcasting.splat(context, input, target)
    return context.emit(ops.Reshape, input, shape=target)


@builtin(member=True)
def view(context: Context, input: tensor, *shape: Any) -> tensor:
    """The older name of `reshape`."""
    return reshape.apply(context, (input, *shape), {})  # type: ignore[no-any-return]


@builtin(member=True)
def item(context: Context, input: tensor) -> tensor:
    """The only element of a tile, as a scalar."""
    return reshape.apply(context, (input, ()), {})  # type: ignore[no-any-return]


@builtin(member=True)
def ravel(context: Context, x: tensor, can_reorder: bool = False) -> tensor:
    """All elements in row-major order as a tile of rank 1."""
    return reshape.apply(context, (x, (x.numel,)), {})  # type: ignore[no-any-return]


def _permute(context: Context, function: str, input: tensor, order: tuple[int, ...]) -> tensor:
    rank = len(input.shape)
    order = tuple(checked_axis(function, axis, rank) for axis in order)
    if sorted(order) != list(range(rank)):
        raise fail(
            "X0135",
            f"tl.{function}: {list(order)} is no permutation of the axes",
            label=describe(input),
            help=f"name each of the axes 0 to {rank - 1} once",
        )
    return input if list(order) == sorted(order) else context.emit(ops.Permute, input, order=order)


@builtin(member=True)
def permute(context: Context, input: tensor, *dims: Any) -> tensor:
    """The axes in another order: axis k of the result is axis dims[k]. A tuple or single integers."""
    return _permute(context, "permute", input, _flattened("permute", "dims", dims))


@builtin(member=True)
def trans(context: Context, input: tensor, *dims: Any) -> tensor:
    """The last two axes swapped, or the axes in the order `dims`."""
    order = _flattened("trans", "dims", dims)
    rank = len(input.shape)
    if not order:
        if rank < 2:
            raise fail(
                "X0134", "tl.trans needs two axes to swap", label=describe(input), help="the tile has too few"
            )
        order = (*range(rank - 2), rank - 1, rank - 2)
    return _permute(context, "trans", input, order)


@builtin(member=True)
def expand_dims(context: Context, input: tensor, axis: Any) -> tensor:
    """New axes of extent 1 at the places `axis` (an integer or a tuple) of the result."""
    axes = static_ints("expand_dims", "axis", axis)
    rank = len(input.shape) + len(axes)
    places = [checked_axis("expand_dims", one, rank) for one in axes]
    if len(set(places)) != len(places):
        raise fail(
            "X0134",
            "tl.expand_dims: an axis is named twice",
            label=f"the axes are {places}",
            help="name each place of the result once",
        )
    for place in sorted(places):
        input = insert_axis(context, input, place)
    return input


def insert_axis(context: Context, source: tensor, axis: int) -> tensor:
    """The source with an axis of extent 1 before `axis`."""
    if not source.shape:
        return broadcasting.splat(context, source, (1,))
    return context.emit(ops.ExpandDims, source, axis=axis)
