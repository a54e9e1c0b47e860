"""Errors in budgets: right results are within, wrong ones are not, special values are exact."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from xdsl_core.testing import compare, contraction_budget, half_ulp, unit_roundoff


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float64, 2.0**-53), (np.float32, 2.0**-24), (np.float16, 2.0**-11), (ml_dtypes.bfloat16, 2.0**-8)],
)
def test_unit_roundoff(dtype: type, expected: float) -> None:
    assert unit_roundoff(dtype) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_rounding_once_is_within_half_an_ulp_and_the_neighbour_is_not(dtype: type) -> None:
    exact = np.random.default_rng(0).standard_normal(10_000) * 10.0 ** np.random.default_rng(1).integers(
        -3, 4, 10_000
    )
    rounded = exact.astype(dtype)
    budget = half_ulp(exact, dtype)
    assert 0.9 < compare(rounded, exact, budget).error <= 1.0
    step = np.abs(
        np.nextafter(rounded, np.asarray(np.inf, dtype)).astype(np.float64) - rounded.astype(np.float64)
    )
    assert (np.abs(rounded.astype(np.float64) + step - exact) > budget).mean() > 0.99


def test_subnormal_numbers_are_rounded_to_the_smallest_step() -> None:
    tiny = float(np.finfo(np.float32).smallest_subnormal)
    assert half_ulp(np.array([tiny * 3.3]), np.float32)[0] == pytest.approx(tiny / 2)
    assert half_ulp(np.array([0.0]), np.float32)[0] == pytest.approx(tiny / 2)


def test_float32_accumulation_is_within_the_contraction_budget_and_float16_is_not() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 256, 256)).astype(np.float32)
    exact = a.astype(np.float64) @ b
    budget = contraction_budget(np.abs(a).astype(np.float64) @ np.abs(b), terms=256) + half_ulp(
        exact, np.float32
    )
    assert compare(a @ b, exact, budget).error < 1.0
    half = (a.astype(np.float16)[:, :, None] * b.astype(np.float16)[None, :, :]).sum(axis=1, dtype=np.float16)
    assert compare(half, exact, budget).error > 10.0


@pytest.mark.parametrize(
    ("got", "expected", "error"),
    [
        (np.nan, np.nan, 0.0),
        (np.nan, 1.0, np.inf),
        (1.0, np.nan, np.inf),
        (np.inf, np.inf, 0.0),
        (-np.inf, np.inf, np.inf),
        (np.inf, 1.0, np.inf),
        (1.0, np.inf, np.inf),
    ],
)
def test_nan_and_infinities_are_exact(got: float, expected: float, error: float) -> None:
    comparison = compare(np.array([2.0, got]), np.array([2.0, expected]), np.array([0.1, 0.1]))
    assert comparison.error == error
    assert comparison.passed == (error == 0.0)


def test_the_worst_element_is_named() -> None:
    expected = np.zeros((4, 5))
    got = expected.copy()
    got[2, 3] = 3.0
    got[1, 1] = 1.0
    comparison = compare(got, expected, np.full((4, 5), 2.0), what="a matrix")
    assert (comparison.error, comparison.worst, comparison.got) == (1.5, (2, 3), 3.0)
    assert str(comparison) == "a matrix: 1.5 budgets at (2, 3): got 3, expected 0"


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"got shape \(2,\), expected \(3,\)"):
        compare(np.zeros(2), np.zeros(3), np.ones(3))
