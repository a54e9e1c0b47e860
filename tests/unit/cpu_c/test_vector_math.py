"""Errors of the elementary functions in units in the last place, and their special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.unit.cpu_c.vector_harness import NUMPY, Array, Functions, compiler

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(compiler() is None, reason="no C compiler")]

INF = float("inf")

# name: (lowest and highest argument, largest error in ulp of f32)
RANGES_F32: dict[str, tuple[float, float, float]] = {
    "exp": (-104.5, 89.5, 1.0),
    "exp2": (-151, 129, 1.0),
    "expm1": (-30, 89.5, 1.6),
    "log": (0, INF, 1.0),
    "log2": (0, INF, 1.2),
    "log1p": (-1, INF, 1.5),
    "tanh": (-10, 10, 1.6),
    "erf": (-4.5, 4.5, 1.7),
    "sin": (-1e5, 1e5, 1.6),
    "cos": (-1e5, 1e5, 1.6),
    "tan": (-1e5, 1e5, 1.5),
    "sinh": (-90, 90, 2.5),
    "cosh": (-90, 90, 2.5),
    "asin": (-1, 1, 1.5),
    "acos": (-1, 1, 1.5),
    "atan": (-INF, INF, 1.5),
    "erfc": (-4, 10.1, 4.0),
}


def mp(name: str) -> Callable[[Array], Array]:
    """The function in extended precision, rounded to f64."""
    names = {"exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x, 2)}
    function = names.get(name) or getattr(mpmath, name)
    return np.vectorize(lambda x: float(function(mpmath.mpf(float(x)))), otypes=[float])


def erf(x: Array) -> Array:
    from math import erf as one

    return np.vectorize(one, otypes=[float])(x)


def erfc(x: Array) -> Array:
    from math import erfc as one

    return np.vectorize(one, otypes=[float])(x)


REFERENCE: dict[str, Callable[[Array], Any]] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "erf": erf,
    "erfc": erfc,
}
BINARY = ("pow", "atan2", "fmod", "hypot")


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    names = [f"f32{lanes}_{name}" for name in RANGES_F32 for lanes in ("", "x8", "x16", "x32")]
    names += [f"f64{lanes}_{name}" for name in RANGES_F32 for lanes in ("", "x8", "x32")]
    names += [
        f"{element}{lanes}_{name}" for name in BINARY for element in ("f32", "f64") for lanes in ("", "x16")
    ]
    return Functions(tmp_path_factory.mktemp("math"), names)


def dense(low: float, high: float, dtype: np.dtype[Any], count: int) -> Array:
    """Values uniform in their bits (all magnitudes), and uniform in value when the range is finite."""
    integer = np.dtype(f"i{dtype.itemsize}")
    random = np.random.default_rng(3)
    limit = int(np.array(min(max(abs(low), abs(high)), np.finfo(dtype).max), dtype).view(integer))
    bits = random.integers(0, limit, count, dtype=integer).view(dtype)
    values = [bits, -bits, random.uniform(0.5, 2, count).astype(dtype)]
    if np.isfinite([low, high]).all():
        values.append(random.uniform(low, high, count).astype(dtype))
    x = np.concatenate(values)
    return x[(x >= low) & (x <= high)]


def padded(x: Array) -> Array:
    """Repeated to a multiple of 32 lanes."""
    return np.resize(x, -(-x.size // 32) * 32)


def ulps(got: Array, expected: Array) -> Array:
    """Distance in units in the last place of the exact result, whose overflow counts as infinity."""
    rounded = expected.astype(got.dtype)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    unit = np.spacing(np.abs(rounded[finite])).astype(np.float64)
    return np.abs(got[finite].astype(np.float64) - expected[finite].astype(np.float64)) / unit


@pytest.mark.parametrize("name", RANGES_F32)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_error_f32(functions: Functions, name: str) -> None:
    low, high, bound = RANGES_F32[name]
    count = 20_000 if name in ("erf", "erfc") else 200_000
    x = padded(dense(low, high, np.dtype(np.float32), count))
    reference = REFERENCE.get(name) or getattr(np, name)
    expected = reference(x.astype(np.float64))
    got = functions(f"f32x32_{name}", x)
    error = ulps(got, expected)
    assert error.max() <= bound, (
        name,
        error.max(),
        x[np.isfinite(expected.astype(np.float32))][error.argmax()],
    )
    few = x[:: x.size // 640][:640]
    for lanes in ("", "x8", "x16"):
        np.testing.assert_array_equal(functions(f"f32{lanes}_{name}", few), functions(f"f32x32_{name}", few))


@pytest.mark.parametrize("name", RANGES_F32)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_error_f64(functions: Functions, name: str) -> None:
    low, high, bound = RANGES_F32[name]
    factor = 8 if name in ("exp", "exp2", "expm1", "sinh", "cosh") else 1
    x = padded(dense(low * factor, high * factor, np.dtype(np.float64), 100))
    with mpmath.workdps(60):
        exact = [mpmath.mpf(float(v)) for v in x]
        function = {"exp2": lambda v: mpmath.mpf(2) ** v, "log2": lambda v: mpmath.log(v, 2)}.get(name)
        function = function or getattr(mpmath, name)
        values = [
            mpmath.re(function(v)) if v not in (0, 1, -1) or "log" not in name else mpmath.nan for v in exact
        ]
        expected = np.array([float(v) for v in values])
        got = functions(f"f64x32_{name}", x)
        known = np.isfinite(expected) & np.isfinite(got)
        unit = np.spacing(np.abs(expected))
        error = [
            float(abs(mpmath.mpf(float(g)) - v) / u)
            for g, v, u, k in zip(got, values, unit, known, strict=True)
            if k
        ]
    assert max(error) <= bound + 0.5, (name, max(error))
    for lanes in ("", "x8"):
        np.testing.assert_array_equal(functions(f"f64{lanes}_{name}", x), got)


NAN = float("nan")
# Pairs, not dicts: 0.0 and -0.0 are one key.
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (1000, INF), (-1000, 0)],
    "exp2": [
        (0.0, 1),
        (INF, INF),
        (-INF, 0),
        (3, 8),
        (-149, 2.0**-149),
        (127, 2.0**127),
        (2000, INF),
        (-2000, 0),
    ],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (-1000, -1), (1e-30, 1e-30)],
    "log": [(0.0, -INF), (-0.0, -INF), (1, 0.0), (INF, INF), (-1, NAN), (-INF, NAN), (-1e-40, NAN)],
    "log2": [
        (0.0, -INF),
        (-0.0, -INF),
        (1, 0.0),
        (8, 3),
        (2.0**-149, -149),
        (INF, INF),
        (-1, NAN),
        (-INF, NAN),
    ],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1, -INF), (INF, INF), (-2, NAN), (-INF, NAN), (1e-30, 1e-30)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (1e-30, 1e-30), (100, 1)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (50, 1), (-50, -1)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-30, 1e-30)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "tan": [(-0.0, -0.0), (INF, NAN)],
    "atan": [(INF, np.pi / 2), (-0.0, -0.0)],
    "asin": [(2, NAN), (-0.0, -0.0)],
    "acos": [(1, 0.0), (-2, NAN)],
    "sinh": [(-0.0, -0.0), (-INF, -INF)],
    "cosh": [(0.0, 1), (-INF, INF)],
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_values(functions: Functions, name: str, element: str) -> None:
    table = SPECIAL[name]
    x = padded(np.array([NAN, *(x for x, _ in table)], NUMPY[element]))
    expected = padded(np.array([NAN, *(y for _, y in table)], NUMPY[element]))
    for lanes in ("", "x8", "x32"):
        got = functions(f"{element}{lanes}_{name}", x)
        np.testing.assert_array_equal(got, expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_beyond_the_reduction(functions: Functions, name: str) -> None:
    x = padded(np.array([1e5, 100001, 1e6, 3e9, 1e20, 3e38, -7e10, 0.5], np.float32))
    expected = mp(name)(x)
    assert ulps(functions(f"f32x32_{name}", x), expected).max() <= 1.6


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_two_arguments(functions: Functions, name: str, element: str) -> None:
    random = np.random.default_rng(5)
    x, y = random.uniform(0.1, 30, (2, 512)).astype(NUMPY[element])
    reference = {"pow": np.power, "atan2": np.arctan2}.get(name) or getattr(np, name)
    expected = reference(x.astype(np.longdouble), y.astype(np.longdouble))
    got = functions(f"{element}x16_{name}", x, y)
    assert ulps(got, expected.astype(np.float64) if element == "f32" else expected).max() <= 1.5
    np.testing.assert_array_equal(functions(f"{element}_{name}", x, y), got)


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "log"])
def test_denormals_survive(functions: Functions, name: str) -> None:
    """Loading and running the library leaves the processor's flush-to-zero mode alone."""
    functions(f"f32x32_{name}", np.ones(32, np.float32))
    assert np.float32(1e-40) * np.float32(0.5) != 0
