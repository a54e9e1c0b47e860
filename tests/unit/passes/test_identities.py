"""Every row of the tables of identities holds for all special values of every dtype it claims."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.passes.helpers import after, tidy
from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import Builder, Function, TileType, Value
from xdsl_core.ir.types import with_element
from xdsl_core.ops import (
    Abs,
    Add,
    And,
    Cast,
    Constant,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Neg,
    Not,
    Or,
    Sub,
    Xor,
)
from xdsl_core.passes import Canonicalize
from xdsl_core.passes.conversions import is_exact
from xdsl_core.passes.evaluation import Evaluator
from xdsl_core.passes.identities import (
    ASSOCIATIVE,
    LHS,
    MIRRORED,
    NEGATED,
    OF_UNARY,
    ONES,
    WITH_CONSTANT,
    WITH_ITSELF,
)

Array = Any


def special(dtype: DType) -> Array:
    """Values at the edges of a dtype, and all values of the narrow ones; floats as float64."""
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.bits == 8:
        bits = np.arange(256, dtype=np.uint8).view(dtype.numpy)
        return bits.astype(np.float64) if dtype.is_float else bits
    if not dtype.is_float:
        low, high = int(dtype.lowest), int(dtype.highest)
        return np.array([0, 1, 2, 3, 7, high, high - 1, low, low + 1, high // 2 + 1, low // 2], dtype.numpy)
    info = ml_dtypes.finfo(dtype.numpy)
    positive = [0.0, float(info.smallest_subnormal), float(info.tiny), 0.5, 1.0, 1.0 + float(info.eps), 3.0]
    positive += [float(info.max), np.inf, np.nan]
    return np.array([*positive, *(-value for value in positive)])


def evaluate(definition: Any, *arrays: Array, of: DType, **attributes: Any) -> Array | None:
    """The reference applied to tiles of one dtype, rounded; None if the op does not take the dtype."""
    types = [TileType((array.size,), of) for array in arrays]
    function = Function("f", [("x", type) for type in types])
    evaluator = Evaluator(largest=10**6)
    evaluator.known.update(zip(function.parameters, arrays, strict=True))
    if not all(
        facet.pattern.admits(value.type)
        for facet, value in zip(definition.operands.values(), function.parameters, strict=True)
    ):
        return None
    op = Builder(function.block).build(definition, *function.parameters, **attributes)
    assert evaluator.evaluate(op)
    return np.broadcast_to(evaluator.known[op.results[0]], arrays[0].shape)


def assert_same(actual: Array, expected: Array, reason: str) -> None:
    wrong = actual != expected
    if np.asarray(expected).dtype.kind == "f":
        wrong |= np.signbit(actual) != np.signbit(expected)
        wrong &= ~(np.isnan(actual) & np.isnan(expected))
    assert not wrong.any(), (reason, actual[wrong], expected[wrong])


def number(wanted: Any, dtype: DType, like: Array) -> Array:
    """A constant of a table as an array."""
    if wanted == ONES:
        return np.full(like.shape, True) if dtype.is_bool else ~np.zeros(like.shape, dtype.numpy)
    return np.full(like.shape, wanted, like.dtype)


def rows_and_dtypes(rows: Any) -> Iterator[Any]:
    for row, dtype in itertools.product(rows, dtypes.ALL):
        if row.kinds(dtype):
            operation = getattr(row, "op", None) or row.outer
            yield pytest.param(row, dtype, id=f"{operation.name}-{dtype}-{getattr(row, 'constant', '')}")


@pytest.mark.parametrize(("row", "dtype"), rows_and_dtypes(WITH_CONSTANT))
def test_with_constant(row: Any, dtype: DType) -> None:
    values = special(dtype)
    actual = evaluate(row.op, values, number(row.constant, dtype, values), of=dtype)
    if actual is not None:
        expected = (
            values if row.gives == LHS else np.broadcast_to(number(row.gives, dtype, values), actual.shape)
        )
        assert_same(actual, expected.astype(actual.dtype), row.reason)


@pytest.mark.parametrize(("row", "dtype"), rows_and_dtypes(WITH_ITSELF))
@pytest.mark.parametrize("propagate_nan", [False, True])
def test_with_itself(row: Any, dtype: DType, propagate_nan: bool) -> None:
    values = special(dtype)
    extra = {"propagate_nan": propagate_nan} if "propagate_nan" in row.op.attributes else {}
    actual = evaluate(row.op, values, values, of=dtype, **extra)
    if actual is not None:
        expected = values if row.gives == LHS else number(row.gives, dtype, values).astype(actual.dtype)
        assert_same(actual, expected, row.reason)


@pytest.mark.parametrize(("row", "dtype"), rows_and_dtypes(OF_UNARY))
def test_of_unary(row: Any, dtype: DType) -> None:
    values = special(dtype)
    inner = evaluate(row.inner, values, of=dtype)
    if inner is not None:
        expected = values if row.gives is None else evaluate(row.gives, values, of=dtype)
        assert_same(evaluate(row.outer, inner, of=dtype), expected, row.reason)


def pairs(dtype: DType) -> tuple[Array, Array]:
    values = special(dtype)[:40]
    first, second = np.meshgrid(values, values)
    return first.reshape(-1), second.reshape(-1)


@pytest.mark.parametrize(("operation", "kinds"), ASSOCIATIVE, ids=[row[0].name for row in ASSOCIATIVE])
def test_associative(operation: Any, kinds: Any) -> None:
    for dtype in filter(kinds, dtypes.ALL):
        first, second = pairs(dtype)
        third = np.roll(second, 7)
        inner = evaluate(operation, first, second, of=dtype)
        if inner is not None:
            merged = evaluate(operation, second, third, of=dtype)
            left, right = (evaluate(operation, *two, of=dtype) for two in ((inner, third), (first, merged)))
            assert_same(left, right, operation.name)


@pytest.mark.parametrize(("operation", "mirrored"), MIRRORED, ids=[row[0].name for row in MIRRORED])
def test_mirrored(operation: Any, mirrored: Any) -> None:
    for dtype in dtypes.ALL:
        first, second = pairs(dtype)
        expected = evaluate(operation, first, second, of=dtype)
        assert_same(evaluate(mirrored, second, first, of=dtype), expected, operation.name)


@pytest.mark.parametrize(("operation", "negated"), NEGATED, ids=[row[0].name for row in NEGATED])
def test_negated(operation: Any, negated: Any) -> None:
    for dtype in dtypes.ALL:
        if not dtype.is_float:
            first, second = pairs(dtype)
            expected = ~evaluate(operation, first, second, of=dtype)
            assert_same(evaluate(negated, first, second, of=dtype), expected, operation.name)


@pytest.mark.parametrize(("source", "target"), itertools.product(dtypes.ALL, dtypes.ALL), ids=str)
def test_exact_casts_lose_nothing(source: DType, target: DType) -> None:
    if source is target or not is_exact(source, target):
        return
    values = special(source)
    there = evaluate(Cast, values, of=source, to=target)
    assert there is not None
    assert_same(evaluate(Cast, there, of=target, to=source), values, f"{source} -> {target}")
    for other in (dtypes.f32, dtypes.f16, dtypes.i64, dtypes.i8, dtypes.i1, dtypes.u32, dtypes.f8e4m3fn):
        if other in (source, target):
            continue
        direct = evaluate(Cast, values, of=source, to=other)
        detour = evaluate(Cast, there, of=target, to=other)
        defined = np.full(values.shape, True)
        if target.is_float and not other.is_float and not other.is_bool:
            with np.errstate(invalid="ignore"):
                defined = (there >= float(other.lowest)) & (there <= float(other.highest))
        assert_same(detour[defined], direct[defined], f"{source} -> {target} -> {other}")


def test_some_casts_are_exact_and_some_are_not() -> None:
    assert is_exact(dtypes.f16, dtypes.f32)
    assert is_exact(dtypes.u8, dtypes.bf16)
    assert not is_exact(dtypes.u16, dtypes.f16)
    assert not is_exact(dtypes.i64, dtypes.f64)
    assert not is_exact(dtypes.i32, dtypes.u64)
    assert not is_exact(dtypes.f16, dtypes.bf16)
    assert not is_exact(dtypes.u8, dtypes.i8)


# each looks like an identity and is none: it must be left as it is
NOT_IDENTITIES = {
    "-0.0 + 0.0 is 0.0": """
        %k = tile.constant {value = 0.0, type = f32} : f32
        %r = tile.add %f, %k : f32""",
    "-0.0 - -0.0 is 0.0": """
        %k = tile.constant {value = -0.0, type = f32} : f32
        %r = tile.sub %f, %k : f32""",
    "NaN * 0 is NaN": """
        %k = tile.constant {value = 0.0, type = f32} : f32
        %r = tile.mul %f, %k : f32""",
    "NaN - NaN is NaN": "%r = tile.sub %f, %f : f32",
    "NaN / NaN is NaN": "%r = tile.div %f, %f : f32",
    "NaN == NaN is false": """
        %a = tile.eq %f, %f : i1
        %r = tile.cast %a {to = dtype<f32>} : f32""",
    "not (NaN < x) is true": """
        %a = tile.lt %f, %g : i1
        %b = tile.not %a : i1
        %r = tile.cast %b {to = dtype<f32>} : f32""",
    "float sums round": """
        %k = tile.constant {value = 0.1, type = f32} : f32
        %a = tile.add %f, %k : f32
        %r = tile.add %a, %k : f32""",
    "f32 to f16 loses bits": """
        %a = tile.cast %f {to = dtype<f16>} : f16
        %r = tile.cast %a {to = dtype<f32>} : f32""",
    "saturation drops infinities": """
        %a = tile.cast %h {to = dtype<f32>} : f32
        %b = tile.cast %a {to = dtype<f16>, saturate = true} : f16
        %r = tile.cast %b {to = dtype<f32>} : f32""",
    "an unsigned negative has no sign": """
        %a = tile.neg %u : u8
        %b = tile.abs %a : u8
        %r = tile.cast %b {to = dtype<f32>} : f32""",
    "offsets may wrap": """
        %k = tile.constant {value = 2147483647, type = i32} : i32
        %a = tile.offset %p, %k : ptr<f32>
        %b = tile.offset %a, %k : ptr<f32>
        %r = memory.load %b : f32""",
}


@pytest.mark.parametrize("body", NOT_IDENTITIES.values(), ids=NOT_IDENTITIES)
def test_what_is_no_identity_stays(body: str) -> None:
    body += "\nmemory.store %p, %r"
    assert after(Canonicalize(), body) == tidy(body)


def test_tables_use_each_op_that_has_identities() -> None:
    used = {row.op for row in (*WITH_CONSTANT, *WITH_ITSELF)} | {row.outer for row in OF_UNARY}
    assert used >= {Add, Sub, Mul, And, Or, Xor, Min, Max, Eq, Ne, Lt, Le, Gt, Ge, Neg, Not, Abs}


def test_helper_tells_zeros_apart() -> None:
    with pytest.raises(AssertionError):
        assert_same(np.array([0.0]), np.array([-0.0]), "zeros differ")
    value = Function("f", [("x", TileType((4,), dtypes.f32))]).parameters[0]
    assert isinstance(value, Value)
    assert with_element(value.type, dtypes.i32) == TileType((4,), dtypes.i32)
    assert Constant.name == "tile.constant"
