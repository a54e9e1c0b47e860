"""Functions of the language against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.language.running import evaluate, run
from xdsl_core.frontend.python.source import JitSource

GENERATOR = np.random.default_rng(7)
FLOATS = GENERATOR.uniform(0.1, 0.9, (8, 4)).astype(np.float32)
INTEGERS = GENERATOR.integers(-100, 100, (8, 4)).astype(np.int32)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tl.trans(x)", lambda x: x.T),
        ("x.permute(1, 0)", lambda x: x.T),
        ("x.permute((-1, 0))", lambda x: x.T),
        ("x.T", lambda x: x.T),
        ("tl.trans(x[None, :, :])", lambda x: x.T[None]),
        ("tl.reshape(x, 2, 16)", lambda x: x.reshape(2, 16)),
        ("x.reshape((4, 8))", lambda x: x.reshape(4, 8)),
        ("x.view([32])", lambda x: x.reshape(32)),
        ("x.ravel()", lambda x: x.reshape(32)),
        ("tl.expand_dims(x, 1)", lambda x: x[:, None]),
        ("tl.expand_dims(x, (0, -1))", lambda x: x[None, ..., None]),
        ("x[None, :, None, :]", lambda x: x[None, :, None]),
        ("x[..., None]", lambda x: x[..., None]),
        ("x[:, :]", lambda x: x),
        ("tl.broadcast_to(x[None, :, :], 3, 8, 4)", lambda x: np.broadcast_to(x, (3, 8, 4))),
        ("tl.broadcast(x[:, None, :], x[None, :, :])[0]", lambda x: np.broadcast_to(x[:, None], (8, 8, 4))),
        ("tl.flip(x)", lambda x: x[:, ::-1]),
        ("x.flip(0)", lambda x: x[::-1]),
        ("tl.squeeze(x[:, None, :], 1)", lambda x: x),
        ("tl.unsqueeze(x, -1)", lambda x: x[..., None]),
        ("tl.zeros_like(x)", lambda x: x * 0),
        ("tl.zeros((2, 3), x.dtype)", lambda x: np.zeros((2, 3), x.dtype)),
        ("tl.full([3], 7, x.dtype)", lambda x: np.full(3, 7, x.dtype)),
        ("tl.full([3], tl.max(x), x.dtype)", lambda x: np.full(3, x.max())),
        ("tl.max(x, 0).reshape(2, 2)", lambda x: x.max(0).reshape(2, 2)),
        ("tl.max(x).reshape(1, 1)", lambda x: x.max().reshape(1, 1)),
        ("tl.max(x)[None, None].item()", lambda x: x.max()),
        ("tl.max(x)[None]", lambda x: x.max().reshape(1)),
    ],
)
@pytest.mark.parametrize("x", [INTEGERS, FLOATS], ids=["i32", "f32"])
def test_shapes(expression: str, expected: Any, x: np.ndarray) -> None:
    wanted = expected(x)
    found = evaluate(expression, x)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tl.exp(x)", np.exp),
        ("tl.math.exp2(x)", np.exp2),
        ("x.log()", np.log),
        ("tl.log2(x)", np.log2),
        ("tl.sin(x)", np.sin),
        ("tl.cos(x)", np.cos),
        ("tl.tanh(x)", np.tanh),
        ("tl.sqrt(x)", np.sqrt),
        ("x.rsqrt()", lambda x: 1 / np.sqrt(x)),
        ("tl.floor(x * 10)", lambda x: np.floor(x * 10)),
        ("tl.ceil(x * 10)", lambda x: np.ceil(x * 10)),
        ("tl.math.rint(x * 10)", lambda x: np.rint(x * 10)),
        ("tl.abs(x - 0.5)", lambda x: np.abs(x - x.dtype.type(0.5))),
        ("tl.sigmoid(x)", lambda x: 1 / (1 + np.exp(-x))),
        ("x.softmax()", lambda x: np.exp(x) / np.exp(x).sum(0)),
        ("tl.softmax(x, 1)", lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
        ("tl.fma(x, 2.0, 1)", lambda x: x * 2 + 1),
        ("tl.fdiv(x, 3)", lambda x: x / 3),
        ("tl.math.pow(x, 1.5)", lambda x: x**1.5),
        ("tl.math.atan2(x, 0.5)", lambda x: np.arctan2(x, 0.5)),
        ("x % 0.3", lambda x: np.fmod(x, x.dtype.type(0.3))),
        ("tl.clamp(x, 0.3, 0.5)", lambda x: np.clip(x, 0.3, 0.5)),
        ("tl.minimum(x, 0.5)", lambda x: np.minimum(x, 0.5)),
        ("max(x, 0.5)", lambda x: np.maximum(x, 0.5)),
        ("abs(-x)", lambda x: x),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_math(expression: str, expected: Any, dtype: Any) -> None:
    x = FLOATS.astype(dtype)
    found = evaluate(expression, x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected(x), rtol=2e-6)


def test_erf() -> None:
    from math import erf

    np.testing.assert_allclose(evaluate("tl.erf(x)", FLOATS), np.vectorize(erf)(FLOATS), rtol=1e-6)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("tl.sum(x, 0)", lambda x: x.sum(0)),
        ("x.sum(axis=-1)", lambda x: x.sum(1)),
        ("tl.sum(x)", lambda x: x.sum()),
        ("tl.sum(x, keep_dims=True)", lambda x: x.sum(keepdims=True)),
        ("tl.sum(x, 1, keep_dims=True)", lambda x: x.sum(1, keepdims=True)),
        ("tl.max(x, 1)", lambda x: x.max(1)),
        ("tl.min(x)", lambda x: x.min()),
        ("tl.max(x, 0, return_indices=True)[1]", lambda x: x.argmax(0)),
        ("tl.max(x, 0, return_indices=True, keep_dims=True)[0]", lambda x: x.max(0, keepdims=True)),
        ("tl.argmin(x, 1)", lambda x: x.argmin(1)),
        ("x.argmax(axis=1, keep_dims=True)", lambda x: x.argmax(1)[:, None]),
        ("tl.cumsum(x, 0)", lambda x: x.cumsum(0)),
        ("tl.cumsum(x, 1, reverse=True)", lambda x: x[:, ::-1].cumsum(1)[:, ::-1]),
        ("tl.cumprod(x, axis=1)", lambda x: x.cumprod(1)),
        ("tl.reduce(x, 1, larger)", lambda x: x.max(1)),
        ("tl.reduce(x, None, larger, keep_dims=True)", lambda x: x.max(keepdims=True)),
        ("tl.associative_scan(x, 0, larger)", lambda x: np.maximum.accumulate(x, 0)),
        (
            "x.associative_scan(1, larger, reverse=True)",
            lambda x: np.maximum.accumulate(x[:, ::-1], 1)[:, ::-1],
        ),
    ],
)
@pytest.mark.parametrize("x", [INTEGERS, FLOATS], ids=["i32", "f32"])
def test_reductions(expression: str, expected: Any, x: np.ndarray) -> None:
    found = evaluate(expression, x, larger=larger)
    wanted = expected(x).astype(found.dtype)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def _larger(a, b):
    if a > b:
        return a
    return b


larger = JitSource(_larger)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint64])
def test_bits(dtype: Any) -> None:
    x = INTEGERS.astype(dtype)
    for expression, operation in (("xor_sum", np.bitwise_xor), ("reduce_or", np.bitwise_or)):
        np.testing.assert_array_equal(evaluate(f"tl.{expression}(x, 0)", x), operation.reduce(x, axis=0))


@pytest.mark.parametrize(
    ("dtype", "total", "extreme"),
    [
        ("bool", "uint32", "int32"),
        ("int8", "int32", "int32"),
        ("uint8", "uint32", "int32"),
        ("int16", "int32", "int32"),
        ("uint16", "uint32", "int32"),
        ("int32", "int32", "int32"),
        ("uint64", "uint64", "uint64"),
        ("float16", "float16", "float32"),
        (ml_dtypes.bfloat16, ml_dtypes.bfloat16, "float32"),
        ("float64", "float64", "float64"),
    ],
)
def test_dtypes_of_reductions(dtype: Any, total: Any, extreme: Any) -> None:
    x = np.ones((4, 2)).astype(dtype)
    assert evaluate("tl.sum(x, 0)", x).dtype == total
    assert evaluate("tl.cumsum(x, 0)", x).dtype == total
    assert evaluate("tl.max(x, 0)", x).dtype == extreme
    assert evaluate("tl.max(x, 0, return_indices=True)[0]", x).dtype == dtype
    assert evaluate("tl.sum(x, 0, dtype=tl.float32)", x).dtype == np.float32


def test_ties_and_nan_of_searches() -> None:
    x = np.array([1, 3, 3, 2, NAN, 3], np.float32)
    assert evaluate("tl.argmax(x, 0)", x) == 1
    assert evaluate("tl.argmin(x, 0)", x) == 0
    assert evaluate("tl.max(x, 0)", x) == 3


def _umulhi(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The high half of the product of the operands' bits, read as unsigned."""
    product = x.view(np.uint32).astype(np.uint64) * y.view(np.uint32).astype(np.uint64)
    return (product >> np.uint64(32)).astype(np.uint32).view(np.int32)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x & y", lambda x, y: x & y),
        ("x | 3", lambda x, y: x | 3),
        ("5 ^ x", lambda x, y: 5 ^ x),
        ("~x", lambda x, y: ~x),
        ("x << 3", lambda x, y: x << 3),
        ("x >> 2", lambda x, y: x >> 2),
        ("-x", lambda x, y: -x),
        ("+x", lambda x, y: x),
        ("x == y", lambda x, y: x == y),
        ("x != y", lambda x, y: x != y),
        ("3 < x", lambda x, y: x > 3),
        ("x <= y", lambda x, y: x <= y),
        ("(-50 < x) & (x < y)", lambda x, y: (x > -50) & (x < y)),
        ("-50 < x < y", lambda x, y: (x > -50) & (x < y)),
        ("not (x > y)", lambda x, y: ~(x > y)),
        ("(x > 0) or (y > 0)", lambda x, y: (x > 0) | (y > 0)),
        ("(x > 0).logical_and(y > 0)", lambda x, y: (x > 0) & (y > 0)),
        ("x / y", lambda x, y: x.astype(np.float32) / y.astype(np.float32)),
        ("x // 7", lambda x, y: np.trunc(x / 7).astype(np.int32)),
        ("x % 7", lambda x, y: np.fmod(x, 7)),
        ("1000 - x", lambda x, y: 1000 - x),
        ("tl.where(x > y, x, 0)", lambda x, y: np.where(x > y, x, 0)),
        ("tl.where(tl.max(x) > 0, x, y)", lambda x, y: x if x.max() > 0 else y),
        ("tl.umulhi(x, y)", _umulhi),
        ("tl.cdiv(x, 4)", lambda x, y: np.trunc((x + 3) / 4).astype(np.int32)),
        ("tl.clamp(x, -5, 5)", lambda x, y: np.clip(x, -5, 5)),
        ("tl.add(x, y) - tl.sub(x, 1) * tl.mul(2, y)", lambda x, y: x + y - (x - 1) * (2 * y)),
    ],
)
def test_operators(expression: str, expected: Any) -> None:
    y = np.roll(INTEGERS, 5)
    y[y == 0] = 1
    found = evaluate(expression, INTEGERS, y)
    wanted = expected(INTEGERS, y)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_shifts_of_unsigned_numbers_bring_in_zeros() -> None:
    x = np.array([0xFFFFFFF0, 16], np.uint32)
    assert evaluate("x >> 4", x).tolist() == [0x0FFFFFFF, 1]
    assert evaluate("x.to(tl.int32) >> 4", x).tolist() == [-1, 1]


def test_sums_of_bools_are_one_bit() -> None:
    x, y = np.array([0, 0, 1, 1], np.bool_), np.array([0, 1, 0, 1], np.bool_)
    assert evaluate("x + y", x, y).tolist() == [False, True, True, False]
    assert evaluate("x * y", x, y).tolist() == [False, False, False, True]
    assert evaluate("tl.maximum(x, y)", x, y).tolist() == [False, True, True, True]
    assert evaluate("x + 1", x).tolist() == [1, 1, 2, 2]


CASTS = [tl.int1, tl.int8, tl.int64, tl.uint8, tl.uint32, tl.float16, tl.bfloat16, tl.float32, tl.float64]


@pytest.mark.parametrize("target", CASTS, ids=str)
@pytest.mark.parametrize("source", [np.int32, np.uint8, np.float32, np.float64, np.bool_, np.float16])
def test_casts(source: Any, target: tl.dtype) -> None:
    x = np.array([0, 1, 2, 100, 5], np.int32).astype(source)
    found = evaluate(f"x.to(tl.{target.row.triton})", x)
    np.testing.assert_array_equal(found, x.astype(target.row.numpy))


@pytest.mark.parametrize("target", ["float8e4nv", "float8e5", "float8e4b8", "float8e5b16", "float8e4b15"])
def test_fp8_casts(target: str) -> None:
    x = np.array([0.0, 1.0, -2.5, 0.3, 17.0], np.float32)
    found = evaluate(f"x.to(tl.{target}).to(tl.float32)", x)
    np.testing.assert_array_equal(found, x.astype(getattr(tl, target).row.numpy).astype(np.float32))


def test_bitcasts_and_rounding() -> None:
    x = np.array([1.0, -0.0, 1.00390625, 3.99], np.float32)
    assert evaluate("x.to(tl.int32, bitcast=True)", x).tobytes() == x.tobytes()
    assert evaluate("tl.cast(x, tl.uint32, bitcast=True)", x).tobytes() == x.tobytes()
    toward_zero = evaluate("x.to(tl.bfloat16, fp_downcast_rounding='rtz').to(tl.float32)", x)
    assert toward_zero.tolist() == [1.0, -0.0, 1.0, 3.984375]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8])
def test_dot(dtype: Any) -> None:
    a = GENERATOR.integers(0, 5, (8, 4)).astype(dtype)
    found = evaluate("tl.dot(x, tl.trans(y))", a, a)
    wanted = a.astype(np.float64) @ a.astype(np.float64).T
    assert found.dtype == {np.float64: np.float64, np.int8: np.int32, np.uint8: np.int32}.get(
        dtype, np.float32
    )
    np.testing.assert_array_equal(found, wanted)


def test_dot_adds_to_its_accumulator() -> None:
    a = GENERATOR.integers(0, 5, (4, 4)).astype(np.float16)
    wanted = a.astype(np.float32) @ a + a
    assert (evaluate("tl.dot(x, x, x.to(tl.float32))", a) == wanted).all()
    half = evaluate("tl.dot(x, x, acc=x, out_dtype=tl.float16)", a)
    assert half.dtype == np.float16
    assert (half == wanted).all()
    batch = GENERATOR.integers(0, 5, (2, 3, 4, 4)).astype(np.float32)
    assert (evaluate("tl.dot(x, x)", batch) == batch @ batch).all()


def test_swizzle2d_walks_groups_of_rows_column_by_column() -> None:
    def kernel(out):
        i, j = tl.arange(0, 5)[:, None], tl.arange(0, 4)[None, :]
        new_i, new_j = tl.swizzle2d(i, j, 5, 4, 2)
        tl.store(out + new_i * 4 + new_j, i * 4 + j)

    out = np.zeros((5, 4), np.int32)
    run(kernel, out)
    expected = [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15], [16, 17, 18, 19]]
    assert out.tolist() == expected


def test_atomics() -> None:
    def kernel(x, y, old):
        i = tl.arange(0, 4)
        tl.store(old + i, tl.atomic_max(x + i, 3))
        tl.atomic_min(x + i, 5)
        tl.atomic_xor(x + i, 1, mask=i > 0)
        (x + 4).atomic_or(8)
        tl.atomic_and(x + 4, 12)
        tl.store(old + 4, tl.atomic_xchg(x + 5, 70))
        tl.store(old + 5, tl.atomic_cas(x + 6, 6, 60))
        tl.store(old + 6, tl.atomic_cas(x + 7, 0, 60))
        tl.atomic_add(y, 0.5)

    x, y, old = np.arange(8, dtype=np.int32), np.ones(1, np.float32), np.zeros(7, np.int32)
    run(kernel, x, y, old)
    assert x.tolist() == [3, 2, 2, 2, 12, 70, 60, 7]
    assert old.tolist() == [0, 1, 2, 3, 5, 6, 7]
    assert y[0] == 1.5


def test_print_and_assert(capsys: pytest.CaptureFixture[str]) -> None:
    def kernel(x):
        v = tl.load(x + tl.arange(0, 4))
        tl.static_print("compiling", v.dtype)
        print("values", v)
        tl.device_assert(v >= 0, "never looked at without debug")

    run(kernel, np.array([1, -2, 3, 4], np.int32))
    text = capsys.readouterr().out
    assert "compiling int32" in text
    assert "1" in text
    assert "-2" in text


def test_numbers_are_rounded_once() -> None:
    # 0.1 in f32, then in f16; 2**24 + 1 directly to f16 would overflow
    x = np.zeros(2, np.float16)

    def kernel(x):
        tl.store(x, 0.1)
        tl.store(x + 1, 2049)

    run(kernel, x)
    assert x.tolist() == [float(np.float16(np.float32(0.1))), float(np.float16(2049))]


def test_stored_integers_wrap() -> None:
    def kernel(x, y):
        tl.store(x + tl.arange(0, 2), 300)
        tl.store(y, -1)

    x, y = np.zeros(2, np.int8), np.zeros(1, np.uint32)
    run(kernel, x, y)
    assert x.tolist() == [44, 44]
    assert y[0] == 2**32 - 1


@pytest.mark.parametrize(
    "x", [INTEGERS % 3, FLOATS * (INTEGERS % 2), INTEGERS % 2 == 0], ids=["i32", "f32", "i1"]
)
def test_not_is_true_of_zero(x: np.ndarray) -> None:
    np.testing.assert_array_equal(evaluate("not x", x), x == 0)
