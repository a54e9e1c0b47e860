"""Buffers in the reference interpreter: numpy memory, views of it, windows of pointers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Block, Op, Value
from xdsl_core.ir.types import BufferType, ScalarType, TileType, element_of
from xdsl_core.opdef import OpDef
from xdsl_core.ops.numerics import round_to

Array = Any


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements follow each other without gaps, the last dimension fastest."""
    wanted = dense_strides(shape)
    return all(extent == 1 or a == b for extent, a, b in zip(shape, strides, wanted, strict=True))


def view_layout(source: BufferType, shape: Sequence[int], strides: Sequence[int]) -> str:
    """The layout of a view: blocks stay blocks, row-major memory may become strided."""
    if source.layout not in ("row_major", "strided"):
        return source.layout
    return "row_major" if row_major(shape, strides) else "strided"


@dataclass(frozen=True, slots=True)
class Memory:
    """Elements of a buffer as the interpreter holds numbers (floats in float64): `parts` x all, flat, and the
    array this value sees.
    """

    parts: Array
    seen: Array
    shape: tuple[int, ...]

    @staticmethod
    def fresh(type: BufferType, copies: int) -> Memory:
        """Memory with contents that no kernel expects."""
        dtype = type.element
        garbage = np.nan if dtype.is_float else dtype.highest
        kind = np.float64 if dtype.is_float else dtype.numpy
        parts = np.full((copies, max(1, math.prod(type.shape))), garbage, kind)
        return Memory(parts, parts[0].reshape(type.shape), type.shape)

    def select(self, part: int) -> Memory:
        """One part, as memory of its own."""
        return Memory(self.parts[part : part + 1], self.parts[part].reshape(self.shape), self.shape)

    def view(
        self, origins: Sequence[int], shape: Sequence[int], strides: Sequence[int], offset: int
    ) -> Memory:
        """The elements from an origin on, with other extents and strides."""
        start = offset + sum(o * s for o, s in zip(origins, dense_strides(self.shape), strict=False))
        flat = self.parts[0][start:]
        last = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        if last >= flat.size:
            raise IndexError(f"a view of {tuple(shape)} with strides {tuple(strides)} leaves its buffer")
        seen = as_strided(flat, shape, [stride * flat.itemsize for stride in strides])
        return Memory(self.parts, seen, tuple(shape))


@dataclass(frozen=True, slots=True)
class GlobalWindow:
    """The addresses of the elements of a window, and what they hold."""

    addresses: Array
    element: DType


def window(pointer: Any, strides: Sequence[Any], shape: Sequence[int], element: Any) -> GlobalWindow:
    """Global memory at a pointer."""
    lanes = np.indices(shape, np.int64)
    offsets = sum(
        (lanes[axis] * int(stride) for axis, stride in enumerate(strides)), np.zeros(shape, np.int64)
    )
    return GlobalWindow(int(pointer) + offsets * element.bytes, element)


def read(machine: Any, value: Any, inside: Any = ...) -> Array:
    """The elements of a buffer or window, or a scalar."""
    if isinstance(value, GlobalWindow):
        return machine.load(value.addresses[inside], None, None, value.element)
    return value.seen[inside].copy() if isinstance(value, Memory) else value


def write(machine: Any, target: Any, values: Array, inside: Any = ..., *, atomic: str = "") -> None:
    """Puts elements into a buffer or window, rounded to what it holds."""
    if not isinstance(target, GlobalWindow):
        target.seen[inside] = values
        return
    addresses = target.addresses[inside]
    rounded = round_to(target.element, values) if target.element.is_float else values
    if atomic:
        from xdsl_core.ops.atomic import update_of

        update = update_of(atomic, compares=False)
        machine.atomic(addresses, (rounded,), None, target.element, update, orders=True)
    else:
        machine.store(addresses, np.broadcast_to(rounded, addresses.shape), None, target.element)


def apply(
    machine: Any,
    op: Op,
    destinations: Sequence[Any],
    sources: Sequence[Any],
    operation: str,
    attributes: Mapping[str, Any],
) -> None:
    """The reference of an op of the language, from buffers to buffers."""
    from xdsl_core.ops import CORE

    definition = CORE[operation]
    stand_in = _op_on_tiles(definition, op, attributes)
    groups = [(read(machine, source),) for source in sources]
    kinds = [element_of(value.type) for value in op.group("destinations")]
    results = definition.call_meaning(machine, stand_in, groups)
    for target, element, value in zip(destinations, kinds, results, strict=True):
        assert isinstance(element, DType)
        rounded = round_to(element, value) if element.is_float else np.asarray(value).astype(element.numpy)
        whole = np.size(rounded) == target.seen.size
        target.seen[...] = np.reshape(rounded, target.shape) if whole else rounded


def _op_on_tiles(definition: OpDef, op: Op, attributes: Mapping[str, Any]) -> Op:
    """The op of the language that the instruction stands for, for references that ask for types."""
    block = Block()

    def value(kind: Any) -> Value:
        if isinstance(kind, BufferType):
            kind = TileType(kind.shape, kind.element) if kind.shape else ScalarType(kind.element)
        return block.add_argument(kind)

    groups = [(value(source.type),) for source in op.group("sources")]
    types = [value(destination.type).type for destination in op.group("destinations")]
    return Op(definition, groups, types, attributes)
