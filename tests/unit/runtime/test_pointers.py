"""Arrays of every kind as pointer arguments."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xdsl_core import dtypes
from xdsl_core.backend import Pointer
from xdsl_core.runtime.pointers import Rejected, adapter_of, address_reader


def pointer(value: Any) -> Pointer:
    adapter = adapter_of(type(value))
    assert adapter is not None
    full = adapter.full(value, "x")
    address, _ = adapter.quick(value)
    assert address == full.address
    return full


BASE = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize(
    "view",
    [
        BASE,
        BASE.T,
        BASE[1:, ::2],
        BASE[::-1, ::-1],
        BASE[2],
        np.broadcast_to(BASE[0], (3, 6)),
        BASE[:0],
        BASE[0, 0:1],
    ],
    ids=["whole", "transposed", "strided", "reversed", "row", "broadcast", "empty", "element"],
)
def test_view_points_to_its_first_element_in_its_base(view: np.ndarray[Any, Any]) -> None:
    found = pointer(view)
    base = BASE.base if isinstance(BASE.base, np.ndarray) else BASE
    assert found.address == view.ctypes.data
    assert (found.storage_address, found.storage_bytes) == (base.ctypes.data, base.nbytes)
    assert found.dtype is dtypes.f32


def test_quick_address_is_numpys() -> None:
    read = address_reader()
    for view in (BASE, BASE[::-1, ::-2], np.zeros(0), np.zeros((), np.int8), np.ma.masked_array([1.0, 2.0])):
        assert read(view) == view.ctypes.data


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_dtype_of_the_language(dtype: dtypes.DType) -> None:
    assert pointer(np.zeros(4, dtype.numpy)).dtype is dtype


def test_read_only_arrays_are_known() -> None:
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    assert not pointer(frozen).writable
    assert pointer(np.zeros(4)).writable


class Interface:
    """Offers __array_interface__ alone."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


class OnDevice:
    """A tensor of another framework, on some device."""

    def __init__(self, array: np.ndarray[Any, Any], dtype: Any, device: Any = "cpu") -> None:
        self.array, self.dtype, self.device = array, dtype, device
        self.nbytes = array.nbytes

    def data_ptr(self) -> int:
        return self.array.ctypes.data


class Packed:
    """Offers DLPack alone."""

    def __init__(self, array: np.ndarray[Any, Any], device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


def test_array_interface_is_not_copied() -> None:
    array = np.zeros((4, 4), np.int16)[1:, 1:]
    found = pointer(Interface(array))
    assert (found.address, found.dtype, found.writable) == (array.ctypes.data, dtypes.i16, True)


def test_dlpack_is_not_copied() -> None:
    array = np.zeros(5, np.float64)
    found = pointer(Packed(array))
    assert (found.address, found.dtype, found.writable) == (array.ctypes.data, dtypes.f64, True)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("torch.bfloat16", dtypes.bf16),
        ("float32", dtypes.f32),
        ("fp16", dtypes.f16),
        ("torch.bool", dtypes.i1),
        ("torch.float8_e5m2", dtypes.f8e5m2),
        (np.dtype("int64"), dtypes.i64),
        (dtypes.u8, dtypes.u8),
    ],
)
def test_data_ptr_with_a_dtype_by_any_name(name: Any, dtype: dtypes.DType) -> None:
    array = np.zeros(4, np.int64)
    found = pointer(OnDevice(array, name))
    assert (found.address, found.dtype, found.storage_bytes) == (array.ctypes.data, dtype, 32)


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        (OnDevice(np.zeros(1), "float32", "cuda:0"), "X0507", "argument 'x' is on cuda:0"),
        (Packed(np.zeros(1), device=2), "X0507", "DLPack device type 2"),
        (OnDevice(np.zeros(1), "complex64"), "X0506", "elements of type complex64"),
        (Interface(np.zeros(1, np.complex128)), "X0506", "elements of type complex128"),
        (np.zeros(1, object), "X0506", "elements of type object"),
    ],
)
def test_rejected_value_is_explained(value: Any, code: str, words: str) -> None:
    adapter = adapter_of(type(value))
    assert adapter is not None
    with pytest.raises(Rejected) as caught:
        adapter.full(value, "x")
    problem = caught.value.explain("x")
    assert problem.code == code
    assert words in problem.message


@pytest.mark.parametrize("value", [1, 1.5, "a", [1], None, np.float32(1), b"bytes"])
def test_what_is_no_array_has_no_adapter(value: Any) -> None:
    assert adapter_of(type(value)) is None


def test_bfloat16_of_ml_dtypes() -> None:
    assert pointer(np.zeros(3, ml_dtypes.bfloat16)).dtype is dtypes.bf16


@pytest.mark.torch
def test_torch_tensors() -> None:
    import torch

    tensor = torch.arange(24, dtype=torch.bfloat16).reshape(4, 6).t()[1:]
    found = pointer(tensor)
    assert (found.address, found.dtype) == (tensor.data_ptr(), dtypes.bf16)
    assert (found.storage_address, found.storage_bytes) == (tensor.untyped_storage().data_ptr(), 48)
    with pytest.raises(Rejected) as caught:
        pointer(torch.zeros(3, device="meta"))
    assert caught.value.explain("x").code == "X0507"
