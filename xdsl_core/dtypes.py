"""The table of element types: one row a dtype, everything generic reads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    `kind` is "bool", "int" (signed), "uint" or "float". `bits` is the width of a value, `bytes` of its
    storage (a bool takes one byte). `precision` counts significant bits of a float incl. the hidden one (0
    otherwise). `lowest` and `highest` are the finite range. `triton` is the name in `triton.language`,
    `mangled` the short one in signatures.
    """

    name: str
    kind: str
    bits: int
    numpy: np.dtype[Any]
    triton: str
    mangled: str
    precision: int = 0
    lowest: float | int = 0
    highest: float | int = 0

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True for bool, signed and unsigned integers."""
        return self.kind != "float"

    @property
    def is_signed(self) -> bool:
        return self.kind == "int"

    @property
    def is_bool(self) -> bool:
        return self.kind == "bool"

    @property
    def unit_roundoff(self) -> float:
        """Largest relative error of rounding to nearest: 2**-precision (0 for integers)."""
        return 2.0**-self.precision if self.is_float else 0.0

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"DType({self.name})"


def _integer(name: str, bits: int, triton: str) -> DType:
    signed = name.startswith("i")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    kind = "int" if signed else "uint"
    return DType(name, kind, bits, np.dtype(triton), triton, name, lowest=low, highest=high)


def _float(name: str, numpy_type: Any, precision: int, triton: str, mangled: str) -> DType:
    dtype = np.dtype(numpy_type)
    info = ml_dtypes.finfo(dtype)
    low, high = float(info.min), float(info.max)
    return DType(name, "float", dtype.itemsize * 8, dtype, triton, mangled, precision, low, high)


i1 = DType("i1", "bool", 1, np.dtype(np.bool_), "int1", "i1", lowest=0, highest=1)
i8 = _integer("i8", 8, "int8")
i16 = _integer("i16", 16, "int16")
i32 = _integer("i32", 32, "int32")
i64 = _integer("i64", 64, "int64")
u8 = _integer("u8", 8, "uint8")
u16 = _integer("u16", 16, "uint16")
u32 = _integer("u32", 32, "uint32")
u64 = _integer("u64", 64, "uint64")
f16 = _float("f16", np.float16, 11, "float16", "fp16")
bf16 = _float("bf16", ml_dtypes.bfloat16, 8, "bfloat16", "bf16")
f32 = _float("f32", np.float32, 24, "float32", "fp32")
f64 = _float("f64", np.float64, 53, "float64", "fp64")
f8e4m3fn = _float("f8e4m3fn", ml_dtypes.float8_e4m3fn, 4, "float8e4nv", "fp8e4nv")
f8e4m3fnuz = _float("f8e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 4, "float8e4b8", "fp8e4b8")
f8e4m3b11fnuz = _float("f8e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz, 4, "float8e4b15", "fp8e4b15")
f8e5m2 = _float("f8e5m2", ml_dtypes.float8_e5m2, 3, "float8e5", "fp8e5")
f8e5m2fnuz = _float("f8e5m2fnuz", ml_dtypes.float8_e5m2fnuz, 3, "float8e5b16", "fp8e5b16")

ALL: tuple[DType, ...] = (
    *(i1, i8, i16, i32, i64, u8, u16, u32, u64),
    *(f8e4m3fn, f8e4m3fnuz, f8e4m3b11fnuz, f8e5m2, f8e5m2fnuz, f16, bf16, f32, f64),
)
BY_NAME: MappingProxyType[str, DType] = MappingProxyType({dtype.name: dtype for dtype in ALL})


@cache
def _by_numpy() -> dict[np.dtype[Any], DType]:
    return {dtype.numpy: dtype for dtype in ALL}


def from_numpy(dtype: Any) -> DType:
    """The row of a numpy (or ml_dtypes) dtype; KeyError if the language has no such element."""
    return _by_numpy()[np.dtype(dtype)]
