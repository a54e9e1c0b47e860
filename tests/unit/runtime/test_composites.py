"""Tuples and tensor descriptors as arguments of a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import CompilationError
from xdsl_core.runtime.grid import ArgumentError


class Shape(NamedTuple):
    rows: Any
    columns: Any


@xdsl.jit
def scale(arrays, shape, factor):
    x, (y, offset) = arrays
    for row in range(shape.rows):
        i = row * shape.columns + tl.arange(0, 4)
        inside = tl.arange(0, 4) < shape.columns
        tl.store(y + i, tl.load(x + i, mask=inside) * factor[0] + factor[1] + offset, mask=inside)


@pytest.mark.parametrize("backend", ["reference", "cpu_c"])
def test_tuples_and_named_tuples_are_taken_apart(backend: str) -> None:
    x, y = np.arange(12, dtype=np.float32), np.zeros(12, np.float32)
    kernel = scale.on(backend)
    done = kernel[(1,)]((x, (y, 5)), Shape(4, 3), (2, 0.5))
    np.testing.assert_array_equal(y, x * 2 + 5.5)
    assert done is not None
    assert done.written == {"arrays"}
    again = kernel[(1,)]((x, (y, 7)), Shape(4, 3), (4, 1.5))
    assert again is done
    np.testing.assert_array_equal(y, x * 4 + 8.5)
    # 1 is compiled in, as it is outside tuples
    assert kernel[(1,)]((x, (y, 1)), Shape(4, 3), (4, 1.5)) is not done
    np.testing.assert_array_equal(y, x * 4 + 2.5)


def test_a_tuple_may_hold_none_functions_and_constants() -> None:
    x = np.zeros(4, np.float32)
    fill.on("reference")[(1,)](x, (None, three, tl.constexpr(2)), (tl.float32,))
    np.testing.assert_array_equal(x, 6)


@xdsl.jit
def three():
    return 3


@xdsl.jit
def fill(x, things, types):
    tl.static_assert(things[0] is None)
    n: tl.constexpr = things[2]
    tl.store(x + tl.arange(0, 4), tl.full((4,), things[1]() * n, types[0]))


def test_an_array_in_a_tuple_that_is_written_must_be_writable() -> None:
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    y.flags.writeable = False
    with pytest.raises(ArgumentError, match="X0508"):
        scale.on("reference")[(1,)]((x, (y, 5)), Shape(1, 3), (2, 0.5))
    scale.on("reference")[(1,)]((y, (x, 5)), Shape(1, 3), (2, 0.5))


def test_what_is_no_argument_is_none_in_a_tuple() -> None:
    with pytest.raises(ArgumentError, match="X0505"):
        scale.on("reference")[(1,)]((np.zeros(4), ("y", 5)), Shape(1, 3), (2, 0.5))


@xdsl.jit
def double(source, target, B: tl.constexpr):
    rows, columns = source.shape
    for row in range(0, rows, source.block_shape[0]):
        for column in range(0, columns, B):
            target.store([row, column], source.load([row, column]) * 2)


@pytest.mark.parametrize("backend", ["reference", "cpu_c"])
def test_a_descriptor_from_the_host(backend: str) -> None:
    whole = np.arange(60, dtype=np.float32).reshape(6, 10)
    x, y = whole[:5, :7], np.zeros((5, 7), np.float32)
    source = xdsl.TensorDescriptor.from_tensor(x, [2, 4])
    done = double.on(backend)[(1,)](source, xdsl.TensorDescriptor(y, y.shape, (7, 1), (2, 4)), 4)
    np.testing.assert_array_equal(y, x * 2)
    assert done is not None
    assert done.written == {"target"}
    other = xdsl.TensorDescriptor.from_tensor(whole[2:, :5], [2, 4])
    z = np.zeros((4, 5), np.float32)
    assert double.on(backend)[(1,)](other, xdsl.TensorDescriptor.from_tensor(z, [2, 4]), 4) is done
    np.testing.assert_array_equal(z, whole[2:, :5] * 2)


@pytest.mark.torch
def test_a_descriptor_of_a_torch_tensor() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.arange(35.0).reshape(5, 7), torch.zeros(5, 7)
    make = xdsl.TensorDescriptor.from_tensor
    double.on("reference")[(1,)](make(x, [2, 4]), make(y, [2, 4]), 4)
    assert torch.equal(y, x * 2)


@pytest.mark.parametrize(
    ("shape", "strides", "block", "padding", "words"),
    [
        ((4, 4), (4, 2), (2, 2), "zero", "contiguous"),
        ((4, 4), (4, 1), (2,), "zero", "for each"),
        ((), (), (), "zero", "1 to 5 axes"),
        ((4, 4), (4, 1), (2, 2), "one", "padding"),
    ],
)
def test_wrong_descriptors_are_refused(
    shape: Any, strides: Any, block: Any, padding: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        xdsl.TensorDescriptor(np.zeros((4, 4)), shape, strides, block, padding)


def test_an_extent_beyond_32_bits_is_refused() -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(ArgumentError, match="X0509"):
        double.on("reference")[(1,)](
            xdsl.TensorDescriptor(x, (2**31, 4), (4, 1), (2, 4)),
            xdsl.TensorDescriptor.from_tensor(x[None], [2, 4]),
            4,
        )


@xdsl.autotune([xdsl.Config({"B": 2}), xdsl.Config({"B": 4})], key=[], cache_results=False)
@xdsl.jit
def add_one(arrays, n, B: tl.constexpr):
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(arrays[0] + i, tl.load(arrays[0] + i, mask=i < n) + 1, mask=i < n)


def test_autotune_puts_back_what_trials_wrote_through_a_tuple() -> None:
    x = np.zeros(7, np.float32)
    with pytest.warns(UserWarning, match="both read and written"):
        add_one.on("reference")[(1,)]((x,), 7)
    np.testing.assert_array_equal(x, 1)


@xdsl.jit
def clash(x, x_0):
    tl.store(x[0], x_0)


def test_names_of_parts_differ_from_other_parameters() -> None:
    x = np.zeros(1, np.int32)
    clash.on("reference")[(1,)]((x,), 7)
    assert x[0] == 7


def test_a_named_tuple_changes_in_a_loop() -> None:
    x = np.zeros(2, np.int32)
    count.on("reference")[(1,)](x, Shape(2, 3))
    assert x.tolist() == [10, 48]


@xdsl.jit
def count(x, pair):
    for _ in range(4):
        pair = next_pair(pair)
    tl.store(x, pair.rows)
    tl.store(x + 1, pair.columns)


@xdsl.jit
def next_pair(pair):
    return Shape(pair.rows + 2, pair.columns * 2)


def test_a_kernel_may_not_write_a_named_field_that_is_missing() -> None:
    with pytest.raises(CompilationError, match="X0114"):
        missing.on("reference")[(1,)](np.zeros(1, np.int32), Shape(2, 3))


@xdsl.jit
def missing(x, pair):
    tl.store(x, pair.height)


@xdsl.jit
def awkward_names(k0, v0, v1, k1, n):
    tl.store(k0, tl.load(v0) + tl.load(v1) * k1 + n)


def test_parameters_may_have_any_names() -> None:
    out, x, y = (np.full(1, value, np.int32) for value in (0, 2, 3))
    for factor in (4, 5):
        awkward_names.on("reference")[(1,)](out, x, y, factor, 7)
        assert out[0] == 2 + 3 * factor + 7


def set_block(arguments: dict[str, Any]) -> None:
    arguments["source"].block_shape = [2, arguments["B"]]


@xdsl.autotune([xdsl.Config({"B": b}, pre_hook=set_block) for b in (2, 4)], key=[], cache_results=False)
@xdsl.jit
def total(source, out, B: tl.constexpr):
    found = tl.zeros((), tl.float32)
    for column in range(0, source.shape[1], B):
        found += tl.sum(source.load([0, column]))
    tl.store(out, found)


def test_a_configs_hook_may_set_the_block_of_a_descriptor() -> None:
    x, out = np.arange(14, dtype=np.float32).reshape(2, 7), np.zeros(1, np.float32)
    total.on("reference")[(1,)](xdsl.TensorDescriptor(x, x.shape, (7, 1), [1, 1]), out)
    assert out[0] == x.sum()
