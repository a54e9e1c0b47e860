"""Branches, loops and returns mean what they mean in Python: the same function is run by both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.language.running import build, run
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.ir import Module


def early_return(a, b):
    if a > b:
        return a
    return b * 2


def return_in_else(a, b):
    c = a + 1
    if a > b:
        c = c * 3
    else:
        return b
    d = c + b
    return d  # noqa: RET504 (an assignment of the kernel)


def nested_return(a, b):
    total = a
    if a > 0:
        if b > 0:
            return total
        total = total + 10
    total = total + 100
    if b < 0:
        total = total * 2
    return total


def return_in_both_arms_of_a_nested_if(a, b):
    if a > 0:
        if b > 0:
            return 1
        else:  # noqa: RET505 (both arms return)
            return 2
    elif b > 0:
        return 3
    return 4


def many_returns(a, b):
    x = 0
    if a == 0:
        if b == 0:
            return x
        x = 1
        if b == 1:
            return x + 10
        x = 2
    else:
        if b == 0:
            x = 3
        if a == 1:
            if b == 1:
                return x + 20
            x = x + 4
    x = x * 2
    if a == 2:
        return x + 30
    return x + 40


def swap_in_a_branch(a, b):
    x, y = a, b
    if a > b:
        x, y = y, x
    return x * 10 + y


def loop_with_branch(a, b):
    total = 0
    for k in range(a + 4):
        if k % 2 == 0:
            total += k * b
        else:
            total -= 1
    return total


def nested_loops(a, b):
    total = 0
    for i in range(a + 3):
        row = 1
        for j in range(i, b + 3):
            row = row * 2 + j
        total += row
    return total


def downward_loop(a, b):
    total = 0
    for k in range(a + 5, b, -2):
        total = total * 10 + k
    return total


def while_loop(a, b):
    n = a + 5
    steps = 0
    while (n > 0) and (steps < 20):
        if n % 3 == 0:
            n = n - b - 3
        else:
            n = n - 1
        steps += 1
    return steps * 100 + n


def conditional_expressions(a, b):
    low = a if a < b else b
    high = b if a < b else a
    return (low if low > 0 else -low) * 100 + high


def logic(a, b):
    first = a > 0 and b > 0
    second = a > 0 or b > 0
    third = not (a > 0) and (0 < b < 2)
    result = 0
    if first:
        result += 1
    if second:
        result += 10
    if third:
        result += 100
    return result


def unrolled_return(a, b):
    for i in tl.static_range(4):
        if a == i:
            return i * 10 + b
        b = b + 1
    return -b


def shadowed_loop_variable(a, b):
    for k in range(2):
        a = a + k
    for k in range(3):
        b = b + k * a
    return b


def clobbered_in_loop(a, b):
    x = a
    for _ in range(3):
        y = x
        x = b
        b = y + 1
    return x * 10 + b


def copies_in_a_loop(a, b):
    c = b
    for _ in range(3):
        a, b = a, a  # noqa: PLW0127 (a is handed on as it came, b takes it)
        c = b if c > 0 else c
    return a * 100 + b * 10 + c


def reused_loop_variable(a, b):
    j = 5
    total = j
    for i in range(a + 3):
        for j in range(b + 2):
            total += i * j
    n = a
    while n < 3:
        for j in range(2):
            total += j
        n += 1
    return total


FUNCTIONS = [value for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__]
FUNCTIONS = [function for function in FUNCTIONS if callable(function)]


def in_kernel(function: Callable[..., Any], pairs: list[tuple[int, int]]) -> list[int]:
    """The results of a function for pairs of numbers, one program each."""
    helper = JitSource(function)

    def kernel(a, b, out):
        pid = tl.program_id(0)
        tl.store(out + pid, helper(tl.load(a + pid), tl.load(b + pid)))

    left, right = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    out = np.zeros(len(pairs), np.int32)
    run(kernel, left, right, out, grid=(len(pairs),))
    return out.tolist()


def in_python(function: Callable[..., Any], a: int, b: int) -> int:
    return int(function(a, b))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_means_what_python_means(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = list(itertools.product(range(-1, 4), range(-2, 3)))
    found = in_kernel(function, pairs)
    monkeypatch.setattr(tl, "static_range", range)
    expected = [in_python(function, a, b) for a, b in pairs]
    assert found == expected


def ops_named(module: Module, name: str) -> list[Any]:
    return [op for op in module.walk() if op.name == name]


def test_a_kernel_that_returns_early_nests_the_rest() -> None:
    def kernel(x, n):
        if n > 3:
            return
        tl.store(x, 1.0)

    module = build(kernel, np.zeros(1, np.float32), 1)
    (branch,) = ops_named(module, "control.if")
    assert not branch.results
    assert [op.name for op in branch.region("then").block.ops] == ["control.yield"]
    assert "memory.store" in [op.name for op in branch.region("otherwise").block.ops]
    assert [op.name for op in module.walk()][-1] == "control.return"


def test_compile_time_branches_leave_nothing_behind() -> None:
    def kernel(x, FLAG: tl.constexpr):
        if FLAG:
            tl.store(x, 1.0)
        else:
            tl.store(x, undefined)  # noqa: F821 (never looked at)
        y = 1.0 if FLAG else undefined  # noqa: F821
        tl.store(x, y)

    module = build(kernel, np.zeros(1, np.float32), True)
    assert not ops_named(module, "control.if")
    assert len(ops_named(module, "memory.store")) == 2


def test_loops_carry_only_what_changes() -> None:
    def kernel(x, n, DOUBLE: tl.constexpr):
        kept, changed = 1.0, 2.0
        for k in range(n):
            if DOUBLE:
                kept = kept * 2.0
            changed = changed + kept
            tl.store(x + k, changed)
        tl.store(x, kept)

    array = np.zeros(4, np.float32)
    carried = [
        len(ops_named(build(kernel, array, 2, flag), "control.for")[0].results) for flag in (False, True)
    ]
    assert carried == [1, 2]
    run(kernel, array, 3, False)
    assert array.tolist() == [1, 4, 5, 0]


def test_tuples_are_carried_part_by_part() -> None:
    def kernel(x, n):
        pair = (tl.zeros([2], tl.float32), 1)
        for _ in range(n):
            pair = (pair[0] + 1.5, pair[1] * 2)
        tl.store(x + tl.arange(0, 2), pair[0] * pair[1])

    array = np.zeros(2, np.float32)
    run(kernel, array, 3)
    assert array.tolist() == [36, 36]


def test_hints_of_a_range_are_kept() -> None:
    def kernel(x, n):
        for k in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=4, flatten=True, warp_specialize=False):
            tl.store(x + k, 0.0)

    (loop,) = ops_named(build(kernel, np.zeros(1, np.float32), 5), "control.for")
    assert loop.attribute("num_stages") == 3
    assert loop.attribute("hints") == {"loop_unroll_factor": 4, "flatten": True}


def test_argument_that_is_compiled_in_may_change_in_a_loop() -> None:
    def kernel(x, n):
        while n > 0:
            tl.store(x + n, 7.0)
            n = n - 1

    array = np.zeros(3, np.float32)
    run(kernel, array, n=2)
    assert array.tolist() == [0, 7, 7]


def test_induction_variable_takes_the_wider_bound() -> None:
    def kernel(x, n):
        for k in range(n):
            tl.static_assert(k.dtype == tl.int64)
            tl.store(x + k, math.pi)

    array = np.zeros(3, np.float32)
    run(kernel, array, np.int64(2))
    assert array.tolist() == [np.float32(math.pi)] * 2 + [0]


def test_float_operations_inside_branches_keep_their_lines() -> None:
    def kernel(x, n):
        if n > 0:
            tl.store(x, 1.0)

    module = build(kernel, np.zeros(1, np.float32), 3)
    (store,) = ops_named(module, "memory.store")
    assert store.location.file == __file__
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = lines[store.location.line - 1]
    assert line[store.location.column : store.location.end_column] == "tl.store(x, 1.0)"
    assert store.location.function == "kernel"
