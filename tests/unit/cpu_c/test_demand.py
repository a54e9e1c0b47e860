"""What no store takes of a matrix product is not computed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.cli.kernels import Chosen
from xdsl_core.cli.signature import parse_signature
from xdsl_core.cli.stages import build, destination, generate, lower

pytestmark = pytest.mark.compiler


@xdsl.jit
def stored_in_part(a, b, c, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, BLOCK):
        inside = start + depth < k
        left = tl.load(
            a + (rows % m)[:, None] * k + (start + depth)[None, :], mask=inside[None, :], other=0.0
        )
        right = tl.load(
            b + (start + depth)[:, None] * n + (columns % n)[None, :], mask=inside[:, None], other=0.0
        )
        total = tl.dot(left, right, total)
    places = c + rows[:, None] * n + columns[None, :]
    tl.store(places, total * 2, mask=(rows < m)[:, None] & (columns < n)[None, :])


@xdsl.jit
def stored_twice(a, b, c, d, m, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    places = lanes[:, None] * BLOCK + lanes[None, :]
    total = tl.dot(tl.load(a + places), tl.load(b + places))
    tl.store(c + places, total, mask=(lanes < m)[:, None] & (lanes < 3)[None, :])
    tl.store(d + places, total, mask=(lanes < m)[:, None])


@xdsl.jit
def summed(a, b, c, d, m, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    places = lanes[:, None] * BLOCK + lanes[None, :]
    total = tl.dot(tl.load(a + places), tl.load(b + places))
    tl.store(c + places, total, mask=(lanes < m)[:, None])
    tl.store(d + lanes, tl.sum(total, 0))


def used(kernel: Any, signature: str) -> tuple[str, str]:
    """The extents of rows and columns that the micro-kernel is called with."""
    where = destination("cpu_c", {})
    module = build(Chosen(kernel, parse_signature(signature)), where)
    text = generate(lower(module, where, text=lambda _: "").run.module, where).text
    call = re.search(r"dot_\d+x\d+x\d+_f32\(\w+_buffer, .*, (\w+), (\w+), (\w+)\);", text)
    assert call is not None
    return call[1], call[2]


def integers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(np.float32)


def test_rows_and_columns_beyond_the_end_are_left_out() -> None:
    pointers = "a: *f32, b: *f32, c: *f32, m: i32, n: i32, k: i32, BLOCK=32"
    assert used(stored_in_part, pointers) == ("rows", "columns")


@pytest.mark.parametrize(("m", "n", "k"), [(33, 50, 40), (1, 1, 1), (32, 64, 32), (65, 31, 7), (5, 97, 64)])
def test_what_is_left_out_does_not_reach_what_is_stored(m: int, n: int, k: int) -> None:
    """Beyond the end the tutorial's indexes wrap around; infinities there meet nothing that counts."""
    a, b, c = integers(m, k), integers(k, n), np.full((m + 1, n), -7.0, np.float32)
    grid = (xdsl.cdiv(m, 32), xdsl.cdiv(n, 32))
    stored_in_part.on("cpu_c")[grid](a, b, c, m, n, k, BLOCK=32)
    np.testing.assert_array_equal(c[:m], 2 * (a @ b))
    np.testing.assert_array_equal(c[m:], -7.0)


def test_two_stores_ask_for_what_either_takes() -> None:
    assert used(stored_twice, "a: *f32, b: *f32, c: *f32, d: *f32, m: i32, BLOCK=16") == ("rows", "16")
    a, b = integers(16, 16), integers(16, 16)
    c, d = np.zeros((2, 16, 16), np.float32)
    stored_twice.on("cpu_c")[(1,)](a, b, c, d, 9, BLOCK=16)
    np.testing.assert_array_equal(d[:9], (a @ b)[:9])
    np.testing.assert_array_equal(c[:9, :3], (a @ b)[:9, :3])


def test_a_sum_asks_for_everything() -> None:
    assert used(summed, "a: *f32, b: *f32, c: *f32, d: *f32, m: i32, BLOCK=16") == ("16", "16")
    a, b = integers(16, 16), integers(16, 16)
    c, d = np.zeros((16, 16), np.float32), np.zeros(16, np.float32)
    summed.on("cpu_c")[(1,)](a, b, c, d, 4, BLOCK=16)
    np.testing.assert_array_equal(d, (a @ b).sum(0))
    np.testing.assert_array_equal(c[:4], (a @ b)[:4])
