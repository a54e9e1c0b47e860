"""Block pointers: an array in memory, and the place of a block in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import pointee_of
from xdsl_core.language import blocks
from xdsl_core.language.builtin import builtin, static_ints
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics import arithmetic
from xdsl_core.language.semantics.conversion import holds_pointers
from xdsl_core.language.shape import Ints, checked_axis, checked_shape
from xdsl_core.language.types import block_type, dtype_of_row, pointer_type
from xdsl_core.language.values import Composite, tensor, unwrap


@dataclass(frozen=True, slots=True, eq=False)
class BlockPointer(Composite):
    """What `tl.make_block_ptr` makes: a block of `block_shape` at `offsets` of an array.

    `shape`, `strides` and `offsets` are scalars, one for each axis; strides count elements. `order` names the
    axes from the fastest to the slowest in memory, and changes nothing.
    """

    base: tensor
    shape: tuple[tensor, ...]
    strides: tuple[tensor, ...]
    offsets: tuple[tensor, ...]
    block_shape: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def element(self) -> DType:
        """The dtype of the array."""
        return pointee_of(self.base.handle.type)

    @property
    def type(self) -> pointer_type:
        """A pointer to a block, as Triton calls it."""
        return pointer_type(block_type(dtype_of_row(self.element), self.block_shape))

    def parts(self) -> tuple[Any, ...]:
        """The base, the scalars, and what is fixed."""
        return (self.base, self.shape, self.strides, self.offsets, self.block_shape, self.order)

    def with_parts(self, parts: Sequence[Any]) -> BlockPointer:
        """Another block pointer."""
        return BlockPointer(*parts)

    def attribute(self, name: str) -> Any:
        """`dtype` and `type`, as in Triton."""
        if name in ("type", "dtype"):
            return self.type
        raise AttributeError(name)

    def method(self, name: str) -> Any:
        """The functions of the language that take a block pointer first."""
        from xdsl_core.language.memory import store

        return {"advance": advance, "store": store}.get(name)

    def __str__(self) -> str:
        return f"block_ptr<{'x'.join(map(str, self.block_shape))}x{self.element}>"


@builtin
def make_block_ptr(  # noqa: PLR0917 (Triton's signature)
    context: Context, base: tensor, shape: Any, strides: Any, offsets: Any, block_shape: Ints, order: Ints
) -> BlockPointer:
    """A pointer to a block of `block_shape` at `offsets` of the array at `base`.

    `shape`, `strides` (in elements) and `offsets` hold one integer for each axis, compile-time or not.
    `order` names the axes from the fastest to the slowest in memory. Loads and stores through it check the
    axes of their `boundary_check` against `shape`.
    """
    function = "make_block_ptr"
    if not holds_pointers(base) or base.shape:
        raise fail(
            "X0136",
            "tl.make_block_ptr needs a pointer to the first element of the array",
            label=describe(base),
            help="pass a pointer argument, or one plus an integer",
        )
    wide = [
        blocks.integers(context, function, name, values, dtypes.i64)
        for name, values in (("shape", shape), ("strides", strides))
    ]
    places = blocks.integers(context, function, "offsets", offsets, dtypes.i32)
    extents = checked_shape(function, block_shape)
    rank = blocks.one_each(
        function, shape=wide[0], strides=wide[1], offsets=places, block_shape=extents, order=order
    )
    if sorted(order) != list(range(rank)):
        raise fail(
            "X0134",
            "tl.make_block_ptr: order must name each axis once",
            label=f"order is {list(order)}",
            help=f"an array in C's layout has order={tuple(reversed(range(rank)))}",
        )
    return BlockPointer(base, wide[0], wide[1], places, extents, tuple(order))


@builtin
def advance(context: Context, base: Any, offsets: Any) -> BlockPointer:
    """The block pointer moved on by one integer for each axis. It does not change `base`: use the result."""
    if not isinstance(base, BlockPointer):
        raise fail(
            "X0136",
            "tl.advance needs a block pointer",
            label=describe(base),
            help="make one with tl.make_block_ptr; ordinary pointers move by +",
        )
    steps = blocks.integers(context, "advance", "offsets", offsets, dtypes.i32)
    blocks.one_each("advance", base=base.offsets, offsets=steps)
    still = [isinstance(step, int) and step == 0 for step in map(unwrap, _listed(offsets))]
    moved = tuple(
        old if stays else arithmetic.add(context, old, step)
        for old, step, stays in zip(base.offsets, steps, still, strict=True)
    )
    return replace(base, offsets=moved)


def _listed(values: Any) -> Sequence[Any]:
    values = unwrap(values)
    return values if isinstance(values, tuple | list) else (values,)


def accesses(
    context: Context, function: str, pointer: BlockPointer, boundary_check: Any
) -> tuple[tensor, tensor | None]:
    """The pointers to the block's elements, and which of them the boundary check lets through (None: all)."""
    rank = len(pointer.block_shape)
    named = static_ints(function, "boundary_check", boundary_check)
    axes = sorted({checked_axis(function, axis, rank) for axis in named})
    indexes = [
        blocks.positions(context, start, extent)
        for start, extent in zip(pointer.offsets, pointer.block_shape, strict=True)
    ]
    pointers = blocks.addresses(context, pointer.base, pointer.strides, indexes)
    mask = blocks.inside(context, pointer.shape, indexes, axes)
    return pointers, mask
