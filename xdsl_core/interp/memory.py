"""The memory that pointer arguments point into: virtual addresses, bounds, aliasing, and raw access.

Argument k begins at the virtual address (k + 1) << 44; addresses up to half of that distance on both sides
belong to it, so that an access outside its storage can still be blamed on it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xdsl_core.diagnostics import ExecutionError, error
from xdsl_core.dtypes import DType

SPAN_BITS = 44
_HALF_SPAN = 1 << (SPAN_BITS - 1)
_UNBOUNDED = 1 << 40  # reach on either side of memory whose size nobody knows


@dataclass(frozen=True, slots=True)
class Storage:
    """A stretch of real memory: `address` and `size` in bytes, `raw` its bytes."""

    address: int
    size: int
    raw: Any = field(repr=False)
    views: dict[tuple[Any, int], Any] = field(default_factory=dict, repr=False)

    def typed(self, dtype: Any, phase: int) -> Any:
        """The bytes from `phase` on as elements of a numpy dtype."""
        key = (dtype, phase)
        view = self.views.get(key)
        if view is None:
            count = (self.size - phase) // dtype.itemsize
            view = self.views[key] = self.raw[phase : phase + count * dtype.itemsize].view(dtype)
        return view


@dataclass(frozen=True, slots=True)
class Segment:
    """What a pointer argument may reach: `base` is its virtual address, `origin` its byte offset into the
    storage.
    """

    name: str
    base: int
    origin: int
    storage: Storage
    writable: bool
    owner: Any = field(repr=False)


def segment_of(argument: Any, name: str, number: int) -> Segment:
    """The segment of parameter `number` for a numpy array, or for an object with the attributes of `Pointer`.

    Those are `address`, `storage_address`, `storage_bytes` (negative if not known) and `writable`.
    """
    if isinstance(argument, np.ndarray):
        address, (low, size) = argument.ctypes.data, _storage_of(argument)
        writable = bool(argument.flags.writeable)
    else:
        address, low, size = argument.address, argument.storage_address, argument.storage_bytes
        writable = argument.writable
    if size < 0:
        low, size = max(address - _UNBOUNDED, 0), 2 * _UNBOUNDED
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(low)) if size else np.zeros(0, np.uint8)
    return Segment(
        name, (number + 1) << SPAN_BITS, address - low, Storage(low, size, raw), writable, argument
    )


def _storage_of(array: Any) -> tuple[int, int]:
    """Address and size of the memory that an array is a view of."""
    while True:
        # as_strided puts an object of its own between a view and its base
        base = array.base if isinstance(array.base, np.ndarray) else getattr(array.base, "base", None)
        if not isinstance(base, np.ndarray):
            break
        array = base
    low = high = array.ctypes.data
    if array.size:
        steps = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
        low += sum(step for step in steps if step < 0)
        high += sum(step for step in steps if step > 0) + array.itemsize
    return low, high - low


class Memory:
    """The segments of a launch. Addresses are arrays of int64, of active lanes only; values are in storage
    dtypes.
    """

    def __init__(self, segments: Sequence[Segment | None]) -> None:
        self.segments = tuple(segments)

    def read(self, addresses: Any, dtype: DType) -> Any:
        """The elements at the addresses."""
        stored = np.dtype(np.uint8) if dtype.is_bool else dtype.numpy
        out = np.empty(addresses.shape, stored)

        def gather(segment: Segment, offsets: Any, lanes: Any) -> None:
            out[lanes] = self._gather(segment.storage, offsets, stored)

        self._access(addresses, dtype, "reads", gather)
        return out != 0 if dtype.is_bool else out

    def write(self, addresses: Any, values: Any, dtype: DType) -> None:
        """Puts elements at the addresses; of equal addresses the last lane wins."""
        stored = values.astype(np.uint8 if dtype.is_bool else dtype.numpy)

        def scatter(segment: Segment, offsets: Any, lanes: Any) -> None:
            if not segment.writable:
                raise _read_only(segment)
            self._scatter(segment.storage, offsets, stored[lanes])

        self._access(addresses, dtype, "writes", scatter)

    def locate(self, addresses: Any, dtype: DType, action: str) -> list[tuple[Segment, Any, Any]]:
        """The segments that addresses lie in, with byte offsets into their storage and the lanes; checks
        bounds.
        """
        found: list[tuple[Segment, Any, Any]] = []
        self._access(addresses, dtype, action, lambda *parts: found.append(parts))
        return found

    def _access(
        self, addresses: Any, dtype: DType, action: str, visit: Callable[[Segment, Any, Any], None]
    ) -> None:
        low, high = int(addresses.min()), int(addresses.max())
        first, last = _number(low), _number(high)
        if first == last:
            segment = self._segment(first, low, action)
            self._check(segment, addresses, low, high, dtype, action)
            visit(segment, addresses + (segment.origin - segment.base), ...)
            return
        numbers = (addresses + _HALF_SPAN >> SPAN_BITS) - 1
        for number in np.unique(numbers):
            self._access_some(addresses, numbers == number, dtype, action, visit)

    def _access_some(
        self,
        addresses: Any,
        lanes: Any,
        dtype: DType,
        action: str,
        visit: Callable[[Segment, Any, Any], None],
    ) -> None:
        def forward(segment: Segment, offsets: Any, _: Any) -> None:
            visit(segment, offsets, lanes)

        self._access(addresses[lanes], dtype, action, forward)

    def _segment(self, number: int, address: int, action: str) -> Segment:
        segment = self.segments[number] if 0 <= number < len(self.segments) else None
        if segment is None:
            raise ExecutionError(
                error(
                    "X0402",
                    f"the program {action} memory at address {address:#x}, which belongs to no argument",
                    help="pointers come from parameters; a number can only be one if it was made from one",
                )
            )
        return segment

    def _check(
        self, segment: Segment, addresses: Any, low: int, high: int, dtype: DType, action: str
    ) -> None:
        shift = segment.origin - segment.base
        if low + shift >= 0 and high + shift + dtype.bytes <= segment.storage.size:
            return
        relative = np.asarray(addresses).reshape(-1) - segment.base
        outside = (relative + segment.origin < 0) | (
            relative + segment.origin + dtype.bytes > segment.storage.size
        )
        raise _out_of_bounds(segment, int(relative[outside][0]), dtype, action)

    @staticmethod
    def _gather(storage: Storage, offsets: Any, stored: Any) -> Any:
        size = stored.itemsize
        phase = int(np.asarray(offsets).flat[0]) % size
        if size == 1 or not ((offsets - phase) & (size - 1)).any():
            return storage.typed(stored, phase)[(offsets - phase) // size if size > 1 else offsets]
        places = offsets[..., None] + np.arange(size)
        return np.ascontiguousarray(storage.raw[places]).view(stored)[..., 0]

    @staticmethod
    def _scatter(storage: Storage, offsets: Any, values: Any) -> None:
        size = values.dtype.itemsize
        phase = int(np.asarray(offsets).flat[0]) % size
        if size == 1 or not ((offsets - phase) & (size - 1)).any():
            storage.typed(values.dtype, phase)[(offsets - phase) // size if size > 1 else offsets] = values
            return
        places = offsets[..., None] + np.arange(size)
        storage.raw[places] = np.ascontiguousarray(values)[..., None].view(np.uint8)


def _number(address: int) -> int:
    return (address + _HALF_SPAN >> SPAN_BITS) - 1


def element_offset(segment: Segment, byte: int, width: int) -> str:
    """A byte offset into a segment's storage as the element the kernel means, with bytes left over if any."""
    element, rest = divmod(byte - segment.origin, width)
    return f"{element}" if not rest else f"{element} (plus {rest} bytes)"


def holds(segment: Segment, width: int) -> str:
    """The elements that a segment's storage holds, in words."""
    first, count = -(segment.origin // width), segment.storage.size // width
    if count == 0:
        return f"{segment.name} holds no element"
    return f"{segment.name} holds {count} elements, {first} to {first + count - 1}"


def _out_of_bounds(segment: Segment, relative: int, dtype: DType, action: str) -> ExecutionError:
    offset = element_offset(segment, relative + segment.origin, dtype.bytes)
    return ExecutionError(
        error(
            "X0401",
            f"the program {action} element {offset} of {segment.name}, outside its memory",
            label=f"{holds(segment, dtype.bytes)} of {dtype}",
            help="mask the lanes that lie outside, or correct the pointer arithmetic",
        )
    )


def _read_only(segment: Segment) -> ExecutionError:
    return ExecutionError(
        error(
            "X0406",
            f"the program writes to {segment.name}, which is read-only",
            help="pass an array that may be written",
        )
    )
