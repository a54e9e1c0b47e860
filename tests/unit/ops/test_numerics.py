"""Rounding is compared with exact arithmetic over all values of a dtype, not with another conversion."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ops.numerics import (
    float_to_integer,
    fused_multiply_add,
    has_infinity,
    integer_to_float,
    matmul,
    round_to,
    saturate_integer,
)

NARROW = [dtype for dtype in dtypes.ALL if dtype.is_float and dtype.bits <= 16]
by_name = pytest.mark.parametrize("dtype", NARROW, ids=str)


def finite_values(dtype: DType) -> np.ndarray:
    """Every finite number of a dtype, ascending, each once."""
    bits = np.arange(1 << dtype.bits, dtype=np.uint32).astype(f"u{dtype.bytes}")
    with np.errstate(invalid="ignore"):  # signalling NaN
        numbers = bits.view(dtype.numpy).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def nearest(dtype: DType, numbers: np.ndarray) -> np.ndarray:
    """Round to nearest, ties to even, by search; only for numbers within the finite range."""
    values = finite_values(dtype)
    upper = np.clip(np.searchsorted(values, numbers), 1, len(values) - 1)
    low, high = values[upper - 1], values[upper]
    middle = low + (high - low) / 2  # exact: both have few bits
    spacing = high - low
    low_is_even = (low / spacing) % 2 == 0
    return np.where((numbers < middle) | ((numbers == middle) & low_is_even), low, high)


def hard_numbers(dtype: DType) -> np.ndarray:
    """All values, all midpoints, and the float64 neighbours of the midpoints."""
    values = finite_values(dtype)
    middles = values[:-1] + np.diff(values) / 2
    return np.concatenate([values, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)])


@by_name
def test_round_to_nearest_even(dtype: DType) -> None:
    numbers = hard_numbers(dtype)
    np.testing.assert_array_equal(round_to(dtype, numbers), nearest(dtype, numbers))


@by_name
def test_round_toward_zero(dtype: DType) -> None:
    numbers, values = hard_numbers(dtype), finite_values(dtype)
    below = values[np.clip(np.searchsorted(values, numbers, side="right") - 1, 0, None)]
    above = values[np.clip(np.searchsorted(values, numbers), None, len(values) - 1)]
    np.testing.assert_array_equal(round_to(dtype, numbers, "rtz"), np.where(numbers >= 0, below, above))


@by_name
def test_overflow_and_special_numbers(dtype: DType) -> None:
    top = float(dtype.highest)
    values = finite_values(dtype)
    half_step = (values[-1] - values[-2]) / 2
    numbers = np.array([top + half_step, top * 4, -top * 4, np.inf, -np.inf])
    rounded = round_to(dtype, numbers)
    if dtype.bits == 16:
        assert rounded.tolist() == [np.inf, np.inf, -np.inf, np.inf, -np.inf]
        assert round_to(dtype, numbers, "rtz").tolist() == [top, top, -top, np.inf, -np.inf]
    else:
        infinite = np.inf if has_infinity(dtype) else top
        assert rounded.tolist() == [top, top, -top, infinite, -infinite]
    assert round_to(dtype, numbers, saturate=True).tolist() == [top, top, -top, top, -top]
    assert np.isnan(round_to(dtype, np.array([np.nan]))).all()


def test_which_kinds_have_infinities_and_negative_zero() -> None:
    with_infinity = [dtype.name for dtype in NARROW if has_infinity(dtype)]
    assert with_infinity == ["f8e5m2", "f16", "bf16"]
    signs = {d.name: bool(np.signbit(round_to(d, np.array([-0.0])))[0]) for d in NARROW}
    assert [name for name, negative in signs.items() if not negative] == [
        "f8e4m3fnuz",
        "f8e4m3b11fnuz",
        "f8e5m2fnuz",
    ]


@by_name
def test_every_rounded_number_is_stored_unchanged(dtype: DType) -> None:
    numbers = round_to(dtype, np.random.default_rng(0).normal(0, 50, 5000))
    np.testing.assert_array_equal(numbers.astype(dtype.numpy).astype(np.float64), numbers)


def test_f32_subnormals_and_ties() -> None:
    tiny = 2.0**-149
    numbers = np.array([tiny / 2, tiny * 0.5000001, tiny * 1.5, 1 + 2**-24, 1 + 3 * 2**-24, 3.5e38])
    assert round_to(dtypes.f32, numbers).tolist() == [0.0, tiny, 2 * tiny, 1.0, 1 + 2**-22, np.inf]


def test_no_double_rounding_through_f32() -> None:
    """Just above a tie of bf16 by less than f32 can hold: rounding to f32 first would round down."""
    number = np.array([1 + 2**-8 + 2**-40])
    assert round_to(dtypes.bf16, number)[0] == 1 + 2**-7
    assert round_to(dtypes.bf16, number.astype(np.float32).astype(np.float64))[0] == 1.0


def exact_nearest(dtype: DType, number: int) -> float:
    """The nearest number of f32 or f64 to an integer, by rational arithmetic."""
    guess = dtype.numpy.type(float(number))
    around = [np.nextafter(guess, dtype.numpy.type(side)) for side in (-np.inf, np.inf)]
    candidates = [float(c) for c in (guess, *around) if np.isfinite(c)]
    mantissa = {c: int(np.asarray(c, dtype.numpy).view(f"i{dtype.bytes}")) & 1 for c in candidates}
    return min(candidates, key=lambda c: (abs(Fraction(c) - number), mantissa[c]))


@pytest.mark.parametrize("kind", [np.int64, np.uint64], ids=["i64", "u64"])
def test_wide_integers_round_once(kind: type) -> None:
    generator = np.random.default_rng(1)
    low = -(2**63) if kind is np.int64 else 0
    numbers = [2**53 + 1, 2**54 + 3, 2**24 + 1, 2**60 + 2**36 + 1, 2**60 + 2**36, 2**63 - 1, low, 0]
    numbers += generator.integers(low, 2**63 - 1, 500).tolist()
    array = np.array(numbers, kind)
    for dtype in (dtypes.f32, dtypes.f64):
        expected = [exact_nearest(dtype, number) for number in numbers]
        assert integer_to_float(array, dtype).tolist() == expected
        truncated = integer_to_float(array, dtype, "rtz")
        assert all(abs(Fraction(t)) <= abs(n) for t, n in zip(truncated.tolist(), numbers, strict=True))
    tie_of_bf16 = np.array([2**62 + 2**54 + 1], kind)
    assert integer_to_float(tie_of_bf16, dtypes.bf16)[0] == 2.0**62 + 2.0**55


def test_floats_to_integers() -> None:
    numbers = np.array([-2.9, 2.9, -0.5, 7.0, 1e30, -1e30, np.inf, -np.inf, np.nan])
    for dtype in (d for d in dtypes.ALL if d.kind in ("int", "uint")):
        found = float_to_integer(numbers, dtype)
        assert found.dtype == dtype.numpy
        assert found[[1, 2, 3]].tolist() == [2, 0, 7]
        saturated = float_to_integer(numbers, dtype, saturate=True).tolist()
        low, high = int(dtype.lowest), int(dtype.highest)
        assert saturated == [-2 if low else 0, 2, 0, 7, high, low, high, low, 0]
    assert float_to_integer(np.array([2.0**63, 2.0**63 - 1024]), dtypes.i64, saturate=True).tolist() == [
        2**63 - 1,
        2**63 - 1024,
    ]


def test_integers_saturate() -> None:
    assert saturate_integer(np.array([300, -300, 5]), dtypes.i8).tolist() == [127, -128, 5]
    assert saturate_integer(np.array([-1, 2**40]), dtypes.u32).tolist() == [0, 2**32 - 1]
    assert saturate_integer(np.array([2**64 - 1], np.uint64), dtypes.i64).tolist() == [2**63 - 1]


@pytest.mark.parametrize("dtype", [dtypes.f32, dtypes.f64, dtypes.bf16], ids=str)
def test_fused_multiply_add_rounds_once(dtype: DType) -> None:
    generator = np.random.default_rng(2)
    x, y = (round_to(dtype, generator.normal(0, 1, 400)) for _ in range(2))
    z = round_to(dtype, -x * y * (1 + generator.choice([0, 2.0**-20, 2.0**-30, 1e-3], 400)))
    found = round_to(dtype, fused_multiply_add(x, y, z, dtype=dtype))
    exact = [
        Fraction(a) * Fraction(b) + Fraction(c)
        for a, b, c in zip(*map(np.ndarray.tolist, (x, y, z)), strict=True)
    ]
    step = [abs(np.nextafter(v, np.inf) - v) if dtype is dtypes.f64 else None for v in found]
    for value, want, ulp in zip(found.tolist(), exact, step, strict=True):
        if ulp is None:  # a float64 holds the sum to 53 bits, so that its error cannot hide a wrong rounding
            assert value == round_to(dtype, np.float64(float(want))) or _is_near_tie(dtype, want)
        else:
            assert abs(Fraction(value) - want) <= Fraction(ulp) / 2


def _is_near_tie(dtype: DType, exact: Fraction) -> bool:
    """Whether rounding to float64 first could have changed the outcome."""
    around = np.nextafter(float(exact), [-np.inf, np.inf])
    return len(set(round_to(dtype, around).tolist())) > 1


def test_fused_multiply_add_just_beside_a_tie() -> None:
    """The exact sum lies above a tie of f32 by less than float64 can hold."""
    x, y, z = (np.array([v]) for v in (1 + 2.0**-23, 1 + 2.0**-23, 2.0**-60))
    product = Fraction(x[0]) * Fraction(y[0])
    assert float(product) == 1 + 2.0**-22 + 2.0**-46
    assert round_to(dtypes.f32, fused_multiply_add(x, y, z, dtype=dtypes.f32))[0] == 1 + 2.0**-22
    tie, tiny = np.array([1 + 2.0**-24]), np.array([2.0**-80])
    found = fused_multiply_add(np.array([2.0**-40]), np.array([2.0**-40]), tie, dtype=dtypes.f32)
    assert tiny[0] == 2.0**-40 * 2.0**-40
    assert round_to(dtypes.f32, found)[0] == 1 + 2.0**-23


def test_fused_multiply_add_keeps_ieee_rules() -> None:
    for dtype in (dtypes.f64, dtypes.f32):
        large = float(dtype.highest)
        x = np.array([np.inf, 0.0, -0.0, large, -0.0])
        y = np.array([0.0, np.inf, 1.0, large, 1.0])
        z = np.array([1.0, 1.0, -0.0, -np.inf, 0.0])
        found = fused_multiply_add(x, y, z, dtype=dtype)
        assert np.isnan(found[:2]).all()
        assert np.signbit(found[2])
        assert found[3] == -np.inf
        assert not np.signbit(found[4])


@pytest.mark.parametrize("shape", [(3, 4, 5), (128, 64, 128), (33, 700, 90), (1, 5000, 70), (70, 5000, 1)])
def test_matmul_in_panels_is_the_product(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    generator = np.random.default_rng(3)
    lhs, rhs = generator.integers(-9, 9, (2, m, k)) * 1.0, generator.integers(-9, 9, (2, k, n)) * 1.0
    np.testing.assert_array_equal(matmul(lhs, rhs), np.einsum("bmk,bkn->bmn", lhs, rhs))
