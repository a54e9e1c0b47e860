"""Functions written in the language itself."""

from __future__ import annotations

from typing import Any

from xdsl_core.language import math
from xdsl_core.language.builtin import constexpr_function, standard
from xdsl_core.language.creation import full
from xdsl_core.language.debug import static_assert
from xdsl_core.language.elementwise import minimum
from xdsl_core.language.iterators import static_range
from xdsl_core.language.reduction import max, sum, xor_sum
from xdsl_core.language.shape import reshape
from xdsl_core.language.types import get_int_dtype
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
def _last_axis_unless(dim: int | None, rank: int) -> int:
    place = rank - 1 if dim is None else dim
    return place + rank if place < 0 else place


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
    axis: constexpr = 0 if dim is None else dim
    shifted = x - max(x, axis, keep_dims=True)
    numerator = math.exp(shifted)
    return math.fdiv(numerator, sum(numerator, axis, keep_dims=True), ieee_rounding)


@standard
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> Any:
    """The place of (i, j) of a row-major size_i x size_j grid when each `size_g` rows are walked column by column."""
    linear = i * size_j + j
    in_group = size_g * size_j
    first_row = linear // in_group * size_g
    rows = minimum(size_i - first_row, size_g)
    place = linear % in_group
    return first_row + place % rows, place // rows


@standard(member=True)
def flip(x: Any, dim: Any = None) -> Any:
    """The elements in reverse order along an axis (the last one if None) whose extent is a power of two."""
    axis: constexpr = _last_axis_unless(dim, len(x.shape))
    static_assert(0 <= axis and axis < len(x.shape), "tl.flip: the axis does not exist")
    static_assert(_power_of_two(x.shape[axis]), "tl.flip: the extent must be a power of two")
    steps: constexpr = _halvings(x.shape[axis])
    integer: constexpr = _integer_of_width(x.dtype.primitive_bitwidth, True)
    # along an axis of extent 2, a ^ (a ^ b) swaps the two halves
    bits = reshape(x.to(integer, bitcast=True), x.shape[:axis] + (2,) * steps + x.shape[axis + 1 :])
    for i in static_range(steps):
        bits = bits ^ xor_sum(bits, axis + i, True)
    return reshape(bits, x.shape).to(x.dtype, bitcast=True)


@standard
def squeeze(x: Any, dim: constexpr) -> Any:
    """The tile without the axis `dim`, whose extent is 1."""
    axis: constexpr = _last_axis_unless(dim, len(x.shape))
    static_assert(x.shape[axis] == 1, "tl.squeeze: the extent must be 1")
    return reshape(x, x.shape[:axis] + x.shape[axis + 1 :])


@standard
def unsqueeze(x: Any, dim: constexpr) -> Any:
    """The tile with a new axis of extent 1 at the place `dim` of the result."""
    axis: constexpr = _last_axis_unless(dim, len(x.shape) + 1)
    return reshape(x, x.shape[:axis] + (1,) + x.shape[axis:])
