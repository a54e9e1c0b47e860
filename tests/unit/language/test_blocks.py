"""Block pointers and tensor descriptors against numpy, through calls, branches and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.analysis.kernels import memory_ops
from tests.unit.language.running import build, function_from, run
from xdsl_core.analysis.access import Access, access_of
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.ir import print_module
from xdsl_core.passes import canonical_pipeline, run_pipeline

GENERATOR = np.random.default_rng(3)
ARRAY = GENERATOR.uniform(-1, 1, (13, 21)).astype(np.float32)


def window(array: np.ndarray, start: tuple[int, ...], extents: tuple[int, ...], outside: float) -> np.ndarray:
    """The block of an array, with a number where it leaves the array."""
    found = np.full(extents, outside, array.dtype)
    for place in np.ndindex(*extents):
        index = tuple(s + p for s, p in zip(start, place, strict=True))
        if all(0 <= i < n for i, n in zip(index, array.shape, strict=True)):
            found[place] = array[index]
    return found


def copy_block(
    x,
    y,
    rows,
    columns,
    row,
    column,
    B0: tl.constexpr,
    B1: tl.constexpr,
    CHECK: tl.constexpr,
    PAD: tl.constexpr,
):
    source = tl.make_block_ptr(x, (rows, columns), (columns, 1), (row, column), (B0, B1), (1, 0))
    block = tl.load(source, boundary_check=CHECK, padding_option=PAD)
    tl.store(y + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :], block)


@pytest.mark.parametrize("start", [(0, 0), (-3, -2), (10, 18), (4, -5), (20, 0), (12, 20)])
@pytest.mark.parametrize(("pad", "outside"), [("zero", 0.0), ("nan", np.nan)])
def test_a_block_pointer_reads_the_padding_outside_the_array(
    start: tuple[int, int], pad: str, outside: float
) -> None:
    out = np.zeros((8, 4), np.float32)
    run(copy_block, ARRAY, out, *ARRAY.shape, *start, 8, 4, (0, 1), pad, check=True)
    np.testing.assert_array_equal(out, window(ARRAY, start, (8, 4), outside))


def test_only_the_named_axes_are_checked() -> None:
    out = np.zeros((8, 3), np.float32)
    run(copy_block, ARRAY, out, *ARRAY.shape, 10, -3, 8, 3, (0,), "zero")
    flat = ARRAY.reshape(-1)
    wanted = [flat[r * 21 - 3 : r * 21] if r < 13 else np.zeros(3) for r in range(10, 18)]
    np.testing.assert_array_equal(out, wanted)


def walk(x, y, rows, columns, B: tl.constexpr):
    source = tl.make_block_ptr(x, [columns, rows], [1, columns], [0, 0], [4, B], [0, 1])
    target = tl.make_block_ptr(y, [columns, rows], [rows, 1], [0, 0], [4, B], [1, 0])
    for _ in range(0, columns, 4):
        tl.store(target, tl.load(source, boundary_check=[0, 1]) * 2, boundary_check=[0, 1])
        source = source.advance((4, 0))
        target = tl.advance(target, (4, 0))


def test_a_block_pointer_moves_through_a_loop() -> None:
    out = np.zeros((21, 13), np.float32)
    run(walk, ARRAY, out, 13, 21, 16, check=True)
    np.testing.assert_array_equal(out, ARRAY.T * 2)


def test_a_loop_carries_only_the_offsets_that_move() -> None:
    text = print_module(build(walk, ARRAY, ARRAY, 13, 21, 16), locations=False)
    (loop,) = (line for line in text.splitlines() if "control.for" in line)
    assert "inits = [%source_3_0, %target_3_0]" in loop


def test_accesses_through_block_pointers_are_structured() -> None:
    module = run_pipeline(build(walk, ARRAY, ARRAY, 13, 21, 16), canonical_pipeline()).module
    analysis = IndexAnalysis()
    found = [access_of(op, analysis) for op in memory_ops(module)]
    assert len(found) == 2
    for one in found:
        assert isinstance(one, Access), one
        assert one.bounds is not None
        assert {dim: len(limits) for dim, limits in one.bounds.upper.items()} == {0: 1, 1: 1}


def chosen(x, y, z, rows, columns, which):
    if which > 0:
        source = tl.make_block_ptr(x, (rows, columns), (columns, 1), (0, 0), (4, 4), (1, 0))
    else:
        source = tl.make_block_ptr(y, (rows, columns), (columns, 1), (2, 0), (4, 4), (1, 0))
    target = tl.make_block_ptr(z, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0))
    tl.store(target, tl.load(source).to(target.dtype.element_ty))


@pytest.mark.parametrize("which", [0, 1])
def test_a_branch_chooses_a_block_pointer(which: int) -> None:
    out = np.zeros((4, 4), np.float16)
    run(chosen, ARRAY, -ARRAY, out, *ARRAY.shape, which, check=True)
    np.testing.assert_array_equal(out, (ARRAY[:4, :4] if which else -ARRAY[2:6, :4]).astype(np.float16))


def swap(x, y, n, rounds):
    left = tl.make_block_ptr(x, (n,), (1,), (0,), (4,), (0,))
    right = tl.make_block_ptr(y, (n,), (1,), (0,), (4,), (0,))
    for _ in range(rounds):
        left, right = right, left
    tl.store(left, tl.load(left) + 100)


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_parts_that_two_pointers_exchange_are_carried(rounds: int) -> None:
    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    run(swap, x, y, 4, rounds, check=True)
    assert (x[0], y[0]) == ((100, 0) if rounds % 2 == 0 else (0, 100))


# Descriptors


def copy_described(x, y, rows, columns, row, column, B0: tl.constexpr, B1: tl.constexpr, PAD: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [B0, B1], PAD)
    target = tl.make_tensor_descriptor(y, [B0, B1], [B1, 1], [B0, B1])
    tl.static_assert(source.dtype == tl.float32 and source.block_shape == (B0, B1))
    target.store([0, 0], tl.load_tensor_descriptor(source, [row, column]))


@pytest.mark.parametrize("start", [(0, 0), (-3, -2), (10, 18), (20, 0)])
@pytest.mark.parametrize(("pad", "outside"), [("zero", 0.0), ("nan", np.nan)])
def test_a_descriptor_reads_the_padding_outside_the_array(
    start: tuple[int, int], pad: str, outside: float
) -> None:
    out = np.zeros((8, 4), np.float32)
    run(copy_described, ARRAY, out, *ARRAY.shape, *start, 8, 4, pad, check=True)
    np.testing.assert_array_equal(out, window(ARRAY, start, (8, 4), outside))


def store_described(x, y, rows, columns, row, column, B0: tl.constexpr, B1: tl.constexpr):
    block = tl.load(x + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [B0, B1])
    tl.store_tensor_descriptor(target, [row, column], block)


@pytest.mark.parametrize("start", [(0, 0), (-3, -2), (10, 18), (20, 0)])
def test_a_descriptor_writes_inside_the_array_only(start: tuple[int, int]) -> None:
    block, out = np.arange(1, 33, dtype=np.float64).reshape(8, 4), np.zeros((13, 21), np.float32)
    wanted = out.copy()
    for i, j in np.ndindex(8, 4):
        if 0 <= start[0] + i < 13 and 0 <= start[1] + j < 21:
            wanted[start[0] + i, start[1] + j] = block[i, j]
    run(store_described, block, out, 13, 21, *start, 8, 4, check=True)
    np.testing.assert_array_equal(out, wanted)


def rows_of(x, places, y, rows, columns, column, N: tl.constexpr, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [1, B])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [1, B])
    wanted = tl.load(places + tl.arange(0, N))
    target.scatter(source.gather(wanted, column) + 1, wanted, column)


def test_a_descriptor_gathers_and_scatters_rows() -> None:
    places, out = np.array([12, 3, 40, 0, -1, 7, 8, 9], np.int32), np.zeros_like(ARRAY)
    run(rows_of, ARRAY, places, out, *ARRAY.shape, 15, 8, 8, check=True)
    wanted = np.zeros_like(ARRAY)
    for row in (12, 3, 0, 7, 8, 9):
        wanted[row, 15:] = ARRAY[row, 15:] + 1
    np.testing.assert_array_equal(out, wanted)


def update(y, rows, columns, row, KIND: tl.constexpr, B: tl.constexpr):
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [2, B])
    value = tl.full((2, B), 5, tl.int32)
    if KIND == "add":
        target.atomic_add([row, 0], value)
    elif KIND == "max":
        target.atomic_max([row, 0], value)
    elif KIND == "min":
        target.atomic_min([row, 0], value)
    elif KIND == "and":
        target.atomic_and([row, 0], value)
    elif KIND == "or":
        target.atomic_or([row, 0], value)
    else:
        target.atomic_xor([row, 0], value)


@pytest.mark.parametrize(
    ("kind", "meaning"),
    [
        ("add", np.add),
        ("max", np.maximum),
        ("min", np.minimum),
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
    ],
)
def test_a_descriptor_updates_memory(kind: str, meaning: Any) -> None:
    array = GENERATOR.integers(0, 9, (3, 5)).astype(np.int32)
    wanted = array.copy()
    wanted[2] = meaning(array[2], 5)
    run(update, array, 3, 5, 2, kind, 8, check=True)
    np.testing.assert_array_equal(array, wanted)


def describe_in_helper(base, n, B: tl.constexpr):
    return tl.make_tensor_descriptor(base, [n], [1], [B])


def through_helper(x, y, n, B: tl.constexpr):
    source = helper(x, n, B)
    target = helper(y, n, B)
    for start in range(0, n, B):
        target.store([start], source.load([start]) * source.shape[0])


helper = JitSource(describe_in_helper)


def test_descriptors_go_through_helpers_and_loops() -> None:
    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    run(through_helper, x, y, 10, 4, check=True)
    np.testing.assert_array_equal(y, x * 10)


# Mistakes


def wrong(body: str) -> str:
    text = f"def kernel(x, n, m):\n    p = tl.make_block_ptr(x, (n,), (1,), (0,), (4,), (0,))\n    {body}\n"
    with pytest.raises(CompilationError) as problem:
        build(function_from(text), ARRAY, 5, 7)
    return str(problem.value)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("tl.make_block_ptr(n, (n,), (1,), (0,), (4,), (0,))", "X0136"),
        ("tl.make_block_ptr(x, (n, n), (1,), (0,), (4,), (0,))", "X0135"),
        ("tl.make_block_ptr(x, (n,), (1,), (0,), (4,), (1,))", "X0134"),
        ("tl.make_block_ptr(x, (1.5,), (1,), (0,), (4,), (0,))", "X0115"),
        ("tl.make_block_ptr(x, (n,), (1,), (0,), (n,), (0,))", "X0111"),
        ("tl.advance(x, (1,))", "X0136"),
        ("p.advance((1, 1))", "X0135"),
        ("p.forward", "X0114"),
        ("p + 1", "X0119"),
        ("tl.load(p, mask=n > 0)", "X0146"),
        ("tl.load(x, boundary_check=(0,))", "X0146"),
        ("tl.load(p, boundary_check=(1,))", "X0134"),
        ("tl.load(p, boundary_check=(0,), padding_option='one')", "X0138"),
        ("tl.make_tensor_descriptor(x, [n], [m], [4])", "X0160"),
        ("tl.make_tensor_descriptor(x, [n], [2], [4])", "X0160"),
        ("tl.make_tensor_descriptor(x, [n] * 6, [n, n, n, n, n, 1], [1] * 6)", "X0135"),
        ("tl.make_tensor_descriptor(x, [n], [1], [4], 'mirror')", "X0138"),
        ("tl.make_tensor_descriptor(n, [n], [1], [4])", "X0136"),
        ("tl.load_tensor_descriptor(p, [0])", "X0136"),
        ("tl.make_tensor_descriptor(x, [n], [1], [4]).rank", "X0114"),
        ("tl.make_tensor_descriptor(x, [n], [1], [4]).gather(tl.arange(0, 4), 0)", "X0135"),
        ("tl.make_tensor_descriptor(x, [n], [1], [4]).atomic_and([0], 1)", "X0145"),
    ],
)
def test_mistakes_are_named(body: str, code: str) -> None:
    assert code in wrong(body)


def test_integers_have_no_nan() -> None:
    numbers = np.zeros((4, 4), np.int32)
    with pytest.raises(CompilationError, match="X0132"):
        build(copy_block, numbers, numbers, 4, 4, 0, 0, 4, 4, (0, 1), "nan")
