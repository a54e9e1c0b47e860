"""Arguments made of others: tuples, named tuples, and descriptors of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl_core.frontend.specs import ArgumentSpec, CompositeSpec, Constant, DescriptorKind, Leaf, TupleKind


@dataclass
class TensorDescriptor:
    """An array on the host whose kernel sees a `tl.tensor_descriptor`; Triton's class of this name.

    `base` is the array (its first element), `shape` and `strides` hold an integer for each axis (strides
    count elements, the last one is 1), `block_shape` is the block that the kernel reads and writes. Elements
    outside the array read as 0, or NaN for padding="nan". `round_f32_to_tf32` changes nothing: nothing is
    rounded here. ValueError where these do not fit.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= 5 or len(self.strides) != rank or len(self.block_shape) != rank:
            raise ValueError(
                f"a descriptor has 1 to 5 axes, and an extent, a stride and a block extent for each: {self}"
            )
        if self.strides[-1] != 1:
            raise ValueError(f"the last axis must be contiguous, its stride is {self.strides[-1]}")
        if self.padding not in ("zero", "nan"):
            raise ValueError(f'padding is {self.padding!r}; it is "zero" or "nan"')

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: Sequence[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole torch or numpy array."""
        if callable(getattr(tensor, "stride", None)):
            strides = list(tensor.stride())
        else:
            strides = [step // tensor.itemsize for step in tensor.strides]
        return TensorDescriptor(
            tensor, list(tensor.shape), strides, list(block_shape), padding, round_f32_to_tf32
        )


def is_descriptor(value: Any) -> bool:
    """True for our TensorDescriptor and for Triton's."""
    return type(value).__name__ == "TensorDescriptor" and hasattr(value, "block_shape")


def parts_of_argument(value: Any) -> tuple[Any, ...] | None:
    """What an argument is made of, in the order of its spec's parts; None for everything else."""
    if isinstance(value, tuple):
        return value
    if is_descriptor(value):
        return (value.base, *map(int, value.shape), *map(int, value.strides))
    return None


def composite_spec(
    value: Any,
    parts: Sequence[Any],
    spec_of: Callable[[Any], ArgumentSpec],
    integer: Callable[..., ArgumentSpec],
) -> CompositeSpec:
    """What the kernel is compiled for.

    `spec_of` looks at a part, `integer(value, bits)` at one of fixed width.
    """
    if not is_descriptor(value):
        return CompositeSpec(TupleKind(type(value)), tuple(map(spec_of, parts)))
    rank = len(value.shape)
    base, extents, strides = parts[0], parts[1 : 1 + rank], parts[1 + rank :]
    kind = DescriptorKind(tuple(map(int, value.block_shape)), str(value.padding))
    scalars = [integer(extent, 32) for extent in extents] + [integer(stride, 64) for stride in strides[:-1]]
    return CompositeSpec(kind, (spec_of(base), *scalars, Constant(1)))


def composite_key(value: Any, keys: Sequence[Any]) -> Any:
    """The key of a composite argument from those of its parts: what another compilation depends on."""
    if is_descriptor(value):
        # the extents and strides are values of the running kernel, whatever they are
        divisible = tuple(part & 15 == 0 for part in (*value.shape, *value.strides))
        return ("descriptor", keys[0], tuple(value.block_shape), value.padding, divisible)
    return (type(value), *keys)


def walk(value: Any, path: Sequence[int]) -> Any:
    """The part of an argument that a leaf stands for."""
    for place in path:
        parts = parts_of_argument(value)
        assert parts is not None
        value = parts[place]
    return value


def picker(leaves: Sequence[Leaf], places: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What takes the launch values of `leaves` out of those of all arguments; `places` says where each
    stands.
    """
    routes = [(place, leaf.path) for place, leaf in zip(places, leaves, strict=True)]
    return lambda values: tuple([walk(values[place], path) for place, path in routes])
