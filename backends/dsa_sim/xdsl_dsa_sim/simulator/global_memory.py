"""Global memory of the simulated device: the arguments' storage at addresses of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xdsl_core.backend import Pointer
from xdsl_core.dtypes import DType, from_numpy

# Far below addresses of the host, so that a pointer that was loaded from memory can be told apart.
FIRST_ADDRESS = 1 << 28
_PAGE = 4096
WORKSPACE = "workspace"


class OutsideError(Exception):
    """An access to global memory that belongs to no argument: its bytes, and whether it writes."""

    def __init__(self, low: int, high: int, *, writes: bool) -> None:
        super().__init__(low, high)
        self.low = low
        self.high = high
        self.writes = writes


@dataclass(frozen=True, slots=True)
class Storage:
    """A piece of global memory: `address` on the device, its bytes, where it lies on the host, whose it
    is.
    """

    name: str
    address: int
    host: int
    data: Any
    writable: bool

    @property
    def end(self) -> int:
        """One behind the last byte."""
        return self.address + len(self.data)


@dataclass(slots=True)
class GlobalMemory:
    """All storages, in the order of their addresses; `values` are the kernel's arguments as registers hold
    them.
    """

    storages: list[Storage] = field(default_factory=list)
    values: list[int | float] = field(default_factory=list)

    def add(self, name: str, data: Any, *, host: int = 0, writable: bool = True) -> Storage:
        """Place bytes behind what is there, at the start of a page."""
        last = self.storages[-1].end if self.storages else FIRST_ADDRESS
        address = (last // _PAGE + 1) * _PAGE
        made = Storage(name, address, host, data, writable)
        self.storages.append(made)
        return made

    def storage_at(self, low: int, high: int) -> Storage | None:
        """The storage that holds all bytes from `low` to before `high` (addresses of device or host)."""
        for storage in self.storages:
            if storage.address <= low and high <= storage.end:
                return storage
            if storage.host and storage.host <= low and high <= storage.host + len(storage.data):
                return storage
        return None

    def bytes_at(self, low: int, high: int, *, writes: bool) -> Any:
        """The bytes from `low` to before `high`; raises OutsideError."""
        storage = self.storage_at(low, high)
        if storage is None or (writes and not storage.writable):
            raise OutsideError(low, high, writes=writes)
        base = storage.address if storage.address <= low < storage.end else storage.host
        return storage.data[low - base : high - base]

    def read(self, addresses: Any, dtype: DType) -> Any:
        """Elements at addresses, an array (or one)."""
        flat = np.asarray(addresses, np.int64).reshape(-1)
        found = np.empty(flat.shape, dtype.numpy)
        for place, address in enumerate(flat.tolist()):
            found[place] = self.bytes_at(address, address + dtype.bytes, writes=False).view(dtype.numpy)[0]
        return found.reshape(np.shape(addresses))[()]

    def write(self, addresses: Any, values: Any, dtype: DType) -> None:
        """Store elements at addresses, in order."""
        flat = np.asarray(addresses, np.int64).reshape(-1).tolist()
        stored = np.asarray(values, dtype.numpy).reshape(-1)
        for address, value in zip(flat, stored, strict=True):
            self.bytes_at(address, address + dtype.bytes, writes=True).view(dtype.numpy)[0] = value

    def nearest(self, low: int) -> Storage | None:
        """The storage whose bytes are closest to an address."""
        return min(self.storages, key=lambda item: max(item.address - low, low - item.end), default=None)


def bind(arguments: Sequence[Any]) -> GlobalMemory:
    """Global memory with the storages of a launch's arguments.

    An argument is a backend's `Pointer`, a numpy array (for tests and tools), or a number. Storages that
    overlap are one, so that arguments alias on the device as they do on the host.
    """
    memory = GlobalMemory()
    pointers = [_as_pointer(number, argument) for number, argument in enumerate(arguments)]
    spans = _merged([pointer for pointer in pointers if pointer is not None])
    for low, high, name, writable in spans:
        memory.add(name, _bytes_of_host(low, high - low), host=low, writable=writable)
    for pointer, argument in zip(pointers, arguments, strict=True):
        if pointer is None:
            memory.values.append(argument.item() if hasattr(argument, "item") else argument)
            continue
        home = next(s for s in memory.storages if s.host <= pointer.storage_address <= s.host + len(s.data))
        memory.values.append(home.address + pointer.address - home.host)
    return memory


def _bytes_of_host(address: int, size: int) -> Any:
    """Memory of this process as an array of bytes; whoever owns it keeps it alive."""
    if not size:
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(address))


def _as_pointer(number: int, argument: Any) -> Pointer | None:
    if isinstance(argument, Pointer):
        return argument
    if not isinstance(argument, np.ndarray):
        return None
    steps = [(extent - 1) * stride for extent, stride in zip(argument.shape, argument.strides, strict=True)]
    low = high = argument.ctypes.data
    if argument.size:
        low += sum(step for step in steps if step < 0)
        high += sum(step for step in steps if step > 0) + argument.itemsize
    return Pointer(
        f"argument {number}",
        argument.ctypes.data,
        from_numpy(argument.dtype),
        low,
        high - low,
        bool(argument.flags.writeable),
        argument,
    )


def _merged(pointers: Sequence[Pointer]) -> list[tuple[int, int, str, bool]]:
    """Spans of host memory: low, high, names, and whether they may be written."""
    spans: list[tuple[int, int, str, bool]] = []
    ordered = sorted(pointers, key=lambda pointer: pointer.storage_address)
    for pointer in ordered:
        low, high = pointer.storage_address, pointer.storage_address + pointer.storage_bytes
        if spans and low < spans[-1][1]:
            first, end, names, writable = spans[-1]
            names = names if pointer.name in names.split("/") else f"{names}/{pointer.name}"
            spans[-1] = (first, max(end, high), names, writable or pointer.writable)
        else:
            spans.append((low, high, pointer.name, pointer.writable))
    order = {pointer.name: number for number, pointer in enumerate(pointers)}
    return sorted(spans, key=lambda span: order[span[2].split("/")[0]])
