"""Parts of tiles: `x[a:b:s]`, and a part taken out of a tile or put into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.ir.types import dtype_of, element_of, is_pointer
from xdsl_core.language.blocks import along, integers, one_each
from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics import arithmetic, conversion
from xdsl_core.language.semantics.broadcasting import broadcast_to
from xdsl_core.language.shape import Ints, checked_shape, insert_axis, scalar_of
from xdsl_core.language.types import get_int_dtype
from xdsl_core.language.values import tensor, unwrap


@builtin
def extract_slice(context: Context, ful: tensor, offsets: Any, sizes: Ints, strides: Ints) -> tensor:
    """The part of a tile that starts at `offsets`, of shape `sizes`, every `strides`-th element of each axis.

    Offsets may be values of the running kernel; sizes and strides are known when compiling. What lies outside
    the tile reads as 0. X0161 where a part that is known lies outside.
    """
    starts = _starts("extract_slice", ful, offsets, sizes, strides)
    for axis, (start, size, stride) in enumerate(zip(starts, sizes, strides, strict=True)):
        extent = ful.shape[axis]
        _check_inside("extract_slice", ful, axis, start, size, stride)
        if (start, size) != (0, extent) or stride != 1:
            ful = _part(context, ful, axis, start, size, stride)
    return ful


@builtin
def insert_slice(
    context: Context, ful: tensor, sub: tensor, offsets: Any, sizes: Ints, strides: Ints
) -> tensor:
    """The tile `ful` with the part that `extract_slice` would take replaced by `sub`, of the shape `sizes`.

    What of the part lies outside the tile is left out. X0161 where a part that is known does.
    """
    starts = _starts("insert_slice", ful, offsets, sizes, strides)
    if sub.shape != tuple(sizes):
        raise fail(
            "X0135",
            "tl.insert_slice: the part does not have the shape `sizes`",
            label=f"{describe(sub)}, sizes are {list(sizes)}",
            help="give the shape of the part as sizes",
        )
    value = conversion.cast(context, sub, element_of(ful.handle.type))
    inside = None
    for axis, (start, size, stride) in enumerate(zip(starts, sizes, strides, strict=True)):
        _check_inside("insert_slice", ful, axis, start, size, stride)
        if start == 0 and size == ful.shape[axis]:
            continue
        hits = _hits(context, ful.shape[axis], start, size, stride, flipped=True)
        value = _chosen(context, value, axis, hits)
        covered = context.emit(ops.ReduceOr, hits, axis=1)
        here = broadcast_to(context, along(context, covered, axis, len(ful.shape)), ful.shape)
        inside = here if inside is None else arithmetic.bit_and(context, inside, here)
    return value if inside is None else arithmetic.select(context, inside, value, ful)


@builtin
def get_element(context: Context, src: tensor, indice: Any) -> tensor:
    """The element of a tile at a tuple of integers, one for each axis; they may be values of the kernel."""
    return subscript(context, src, tuple(map(unwrap, unwrap(indice))))


def subscript(context: Context, source: tensor, indices: Sequence[Any]) -> tensor:
    """`x[i, a:b:s, None]` as numpy means it, with one index for each axis.

    Integers may be values of the running kernel, slices not.
    """
    dropped = []
    for axis, index in enumerate(indices):
        if index is None:
            source = insert_axis(context, source, axis)
        elif isinstance(index, slice):
            source = _sliced(context, source, axis, index)
        else:
            start = index + source.shape[axis] if isinstance(index, int) and index < 0 else index
            source = extract_slice.implementation(
                context,
                source,
                tuple(start if place == axis else 0 for place in range(len(source.shape))),
                tuple(1 if place == axis else extent for place, extent in enumerate(source.shape)),
                (1,) * len(source.shape),
            )
            dropped.append(axis)
    kept = tuple(extent for place, extent in enumerate(source.shape) if place not in dropped)
    if not dropped:
        return source
    return context.emit(ops.Reshape, source, shape=kept) if kept else scalar_of(context, source)


def _sliced(context: Context, source: tensor, axis: int, index: slice) -> tensor:
    extent = source.shape[axis]
    start, stop, step = index.indices(extent)
    size = len(range(start, stop, step))
    if size == 0:
        raise fail(
            "X0161",
            "the slice is empty",
            label=f"{describe(source)}, the slice of axis {axis} is {start}:{stop}:{step}",
            help="a tile has at least one element along each axis",
        )
    if (start, size, step) == (0, extent, 1):
        return source
    return _part(context, source, axis, start, size, step)


def _starts(
    function: str, ful: tensor, offsets: Any, sizes: Sequence[int], strides: Sequence[int]
) -> list[Any]:
    """The offsets, of which those that are known stay numbers."""
    given = unwrap(offsets)
    starts = [unwrap(one) for one in (given if isinstance(given, tuple | list) else (given,))]
    one_each(function, shape=ful.shape, offsets=starts, sizes=sizes, strides=strides)
    checked_shape(function, sizes)
    if any(stride < 1 for stride in strides):
        raise fail(
            "X0135",
            f"tl.{function}: strides must be 1 or more",
            label=f"the strides are {list(strides)}",
            help="use tl.flip to go backwards",
        )
    return starts


def _check_inside(function: str, ful: tensor, axis: int, start: Any, size: int, stride: int) -> None:
    extent = ful.shape[axis]
    if isinstance(start, tensor) or (start >= 0 and start + (size - 1) * stride < extent):
        return
    raise fail(
        "X0161",
        f"tl.{function}: the part leaves the tile along axis {axis}",
        label=f"{describe(ful)}, the part is {size} elements from {start} on with stride {stride}",
        help=f"axis {axis} has the places 0 to {extent - 1}",
    )


def _part(context: Context, source: tensor, axis: int, start: Any, size: int, stride: int) -> tensor:
    """Elements start, start + stride, ... along an axis; `stride` may be negative."""
    extent = source.shape[axis]
    groups = extent // size
    if stride == 1 and isinstance(start, int) and extent % size == 0 and start % size == 0:
        # whole groups: choose one of them instead of single elements
        shape = (*source.shape[:axis], groups, size, *source.shape[axis + 1 :])
        grouped = context.emit(ops.Reshape, source, shape=shape)
        chosen = _chosen(context, grouped, axis, _hits(context, groups, start // size, 1, 1))
        shape = (*source.shape[:axis], size, *source.shape[axis + 1 :])
        return context.emit(ops.Reshape, chosen, shape=shape)
    return _chosen(context, source, axis, _hits(context, extent, start, size, stride))


def _hits(
    context: Context, extent: int, start: Any, size: int, stride: int, *, flipped: bool = False
) -> tensor:
    """Whether element i of a part is place j of the axis, as a size x extent tile (flipped: j, i)."""
    counted = context.emit(ops.Arange, start=0, end=size)
    (first,) = integers(context, "extract_slice", "offsets", start, dtypes.i32)
    elements = arithmetic.add(context, arithmetic.mul(context, counted, stride), first)
    places = context.emit(ops.Arange, start=0, end=extent)
    left, right = (places, elements) if flipped else (elements, places)
    return arithmetic.equal(  # type: ignore[no-any-return]
        context, insert_axis(context, left, 1), insert_axis(context, right, 0)
    )


def _chosen(context: Context, source: tensor, axis: int, hits: tensor) -> tensor:
    """For each row of `hits` the element along an axis that it marks, 0 where it marks none."""
    element = element_of(source.handle.type)
    if is_pointer(source.handle.type):
        raise fail(
            "X0119", "tiles of pointers have no parts", label=describe(source), help="slice the offsets"
        )
    row = dtype_of(source.handle.type)
    # bits, so that every value comes through as it is
    bits = conversion.bitcast(context, source, get_int_dtype(row.bits, signed=True).row)
    pairs = hits
    for place in range(len(source.shape) + 1):
        if place not in (axis, axis + 1):
            pairs = insert_axis(context, pairs, place)
    shape = (*source.shape[:axis], hits.shape[0], *source.shape[axis:])
    wide = broadcast_to(context, insert_axis(context, bits, axis), shape)
    nothing = conversion.constant(context, 0, dtype_of(wide.handle.type), shape)
    kept = context.emit(ops.Select, broadcast_to(context, pairs, shape), wide, nothing)
    found = context.emit(ops.ReduceOr, kept, axis=axis + 1)
    return conversion.bitcast(context, found, element)
