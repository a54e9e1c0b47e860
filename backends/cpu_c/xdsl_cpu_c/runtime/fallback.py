"""Launcher in Python over cffi, for Pythons without the header Python.h; launcher.c is its faster twin."""

from __future__ import annotations

import ctypes
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl_cpu_c.runtime.abi import ALIASED, GRID, GRID_LIMIT, OK, ArgumentFault, Parameter, integer_range
from xdsl_cpu_c.runtime.extent import byte_range, extent_of, storage_range

_DECLARATIONS = """
void xdsl_set_threads(int threads);
int xdsl_threads(void);
int xdsl_launch(uintptr_t body, const char *parameters, int64_t count, int64_t grid_x, int64_t grid_y,
                int64_t grid_z, int threads, double *ns_per_program);
"""

_first_byte = ctypes.c_char.from_buffer
_address_of = ctypes.addressof

# Takes one argument: (its index, the argument, where pointer ranges and held buffers go) -> the slot's value.
_Take = Callable[[int, Any, "_Call"], Any]


@dataclass(slots=True)
class _Call:
    """State of one call: byte ranges of the pointer arguments so far, and buffers to hold until it ends."""

    ranges: list[tuple[int, int, bool]]
    held: list[Any]


@dataclass(frozen=True, slots=True)
class Library:
    """The runtime library as cffi sees it."""

    ffi: Any
    functions: Any


def open_library(path: str) -> Library:
    """Load the runtime library. Raises OSError."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS)
    return Library(ffi, ffi.dlopen(path))


def load_symbol(library: Library, path: str, symbol: str) -> int:
    """Address of a symbol in a shared object, which stays loaded while the process lives. Raises OSError."""
    try:
        function = getattr(ctypes.CDLL(path), symbol)
    except AttributeError as error:
        raise OSError(str(error)) from None
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class FallbackLauncher:
    """Checks arguments and runs one kernel; see `abi.Launcher`."""

    __slots__ = ("_aliased_ok", "_body", "_estimate", "_launch", "_pack", "_takes", "threads")

    def __init__(
        self, body: int, parameters: tuple[Parameter, ...], library: Library, *, aliased_ok: bool
    ) -> None:
        self.threads = 0
        self._body = body
        self._aliased_ok = aliased_ok
        self._launch = library.functions.xdsl_launch
        self._estimate = library.ffi.new("double *", 0.0)
        self._pack = struct.Struct("=" + "".join(_slot_code(parameter) for parameter in parameters)).pack
        self._takes = tuple(enumerate(_taker(parameter) for parameter in parameters))

    @property
    def ns_per_program(self) -> float:
        return float(self._estimate[0])

    @ns_per_program.setter
    def ns_per_program(self, value: float) -> None:
        self._estimate[0] = value

    def __call__(self, grid: tuple[int, int, int], args: tuple[Any, ...]) -> int:
        x, y, z = _check_grid(grid)
        takes = self._takes
        if len(args) != len(takes):
            raise _wrong_count(len(takes), len(args))
        call = _Call([], [])
        slots = [take(index, args[index], call) for index, take in takes]
        if not self._aliased_ok and _any_overlap(call.ranges):
            return ALIASED
        if (
            self._launch(self._body, self._pack(*slots), len(slots), x, y, z, self.threads, self._estimate)
            != 0
        ):
            raise ArgumentFault(GRID, "has more than 2^63 programs")
        return OK


def _slot_code(parameter: Parameter) -> str:
    if parameter.kind == "float":
        return "d"
    return "q" if parameter.kind == "int" and parameter.signed else "Q"


def _taker(parameter: Parameter) -> _Take:
    if parameter.kind == "pointer":
        return partial(_take_pointer, parameter)
    if parameter.kind == "float":
        return _take_float
    low, high = (0, 1) if parameter.kind == "bool" else integer_range(parameter.bits, parameter.signed)
    return partial(_take_integer, parameter, low, high)


def _take_pointer(
    parameter: Parameter,
    index: int,
    argument: Any,
    call: _Call,
) -> int:
    if argument is None:
        return 0
    try:
        # Of all ways to an address in Python the quickest; it takes writable contiguous buffers only.
        first = _first_byte(argument)
        low = address = _address_of(first)
        high, readonly, itemsize = address + argument.nbytes, False, argument.itemsize
        if argument.base is not None:
            low, high = storage_range(argument, low, high)
        call.held.append(first)
    except (AttributeError, TypeError, ValueError, BufferError):
        address, low, high, readonly, itemsize = _extent(index, argument)
    if parameter.written and readonly:
        raise ArgumentFault(index, "is read-only, but the kernel writes to it")
    expected = parameter.itemsize
    if expected and itemsize != expected:
        reason = f"has elements of {itemsize} bytes, but the kernel was compiled for {expected}"
        raise ArgumentFault(index, reason)
    if expected and address % expected != 0:
        raise ArgumentFault(index, f"is not aligned to its elements of {expected} bytes")
    if parameter.written or parameter.read:
        call.ranges.append((low, high, parameter.written))
    return address


def _extent(index: int, argument: Any) -> tuple[int, int, int, bool, int]:
    """Extent of an argument that is not a writable contiguous buffer."""
    try:
        return extent_of(argument)
    except TypeError as error:
        try:
            view = memoryview(argument)
        except (TypeError, ValueError, BufferError):
            raise ArgumentFault(index, str(error)) from None
        if view.ndim == 0:  # a number
            raise ArgumentFault(index, str(error)) from None
        return _strided_extent(view)


def _strided_extent(view: memoryview) -> tuple[int, int, int, bool, int]:
    """Extent of a strided buffer whose exporter offers nothing but the buffer protocol."""
    import numpy

    address = int(numpy.asarray(view).__array_interface__["data"][0])
    low, high = byte_range(address, view.shape or (), view.strides or (), view.itemsize)
    return address, low, high, view.readonly, view.itemsize


def _take_integer(parameter: Parameter, low: int, high: int, index: int, argument: Any, call: _Call) -> int:
    boolean = parameter.kind == "bool"
    if type(argument).__name__ in ("bool", "bool_"):
        return int(argument)
    try:
        value = operator.index(argument)
    except TypeError:
        name, wanted = type(argument).__name__, "a boolean" if boolean else "an integer"
        raise ArgumentFault(index, f"is a {name}, but the kernel takes {wanted} here") from None
    if low <= value <= high:
        return value
    if boolean:
        raise ArgumentFault(index, f"is {value}, which is neither True nor False")
    width = f"{'int' if parameter.signed else 'uint'}{parameter.bits}"
    raise ArgumentFault(index, f"is {value}, which does not fit in {width}")


def _take_float(index: int, argument: Any, call: _Call) -> float:
    try:
        if isinstance(argument, str | bytes):
            raise TypeError
        return float(argument)
    except OverflowError:
        raise ArgumentFault(index, "is an integer too large for a float") from None
    except (TypeError, ValueError):
        name = type(argument).__name__
        raise ArgumentFault(index, f"is a {name}, but the kernel takes a float here") from None


def _any_overlap(ranges: list[tuple[int, int, bool]]) -> bool:
    """Does a written range overlap another one?"""
    for i, (low, high, written) in enumerate(ranges):
        if not written:
            continue
        for j, (other_low, other_high, _) in enumerate(ranges):
            if low < other_high and other_low < high and i != j:
                return True
    return False


def _check_grid(grid: tuple[int, int, int]) -> tuple[int, int, int]:
    given: object = grid  # the annotation is a promise that callers may break
    if not isinstance(given, tuple) or len(given) != 3:
        raise ArgumentFault(GRID, "is not a tuple of three integers")
    for dimension, extent in enumerate(grid):
        if not isinstance(extent, int):
            raise ArgumentFault(GRID, "is not a tuple of three integers")
        if not 0 <= extent <= GRID_LIMIT:
            limits = f"extents go from 0 to {GRID_LIMIT}"
            raise ArgumentFault(GRID, f"has extent {extent} in dimension {dimension}; {limits}")
    return grid


def _wrong_count(expected: int, given: int) -> ArgumentFault:
    state = "missing" if given < expected else "one too many"
    reason = f"is {state}: the kernel takes {expected} arguments, not {given}"
    return ArgumentFault(min(given, expected), reason)
