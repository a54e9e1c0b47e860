"""Parts of tiles against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.language.running import evaluate, function_from, run
from xdsl_core.diagnostics import CompilationError

GENERATOR = np.random.default_rng(5)
FLOATS = GENERATOR.uniform(-1, 1, (6, 8)).astype(np.float32)
FLOATS[1, 1], FLOATS[2, 3], FLOATS[3, 3] = -0.0, np.nan, np.inf
KINDS = [
    FLOATS,
    FLOATS.astype(np.float16),
    FLOATS.astype(ml_dtypes.bfloat16),
    GENERATOR.integers(-99, 99, (6, 8)).astype(np.int8),
    GENERATOR.integers(0, 2**63, (6, 8)).astype(np.uint64),
    GENERATOR.integers(0, 2, (6, 8)).astype(bool),
]


def bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(np.uint8)


@pytest.mark.parametrize(
    "index",
    [
        "1:4",
        ":3",
        "3:",
        "::2",
        "1::3",
        "-2:",
        "::-1",
        ":, :4",
        ":, 4:",
        ":, 2:7:2",
        "2:4, 3",
        "2:4, None, 1:3",
        "..., 4:",
        "3",
        "-1",
        ":, 3",
        "2, 5",
        "None, ..., 1",
    ],
)
def test_slices_are_numpys(index: str) -> None:
    wanted = eval(f"x[{index}]", {"x": FLOATS})
    found = evaluate(f"x[{index}]", FLOATS)
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(bits(found), bits(wanted))


@pytest.mark.parametrize("x", KINDS, ids=lambda x: str(x.dtype))
@pytest.mark.parametrize("expression", ["x[1:3]", "x[:, 1:6:2]"])
def test_every_dtype_keeps_its_bits(x: np.ndarray, expression: str) -> None:
    np.testing.assert_array_equal(bits(evaluate(expression, x)), bits(eval(expression, {"x": x})))


def moving(x, y, z, start, B: tl.constexpr):
    places = tl.arange(0, 6)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tile = tl.load(x + places)
    part = tl.extract_slice(tile, (start, 1), (2, B), (2, 1))
    small = tl.arange(0, 2)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y + small, part)
    tl.store(z + places, tl.insert_slice(tile, part * 10, (start, 2), (2, B), (2, 1)))


@pytest.mark.parametrize("start", [0, 1, 3])
def test_offsets_of_the_running_kernel(start: int) -> None:
    x = FLOATS.copy()
    part, whole = np.zeros((2, 3), np.float32), np.zeros((6, 8), np.float32)
    run(moving, x, part, whole, start, 3, check=True)
    wanted = x[start : start + 3 : 2, 1:4]
    np.testing.assert_array_equal(part, wanted)
    expected = x.copy()
    expected[start : start + 3 : 2, 2:5] = wanted * 10
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("x", KINDS, ids=lambda x: str(x.dtype))
def test_a_part_is_put_in(x: np.ndarray) -> None:
    found = evaluate("tl.insert_slice(x, x[:2, :3], (3, 1), (2, 3), (2, 3))", x)
    wanted = x.copy()
    wanted[3:6:2, 1:8:3] = x[:2, :3]
    np.testing.assert_array_equal(bits(found), bits(wanted))


def test_an_index_of_the_running_kernel() -> None:
    kernel = function_from(
        "def kernel(x, y, n):\n"
        "    tile = tl.load(x + tl.arange(0, 8))\n"
        "    for k in range(n):\n"
        "        tl.store(y + k, tile[n - 1 - k] * 2)\n"
    )
    x, y = FLOATS[0].copy(), np.zeros(8, np.float32)
    run(kernel, x, y, 8, check=True)
    np.testing.assert_array_equal(y, x[::-1] * 2)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("x[7]", "X0161"),
        ("x[8:]", "X0161"),
        ("x[0, 0, 0]", "X0117"),
        ("tl.extract_slice(x, (5, 0), (2, 8), (1, 1))", "X0161"),
        ("tl.extract_slice(x, (0,), (2, 8), (1, 1))", "X0135"),
        ("tl.extract_slice(x, (0, 0), (2, 8), (0, 1))", "X0135"),
        ("tl.insert_slice(x, x, (0, 0), (2, 8), (1, 1))", "X0135"),
        ("tl.insert_slice(x, x, (1, 0), (6, 8), (1, 1))", "X0161"),
    ],
)
def test_mistakes_are_named(expression: str, code: Any) -> None:
    with pytest.raises(CompilationError, match=code):
        evaluate(expression, FLOATS)
