"""Numbers to tensors, and tensors from one dtype to another."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import Element, PointerType, ScalarType, element_of, is_pointer, tile_or_scalar
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.promotion import literal_dtype
from xdsl_core.language.types import dtype, pointer_type
from xdsl_core.language.values import Number, Operand, tensor

ROUNDINGS = ("rtne", "rtz")
_EXACT_INTEGER = 1 << 53  # the integers up to here are numbers of f64


def constant(context: Context, value: Number, element: DType, shape: tuple[int, ...] = ()) -> tensor:
    """A constant of an element type, as a scalar or in every lane of a tile.

    X0121 where an integer does not fit, or a float with a fraction (or no finite value) is asked to be an
    integer.
    """
    if element.is_float:
        value = float(value)
    elif element.is_bool:
        value = bool(value)
    elif not isfinite(value) or int(value) != value:
        raise fail("X0121", f"{value} is no value of {element}", help="cast a float constant with .to(...)")
    else:
        value = int(value)
        if not element.lowest <= value <= element.highest:
            raise fail(
                "X0121",
                f"the constant {value} is out of the range of {element}",
                label=f"{element} holds {element.lowest} to {element.highest}",
                help="use a wider dtype, or cast the value so that it wraps on purpose",
            )
    return context.emit(ops.Constant, value=value, type=tile_or_scalar(shape, element))


def to_tensor(context: Context, value: Operand) -> tensor:
    """A tensor as it is, a Python number as a scalar constant of its own dtype."""
    if isinstance(value, tensor):
        return value
    return constant(context, value, literal_dtype(value))


def converted(context: Context, value: Operand, element: Element, shape: tuple[int, ...]) -> tensor:
    """What `cast` makes of an operand.

    A Python number becomes one constant in every lane of a shape, where that equals its own constant cast.
    """
    if isinstance(value, tensor) or isinstance(element, PointerType):
        return cast(context, to_tensor(context, value), element)
    own = literal_dtype(value)
    if own is dtypes.f32 and element.is_float:
        return constant(context, float(np.float32(value)), element, shape)
    exact = abs(value) <= _EXACT_INTEGER if element.is_float else element.lowest <= value <= element.highest
    if not own.is_float and exact and not element.is_bool:
        return constant(context, value, element, shape)
    return cast(context, constant(context, value, own), element)


def element_type(target: dtype) -> Element:
    """The IR's element type behind a dtype or pointer type of the language."""
    if isinstance(target, pointer_type):
        return PointerType(target.element_ty.row, target.address_space)
    return target.row


def cast(context: Context, source: tensor, target: Element, rounding: str | None = None) -> tensor:
    """The same values as another element type.

    Floats become integers by truncation, numbers become bool by `!= 0`, integers wrap. X0132 where no such
    conversion exists or `rounding` is given for anything but a float made narrower.
    """
    element = element_of(source.handle.type)
    if element == target:
        return source
    if isinstance(element, PointerType) or isinstance(target, PointerType):
        return _cast_pointer(context, source, element, target)
    return context.emit(ops.Cast, source, to=target, rounding=_rounding(element, target, rounding))


def _rounding(source: DType, target: DType, rounding: str | None) -> str | None:
    if rounding is None:
        return None
    if rounding not in ROUNDINGS:
        raise fail(
            "X0138",
            f"no rounding mode {rounding!r}",
            help="use 'rtne' (to nearest even) or 'rtz' (toward zero)",
        )
    if not (source.is_float and target.is_float and target.bits < source.bits):
        raise fail(
            "X0132",
            f"fp_downcast_rounding does not apply to a cast from {source} to {target}",
            help="leave it out: it is for casts from a float to a narrower float",
        )
    return rounding


def _cast_pointer(context: Context, source: tensor, element: Element, target: Element) -> tensor:
    if isinstance(element, PointerType) and isinstance(target, PointerType):
        return context.emit(ops.PointerCast, source, pointee=target.pointee)
    if isinstance(element, PointerType) and isinstance(target, DType):
        if target in (dtypes.i64, dtypes.u64, dtypes.i1):
            return cast(context, context.emit(ops.PointerToInt, source), target)
    elif isinstance(target, PointerType) and isinstance(element, DType) and not element.is_float:
        wide = source if element.bits == 64 else cast(context, source, dtypes.i64)
        return context.emit(ops.IntToPointer, wide, pointee=target.pointee)
    raise fail(
        "X0132",
        f"cannot cast {element} to {target}",
        label=describe(source),
        help="pointers convert to and from 64-bit integers only",
    )


def bitcast(context: Context, source: tensor, target: Element) -> tensor:
    """The same bits as another element type of equal width. X0133 where the widths differ."""
    element = element_of(source.handle.type)
    if element == target:
        return source
    if isinstance(element, PointerType) or isinstance(target, PointerType):
        return cast(context, source, target)
    if element.bits != target.bits:
        raise fail(
            "X0133",
            f"bitcast needs equal widths: {element} has {element.bits} bits, {target} has {target.bits}",
            label=describe(source),
            help="drop bitcast=True to convert the values instead",
        )
    return context.emit(ops.BitCast, source, to=target)


def as_condition(context: Context, value: Any) -> tensor:
    """A number or a scalar tensor as a bool: true where it is not zero."""
    return cast(context, to_tensor(context, value), dtypes.i1)


def is_scalar(value: tensor) -> bool:
    """True for a scalar number (no pointer, no tile)."""
    return isinstance(value.handle.type, ScalarType)


def holds_pointers(value: tensor) -> bool:
    """True for a pointer and for a tile of pointers."""
    return is_pointer(value.handle.type)
