"""Numbers in float64 that carry along the error which correct float32 code may have made.

The expectation of a kernel is written once, in numpy's manner, on `Tracked` arrays; the budget of every
element comes with it. A step rounds once (u = 2**-24 of its result), functions are allowed their op's ulps, a
sum of n terms 4 * sqrt(n) * u of the sum of magnitudes (docs/adr/0004-error-budgets.md). Errors of the
operands are carried to first order: N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM
2002, section 3.3 (running error analysis).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

U = 2.0**-24
# the smallest subnormal number of float32: what underflow may lose
TINY = 2.0**-149
# exp, log and their like may be 4 ulp off, which is 8 u; division and square root 2 u
FUNCTION, QUOTIENT = 8.0 * U, 2.0 * U
# an array of float64, or a number
Wide = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Tracked:
    """`value` in float64, and the absolute `error` that a correct result may have, in the same shape."""

    value: Wide
    error: Wide

    # numpy leaves mixed arithmetic to the operators below
    __array_ufunc__ = None

    def __add__(self, other: Any) -> Tracked:
        b = tracked(other)
        return _rounded(self.value + b.value, self.error + b.error)

    def __sub__(self, other: Any) -> Tracked:
        return self + (-tracked(other))

    def __mul__(self, other: Any) -> Tracked:
        b = tracked(other)
        error = np.abs(self.value) * b.error + np.abs(b.value) * self.error + self.error * b.error
        return _rounded(self.value * b.value, error)

    def __truediv__(self, other: Any) -> Tracked:
        b = tracked(other)
        value = self.value / b.value
        room = np.maximum(np.abs(b.value) - b.error, TINY)
        return _rounded(value, (self.error + np.abs(value) * b.error) / room, QUOTIENT)

    def __neg__(self) -> Tracked:
        return Tracked(-self.value, self.error)

    def __radd__(self, other: Any) -> Tracked:
        return self.__add__(other)

    def __rsub__(self, other: Any) -> Tracked:
        return tracked(other).__sub__(self)

    def __rmul__(self, other: Any) -> Tracked:
        return self.__mul__(other)

    def __rtruediv__(self, other: Any) -> Tracked:
        return tracked(other).__truediv__(self)

    def __matmul__(self, other: Any) -> Tracked:
        b = tracked(other)
        mine, theirs = np.abs(self.value), np.abs(b.value)
        own = 4.0 * np.sqrt(self.value.shape[-1]) * U * (mine @ theirs)
        return Tracked(
            self.value @ b.value, mine @ b.error + self.error @ theirs + self.error @ b.error + own + TINY
        )

    def __rmatmul__(self, other: Any) -> Tracked:
        return tracked(other).__matmul__(self)

    def __getitem__(self, index: Any) -> Tracked:
        return Tracked(self.value[index], self.error[index])

    @property
    def mT(self) -> Tracked:
        """The last two axes exchanged."""
        return Tracked(self.value.swapaxes(-1, -2), self.error.swapaxes(-1, -2))

    def reshape(self, *shape: int) -> Tracked:
        return Tracked(self.value.reshape(shape), self.error.reshape(shape))

    def transpose(self, *axes: int) -> Tracked:
        return Tracked(self.value.transpose(axes), self.error.transpose(axes))

    def sum(self, axis: int | None = None, *, keepdims: bool = False) -> Tracked:
        count = self.value.size if axis is None else self.value.shape[axis]
        total, magnitude, error = (
            np.asarray(np.sum(part, axis=axis, keepdims=keepdims))
            for part in (self.value, np.abs(self.value), self.error)
        )
        return Tracked(total, error + 4.0 * np.sqrt(count) * U * magnitude + TINY)

    def mean(self, axis: int, *, keepdims: bool = False) -> Tracked:
        return self.sum(axis, keepdims=keepdims) / float(self.value.shape[axis])

    def max(self, axis: int, *, keepdims: bool = False) -> Tracked:
        return Tracked(self.value.max(axis, keepdims=keepdims), self.error.max(axis, keepdims=keepdims))

    def rounded_to(self, dtype: Any) -> Tracked:
        """After a cast to another floating-point dtype: half a unit in the last place more."""
        from xdsl_core.testing import half_ulp

        return Tracked(self.value, self.error + half_ulp(self.value, dtype))


def tracked(value: Any) -> Tracked:
    """The same if it is tracked, else an exact number or array."""
    if isinstance(value, Tracked):
        return value
    wide = np.asarray(value, np.float64)
    return Tracked(wide, np.zeros(wide.shape))


def _rounded(value: Wide, error: Wide, step: float = U) -> Tracked:
    with np.errstate(all="ignore"):
        own = np.where(np.isfinite(value), np.abs(value), 0.0) * step
    return Tracked(value, error + own + TINY)


def exp(x: Any) -> Tracked:
    """e to the power of x; minus infinity gives an exact 0."""
    a = tracked(x)
    value = np.exp(a.value)
    finite = np.isfinite(a.value)
    return _rounded(value, np.where(finite, value * np.expm1(np.where(finite, a.error, 0.0)), 0.0), FUNCTION)


def log(x: Any) -> Tracked:
    """The natural logarithm."""
    a = tracked(x)
    # the argument's own rounding counts where the result is near zero
    return _rounded(np.log(a.value), a.error / np.maximum(a.value - a.error, TINY) + U * U, FUNCTION)


def sqrt(x: Any) -> Tracked:
    """The square root."""
    a = tracked(x)
    value = np.sqrt(a.value)
    return _rounded(
        value, a.error / np.maximum(2.0 * np.sqrt(np.maximum(a.value - a.error, 0.0)), TINY), QUOTIENT
    )


def tanh(x: Any) -> Tracked:
    """The hyperbolic tangent; its slope is at most 1."""
    a = tracked(x)
    return _rounded(np.tanh(a.value), a.error, FUNCTION)


def sigmoid(x: Any) -> Tracked:
    """1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + exp(-tracked(x)))


def sine(x: Any) -> Tracked:
    """The sine; its slope is at most 1."""
    a = tracked(x)
    return _rounded(np.sin(a.value), a.error + FUNCTION * np.abs(np.sin(a.value)), FUNCTION)


def cosine(x: Any) -> Tracked:
    """The cosine; its slope is at most 1."""
    a = tracked(x)
    return _rounded(np.cos(a.value), a.error, FUNCTION)


def where(condition: Any, x: Any, y: Any) -> Tracked:
    """Elements of x where the condition holds, else of y."""
    a, b = tracked(x), tracked(y)
    return Tracked(np.where(condition, a.value, b.value), np.where(condition, a.error, b.error))


def softmax(x: Any, axis: int = -1) -> Tracked:
    """exp(x - max) / sum, along an axis."""
    a = tracked(x)
    numerator = exp(a - a.max(axis, keepdims=True))
    return numerator / numerator.sum(axis, keepdims=True)


def stack(parts: list[Tracked], axis: int = 0) -> Tracked:
    """Tracked arrays joined along a new axis."""
    return Tracked(
        np.stack([part.value for part in parts], axis), np.stack([part.error for part in parts], axis)
    )


def cumsum(x: Any, axis: int = -1) -> Tracked:
    """Running sums; the last one has the error of a sum of all terms."""
    a = tracked(x)
    counts = np.sqrt(np.arange(1, a.value.shape[axis] + 1))
    running = np.cumsum(np.abs(a.value), axis)
    return Tracked(np.cumsum(a.value, axis), np.cumsum(a.error, axis) + 4.0 * counts * U * running + TINY)
