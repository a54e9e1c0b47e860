"""The table of element types: one row a dtype, everything generic reads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """An element type.

    `kind` is "bool", "int" (signed), "uint" or "float". `bits` is the width of a value, `bytes` of its
    storage (a bool takes one byte). `precision` counts significant bits of a float incl. the hidden one (0
    otherwise). `lowest` and `highest` are the finite range. `triton` is the name in `triton.language`,
    `mangled` the short one in signatures, `scalar_type` that of numpy's or ml_dtypes' scalar type.
    """

    name: str
    kind: str
    bits: int
    scalar_type: str
    triton: str
    mangled: str
    precision: int = 0
    lowest: float | int = 0
    highest: float | int = 0

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype; asking for one that numpy lacks imports ml_dtypes."""
        return _numpy_dtype(self.scalar_type)

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


@cache
def _numpy_dtype(scalar_type: str) -> np.dtype[Any]:
    namespace: Any = np
    if not hasattr(np, scalar_type):
        import ml_dtypes

        namespace = ml_dtypes
    found: np.dtype[Any] = np.dtype(getattr(namespace, scalar_type))
    return found


def _integer(name: str, bits: int, triton: str) -> DType:
    signed = name.startswith("i")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    kind = "int" if signed else "uint"
    return DType(name, kind, bits, triton, triton, name, lowest=low, highest=high)


def _float(name: str, scalar_type: str, precision: int, highest: float, triton: tuple[str, str]) -> DType:
    bits = int(name.partition("f")[2].partition("e")[0])
    return DType(name, "float", bits, scalar_type, *triton, precision, -highest, highest)


def _ieee(bits: int, precision: int) -> DType:
    """A format of IEEE 754: its largest number is (2 - 2**(1 - precision)) * 2**largest_exponent."""
    largest_exponent = (1 << bits - precision - 1) - 1
    highest = (2.0 - 2.0 ** (1 - precision)) * 2.0**largest_exponent
    return _float(f"f{bits}", f"float{bits}", precision, highest, (f"float{bits}", f"fp{bits}"))


i1 = DType("i1", "bool", 1, "bool_", "int1", "i1", lowest=0, highest=1)
i8 = _integer("i8", 8, "int8")
i16 = _integer("i16", 16, "int16")
i32 = _integer("i32", 32, "int32")
i64 = _integer("i64", 64, "int64")
u8 = _integer("u8", 8, "uint8")
u16 = _integer("u16", 16, "uint16")
u32 = _integer("u32", 32, "uint32")
u64 = _integer("u64", 64, "uint64")
f16 = _ieee(16, 11)
f32 = _ieee(32, 24)
f64 = _ieee(64, 53)
bf16 = _float("bf16", "bfloat16", 8, (2.0 - 2.0**-7) * 2.0**127, ("bfloat16", "bf16"))
f8e4m3fn = _float("f8e4m3fn", "float8_e4m3fn", 4, 448.0, ("float8e4nv", "fp8e4nv"))
f8e4m3fnuz = _float("f8e4m3fnuz", "float8_e4m3fnuz", 4, 240.0, ("float8e4b8", "fp8e4b8"))
f8e4m3b11fnuz = _float("f8e4m3b11fnuz", "float8_e4m3b11fnuz", 4, 30.0, ("float8e4b15", "fp8e4b15"))
f8e5m2 = _float("f8e5m2", "float8_e5m2", 3, 57344.0, ("float8e5", "fp8e5"))
f8e5m2fnuz = _float("f8e5m2fnuz", "float8_e5m2fnuz", 3, 57344.0, ("float8e5b16", "fp8e5b16"))

ALL: tuple[DType, ...] = (
    *(i1, i8, i16, i32, i64, u8, u16, u32, u64),
    *(f8e4m3fn, f8e4m3fnuz, f8e4m3b11fnuz, f8e5m2, f8e5m2fnuz, f16, bf16, f32, f64),
)
BY_NAME: MappingProxyType[str, DType] = MappingProxyType({dtype.name: dtype for dtype in ALL})
_BY_NUMPY_NAME: MappingProxyType[str, DType] = MappingProxyType(
    {row.scalar_type.rstrip("_"): row for row in ALL}
)


def from_numpy(dtype: Any) -> DType:
    """The row of a numpy (or ml_dtypes) dtype; KeyError if the language has no such element."""
    found = np.dtype(dtype)
    row = _BY_NUMPY_NAME[found.name]
    if row.numpy != found:
        raise KeyError(dtype)
    return row
