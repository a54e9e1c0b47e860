"""Cases O19 to O23: loops, types of carried variables, early returns, conditions, helper functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import CompilationError


def line_of(text: str) -> int:
    """The number of the only line of this file that is `text`."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    return number


def problem_of(run: Any, kernel: Any, *args: Any, **meta: Any) -> Any:
    """The one diagnostic with which a kernel is refused."""
    with pytest.raises(CompilationError) as caught:
        run(kernel, *args, **meta)
    (problem,) = caught.value.diagnostics
    return problem


@xdsl.jit
def trips_kernel(x, n, out, out_last):
    i = tl.arange(0, 4)
    acc = tl.full([4], 7.0, tl.float32)
    last = -1
    for k in range(0, n):  # noqa: PIE808 (as kernels are written)
        acc += tl.load(x + k * 4 + i)
        last = k
    tl.store(out + i, acc)
    tl.store(out_last, last)


@pytest.mark.parametrize(
    ("n", "expected", "last"),
    [(0, [7, 7, 7, 7], -1), (-3, [7, 7, 7, 7], -1), (1, [7, 8, 9, 10], 0), (2, [11, 13, 15, 17], 1)],
)
def test_o19_loop_that_runs_no_time(run: Any, n: int, expected: list[float], last: int) -> None:
    out, out_last = np.zeros(4, np.float32), np.zeros(1, np.int32)
    run(trips_kernel, np.arange(8, dtype=np.float32), n, out, out_last)
    assert out.tolist() == expected
    assert out_last[0] == last


@xdsl.jit
def ranges_kernel(out, start, stop, step):
    count = 0
    total = start * 0
    for k in range(start, stop, step):
        count += 1
        total += k
    tl.store(out, count)
    tl.store(out + 1, total)
    down = start * 0
    for k in range(stop, start, -2):
        down = down * 10 + (k - start)
    tl.store(out + 2, down)
    for k in tl.static_range(3, 0, -1):
        down += k
    tl.store(out + 3, down)
    for k in tl.range(start, stop, num_stages=2):
        tl.store(out + 4, k)


@pytest.mark.parametrize("bounds", [(0, 7, 2), (5, 5, 1), (7, 2, 3), (-4, 4, 3), (2**40, 2**40 + 5, 2)])
def test_o19_bounds_and_steps(run: Any, bounds: tuple[int, int, int]) -> None:
    start, stop, step = bounds
    out = np.full(5, -99, np.int64)
    run(ranges_kernel, out, start, stop, step)
    down = 0
    for k in range(stop, start, -2):
        down = down * 10 + (k - start)
    last = stop - 1 if stop > start else -99
    whole = range(start, stop, step)
    assert out.tolist() == [len(whole), sum(whole), down, down + 6, last]


@xdsl.jit
def carried_kernel(x, n, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b, c = tl.load(x + i), tl.load(x + B + i), tl.zeros([B], tl.float32)
    p, q = 1, 2
    for k in range(n):
        a, b, c = b, c, a + b
        p, q = q, p + k
        if k % 3 == 2:
            a, b = b, a
    tl.store(out + i, a)
    tl.store(out + B + i, b)
    tl.store(out + 2 * B + i, c)
    tl.store(out + 3 * B, p * 100 + q)
    # nested loops carry through both
    for outer in range(n):
        first = a
        for inner in range(outer):
            a, first = first + inner, a
        b = b + first
    tl.store(out + 3 * B + 1 + i, a)
    tl.store(out + 4 * B + 1 + i, b)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("block", [5, 64])
def test_o19_several_carried_tiles_that_change_places(run: Any, n: int, block: int) -> None:
    x = np.arange(2 * block, dtype=np.float32)
    out = np.zeros(5 * block + 1, np.float32)
    run(carried_kernel, x, n, out, B=block)
    a, b, c = x[:block], x[block:], np.zeros(block, np.float32)
    p, q = 1, 2
    for k in range(n):
        a, b, c = b, c, a + b
        p, q = q, p + k
        if k % 3 == 2:
            a, b = b, a
    expected = [a, b, c, [p * 100 + q]]
    for outer in range(n):
        first = a
        for inner in range(outer):
            a, first = first + inner, a
        b = b + first
    np.testing.assert_array_equal(out, np.concatenate([*expected, a, b]))


@xdsl.jit
def while_kernel(x, limit, out, count, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.zeros_like(v)
    steps = 0
    while tl.sum(v, axis=0) > limit and steps < 20:
        v, w = v * 0.5, v
        steps += 1
    tl.store(out + i, v)
    tl.store(out + B + i, w)
    tl.store(count, steps)
    while steps > 0:
        inner = steps
        while inner > 0:
            inner -= 2
        steps -= 3
        tl.store(count + 1, inner)
    tl.store(count + 2, steps)


@pytest.mark.parametrize("limit", [1e9, 20.0, 1.0, -1.0])
def test_o19_while_loops(run: Any, limit: float) -> None:
    x = np.arange(37, dtype=np.float32)
    out, count = np.zeros((2, 37), np.float32), np.full(3, 77, np.int32)
    run(while_kernel, x, limit, out, count, B=37)
    v, w, steps = x, np.zeros_like(x), 0
    while v.sum() > limit and steps < 20:
        v, w, steps = v * np.float32(0.5), v, steps + 1
    np.testing.assert_array_equal(out, [v, w])
    expected = [steps, 77, steps]
    while expected[2] > 0:
        inner = expected[2]
        while inner > 0:
            inner -= 2
        expected[1:] = [inner, expected[2] - 3]
    assert count.tolist() == expected


@xdsl.jit
def changing_type_kernel(x, n):
    acc = tl.zeros([8], tl.float16)
    for k in range(n):
        acc += tl.load(x + k * 8 + tl.arange(0, 8))
    tl.store(x + tl.arange(0, 8), acc)


@xdsl.jit
def changing_shape_kernel(x, n):
    tile = tl.zeros([4, 1], tl.float32)
    for _ in range(n):
        tile = tile + tl.load(x + tl.arange(0, 8))[None, :]
    tl.store(x + tl.arange(0, 4)[:, None], tl.sum(tile, axis=1, keep_dims=True))


@xdsl.jit
def changing_scalar_kernel(x, n):
    total = 0
    while n > 0:
        total += tl.load(x)
        n -= 1
    tl.store(x, total)


@pytest.mark.parametrize(
    ("kernel", "line", "label"),
    [
        (
            changing_type_kernel,
            "acc += tl.load(x + k * 8 + tl.arange(0, 8))",
            "acc is tile<8xf32> here, but tile<8xf16> before the loop",
        ),
        (
            changing_shape_kernel,
            "tile = tile + tl.load(x + tl.arange(0, 8))[None, :]",
            "tile is tile<4x8xf32> here, but tile<4x1xf32> before the loop",
        ),
        (changing_scalar_kernel, "total += tl.load(x)", "total is f32 here, but i32 before the loop"),
    ],
)
def test_o20_carried_variable_that_changes_its_type(run: Any, kernel: Any, line: str, label: str) -> None:
    problem = problem_of(run, kernel, np.zeros(64, np.float32), 2)
    assert problem.code == "X0125"
    assert problem.label == label
    assert problem.location.line == line_of(line)


@xdsl.jit
def early_return_kernel(x, n, out, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B >= n:
        return
    i = pid * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def test_o21_early_return(run: Any) -> None:
    out = np.full(16, -1, np.float32)
    run(early_return_kernel, np.arange(16, dtype=np.float32), 6, out, grid=(4,), B=4)
    assert out.tolist() == [1, 2, 3, 4, 5, 6] + [-1] * 10


@xdsl.jit
def early_result(v, sign, SKIP: tl.constexpr = False):
    if SKIP:
        return v, 0
    if sign > 0:
        if sign > 10:
            return v * 100, 3
        return v * 2, 1
    elif sign < 0:  # noqa: RET505 (every way to leave a helper)
        v = -v
        return v, -1
    w = v + 1
    return w, 2


@xdsl.jit
def early_results_kernel(x, signs, out, kinds, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    sign = tl.load(signs + pid)
    tile, kind = early_result(tl.load(x + i), sign)
    tl.store(out + pid * B + i, tile)
    if sign == 4:
        return
    skipped, zero = early_result(tile, sign, SKIP=True)
    if sign < -5:
        tl.store(kinds + pid, 77)
        return
    else:  # noqa: RET505
        tl.store(out + pid * B + i, skipped + zero)
    tl.store(kinds + pid, kind)


def test_o21_early_returns_of_helpers(run: Any) -> None:
    x, signs = np.arange(5, dtype=np.float32), np.array([3, 11, -2, 0, 4, -9], np.int32)
    out, kinds = np.zeros((6, 5), np.float32), np.full(6, 55, np.int32)
    run(early_results_kernel, x, signs, out, kinds, grid=(6,), B=5)
    np.testing.assert_array_equal(out, [x * 2, x * 100, -x, x + 1, x * 2, -x])
    assert kinds.tolist() == [1, 3, -1, 2, 55, 77]


@xdsl.jit
def return_in_loop_kernel(x, n):
    for k in range(n):
        if tl.load(x + k) > 0:
            return
        tl.store(x + k, 1)


def test_o21_return_inside_a_loop_is_refused(run: Any) -> None:
    problem = problem_of(run, return_in_loop_kernel, np.zeros(4, np.int32), 4)
    assert "return" in problem.message
    assert "loop" in problem.message
    assert problem.location.line == line_of("if tl.load(x + k) > 0:") + 1


@xdsl.jit
def branches_kernel(x, kinds, out, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    kind = tl.load(kinds + pid)
    a, b = tl.load(x + i), tl.load(x + B + i)
    scale = 1.0
    if kind > 0:
        if kind == 1:
            a, b = b, a
        elif kind == 2:
            b = a + b
            scale = 3.0
        else:
            a = a - b if kind == 3 else a * b
            if kind > 4:
                scale = tl.sum(a, axis=0)
    else:
        c = tl.where(a > b, a, b)
        for k in range(-kind):
            c += k
            if k == 1:
                a, b = c, a
        b = b * 2
    tl.store(out + pid * 2 * B + i, a * scale)
    tl.store(out + (pid * 2 + 1) * B + i, b)


def test_o21_nested_branches_with_tiles_as_results(run: Any) -> None:
    for block in (3, 40):
        x = np.random.default_rng(0).integers(-9, 9, (2, block)).astype(np.float32)
        kinds = np.array([1, 2, 3, 4, 5, 0, -1, -2, -4], np.int32)
        out = np.zeros((len(kinds), 2, block), np.float32)
        run(branches_kernel, x, kinds, out, grid=(len(kinds),), B=block)
        for kind, found in zip(kinds.tolist(), out, strict=True):
            a, b = x
            scale: Any = 1.0
            if kind == 1:
                a, b = b, a
            elif kind == 2:
                b, scale = a + b, 3.0
            elif kind > 2:
                a = a - b if kind == 3 else a * b
                scale = a.sum() if kind > 4 else scale
            else:
                c = np.maximum(a, b)
                for k in range(-kind):
                    c = c + k
                    if k == 1:
                        a, b = c, a
                b = b * 2
            np.testing.assert_array_equal(found, [a * scale, b], err_msg=str(kind))


@xdsl.jit
def chained_or_kernel(x, out):
    a, b, c = tl.load(x) != 1, tl.load(x + 1) != 0, tl.load(x + 2) != 0
    if not (a or b or c):
        tl.store(out, -1)
    else:
        tl.store(out, 1)
    # scalars that are no bools count as true unless they are zero
    p, q, r = tl.load(x), tl.load(x + 1), tl.load(x + 2)
    if (p and q) or not r:
        tl.store(out + 1, 1)
    else:
        tl.store(out + 1, 0)
    tl.store(out + 2, 1 if 0 < p < 5 <= q + 5 else 0)


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 0, 0], -1), ([1, 0, 2], 1), ([0, 0, 0], 1), ([1, 5, 0], 1)]
)
def test_o22_chained_or(run: Any, values: list[int], expected: int) -> None:
    out = np.zeros(3, np.int32)
    run(chained_or_kernel, np.array(values, np.int32), out)
    p, q, r = values
    assert out.tolist() == [expected, int(bool((p and q) or not r)), int(0 < p < 5 <= q + 5)]


@xdsl.jit
def bias_kernel(x, bias, out, other):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    if (bias is not None) and (bias.dtype.element_ty == tl.float32):
        v += tl.load(bias + i)
    if other is None or other.dtype.element_ty == tl.int32:
        tl.store(out + i, v)
    else:
        tl.store(out + i, v + tl.load(other))


@pytest.mark.parametrize("order", ["none first", "array first"])
def test_o22_none_arguments(run: Any, order: str) -> None:
    x, bias = np.array([1, 2, 3, 4], np.float32), np.full(4, 10, np.float32)
    launches = [(None, [1, 2, 3, 4]), (bias, [11, 12, 13, 14])]
    for given, expected in (launches if order == "none first" else launches[::-1]) * 2:
        for other, more in ((None, 0), (np.array([5], np.int32), 0), (np.array([5.0], np.float32), 5)):
            out = np.zeros(4, np.float32)
            run(bias_kernel, x, given, out, other)
            assert out.tolist() == [value + more for value in expected]
    out = np.zeros(4, np.float32)
    run(bias_kernel, x, np.full(4, 10, np.float64), out, None)
    assert out.tolist() == [1, 2, 3, 4]


@xdsl.jit
def divide(a, b=3, W: tl.constexpr = 1):
    return a // b, (a % b) * W


@xdsl.jit
def helpers_kernel(x, out):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    first, second = divide(v)
    tl.store(out + i, 100 * first + second)
    pair = divide(v, W=10, b=4)
    tl.store(out + 4 + i, 100 * pair[0] + pair[1])
    divide(v)


def test_o23_helpers_with_several_results_defaults_and_keywords(run: Any) -> None:
    out = np.zeros(8, np.int32)
    run(helpers_kernel, np.array([0, 5, 7, 11], np.int32), out)
    assert out.tolist() == [0, 102, 201, 302, 0, 110, 130, 230]


@xdsl.jit
def minimum_and_maximum(a, b):
    if a < b:
        return a, b
    return b, a


@xdsl.jit
def store_twice(pointer, value, again: tl.constexpr = True):
    tl.store(pointer, value)
    if again:
        store_twice(pointer + 1, value + 1, again=False)


@xdsl.jit
def nested(v, depth: tl.constexpr):
    if depth == 0:
        return v
    else:  # noqa: RET505
        low, high = divide(nested(v, depth - 1), b=2)
        return low + high


@xdsl.jit
def calls_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    low, high = minimum_and_maximum(tl.load(x), tl.load(x + 1))
    tl.store(out, low)
    tl.store(out + 1, high)
    store_twice(out + 2, high * 2)
    tl.store(out + 4 + i, nested(tl.load(x + i), 3))
    (a, (b, c)), _ = (divide(high), 0) if False else ((low, (high, 7)), 1)
    tl.store(out + 4 + B, a + b * c)


def test_o23_helpers_call_helpers(run: Any) -> None:
    x, out = np.array([9, 4, 7, 1, 30], np.int32), np.zeros(10, np.int32)
    run(calls_kernel, x, out, B=5)
    halved = x
    for _ in range(3):
        halved = halved // 2 + halved % 2
    assert out.tolist() == [4, 9, 18, 19, *halved.tolist(), 4 + 9 * 7]


@xdsl.jit
def inner_function_kernel(x):
    @xdsl.jit
    def helper(a):
        return a

    tl.store(x, helper(1.0))


def test_o23_jit_function_inside_a_kernel_is_refused(run: Any) -> None:
    problem = problem_of(run, inner_function_kernel, np.zeros(1, np.float32))
    assert "helper" in str(problem) or "function" in problem.message
    assert line_of("def helper(a):") - 1 <= problem.location.line <= line_of("def helper(a):")


@xdsl.jit
def read_inside_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    # an odd index keeps the tile in a buffer of its own
    v = tl.exp(tl.load(x + (i % B)) * 0) + tl.load(x + (i % B))
    acc = v
    for k in range(n):
        if k % 2 == 0:
            acc = acc + v
    w = acc * 2
    total = w
    steps = 0
    while steps < n:
        total = total + w
        steps += 1
    tl.store(out + i, total)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_o19_initial_tile_that_the_loop_reads_too(run: Any, n: int) -> None:
    x, out = np.arange(37, dtype=np.float32), np.zeros(37, np.float32)
    run(read_inside_kernel, x, out, n, B=37)
    np.testing.assert_array_equal(out, (x + 1) * (1 + (n + 1) // 2) * 2 * (n + 1))


@xdsl.jit
def argument_kernel(out, value, factor: tl.constexpr):
    if value is None:
        tl.store(out, -1.0)
    else:
        tl.store(out, value)
        tl.store(out + 1, value * factor)
        if value:
            tl.store(out + 2, 1.0)


def test_o22_every_kind_of_argument_gets_its_own_kernel(run: Any) -> None:
    values = (
        1,
        True,
        1.0,
        0,
        False,
        0.0,
        16,
        -1,
        2**31,
        -(2**40),
        2**63,
        np.int8(3),
        np.float32(1),
        None,
    )
    for factor in (2, 2.5):
        for value in (*values, *values[::-1]):
            out = np.zeros(3, np.float64)
            run(argument_kernel, out, value, factor=factor)
            if value is None:
                assert out.tolist() == [-1, 0, 0]
            else:
                wraps = factor == 2 and value == 2**63
                product = 0.0 if wraps else float(value) * factor
                exact = np.float32(product) if isinstance(factor, float) else product
                assert out.tolist() == [value, exact, bool(value)], (value, factor)
