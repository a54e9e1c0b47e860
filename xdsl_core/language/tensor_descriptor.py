"""Tensor descriptors: an array in memory of which blocks of one shape are read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import pointee_of
from xdsl_core.language import blocks
from xdsl_core.language.atomic import checked_update
from xdsl_core.language.builtin import Builtin, builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.memory import Pointer, fitting
from xdsl_core.language.semantics.conversion import cast, constant, converted, holds_pointers
from xdsl_core.language.shape import Ints, checked_shape
from xdsl_core.language.types import block_type, dtype_of_row
from xdsl_core.language.values import Composite, Operand, tensor, unwrap


@dataclass(frozen=True, slots=True, eq=False)
class tensor_descriptor(Composite):
    """What `tl.make_tensor_descriptor` makes, or what a host-side TensorDescriptor is in the kernel.

    `shape` (int32) and `strides` (int64, in elements; the last one is 1) hold a scalar for each axis.
    `padding` is what elements outside the array read as: "zero" or "nan".
    """

    base: tensor
    shape: tuple[tensor, ...]
    strides: tuple[tensor, ...]
    block_shape: tuple[int, ...]
    padding: str = "zero"

    @property
    def element(self) -> DType:
        """The dtype of the array."""
        return pointee_of(self.base.handle.type)

    def parts(self) -> tuple[Any, ...]:
        """The base, the scalars, and what is fixed."""
        return (self.base, self.shape, self.strides, self.block_shape, self.padding)

    def with_parts(self, parts: Sequence[Any]) -> tensor_descriptor:
        """Another descriptor."""
        return tensor_descriptor(*parts)

    def attribute(self, name: str) -> Any:
        """`shape`, `strides`, `block_shape`, `dtype`, `block_type` and `type`, as in Triton."""
        block = block_type(dtype_of_row(self.element), self.block_shape)
        known: dict[str, Any] = {
            "shape": self.shape,
            "strides": self.strides,
            "block_shape": self.block_shape,
            "dtype": block.scalar,
            "block_type": block,
            "type": block,
        }
        if name not in known:
            raise AttributeError(name)
        return known[name]

    def method(self, name: str) -> Any:
        """load, store, gather, scatter and the atomics."""
        return METHODS.get(name)

    def __str__(self) -> str:
        return f"tensor_descriptor<{'x'.join(map(str, self.block_shape))}x{self.element}>"


@builtin
def make_tensor_descriptor(
    context: Context, base: tensor, shape: Any, strides: Any, block_shape: Ints, padding_option: str = "zero"
) -> tensor_descriptor:
    """A descriptor of the array at `base`, of which blocks of `block_shape` are read and written.

    `shape` and `strides` (in elements) hold an integer for each of the 1 to 5 axes; the last stride is 1, and
    known when compiling (X0160). Elements outside the array read as 0, or NaN for padding_option="nan", and
    are never written.
    """
    function = "make_tensor_descriptor"
    if not holds_pointers(base) or base.shape:
        raise fail(
            "X0136",
            "tl.make_tensor_descriptor needs a pointer to the first element of the array",
            label=describe(base),
            help="pass a pointer argument, or one plus an integer",
        )
    extents = checked_shape(function, block_shape)
    limits = blocks.integers(context, function, "shape", shape, dtypes.i32)
    steps = blocks.integers(context, function, "strides", strides, dtypes.i64)
    rank = blocks.one_each(function, shape=limits, strides=steps, block_shape=extents)
    if rank > 5:
        raise fail(
            "X0135",
            f"tl.make_tensor_descriptor: {rank} axes",
            label="a descriptor has at most 5",
            help="join axes that are contiguous in memory",
        )
    last = unwrap(unwrap(strides)[-1])
    if last != 1 or isinstance(last, tensor):
        raise fail(
            "X0160",
            "the last axis of a tensor descriptor must be contiguous",
            label=f"its stride is {describe(last)}",
            help="pass the number 1 as the last stride; use tl.make_block_ptr for other layouts",
        )
    blocks.padding(context, function, padding_option, pointee_of(base.handle.type))
    return tensor_descriptor(base, limits, steps, extents, padding_option)


def _checked(function: str, desc: Any) -> tensor_descriptor:
    if isinstance(desc, tensor_descriptor):
        return desc
    raise fail(
        "X0136",
        f"tl.{function} needs a tensor descriptor",
        label=describe(desc),
        help="make one with tl.make_tensor_descriptor, or pass a TensorDescriptor to the kernel",
    )


def _block(
    context: Context, function: str, desc: tensor_descriptor, offsets: Any
) -> tuple[tensor, tensor | None]:
    """The pointers to a block's elements, and which of them lie in the array."""
    starts = blocks.integers(context, function, "offsets", offsets, dtypes.i32)
    blocks.one_each(function, offsets=starts, block_shape=desc.block_shape)
    indexes = [
        blocks.positions(context, start, extent)
        for start, extent in zip(starts, desc.block_shape, strict=True)
    ]
    return _reached(context, desc, indexes)


def _reached(
    context: Context, desc: tensor_descriptor, indexes: Sequence[tensor]
) -> tuple[tensor, tensor | None]:
    pointers = blocks.addresses(context, desc.base, desc.strides, indexes)
    return pointers, blocks.inside(context, desc.shape, indexes, range(len(indexes)))


def _rows(
    context: Context, function: str, desc: tensor_descriptor, x_offsets: tensor, y_offset: Any
) -> tuple[tensor, tensor | None]:
    """As `_block`, for the rows `x_offsets` of an array of rank 2."""
    if len(desc.block_shape) != 2 or desc.block_shape[0] != 1 or len(x_offsets.shape) != 1:
        raise fail(
            "X0135",
            f"tl.tensor_descriptor.{function} needs blocks of one row, and a one-dimensional tile of rows",
            label=f"{desc}, {describe(x_offsets)}",
            help="make the descriptor with block_shape=[1, columns]",
        )
    (start,) = blocks.integers(context, function, "y_offset", y_offset, dtypes.i32)
    rows = cast(context, x_offsets, dtypes.i64)
    return _reached(context, desc, (rows, blocks.positions(context, start, desc.block_shape[1])))


def _load(context: Context, desc: tensor_descriptor, pointers: tensor, mask: tensor | None) -> tensor:
    filler = blocks.padding(context, "load", desc.padding, desc.element)
    other = constant(context, filler or 0, desc.element, pointers.shape) if mask is not None else None
    return context.emit(ops.Load, pointers, mask, other)


def _value(context: Context, function: str, desc: tensor_descriptor, value: Operand, like: tensor) -> tensor:
    """A value in the dtype of the array and the shape of the block."""
    return fitting(context, function, "the value", converted(context, value, desc.element, like.shape), like)


@builtin
def load_tensor_descriptor(context: Context, desc: Pointer, offsets: Any) -> tensor:
    """The block at `offsets`, one integer for each axis; what lies outside the array is the padding."""
    known = _checked("load_tensor_descriptor", desc)
    return _load(context, known, *_block(context, "load_tensor_descriptor", known, offsets))


@builtin
def store_tensor_descriptor(context: Context, desc: Pointer, offsets: Any, value: Operand) -> None:
    """Write a block at `offsets`, cast to the dtype of the array; not what lies outside it."""
    function = "store_tensor_descriptor"
    known = _checked(function, desc)
    pointers, mask = _block(context, function, known, offsets)
    context.build(ops.Store, pointers, _value(context, function, known, value, pointers), mask)


@builtin
def _gather(context: Context, desc: Pointer, x_offsets: tensor, y_offset: Any) -> tensor:
    """The rows `x_offsets` from column `y_offset` on."""
    known = _checked("gather", desc)
    return _load(context, known, *_rows(context, "gather", known, x_offsets, y_offset))


@builtin
def _scatter(context: Context, desc: Pointer, value: Operand, x_offsets: tensor, y_offset: Any) -> None:
    """Write the rows `x_offsets` from column `y_offset` on; of equal rows one of the values stays."""
    known = _checked("scatter", desc)
    pointers, mask = _rows(context, "scatter", known, x_offsets, y_offset)
    context.build(ops.Store, pointers, _value(context, "scatter", known, value, pointers), mask)


def _atomic(kind: str) -> Builtin:
    function = f"atomic_{kind}"

    def apply(context: Context, desc: Pointer, offsets: Any, value: Operand) -> None:
        known = _checked(function, desc)
        checked_update(function, kind, known.element)
        pointers, mask = _block(context, function, known, offsets)
        amount = _value(context, function, known, value, pointers)
        context.build(ops.AtomicRmw, pointers, amount, mask, kind=kind, sem="relaxed")

    apply.__name__ = apply.__qualname__ = function
    apply.__doc__ = f"tl.{function} on each element of the block at `offsets` that lies in the array."
    return Builtin(apply)


# The methods of a descriptor; each takes it as its first argument.
METHODS = MappingProxyType(
    {
        "load": load_tensor_descriptor,
        "store": store_tensor_descriptor,
        "gather": _gather,
        "scatter": _scatter,
        **{f"atomic_{kind}": _atomic(kind) for kind in ("add", "min", "max", "and", "or", "xor")},
    }
)
