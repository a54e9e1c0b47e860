"""Where an array lives: address of its first element, and the range of bytes its view covers."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

# Device types of DLPack that host code can read (dlpack.h: kDLCPU, kDLCUDAHost, kDLROCMHost).
_HOST_DEVICES = frozenset({1, 3, 11})

Extent = tuple[int, int, int, bool, int]


def extent_of(array: Any) -> Extent:
    """(address, low, high, readonly, itemsize) of an array without a buffer; in bytes, `high` exclusive.

    From `low` to `high` is what a kernel may reach through the array: the memory it is a view of.
    Takes torch CPU tensors, objects with `__array_interface__`, and DLPack exporters. Raises TypeError,
    with a reason that completes "argument NAME ...", for everything else and for memory that the host
    cannot read.
    """
    if hasattr(array, "data_ptr"):
        return _tensor_extent(array)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None and not _is_numpy_scalar(array):
        address, low, high, readonly, itemsize = _interface_extent(interface)
        return address, *storage_range(array, low, high), readonly, itemsize
    if hasattr(array, "__dlpack__"):
        return _dlpack_extent(array)
    raise TypeError(f"is a {type(array).__name__}, which is not an array in host memory")


def storage_range(array: Any, low: int, high: int) -> tuple[int, int]:
    """The range of the memory that an array is a view of, which holds its own range."""
    owner = getattr(array, "base", None)
    while owner is not None and hasattr(owner, "__array_interface__"):
        _, own_low, own_high, _, _ = _interface_extent(owner.__array_interface__)
        low, high = min(low, own_low), max(high, own_high)
        owner = getattr(owner, "base", None)
    return low, high


def byte_range(address: int, shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """First byte and one past the last of a view (strides in bytes) whose first element is at `address`."""
    if 0 in shape:
        return address, address
    low = high = address
    for extent, stride in zip(shape, strides, strict=True):
        reach = (extent - 1) * stride
        low, high = (low, high + reach) if reach > 0 else (low + reach, high)
    return low, high + itemsize


def _is_numpy_scalar(value: Any) -> bool:
    """Numbers of numpy describe a temporary copy of themselves as their memory, which is gone at once."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def _tensor_extent(tensor: Any) -> Extent:
    """Extent of a torch tensor, told by its methods, so that torch need not be imported."""
    if not tensor.is_cpu:
        raise TypeError(f"is a tensor on device {tensor.device}; move it to host memory with .cpu()")
    address, itemsize = tensor.data_ptr(), tensor.element_size()
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        low = storage.data_ptr()
        return address, low, low + storage.nbytes(), False, itemsize
    strides = [stride * itemsize for stride in tensor.stride()]
    low, high = byte_range(address, tensor.shape, strides, itemsize)
    return address, low, high, False, itemsize


def _interface_extent(interface: dict[str, Any]) -> Extent:
    if interface.get("data") is None:
        raise TypeError("has an __array_interface__ without a data pointer")
    address, readonly = interface["data"]
    shape, itemsize = interface["shape"], int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is None:
        low, high = address, address + math.prod(shape) * itemsize
    else:
        low, high = byte_range(address, shape, strides, itemsize)
    return address, low, high, bool(readonly), itemsize


def _dlpack_extent(array: Any) -> Extent:
    import numpy

    device, number = array.__dlpack_device__()
    if int(device) not in _HOST_DEVICES:
        raise TypeError(f"lives on device {int(device)}:{number} (DLPack numbering); copy it to host memory")
    try:
        view = numpy.from_dlpack(array)
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"cannot be read through DLPack: {error}") from error
    return _interface_extent(view.__array_interface__)
