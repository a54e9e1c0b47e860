"""Functions written in the language itself."""

from __future__ import annotations

from typing import Any

from xdsl_core.language import math
from xdsl_core.language.atomic import _check_poll, atomic_load
from xdsl_core.language.builtin import constexpr_function, standard
from xdsl_core.language.creation import full
from xdsl_core.language.debug import device_assert, static_assert
from xdsl_core.language.elementwise import minimum
from xdsl_core.language.iterators import static_range
from xdsl_core.language.reduction import max, min, sum, xor_sum
from xdsl_core.language.shape import checked_axis, expand_dims, reshape
from xdsl_core.language.types import get_int_dtype, int32
from xdsl_core.language.values import constexpr

_integer_of_width = constexpr_function(get_int_dtype)


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The least power of two that is at least n (1 for n <= 1)."""
    return 1 << (n - 1).bit_length() if n > 1 else 1


@constexpr_function
def _power_of_two(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


@constexpr_function
def _halvings(n: int) -> int:
    return n.bit_length() - 1


@constexpr_function
def _axis_or_last(function: str, dim: int | None, rank: int) -> int:
    return checked_axis(function, -1 if dim is None else dim, rank)


@standard
def zeros(shape: Any, dtype: Any) -> Any:
    """A tile of zeros."""
    return full(shape, 0, dtype)


@standard
def zeros_like(input: Any) -> Any:
    """A tile of zeros with the shape and dtype of another."""
    return full(input.shape, 0, input.dtype)


@standard(member=True)
def cdiv(x: Any, div: Any) -> Any:
    """x / div rounded up, for div > 0 and x >= 0 (integers are divided toward zero otherwise)."""
    return (x + (div - 1)) // div


@standard(member=True)
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)); x is float32 or float64."""
    return 1 / (1 + math.exp(-x))


@standard(member=True)
def softmax(x: Any, dim: Any = None, *, keep_dims: Any = None, ieee_rounding: Any = False) -> Any:
    """exp(x - max) over its sum along the axis `dim`, the first one if None. `keep_dims` has no effect."""
    return _softmax(x, 0 if dim is None else dim, ieee_rounding)


@standard
def _softmax(x: Any, axis: Any, ieee_rounding: Any) -> Any:
    numerator = math.exp(x - max(x, axis, keep_dims=True))
    return math.fdiv(numerator, sum(numerator, axis, keep_dims=True), ieee_rounding)


@standard
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> Any:
    """The place of (i, j) in a size_i x size_j grid when each `size_g` rows are walked column by column."""
    linear = i * size_j + j
    in_group = size_g * size_j
    first_row = linear // in_group * size_g
    rows = minimum(size_i - first_row, size_g)
    place = linear % in_group
    return first_row + place % rows, place // rows


@standard(member=True)
def flip(x: Any, dim: Any = None) -> Any:
    """The elements in reverse order along an axis (the last one if None) whose extent is a power of two."""
    return _flip(x, _axis_or_last("flip", dim, len(x.shape)))


@standard
def _flip(x: Any, axis: Any) -> Any:
    static_assert(_power_of_two(x.shape[axis]), "tl.flip: the extent must be a power of two")
    bits = x.to(_integer_of_width(x.dtype.primitive_bitwidth, True), bitcast=True)
    bits = reshape(bits, x.shape[:axis] + (2,) * _halvings(x.shape[axis]) + x.shape[axis + 1 :])
    # along an axis of extent 2, a ^ (a ^ b) swaps the two halves
    for i in static_range(_halvings(x.shape[axis])):
        bits = bits ^ xor_sum(bits, axis + i, True)
    return reshape(bits, x.shape).to(x.dtype, bitcast=True)


@standard
def squeeze(x: Any, dim: constexpr) -> Any:
    """The tile without the axis `dim`, whose extent is 1."""
    return _squeeze(x, _axis_or_last("squeeze", dim, len(x.shape)))


@standard
def _squeeze(x: Any, axis: Any) -> Any:
    static_assert(x.shape[axis] == 1, "tl.squeeze: the extent must be 1")
    return reshape(x, x.shape[:axis] + x.shape[axis + 1 :])


@standard
def unsqueeze(x: Any, dim: constexpr) -> Any:
    """The tile with a new axis of extent 1 at the place `dim` of the result."""
    return expand_dims(x, dim)


@standard(member=True)
def atomic_poll(
    pointer: Any, expected_value: Any, sem: Any = None, scope: Any = None, timeout_ns: Any = None
) -> Any:
    """Wait until each element equals `expected_value`; all True. It must be written by another program.

    Programs may run one after the other: a value that only a later program writes never comes.
    """
    _check_poll(pointer, timeout_ns)
    seen = atomic_load(pointer, None, sem, scope) == expected_value
    while _any_left(seen):
        seen = seen | (atomic_load(pointer, None, sem, scope) == expected_value)
    return seen


@standard
def _any_left(seen: Any) -> Any:
    if len(seen.shape) == 0:
        return seen == 0
    return min(reshape(seen, seen.numel).to(int32), 0) == 0


@standard
def expect_zero(x: Any, mask: Any) -> Any:
    """x as it is; in debug mode it is checked to be 0 wherever `mask` is true."""
    device_assert((x == 0) | (mask == 0), "expect_zero expected x == 0 where mask is true")
    return x
