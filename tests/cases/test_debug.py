"""Case O24: prints and assertions of running kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import ExecutionError


def line_of(text: str) -> int:
    """The number of the only line of this file that is `text`."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    return number


@xdsl.jit
def print_kernel(x, N: tl.constexpr):
    tl.device_print("v =", tl.load(x + tl.arange(0, N)))


def test_o24_print_shows_the_program_once_and_every_element(
    run: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    run(print_kernel, np.array([1, 2, 3, 4], np.int32), N=4)
    assert capfd.readouterr().out == "(0, 0, 0) v = [1 2 3 4]\n"


@xdsl.jit
def print_many_kernel(x, y, scale, N: tl.constexpr):
    pid = tl.program_id(1)
    v = tl.load(x + tl.arange(0, N))
    tl.device_print("", v * pid)
    tl.device_print('100% "quoted" \\ and both:', v.to(tl.float32) * scale, pid)
    m = tl.reshape(tl.load(y + tl.arange(0, 6)), [2, 3])
    tl.device_print("matrix", m, tl.trans(m) > 2)
    tl.device_print("hex", v.to(tl.uint8), hex=True)
    tl.device_print("nothing else")


def test_o24_prints_of_every_kind(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    y = np.array([1.5, -2, 3e10, np.nan, np.inf, 1e-7], np.float64)
    run(print_many_kernel, np.array([255, 0, 17], np.int64), y, 0.5, grid=(1, 2), N=3)
    lines = capfd.readouterr().out.splitlines()
    expected = []
    for pid in (0, 1):
        head = f"(0, {pid}, 0)"
        expected += [
            f"{head} [{255 * pid} 0 {17 * pid}]",
            f'{head} 100% "quoted" \\ and both: [127.5 0 8.5]',
            f'{head} 100% "quoted" \\ and both: {pid}',
            f"{head} matrix [[1.5 -2 3e+10] [nan inf 1e-07]]",
            f"{head} matrix [[0 0] [0 1] [1 0]]",
            f"{head} hex [0xff 0x00 0x11]",
            f"{head} nothing else",
        ]
    assert sorted(lines) == sorted(expected)


@xdsl.jit
def print_in_order_kernel(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(n):
        v = tl.load(x + i)
        tl.device_print("before", v)
        tl.store(x + i, v + k)
        tl.device_print("after", tl.load(x + i), tl.sum(v))


def test_o24_prints_stay_in_order_with_memory(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    run(print_in_order_kernel, np.array([1, 2], np.int32), 3, N=2)
    expected = []
    for before, after in (([1, 2], [1, 2]), ([1, 2], [2, 3]), ([2, 3], [4, 5])):
        expected += [
            f"before [{before[0]} {before[1]}]",
            f"after [{after[0]} {after[1]}]",
            f"after {sum(before)}",
        ]
    assert capfd.readouterr().out == "".join(f"(0, 0, 0) {line}\n" for line in expected)


@xdsl.jit
def assert_kernel(x, out, N: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * N + tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v >= 0, "v must not be negative")
    tl.store(out + i, v)


def test_o24_assertions_are_silent_unless_in_debug_mode(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    x, out = np.array([1, -2, 3, 4], np.int32), np.zeros(4, np.int32)
    run(assert_kernel, x, out, N=4)
    assert out.tolist() == x.tolist()
    run(assert_kernel, abs(x), out, N=4, debug=True)
    assert out.tolist() == [1, 2, 3, 4]
    assert capfd.readouterr().out == ""


def test_o24_failed_assertion_names_program_line_and_message(run: Any) -> None:
    x, out = np.array([1, 2, 3, 4, 5, -6, 7, 8], np.int32), np.zeros(8, np.int32)
    for _ in range(2):  # the second launch must not remember the first
        with pytest.raises(ExecutionError) as caught:
            run(assert_kernel, x, out, grid=(2,), N=4, debug=True)
        (problem,) = caught.value.diagnostics
        line = 'tl.device_assert(v >= 0, "v must not be negative")'
        assert problem.code == "X0405"
        assert problem.location.line == line_of(line)
        text = str(caught.value)
        assert "v must not be negative" in text
        assert "in program (1, 0, 0)" in text
        assert line in text
    run(assert_kernel, abs(x), out, grid=(2,), N=4, debug=True)
    assert out.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


@xdsl.jit(debug=True)
def guarded_kernel(x, idx, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    j = tl.load(idx + i, mask=i < n, other=0)
    tl.device_assert(j < n, "index out of range", mask=i < n)
    for k in range(2):
        tl.device_assert(n > k, "n is too small")
        tl.store(out + i, tl.load(x + j, mask=i < n), mask=i < n)


def test_o24_a_failed_assertion_ends_its_program(run: Any) -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    run(guarded_kernel, x, np.array([2, 0, 1, 10**9], np.int32), out, 3, N=4)
    assert out.tolist() == [2, 0, 1, 0]
    with pytest.raises(ExecutionError, match="index out of range"):
        run(guarded_kernel, x, np.array([2, 0, 10**9, 10**9], np.int32), out, 3, N=4)
    with pytest.raises(ExecutionError, match="n is too small"):
        run(guarded_kernel, x, np.array([0, 0, 0, 0], np.int32), out, 1, N=4)
    assert out.tolist() == [0, 0, 1, 0]
