"""Packed right operands are kept for the next program, and only where they are the same."""

from __future__ import annotations

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.cli.kernels import Chosen
from xdsl_core.cli.signature import parse_signature
from xdsl_core.cli.stages import build, destination, generate, lower

pytestmark = pytest.mark.compiler


@xdsl.jit
def products(a, b, c, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for step in range(tl.cdiv(k, BLOCK)):
        depth = step * BLOCK + tl.arange(0, BLOCK)
        left = tl.load(a + rows[:, None] * k + depth[None, :], mask=depth[None, :] < k, other=0.0)
        inside = (depth[:, None] < k) & (columns[None, :] < n)
        right = tl.load(b + depth[:, None] * n + columns[None, :], mask=inside, other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=columns[None, :] < n)


@xdsl.jit
def powers(a, b, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    places = lanes[:, None] * BLOCK + lanes[None, :]
    for _ in range(3):
        product = tl.dot(tl.load(a + places), tl.load(b + places))
        tl.store(b + places, product)


def source(kernel: object, signature: str) -> tuple[str, str]:
    """The C text of a kernel, and of its variant for overlapping arguments."""
    where = destination("cpu_c", {})
    chosen = Chosen(kernel, parse_signature(signature))
    made = generate(lower(build(chosen, where), where, text=lambda _: "").run.module, where)
    return made.text, made.files.get("overlapping.c", made.text)


PRODUCTS = "a: *f32, b: *f32, c: *f32, n: i32, k: i32, BLOCK=16"


def test_a_rhs_that_nothing_writes_is_kept() -> None:
    text, overlapping = source(products, PRODUCTS)
    assert "is_packed(" in text
    assert "is_packed(" not in overlapping


def test_a_rhs_that_the_kernel_writes_is_packed_each_time() -> None:
    text, _ = source(powers, "a: *f32, b: *f32, BLOCK=16")
    assert "is_packed(" not in text
    generator = np.random.default_rng(0)
    a, b = generator.integers(-2, 3, (2, 16, 16)).astype(np.float32)
    expected = a @ a @ a @ b
    powers.on("cpu_c")[(1,)](a, b, BLOCK=16)
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("k", [8, 16, 40, 4096 * 2 + 5])
def test_programs_of_other_columns_and_launches_with_other_values_pack_their_own(k: int) -> None:
    """The last depth has more steps than places for panels."""
    generator = np.random.default_rng(k)
    m, n = 64, 50
    for _ in range(2):
        a = generator.integers(-3, 4, (m, k)).astype(np.float32)
        b = generator.integers(-3, 4, (k, n)).astype(np.float32)
        c = np.full((m, n), np.nan, np.float32)
        products.on("cpu_c")[(4, 4)](a, b, c, n, k, BLOCK=16)
        np.testing.assert_array_equal(c, a @ b)


def test_a_launch_sees_what_was_written_between_launches() -> None:
    a, b, c = (np.ones((16, 16), np.float32) for _ in range(3))
    for value in (1, 2, 3):
        b[...] = value
        products.on("cpu_c")[(1, 1)](a, b, c, 16, 16, BLOCK=16)
        np.testing.assert_array_equal(c, np.full((16, 16), 16.0 * value))
