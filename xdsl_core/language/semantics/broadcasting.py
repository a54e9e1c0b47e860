"""Makes shapes agree: splat scalars, add leading axes, stretch axes of extent 1."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_core import ops
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.values import tensor


def splat(context: Context, source: tensor, shape: Sequence[int]) -> tensor:
    """A scalar or pointer in every lane of a tile; itself for the empty shape."""
    return context.emit(ops.Splat, source, shape=tuple(shape)) if shape else source


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that numpy's broadcasting gives, or None where the extents do not agree."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for extents in zip(*padded, strict=True):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def broadcast_to(context: Context, source: tensor, shape: Sequence[int]) -> tensor:
    """The source with another shape that it broadcasts to. X0122 where it does not."""
    shape = tuple(shape)
    if source.shape == shape:
        return source
    if not source.shape:
        return splat(context, source, shape)
    if common_shape(source.shape, shape) != shape:
        raise fail(
            "X0122",
            f"cannot broadcast {list(source.shape)} to {list(shape)}",
            label=describe(source),
            help="extents must be equal or 1; add axes with x[:, None]",
        )
    for _ in range(len(shape) - len(source.shape)):
        source = context.emit(ops.ExpandDims, source, axis=0)
    return source if source.shape == shape else context.emit(ops.Broadcast, source, shape=shape)


def broadcast(context: Context, *values: tensor) -> tuple[tensor, ...]:
    """All values with their common shape. X0122 where the shapes do not agree."""
    shapes = {value.shape for value in values}
    if len(shapes) == 1:
        return values
    shape = common_shape(*shapes)
    if shape is None:
        raise fail(
            "X0122",
            "the shapes do not agree",
            label=", ".join(map(describe, values)),
            help="extents must be equal or 1; add axes with x[:, None], or use tl.broadcast_to",
        )
    return tuple(broadcast_to(context, value, shape) for value in values)
