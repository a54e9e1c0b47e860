"""Cases O25, O26, O28 to O30: grids, tuning of kernels that update in place, atomics, large blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl


@xdsl.jit
def count_kernel(counter):
    tl.atomic_add(counter, 1)


def test_o25_zero_size_grids(run: Any) -> None:
    counter = np.zeros(1, np.int32)
    empty = ((0,), (3, 0, 2), (0, 2**31 - 1, 2**31 - 1), [0], [5, 0], (2**16, 2**16, 0))
    for grid in empty:
        run(count_kernel, counter, grid=grid)
    assert counter[0] == 0
    run(count_kernel, counter)
    assert counter[0] == 1
    for grid in empty:
        run(count_kernel, counter, grid=grid)
    assert counter[0] == 1


def test_o25_grids_of_every_form(run: Any, backend: str) -> None:
    for grid, programs in (([2], 2), ((3, 2), 6), ([2, 3, 4], 24), ((np.int64(5),), 5)):
        counter = np.zeros(1, np.int32)
        run(count_kernel, counter, grid=grid)
        assert counter[0] == programs
    counter = np.zeros(3, np.int32)
    run(count_kernel, counter, grid=lambda meta: (len(meta["counter"]), 2))
    assert counter[0] == 6
    for wrong in (4, 2.0, (2.5,), (1, 2, 3, 4), (), (-1,), "2", None):
        with pytest.raises(TypeError, match="grid") as caught:
            run(count_kernel, counter, grid=wrong)
        if wrong == 4:
            assert "count_kernel" in str(caught.value)
            assert "kernel[(4,)]" in str(caught.value)
    assert counter[0] == 6


@xdsl.jit
def places_kernel(out, seen):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny = tl.num_programs(0), tl.num_programs(1)
    place = x + nx * (y + ny * z)
    tl.store(out + place, (x * 100 + y * 10 + z) * 100 + tl.num_programs(2))
    tl.atomic_add(seen, 1)


@pytest.mark.parametrize("grid", [(7,), (3, 5), (2, 3, 4), (1, 1, 6), (1, 9), (500,), (7, 9, 8)])
def test_o25_every_program_runs_once(run: Any, grid: tuple[int, ...]) -> None:
    x, y, z = (*grid, 1, 1)[:3]
    out, seen = np.zeros((z, y, x), np.int32), np.zeros(1, np.int32)
    run(places_kernel, out, seen, grid=grid)
    k, j, i = np.indices((z, y, x))
    np.testing.assert_array_equal(out, (i * 100 + j * 10 + k) * 100 + z)
    assert seen[0] == x * y * z


@xdsl.jit
def increment_kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def blocks(meta: dict[str, Any]) -> tuple[int]:
    return (xdsl.cdiv(meta["n"], meta["BLOCK"]),)


def tuned(kernel: Any, configs: list[dict[str, Any]], backend: str, **options: Any) -> Any:
    """The kernel with configs, each of which is tried a few times."""

    def bench(call: Any, **_: Any) -> list[float]:
        for _ in range(3):
            call()
        return [1.0]

    return xdsl.autotune([xdsl.Config(config) for config in configs], key=["n"], do_bench=bench, **options)(
        kernel
    ).on(backend)


def test_o26_tuning_leaves_one_application(backend: str) -> None:
    kernel = tuned(increment_kernel, [{"BLOCK": 16}, {"BLOCK": 32}], backend, restore_value=["x"])
    x = np.ones(100, np.float32)
    kernel[blocks](x, 100)
    assert x.tolist() == [2] * 100
    kernel[blocks](x, 100)
    assert x.tolist() == [3] * 100
    y = np.ones(100, np.float32)
    kernel[blocks](y, 100)
    assert y.tolist() == [2] * 100


@xdsl.jit
def half_kernel(x, n, PART: tl.constexpr):
    i = tl.arange(0, PART)
    tl.store(x + i, 5.0, mask=i < n // 2)


def test_o26_tuning_leaves_what_the_chosen_config_does_not_write(backend: str) -> None:
    kernel = tuned(half_kernel, [{"PART": 64}, {"PART": 128}], backend, restore_value=["x"])
    x = np.full(100, -1, np.float32)
    kernel[(1,)](x, 100)
    assert x.tolist() == [5] * 50 + [-1] * 50


@xdsl.jit
def duplicates_kernel(bins, count, old, n, B: tl.constexpr):
    i = tl.arange(0, B)
    bin = tl.load(bins + i, mask=i < n, other=0)
    tl.store(old + i, tl.atomic_add(count + bin, 1, mask=i < n), mask=i < n)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64, np.float64, np.uint32, np.float16])
def test_o28_atomic_add_with_duplicate_indices(run: Any, dtype: Any) -> None:
    bins = np.array([0, 1, 0, 0, 3, 1, 0, 3, 10**6], np.int32)
    count, old = np.zeros(4, dtype), np.zeros(8, dtype)
    run(duplicates_kernel, bins, count, old, 8, B=16)
    assert count.tolist() == [4, 2, 0, 2]
    assert [sorted(old[bins[:8] == k].tolist()) for k in (0, 1, 3)] == [[0, 1, 2, 3], [0, 1], [0, 1]]


def test_o28_duplicates_between_programs(run: Any) -> None:
    programs = 200
    counter = np.zeros(1, np.int32)
    run(count_kernel, counter, grid=(programs,))
    assert counter[0] == programs


@xdsl.jit
def masked_atomics_kernel(memory, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.where(m, tl.atomic_add(memory + i, 10, mask=m), 77))
    tl.store(out + B + i, tl.where(m, tl.atomic_max(memory + i, 13, mask=m), 77))
    tl.store(out + 2 * B + i, tl.where(m, tl.atomic_xchg(memory + i, 40 - i, mask=m), 77))
    tl.store(out + 3 * B + i, tl.where(m, tl.atomic_min(memory + i, 38, mask=m), 77))
    # one element, with a mask that is a scalar
    tl.store(out + 4 * B, tl.atomic_add(memory, 1, mask=n > 0))
    tl.atomic_add(memory + 10**6, 1, mask=n > 100)
    tl.store(out + 4 * B + 1, tl.atomic_cas(memory, tl.load(memory), 99))
    tl.store(out + 4 * B + 2, tl.atomic_cas(memory + 1, 12345, 99))


def test_o29_values_of_the_case(run: Any) -> None:
    memory, out = np.arange(1, 9, dtype=np.int32), np.zeros(8, np.int32)
    run(masked_atomic_kernel, memory, out)
    assert memory.tolist() == [11, 12, 13, 14, 15, 6, 7, 8]
    assert out.tolist() == [1, 2, 3, 4, 5, -1, -1, -1]


@xdsl.jit
def masked_atomic_kernel(memory, out):
    i = tl.arange(0, 8)
    m = i < 5
    old = tl.atomic_add(memory + i, 10, mask=m)
    tl.store(out + i, tl.where(m, old, -1))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.float32, np.float64])
def test_o29_masked_atomics_of_every_kind(run: Any, dtype: Any) -> None:
    memory = np.arange(1, 9, dtype=dtype)
    out = np.zeros(4 * 8 + 3, dtype)
    run(masked_atomics_kernel, memory, out, 5, B=8)
    rows = out[:32].reshape(4, 8)
    assert (rows[:, 5:] == 77).all()
    start = np.arange(1, 6)
    after = np.maximum(start + 10, 13)
    np.testing.assert_array_equal(rows[:, :5], [start, start + 10, after, 40 - np.arange(5)])
    last = np.minimum(40 - np.arange(5), 38)
    assert out[32:].tolist() == [last[0], last[0] + 1, last[1]]
    assert memory.tolist() == [99, *last[1:], 6, 7, 8]


@xdsl.jit
def add_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("block", [1024, 65536])
def test_o30_blocks_of_any_size_run_where_memory_is_large(run: Any, block: int) -> None:
    n = 70000
    x, y = np.random.default_rng(0).standard_normal((2, n), np.float32)
    out = np.zeros(n, np.float32)
    run(add_kernel, x, y, out, n, grid=(xdsl.cdiv(n, block),), B=block)
    np.testing.assert_array_equal(out, x + y)
