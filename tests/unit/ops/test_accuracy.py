"""The references of the math functions are themselves accurate: compared with 50 digits of mpmath."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from xdsl_core import ops
from xdsl_core.opdef import OpDef, Ulp

FUNCTIONS: list[tuple[OpDef, Any, float, float]] = [
    (ops.Exp, mpmath.exp, -700, 700),
    (ops.Exp2, lambda x: mpmath.power(2, x), -1000, 1000),
    (ops.Log, mpmath.log, 0, 10),
    (ops.Log2, lambda x: mpmath.log(x, 2), 0, 10),
    (ops.Sqrt, mpmath.sqrt, 0, 10),
    (ops.Rsqrt, lambda x: 1 / mpmath.sqrt(x), 0, 10),
    (ops.Sin, mpmath.sin, -1e4, 1e4),
    (ops.Cos, mpmath.cos, -1e4, 1e4),
    (ops.Tan, mpmath.tan, -1e4, 1e4),
    (ops.Tanh, mpmath.tanh, -5, 5),
    (ops.Erf, mpmath.erf, -4, 4),
    (ops.Log1p, mpmath.log1p, -0.99, 5),
    (ops.Expm1, mpmath.expm1, -5, 5),
    (ops.Asin, mpmath.asin, -1, 1),
    (ops.Acos, mpmath.acos, -1, 1),
    (ops.Atan, mpmath.atan, -10, 10),
    (ops.Sinh, mpmath.sinh, -20, 20),
    (ops.Cosh, mpmath.cosh, -20, 20),
]
PAIRS = [(ops.Atan2, mpmath.atan2, -5.0, 5.0), (ops.Pow, mpmath.power, 0.1, 9.0)]


def ulps(found: np.ndarray, exact: list[Any]) -> float:
    """The largest error in units of the last place of float64."""
    return max(
        float(abs(mpmath.mpf(float(value)) - want) / mpmath.mpf(float(np.spacing(abs(float(want))))))
        for value, want in zip(found, exact, strict=True)
    )


@pytest.mark.parametrize(
    ("definition", "exact", "low", "high"), FUNCTIONS, ids=lambda v: getattr(v, "name", "")
)
def test_function(definition: OpDef, exact: Any, low: float, high: float) -> None:
    numbers = np.random.default_rng(0).uniform(low, high, 300)
    with mpmath.workdps(50):
        error = ulps(definition.meaning(numbers), [exact(mpmath.mpf(x)) for x in numbers.tolist()])
    assert isinstance(definition.budget, Ulp)
    # the oracle's own error has to be small against what it judges
    assert error <= min(1.6, definition.budget.default)


@pytest.mark.parametrize(("definition", "exact", "low", "high"), PAIRS, ids=lambda v: getattr(v, "name", ""))
def test_function_of_two(definition: OpDef, exact: Any, low: float, high: float) -> None:
    x, y = np.random.default_rng(0).uniform(low, high, (2, 300))
    with mpmath.workdps(50):
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        error = ulps(definition.meaning(x, y), [exact(mpmath.mpf(a), mpmath.mpf(b)) for a, b in pairs])
    assert error <= 1.6
