"""Which dtype an operation computes in, against a table taken from Triton 3.9."""

from __future__ import annotations

import itertools

import pytest

from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError
from xdsl_core.language.semantics.promotion import computation_dtype, literal_dtype

# the first column is the left operand, the order of the columns that of the rows
TABLE = """
i1   i1   i8   i16  i32  i64  u8   u16  u32  u64  f16  f32  f32  f64
i8   i8   i8   i16  i32  i64  u8   u16  u32  u64  f16  f32  f32  f64
i16  i16  i16  i16  i32  i64  i16  u16  u32  u64  f16  f32  f32  f64
i32  i32  i32  i32  i32  i64  i32  i32  u32  u64  f16  f32  f32  f64
i64  i64  i64  i64  i64  i64  i64  i64  i64  u64  f16  f32  f32  f64
u8   u8   u8   i16  i32  i64  u8   u16  u32  u64  f16  f32  f32  f64
u16  u16  u16  u16  i32  i64  u16  u16  u32  u64  f16  f32  f32  f64
u32  u32  u32  u32  u32  i64  u32  u32  u32  u64  f16  f32  f32  f64
u64  u64  u64  u64  u64  u64  u64  u64  u64  u64  f16  f32  f32  f64
f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f64
bf16 f32  f32  f32  f32  f32  f32  f32  f32  f32  f16  bf16 f32  f64
f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64
f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
"""
ROWS = [[dtypes.BY_NAME[name] for name in line.split()] for line in TABLE.strip().splitlines()]
NAMES = [row[0] for row in ROWS]
PAIRS = [(row[0], right, result) for row in ROWS for right, result in zip(NAMES, row[1:], strict=True)]
KINDS = {"bool": 0, "int": 1, "uint": 1, "float": 2}


def test_two_tensors() -> None:
    for left, right, result in PAIRS:
        assert computation_dtype(left, right) is result, (left, right)
        assert computation_dtype(left, right, weak_left=True, weak_right=True) is result, (left, right)


def test_a_number_of_no_higher_kind_does_not_widen() -> None:
    for number, other, result in PAIRS:
        expected = other if KINDS[number.kind] <= KINDS[other.kind] else result
        assert computation_dtype(number, other, weak_left=True) is expected, (number, other)
        assert computation_dtype(other, number, weak_right=True) is expected, (number, other)


def test_divisions() -> None:
    for left, right, result in PAIRS:
        if left.is_float or right.is_float:
            wide = dtypes.f64 if dtypes.f64 in (left, right) else dtypes.f32
            assert computation_dtype(left, right, division=True) is wide, (left, right)
        elif left.is_signed == right.is_signed:
            assert computation_dtype(left, right, division=True) is result, (left, right)
        else:
            with pytest.raises(CompilationError) as caught:
                computation_dtype(left, right, division=True)
            assert caught.value.code == "X0120"


def test_fp8_meets_only_floats() -> None:
    e4, e5 = dtypes.f8e4m3fn, dtypes.f8e5m2
    assert computation_dtype(e4, e4) is e4
    assert computation_dtype(e4, e5) is dtypes.f16
    assert computation_dtype(e4, dtypes.bf16) is dtypes.f32
    assert computation_dtype(e4, dtypes.f16) is dtypes.f16
    for left, right in itertools.permutations((e4, dtypes.i32)):
        with pytest.raises(CompilationError) as caught:
            computation_dtype(left, right)
        assert caught.value.code == "X0119"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "i1"),
        (0, "i32"),
        (2**31 - 1, "i32"),
        (-(2**31), "i32"),
        (2**31, "u32"),
        (2**32 - 1, "u32"),
        (2**32, "i64"),
        (-(2**31) - 1, "i64"),
        (2**63, "u64"),
        (2**64 - 1, "u64"),
        (0.1, "f32"),
        (0.0, "f32"),
        (float("inf"), "f32"),
        (float("nan"), "f32"),
        (2.0**-126, "f32"),
        (1e-40, "f64"),
        (3.5e38, "f64"),
    ],
)
def test_numbers(value: float, dtype: str) -> None:
    assert literal_dtype(value) is dtypes.BY_NAME[dtype]


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_numbers_beyond_64_bits(value: int) -> None:
    with pytest.raises(CompilationError) as caught:
        literal_dtype(value)
    assert caught.value.code == "X0121"
