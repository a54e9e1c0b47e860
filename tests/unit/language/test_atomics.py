"""Atomic loads, stores and polls, and updates of narrow integers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from tests.unit.language.running import run
from xdsl_core.diagnostics import ExecutionError


def load_and_store(x, y, n, VALUE: tl.constexpr):
    i = tl.arange(0, 8)
    tl.store(y + i, tl.atomic_load(x + i, i < n, sem="relaxed"), mask=i < n)
    (x + i).atomic_store(VALUE, i < n, scope="sys")
    tl.store(y + 8, (x + 7).atomic_load())


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.uint16, np.int32, np.uint64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64],
    ids=lambda dtype: np.dtype(dtype).name,
)
def test_loads_and_stores(dtype: Any) -> None:
    x, y = np.arange(1, 9).astype(dtype), np.zeros(9, dtype)
    run(load_and_store, x, y, 5, 3, check=True)
    np.testing.assert_array_equal(y.astype(float), [1, 2, 3, 4, 5, 0, 0, 0, 8])
    np.testing.assert_array_equal(x.astype(float), [3, 3, 3, 3, 3, 6, 7, 8])


@xdsl.jit
def update(x, out, KIND: tl.constexpr):
    i = tl.arange(0, 4)
    if KIND == "add":
        old = tl.atomic_add(x + i, 100)
    elif KIND == "max":
        old = tl.atomic_max(x + i, 5)
    elif KIND == "min":
        old = tl.atomic_min(x + i, 5)
    elif KIND == "and":
        old = tl.atomic_and(x + i, 5)
    elif KIND == "or":
        old = tl.atomic_or(x + i, 5)
    elif KIND == "xor":
        old = tl.atomic_xor(x + i, 5)
    else:
        old = tl.atomic_xchg(x + i, 5)
    tl.store(out + i, old)


MEANINGS = {
    "add": lambda x: x + x.dtype.type(100),
    "max": lambda x: np.maximum(x, 5),
    "min": lambda x: np.minimum(x, 5),
    "and": lambda x: x & 5,
    "or": lambda x: x | 5,
    "xor": lambda x: x ^ 5,
    "xchg": lambda x: x * 0 + 5,
}


@pytest.mark.parametrize("backend", ["reference", pytest.param("cpu_c", marks=pytest.mark.compiler)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize("kind", MEANINGS)
def test_narrow_integers_are_updated(kind: str, dtype: Any, backend: str) -> None:
    x = np.array([1, 5, 7, 100], dtype)
    before, out = x.copy(), np.zeros(4, dtype)
    update.on(backend)[(1,)](x, out, kind)
    np.testing.assert_array_equal(out, before)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(x, MEANINGS[kind](before).astype(dtype))


@xdsl.jit
def hand_over(flag, data, out, n):
    if tl.program_id(0) == 0:
        tl.store(data, 42)
        tl.atomic_store(flag, 1)
    else:
        arrived = tl.atomic_poll(flag, 1)
        tl.store(out + tl.program_id(0), tl.load(data) + arrived.to(tl.int32))


@pytest.mark.parametrize("backend", ["reference", pytest.param("cpu_c", marks=pytest.mark.compiler)])
def test_a_poll_waits_for_a_value(backend: str) -> None:
    flag, data, out = (np.zeros(n, np.int32) for n in (1, 1, 3))
    hand_over.on(backend)[(3,)](flag, data, out, 3)
    assert out.tolist() == [0, 43, 43]


def poll_block(flags, out):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.atomic_poll(flags + i, i.to(tl.int64), sem="relaxed", scope="cta"))


def test_a_block_of_polls_waits_for_all() -> None:
    out = np.zeros(4, bool)
    run(poll_block, np.arange(4), out, check=True)
    assert out.all()


@xdsl.jit
def expecting(x, out):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.expect_zero(tl.load(x + i), i > 1))


def test_expect_zero_gives_its_value_and_checks_it_in_debug_mode() -> None:
    out = np.zeros(4, np.float32)
    x = np.array([1, 2, 0, 3], np.float32)
    expecting.on("reference")[(1,)](x, out)
    np.testing.assert_array_equal(out, x)
    with pytest.raises(ExecutionError, match="expect_zero"):
        expecting.on("reference")[(1,)](x, out, debug=True)
