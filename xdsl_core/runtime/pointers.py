"""Arrays as pointer arguments, without a copy: numpy, torch, DLPack, __array_interface__, data_ptr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.backend import Pointer
from xdsl_core.diagnostics import Diagnostic, error
from xdsl_core.dtypes import DType

# The parts of kDLDevice that the CPU can read: plain, and pinned by CUDA or ROCm.
_HOST_DLPACK_DEVICES = (1, 3, 11)
_UNKNOWN_SIZE = -1
# The classes of torch's tensors without contents, which its tracers use.
_SHAPES_ONLY = ("FakeTensor", "FunctionalTensor")


class Rejected(Exception):
    """A value that cannot be an argument: `explain(parameter)` is the diagnostic once its name is known."""

    def __init__(self, value: Any, explain: Callable[[str], Diagnostic]) -> None:
        super().__init__(type(value).__name__)
        self.value = value
        self.explain = explain


@dataclass(frozen=True, slots=True)
class Adapter:
    """How a class of arrays becomes a pointer.

    `quick` gives the address and a hashable key that fixes element type and alignment: what every launch
    needs. `full` gives the pointer with its storage. Both raise Rejected.
    """

    quick: Callable[[Any], tuple[int, object]]
    full: Callable[[Any, str], Pointer]
    always_writable: bool = False


def _find_adapter(kind: type) -> Adapter | None:
    torch = sys.modules.get("torch")
    if issubclass(kind, np.ndarray):
        return Adapter(_numpy_quick, numpy_pointer)
    if torch is not None and issubclass(kind, torch.Tensor):
        quick = _no_data if kind.__name__ in _SHAPES_ONLY else _torch_quick
        return Adapter(quick, _torch_pointer, always_writable=True)
    if callable(getattr(kind, "data_ptr", None)):
        return Adapter(_quick_of(_data_ptr_pointer), _data_ptr_pointer)
    if issubclass(kind, np.generic):
        return None
    if hasattr(kind, "__array_interface__"):
        return Adapter(_quick_of(_interface_pointer), _interface_pointer)
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        return Adapter(_quick_of(_dlpack_pointer), _dlpack_pointer)
    return None


# The adapter of a class, or None if its objects are no arrays.
adapter_of: Callable[[Any], Adapter | None] = cache(_find_adapter)


def _quick_of(full: Callable[[Any, str], Pointer]) -> Callable[[Any], tuple[int, object]]:
    def quick(value: Any) -> tuple[int, object]:
        pointer = full(value, "")
        return pointer.address, (pointer.dtype, pointer.address & 15 == 0)

    return quick


@cache
def address_reader() -> Callable[[np.ndarray[Any, Any]], int]:
    """The quickest way to an array's first element that holds here.

    numpy's public C struct (PyArrayObject_fields in numpy/ndarraytypes.h) has the data pointer right after
    the object header, where CPython's id() is the object's address. That is ten times faster than
    `array.ctypes.data`, which is used wherever the struct does not answer as expected.
    """
    import ctypes

    offset, at = object.__basicsize__, ctypes.c_void_p.from_address

    def read(array: np.ndarray[Any, Any]) -> int:
        return at(id(array) + offset).value or 0

    probes: list[np.ndarray[Any, Any]] = [np.zeros(8), np.zeros((4, 6), np.int8)[1:, ::-2], np.zeros(0)]
    if sys.implementation.name == "cpython" and all(read(probe) == probe.ctypes.data for probe in probes):
        return read
    return _slow_address


def _slow_address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def _numpy_quick(array: np.ndarray[Any, Any]) -> tuple[int, object]:
    address = address_reader()(array)
    return address, (array.dtype, address & 15 == 0)


def numpy_pointer(array: np.ndarray[Any, Any], name: str, owner: Any = None) -> Pointer:
    """The pointer to a numpy array's first element; its storage is that of the array it is a view of."""
    try:
        dtype = dtypes.from_numpy(array.dtype)
    except KeyError:
        raise Rejected(array if owner is None else owner, _unknown_element(str(array.dtype))) from None
    storage = array
    while isinstance(storage.base, np.ndarray):
        storage = storage.base
    low, high = _byte_bounds(storage)
    writable = bool(array.flags.writeable)
    return Pointer(
        name, int(array.ctypes.data), dtype, low, high - low, writable, array if owner is None else owner
    )


def _byte_bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    low = high = int(array.ctypes.data)
    if array.size:
        for extent, stride in zip(array.shape, array.strides, strict=True):
            step = (extent - 1) * stride
            low, high = low + min(step, 0), high + max(step, 0)
        high += array.itemsize
    return low, high


def _torch_quick(tensor: Any) -> tuple[int, object]:
    if not tensor.is_cpu:
        raise Rejected(tensor, _not_on_host(str(tensor.device)))
    address = tensor.data_ptr()
    return address, (tensor.dtype, address & 15 == 0)


def _no_data(tensor: Any) -> tuple[int, object]:
    raise Rejected(tensor, _not_on_host("no device: it has a shape and a dtype only"))


def has_no_data(value: Any) -> bool:
    """True for torch's tensors that have a shape and a dtype only: those of its tracers, and on meta."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return False
    return bool(value.is_meta) or type(value).__name__ in _SHAPES_ONLY


def _torch_pointer(tensor: Any, name: str) -> Pointer:
    address, _ = _torch_quick(tensor)
    dtype = named_dtype(str(tensor.dtype))
    if dtype is None:
        raise Rejected(tensor, _unknown_element(str(tensor.dtype)))
    storage = tensor.untyped_storage()
    return Pointer(name, address, dtype, storage.data_ptr(), storage.nbytes(), True, tensor)


def _data_ptr_pointer(value: Any, name: str) -> Pointer:
    """Any object that speaks as torch tensors do to Triton: `data_ptr()` and `dtype`."""
    device = getattr(value, "device", None)
    if device is not None and str(getattr(device, "type", device)).partition(":")[0] != "cpu":
        raise Rejected(value, _not_on_host(str(device)))
    given = getattr(value, "dtype", None)
    dtype = given if isinstance(given, DType) else named_dtype(str(given))
    if dtype is None:
        raise Rejected(value, _unknown_element(str(given)))
    address, size = int(value.data_ptr()), getattr(value, "nbytes", _UNKNOWN_SIZE)
    return Pointer(name, address, dtype, address, int(size), not getattr(value, "readonly", False), value)


def _interface_pointer(value: Any, name: str) -> Pointer:
    return numpy_pointer(np.asarray(value), name, value)


def _dlpack_pointer(value: Any, name: str) -> Pointer:
    device, _ = value.__dlpack_device__()
    if int(device) not in _HOST_DLPACK_DEVICES:
        raise Rejected(value, _not_on_host(f"DLPack device type {int(device)}"))
    try:
        array = np.from_dlpack(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as cause:
        raise Rejected(value, _unknown_element(f"not readable by numpy.from_dlpack: {cause}")) from cause
    return numpy_pointer(array, name, value)


@cache
def named_dtype(name: str) -> DType | None:
    """The dtype of names as "torch.float32", "float32", "fp32" or "bool"; None if there is none."""
    plain = name.rpartition(".")[2]
    for dtype in dtypes.ALL:
        if plain in (dtype.name, dtype.triton, dtype.mangled, dtype.numpy.name):
            return dtype
    return None


def _not_on_host(device: str) -> Callable[[str], Diagnostic]:
    return lambda parameter: error(
        "X0507",
        f"argument {parameter!r} is on {device}, the kernel runs in this machine's memory",
        help=f"pass {parameter}.cpu(), or run the kernel on a backend for that device",
    )


def _unknown_element(dtype: str) -> Callable[[str], Diagnostic]:
    return lambda parameter: error(
        "X0506",
        f"argument {parameter!r} has elements of type {dtype}",
        requires=f"one of {', '.join(dtype.numpy.name for dtype in dtypes.ALL)}, in the machine's byte order",
        help="convert it with astype, or pass a view of another dtype",
    )
