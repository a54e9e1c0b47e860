"""Polynomials of lanes and scalars: arithmetic, splitting, renaming of dimensions, text."""

from __future__ import annotations

import itertools
import math

import pytest

from xdsl_core import dtypes
from xdsl_core.analysis.polynomial import ZERO, Lane, Opaque, Polynomial, Uniform, number, symbol
from xdsl_core.ir import Block, ScalarType, TileType

BLOCK = Block([ScalarType(dtypes.i32), ScalarType(dtypes.i32), TileType((4, 8), dtypes.i32)], ["n", "m", "t"])
N, M = (symbol(Uniform(place, value)) for place, value in enumerate(BLOCK.arguments[:2]))
T = symbol(Opaque(2, BLOCK.arguments[2], (0, 1)))
ROW, COLUMN = symbol(Lane(0)), symbol(Lane(1))


def value_at(polynomial: Polynomial, row: int, column: int, n: int = 5, m: int = -7) -> int:
    """The number a polynomial without looked-up lanes is at a lane."""
    names = {Lane(0): row, Lane(1): column}
    total = 0
    for monomial, coefficient in polynomial.terms.items():
        factors = [(n, m)[part.number] if isinstance(part, Uniform) else names[part] for part in monomial]
        total += math.prod(factors, start=coefficient)
    return total


SAMPLES = [
    ZERO,
    number(3),
    N,
    ROW * N + COLUMN,
    ROW * number(-2) + N * M - number(4),
    (ROW + N) * (COLUMN - M),
]


@pytest.mark.parametrize(("left", "right"), itertools.product(SAMPLES, SAMPLES), ids=str)
def test_arithmetic_is_that_of_numbers(left: Polynomial, right: Polynomial) -> None:
    for row, column in ((0, 0), (3, 7), (2, 5)):
        a, b = value_at(left, row, column), value_at(right, row, column)
        assert value_at(left + right, row, column) == a + b
        assert value_at(left - right, row, column) == a - b
        assert value_at(left * right, row, column) == a * b
        assert value_at(-left, row, column) == -a


def test_equal_however_it_was_written() -> None:
    assert (ROW + N) * M == N * M + M * ROW
    assert hash((ROW + N) * M) == hash(M * ROW + M * N)
    assert ROW - ROW == ZERO
    assert (ROW + N) * ZERO == ZERO
    assert not (ROW - ROW).terms


def test_constants() -> None:
    assert number(0).constant == 0
    assert number(-3).constant == -3
    assert (N + number(2) - N).constant == 2
    assert N.constant is None
    assert (N + number(2)).constant is None


def test_what_changes_from_lane_to_lane() -> None:
    assert (N * M + number(1)).is_uniform
    assert (ROW * N).lane_dims() == {0}
    assert (ROW * COLUMN).lane_dims() == {0, 1}
    assert T.lane_dims() == {0, 1}
    assert symbol(Opaque(2, BLOCK.arguments[2], (-1, 1))).lane_dims() == {1}


def test_split_gives_stride_and_rest() -> None:
    polynomial = ROW * N + COLUMN * number(2) + M
    assert polynomial.split(0) == (N, COLUMN * number(2) + M)
    assert polynomial.split(1) == (number(2), ROW * N + M)
    assert polynomial.split(2) == (ZERO, polynomial)


def test_split_refuses_what_is_not_linear() -> None:
    assert (ROW * ROW).split(0) is None
    assert (T + ROW).split(1) is None
    assert (ROW * COLUMN).split(0) == (COLUMN, ZERO)


def test_dimensions_are_renamed() -> None:
    polynomial = ROW * N + COLUMN + T
    swapped = polynomial.map_dims(lambda dim: 1 - dim)
    assert swapped == COLUMN * N + ROW + symbol(Opaque(2, BLOCK.arguments[2], (1, 0)))
    assert swapped.map_dims(lambda dim: 1 - dim) == polynomial


def test_a_dimension_of_one_lane_is_at_lane_zero() -> None:
    assert (ROW * N + COLUMN + M).map_dims(lambda dim: dim if dim else -1) == COLUMN + M


@pytest.mark.parametrize(
    ("polynomial", "text"),
    [
        (ZERO, "0"),
        (number(-2), "-2"),
        (ROW + N, "lane0 + n"),
        (N - ROW, "n - lane0"),
        (M - N * number(3) - number(1), "m - 3*n - 1"),
        (-N, "-n"),
        (T * number(4), "4*t"),
    ],
)
def test_text(polynomial: Polynomial, text: str) -> None:
    assert str(polynomial) == text
