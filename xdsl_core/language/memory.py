"""Loads and stores."""

from __future__ import annotations

from typing import Any, TypeAlias

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import element_of, pointee_of
from xdsl_core.language import blocks
from xdsl_core.language.block_pointer import BlockPointer, accesses
from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.broadcasting import broadcast_to, common_shape
from xdsl_core.language.semantics.conversion import converted, holds_pointers
from xdsl_core.language.values import Operand, tensor

Pointer: TypeAlias = tensor | BlockPointer
LOAD_CACHES = ("", ".ca", ".cg", ".cs", ".cv")
STORE_CACHES = ("", ".wb", ".cg", ".cs", ".wt")
EVICTIONS = ("", "evict_first", "evict_last", "evict_normal")


def checked_option(function: str, name: str, value: str, known: tuple[str, ...]) -> str | None:
    """An option as an attribute: None for the first, which is the default. X0138 for unknown ones."""
    if value in known:
        return value if value != known[0] else None
    choices = ", ".join(repr(one) for one in known if one)
    raise fail("X0138", f"tl.{function}: {name} {value!r} does not exist", help=f"one of: {choices}")


def checked_pointer(function: str, pointer: tensor) -> DType:
    """What the pointer points to. X0136 where it is no pointer."""
    if holds_pointers(pointer):
        return pointee_of(pointer.handle.type)
    raise fail(
        "X0136",
        f"tl.{function} needs a pointer or a tile of pointers",
        label=describe(pointer),
        help="add the offsets to a pointer argument: pointer + offsets",
    )


def fitting(context: Context, function: str, name: str, value: tensor, pointer: tensor) -> tensor:
    """An operand in the shape of the pointers. X0136 where it has lanes of its own."""
    if common_shape(value.shape, pointer.shape) == pointer.shape:
        return broadcast_to(context, value, pointer.shape)
    what = "a scalar pointer" if not pointer.shape else f"pointers of shape {list(pointer.shape)}"
    raise fail(
        "X0136",
        f"tl.{function}: {name} of shape {list(value.shape)} does not fit {what}",
        label=f"{describe(pointer)}, {describe(value)}",
        help="the pointers decide the shape: add the offsets to the pointer, or broadcast it first",
    )


def fitting_mask(context: Context, function: str, mask: tensor | None, pointer: tensor) -> tensor | None:
    """A mask in the shape of the pointers. X0136 where it holds no bools, or has lanes of its own."""
    if mask is None:
        return None
    if element_of(mask.handle.type) is not dtypes.i1:
        raise fail(
            "X0136",
            f"tl.{function}: the mask must hold bools",
            label=describe(mask),
            help="compare: offsets < n",
        )
    return fitting(context, function, "the mask", mask, pointer)


@builtin
def load(  # noqa: PLR0917 (Triton's signature)
    context: Context,
    pointer: Pointer,
    mask: tensor | None = None,
    other: Operand | None = None,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> tensor:
    """The values that a pointer, or each pointer of a tile, points to.

    Where `mask` is false memory is not touched: the lane holds `other`, or is undefined without `other`. Mask
    and other broadcast to the pointers; other is cast to what they point to.

    Through a block pointer the axes in `boundary_check` are checked against the shape of the array: elements
    outside it are not touched and read as `padding_option` says ("zero", "nan", or undefined without it).
    X0146 where the options of one kind of pointer are given with the other.
    """
    if isinstance(pointer, BlockPointer):
        _no_mask("load", mask, other)
        outside = blocks.padding(context, "load", padding_option, pointer.element)
        pointer, mask = accesses(context, "load", pointer, boundary_check)
        other = None if mask is None else outside
    else:
        _no_block_pointer("load", boundary_check, padding_option)
    element = checked_pointer("load", pointer)
    if other is not None and mask is None:
        raise fail(
            "X0136", "tl.load: other has no meaning without a mask", help="pass mask=, or leave other out"
        )
    pointer = _all_lanes(context, pointer, mask, other)
    mask = fitting_mask(context, "load", mask, pointer)
    if other is not None:
        filler = converted(context, other, element, pointer.shape)
        other = fitting(context, "load", "other", filler, pointer)
    return context.emit(
        ops.Load,
        pointer,
        mask,
        other,
        cache=checked_option("load", "cache_modifier", cache_modifier, LOAD_CACHES),
        eviction=checked_option("load", "eviction_policy", eviction_policy, EVICTIONS),
        volatile=volatile or None,
    )


def _all_lanes(context: Context, pointer: tensor, *others: Operand | None) -> tensor:
    """A tile of pointers stretched to the shape of a larger mask or other, as tl.load allows."""
    shapes = [other.shape for other in others if isinstance(other, tensor)]
    shape = common_shape(pointer.shape, *shapes) if pointer.shape else None
    return pointer if shape is None else broadcast_to(context, pointer, shape)


def _no_mask(function: str, mask: tensor | None, other: Operand | None = None) -> None:
    if mask is not None or other is not None:
        raise fail(
            "X0146",
            f"tl.{function}: a block pointer takes no mask",
            help="name the axes to check in boundary_check, and use padding_option instead of other",
        )


def _no_block_pointer(function: str, boundary_check: Any, padding_option: str) -> None:
    if boundary_check or padding_option:
        raise fail(
            "X0146",
            f"tl.{function}: boundary_check and padding_option belong to block pointers",
            help="use mask= and other=",
        )


@builtin(member=True)
def store(  # noqa: PLR0917 (Triton's signature)
    context: Context,
    pointer: Pointer,
    value: Operand,
    mask: tensor | None = None,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Write values to where a pointer, or each pointer of a tile, points; not where `mask` is false.

    The value is cast to what the pointers point to and, like the mask, broadcast to their shape. Through a
    block pointer, elements outside the array along the axes in `boundary_check` are not written.
    """
    if isinstance(pointer, BlockPointer):
        _no_mask("store", mask)
        pointer, mask = accesses(context, "store", pointer, boundary_check)
    else:
        _no_block_pointer("store", boundary_check, "")
    element = checked_pointer("store", pointer)
    value = fitting(context, "store", "the value", converted(context, value, element, pointer.shape), pointer)
    mask = fitting_mask(context, "store", mask, pointer)
    context.build(
        ops.Store,
        pointer,
        value,
        mask,
        cache=checked_option("store", "cache_modifier", cache_modifier, STORE_CACHES),
        eviction=checked_option("store", "eviction_policy", eviction_policy, EVICTIONS),
    )
