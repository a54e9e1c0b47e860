"""Types as kernel authors see them: Triton's names and questions over the dtype table and the IR's types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from math import prod
from typing import Any

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import PointerType, ScalarType, TileType, Type

# names of the float dtypes in Triton's signatures; integers are called by their language name
_ROWS_BY_NAME = {(row.mangled if row.is_float else row.triton): row for row in dtypes.ALL}


class dtype:
    """The type of an element, or of a scalar: `tl.float32`, `tl.int8`, ... .

    `ir` is its row in `xdsl_core.dtypes`; it is None for `tl.void` and for pointers.
    """

    ir: DType | None

    def __init__(self, name: str) -> None:
        if name != "void" and name not in _ROWS_BY_NAME:
            raise ValueError(f"no dtype {name!r}; one of: {', '.join(_ROWS_BY_NAME)}")
        self.name = name
        self.ir = _ROWS_BY_NAME.get(name)

    @property
    def row(self) -> DType:
        """The row in the dtype table; TypeError where the type is no number."""
        if self.ir is None:
            raise TypeError(f"{self} is not the type of a number")
        return self.ir

    @property
    def scalar(self) -> dtype:
        return self

    @property
    def primitive_bitwidth(self) -> int:
        return self.row.bits

    @property
    def itemsize(self) -> int:
        return self.row.bits // 8

    @property
    def int_bitwidth(self) -> int:
        return self.row.bits

    @property
    def fp_mantissa_width(self) -> int:
        return self.row.precision - 1

    @property
    def exponent_bias(self) -> int:
        import ml_dtypes

        return 1 - int(ml_dtypes.finfo(self.row.numpy).minexp)

    def is_floating(self) -> bool:
        return self.ir is not None and self.ir.is_float

    def is_standard_floating(self) -> bool:
        return self.is_floating() and not self.is_fp8()

    def is_int(self) -> bool:
        """True for every integer, bool included."""
        return self.ir is not None and self.ir.is_integer

    def is_int_signed(self) -> bool:
        return self.ir is not None and self.ir.is_signed

    def is_int_unsigned(self) -> bool:
        return self.is_int() and not self.is_int_signed()

    def is_bool(self) -> bool:
        return self.ir is dtypes.i1

    def is_fp8(self) -> bool:
        return self.is_floating() and self.row.bits == 8

    def is_void(self) -> bool:
        return self.name == "void"

    def is_ptr(self) -> bool:
        return False

    def is_block(self) -> bool:
        return False

    def is_const(self) -> bool:
        return False

    def get_int_max_value(self) -> int:
        return int(self.row.highest)

    def get_int_min_value(self) -> int:
        return int(self.row.lowest)

    def __getattr__(self, name: str) -> Any:
        # is_fp16(), is_int32(), ... : one question a dtype, answered by its name
        asked = name.removeprefix("is_")
        if asked != name and asked in _ROWS_BY_NAME:
            return lambda: self.name == asked
        raise AttributeError(f"{self!r} has no attribute {name}")

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)
        return type(other) is type(self) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"tl.{self.ir.triton}" if self.ir is not None else f"tl.{self.name}"


class pointer_type(dtype):
    """The type of a pointer to elements of `element_ty`."""

    def __init__(self, element_ty: dtype, address_space: str = "global", const: bool = False) -> None:
        element_ty = getattr(element_ty, "value", element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"a pointer needs a dtype to point to, not {element_ty!r}")
        self.element_ty = element_ty
        self.address_space = address_space
        self.const = const
        self.ir = None
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"

    @property
    def primitive_bitwidth(self) -> int:
        return 64

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def __repr__(self) -> str:
        return f"tl.pointer_type({self.element_ty!r})"


class block_type(dtype):
    """The type of a tile: a static `shape` of elements of `element_ty`."""

    def __init__(self, element_ty: dtype, shape: Sequence[int]) -> None:
        self.element_ty = element_ty
        self.shape = tuple(shape)
        if not self.shape:
            raise TypeError("a tile has at least one extent")
        self.ir = element_ty.ir
        self.name = f"<{self.shape}, {element_ty}>"

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @cached_property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def is_block(self) -> bool:
        return True

    def is_ptr(self) -> bool:
        return False

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def with_element_ty(self, element_ty: dtype) -> block_type:
        return block_type(element_ty, self.shape)

    def __repr__(self) -> str:
        return f"tl.block_type({self.element_ty!r}, {list(self.shape)})"


@cache
def dtype_of_row(row: DType) -> dtype:
    """The language's name for a row of the dtype table."""
    return dtype(row.mangled if row.is_float else row.triton)


@cache
def language_type(type: Type) -> dtype:
    """What the language calls a type of the IR."""
    if isinstance(type, TileType):
        element = type.element
        inner = pointer_type(dtype_of_row(element.pointee)) if isinstance(element, PointerType) else None
        return block_type(inner or dtype_of_row(element), type.shape)
    if isinstance(type, PointerType):
        return pointer_type(dtype_of_row(type.pointee), type.space)
    if isinstance(type, ScalarType):
        return dtype_of_row(type.element)
    raise TypeError(f"kernels hold no values of type {type}")


void = dtype("void")
int1, int8, int16, int32, int64 = (dtype_of_row(row) for row in dtypes.ALL[:5])
uint8, uint16, uint32, uint64 = (dtype_of_row(row) for row in dtypes.ALL[5:9])
float8e4nv = dtype_of_row(dtypes.f8e4m3fn)
float8e4b8 = dtype_of_row(dtypes.f8e4m3fnuz)
float8e4b15 = dtype_of_row(dtypes.f8e4m3b11fnuz)
float8e5 = dtype_of_row(dtypes.f8e5m2)
float8e5b16 = dtype_of_row(dtypes.f8e5m2fnuz)
float16 = dtype_of_row(dtypes.f16)
bfloat16 = dtype_of_row(dtypes.bf16)
float32 = dtype_of_row(dtypes.f32)
float64 = dtype_of_row(dtypes.f64)
pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer dtype of a width: 1, 8, 16, 32 or 64 bits."""
    name = "int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}"
    return dtype(name)
