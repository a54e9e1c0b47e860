"""Arithmetic, bit operations, comparisons, selection and division of every element and lane count."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.cpu_c.vector_harness import NUMPY, Array, Functions, compiler
from xdsl_cpu_c.vector import ELEMENTS
from xdsl_cpu_c.vector.arithmetic import DIVISIONS, PREDICATES, ROWS

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(compiler() is None, reason="no C compiler")]

PREFIXES = ("{}", "{}x8", "{}x16", "{}x32")
TABLE = {(row.name, e.name): row.arity for row in (*ROWS, *PREDICATES, *DIVISIONS) for e in row.elements}


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    names = [f"{prefix.format(element)}_{name}" for name, element in TABLE for prefix in PREFIXES]
    names += [f"{prefix.format(element)}_select" for element in ELEMENTS for prefix in PREFIXES]
    return Functions(tmp_path_factory.mktemp("arithmetic"), names)


def samples(element: str) -> Array:
    """Special values against each other, then random ones; 3 x 1024 values."""
    dtype = NUMPY[element]
    random = np.random.default_rng(7)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        special = [0.0, -0.0, 1, -1, 2.5, -2.5, 0.5, 1.5, 3, np.inf, -np.inf, np.nan, info.max, info.tiny]
        special += [info.smallest_subnormal, -info.smallest_subnormal, info.eps, 1e6 + 0.5]
        body = (random.standard_normal(4096) * 10.0 ** random.integers(-6, 7, 4096)).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        special = [0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.min, limits.min + 1, limits.max // 2]
        body = random.integers(limits.min, limits.max, 4096, dtype=dtype, endpoint=True)
        body[::3] >>= np.array(dtype.itemsize * 4, dtype)
    pairs = np.array([(a, b) for a in special for b in special], dtype)
    count = 1024 - len(pairs)
    x = np.concatenate([pairs[:, 0], body[:count]])
    y = np.concatenate([pairs[:, 1], body[count : 2 * count]])
    z = np.concatenate([np.roll(pairs[:, 0], 3), body[2 * count : 3 * count]])
    return np.stack([x, y, z])


def maximum_number(choose: Callable[..., Any], a: Array, b: Array) -> Array:
    """fmax or fmin with -0 below +0."""
    result = choose(a, b)
    if a.dtype.kind == "f":
        sign = (
            np.signbit(a) & np.signbit(b)
            if choose in (np.fmax, np.maximum)
            else np.signbit(a) | np.signbit(b)
        )
        result = np.where((a == 0) & (b == 0), np.where(sign, -0.0, 0.0).astype(a.dtype), result)
    return result


def high_product(a: Array, b: Array, *, unsigned: bool) -> Array:
    bits = a.dtype.itemsize * 8
    view = np.dtype(f"u{a.dtype.itemsize}" if unsigned else f"i{a.dtype.itemsize}")
    wide = [int(p) * int(q) >> bits for p, q in zip(a.view(view), b.view(view), strict=True)]
    return np.array([w & (1 << bits) - 1 for w in wide], f"u{a.dtype.itemsize}").view(a.dtype)


def divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    signs = np.where((a < 0) != (b < 0), -1, 1)
    quotient = [
        0 if q == 0 else abs(int(p)) // abs(int(q)) * int(s) for p, q, s in zip(a, b, signs, strict=True)
    ]
    return np.array([q & (1 << 64) - 1 for q in quotient], np.uint64).astype(a.dtype)


def remainder(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.fmod(a, b)
    return np.where(b == 0, 0, np.fmod(a, np.where(b == 0, 1, b))).astype(a.dtype)


def fused(a: Array, b: Array, c: Array) -> Array:
    if a.dtype == np.float32:  # the product of two f32 is exact in f64
        return (a.astype(np.longdouble) * b + c).astype(np.float32)
    return a * b + c


EXPECTED: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": np.negative,
    "abs": np.abs,
    "copysign": np.copysign,
    "fma": fused,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: (1 / np.sqrt(a)).astype(a.dtype),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "max": lambda a, b: maximum_number(np.fmax, a, b),
    "min": lambda a, b: maximum_number(np.fmin, a, b),
    "max_nan": lambda a, b: maximum_number(np.maximum, a, b),
    "min_nan": lambda a, b: maximum_number(np.minimum, a, b),
    "max_fast": lambda a, b: np.where(a > b, a, b),
    "min_fast": lambda a, b: np.where(a < b, a, b),
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": np.invert,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "mulhi": lambda a, b: high_product(a, b, unsigned=False),
    "umulhi": lambda a, b: high_product(a, b, unsigned=True),
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "div": divide,
    "rem": remainder,
}
PREDICATE_NAMES = {row.name for row in PREDICATES}


def same_bits(got: Array, expected: Array) -> None:
    """Equal values, equal signs of zero, NaN where NaN."""
    np.testing.assert_array_equal(got, expected)
    if got.dtype.kind == "f":
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(expected)[number])


@pytest.mark.parametrize(("name", "element"), TABLE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operation(functions: Functions, name: str, element: str) -> None:
    operands = samples(element)[: TABLE[name, element]]
    if name in ("shl", "shr"):
        operands[1] &= np.array(ELEMENTS[element].bits - 1, operands.dtype)
    if name == "fma" and element == "f64":
        operands = np.trunc(operands * 1e-3).clip(-1e6, 1e6)  # exact without a wider type
    expected = EXPECTED[name](*operands)
    for prefix in PREFIXES:
        got = functions(f"{prefix.format(element)}_{name}", *operands)
        if name in PREDICATE_NAMES:
            true = 1 if prefix == "{}" else -1
            np.testing.assert_array_equal(got, np.where(expected, true, 0))
        else:
            same_bits(got, expected)


@pytest.mark.parametrize("element", ELEMENTS)
def test_select(functions: Functions, element: str) -> None:
    x, y, _ = samples(element)
    mask = np.random.default_rng(1).integers(0, 2, x.size).astype(bool)
    for prefix in PREFIXES:
        lanes = np.where(mask, 1 if prefix == "{}" else -1, 0)
        same_bits(functions(f"{prefix.format(element)}_select", lanes, x, y), np.where(mask, x, y))
