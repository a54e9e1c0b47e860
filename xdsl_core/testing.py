"""Comparing a kernel's result with numpy: errors counted in budgets, and the time of a launch.

A budget is the error that correct code may make at an element, as an array of the result's shape. `compare`
divides the error by it: at most 1.0 is right. The functions below give the budgets of common steps; a
kernel's own budget is their sum (docs/adr/0004-error-budgets.md).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a result is from what was expected.

    `error` is the largest error in budgets, `worst` the index of its element, `got` and `expected` the
    numbers there. NaN or an infinity that was not expected, or that is missing, is an infinite error.
    `seconds` is the time of one launch, or None if it was not taken.
    """

    what: str
    error: float
    worst: tuple[int, ...]
    got: float
    expected: float
    seconds: float | None = None

    @property
    def passed(self) -> bool:
        return self.error <= 1.0

    def __str__(self) -> str:
        where = ", ".join(map(str, self.worst))
        values = f"got {self.got:.9g}, expected {self.expected:.9g}"
        text = f"{self.what}: {self.error:.3g} budgets at ({where}): {values}"
        return text if self.seconds is None else f"{text}; {self.seconds * 1e3:.3g} ms"


def unit_roundoff(dtype: Any) -> float:
    """u of a floating-point dtype: half the distance from 1.0 to the next number (2**-24 for float32)."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).eps) / 2


def half_ulp(expected: Array, dtype: Any) -> Array:
    """The error of rounding `expected` once to `dtype`, for each element; subnormal numbers included."""
    import ml_dtypes

    limits = ml_dtypes.finfo(dtype)
    magnitude = np.maximum(np.abs(np.asarray(expected, np.float64)), float(limits.smallest_normal))
    exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 1.0))[1] - 1
    # float64 arithmetic of the oracle is not exact either
    return np.asarray(np.ldexp(unit_roundoff(dtype), exponent) + 2.0**-52 * magnitude)


def contraction_budget(magnitudes: Array, *, terms: int, accumulator: Any = np.float32) -> Array:
    """The error of sums of `terms` products, in any order, in `accumulator`: 4*sqrt(terms)*u*magnitudes.

    `magnitudes` is the sum of the absolute values of the products: `abs(a) @ abs(b)` for a matrix product.
    """
    return np.asarray(4.0 * np.sqrt(terms) * unit_roundoff(accumulator) * magnitudes)


def compare(
    got: Array, expected: Array, budget: Array, *, what: str = "result", seconds: float | None = None
) -> Comparison:
    """The error of `got` against `expected` (computed in float64) in units of `budget`, worst element first.

    ValueError if the shapes differ.
    """
    if got.shape != expected.shape:
        raise ValueError(f"{what}: got shape {got.shape}, expected {expected.shape}")
    if got.size == 0:
        return Comparison(what, 0.0, (), 0.0, 0.0, seconds)
    actual = np.asarray(got, np.float64)
    wanted = np.asarray(expected, np.float64)
    same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        errors = np.where(same, 0.0, np.abs(actual - wanted) / budget)
    errors = np.where(np.isnan(errors), np.inf, errors)
    index = int(np.argmax(errors))
    worst = tuple(int(i) for i in np.unravel_index(index, errors.shape))
    return Comparison(what, float(errors[worst]), worst, float(actual[worst]), float(wanted[worst]), seconds)


def time_launch(launch: Callable[[], object], *, rounds: int = 3) -> float:
    """Seconds of one call of `launch`: the median of `rounds` calls after a first one that compiles.

    A rough figure for people; benchmarks/ measures with care.
    """
    launch()
    samples = []
    for _ in range(rounds):
        start = time.perf_counter()
        launch()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)
