"""Conditions, branches, and what variables are after them."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
from tests.filecheck.expectations import kernel


@kernel("x: *f32")
def conditions_are_one_value(x):
    v = tl.load(x + tl.arange(0, 8))
    if v > 0:  # error: X0123: a condition must be one value
        tl.store(x, 0.0)
    w = 1.0 if v > 0 else 2.0  # error: X0123: tl.where
    while v > 0:  # error: X0123: a condition must be one value
        v = v - 1.0
    if tl.max(v, axis=0) > 0:
        tl.store(x, w)


@kernel("x: *f32, n: i32")
def types_after_a_branch(x, n):
    if n > 0:
        y = tl.load(x)
    else:
        y = 0
    tl.store(x, y)  # error: X0124: f32 or i32
    v = tl.load(x + tl.arange(0, 8))
    if n > 1:
        v = tl.sum(v, axis=0)
    tl.store(x, v)  # error: X0124: depending on a condition
    z = None
    if n > 2:
        z = 1.0
    tl.store(x, z)  # error: X0124: the compile-time value None
    unused = 1.0
    if n > 3:
        unused = 1
    tl.store(x, 1.0 if n > 4 else 2)  # error: X0124: both sides


@kernel("x: *f32, n: i32")
def no_value_after_a_branch(x, n):
    if n > 0:
        y = tl.load(x)
    tl.store(x, y)  # error: X0127: give y a value before the if
    if n > 0:
        pass
    else:
        z = tl.load(x)
    tl.store(x, z)  # error: X0127: does not hold


@kernel("x: *f32, n: i32")
def compile_time_names_after_a_branch(x, n):
    if n > 0:
        a: tl.constexpr = 4
    else:
        a: tl.constexpr = 8
    tl.store(x + tl.arange(0, a), 0.0)  # error: X0124: compile-time value 4


@kernel("x: *f32, n: i32, BLOCK=8")
def fine(x, n, BLOCK: tl.constexpr):
    if BLOCK > 4:
        y = tl.load(x)
    else:
        y = 0
    if n > 0:
        y, z = y + 1.0, 2
    else:
        z = 3
    y = y if n > 1 else 0.0
    if n > 2:
        if n > 3:
            tl.store(x, y)
            return
        y = y * 2.0
    tl.store(x, y + z)
