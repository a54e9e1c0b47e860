"""Statements that kernels do not know."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
from tests.filecheck.expectations import kernel


@kernel("x: *f32")
def unsupported_statements(x):
    """A docstring is fine."""
    with x:  # error: X0104: with cannot be used
        pass
    try:  # error: X0104: tl.device_assert
        pass
    finally:
        pass
    raise ValueError  # error: X0104: tl.static_assert
    import math  # error: X0104: top of the file
    from math import pi  # error: X0104: top of the file

    global y  # error: X0104: pass values as arguments

    class A:  # error: X0104: at module level
        pass


@kernel("x: *f32, n: i32")
def leaves_loops(x, n):
    for k in range(0, n):
        if k == 3:
            break  # error: X0106: while loop with a flag
        if k == 2:
            continue  # error: X0106: put the rest
        tl.store(x + k, 0.0)


@kernel("x: *f32, n: i32")
def returns_inside_a_loop(x, n):
    for k in range(0, n):
        if k == 3:
            return  # error: X0107: return it after the loop
        tl.store(x + k, 0.0)


@kernel("x: *f32")
def defines_functions(x):
    def inner(v):  # error: X0108: module level with @xdsl.jit
        return v

    tl.store(x, inner(1.0))


@kernel("x: *f32, n: i32")
def loops_with_else(x, n):
    for k in range(0, n):  # error: X0144: have no else
        tl.store(x + k, 0.0)
    else:
        pass
    while n > 0:  # error: X0144: have no else
        pass
    else:
        pass


@kernel("x: *f32")
def unsupported_expressions(x):
    square = lambda *v: v[0]  # error: X0105: a lambda in a kernel names its parameters
    table = {"a": 1}  # error: X0105: a dict
    members = {1, 2}  # error: X0105: a set cannot
    total = sum(v for v in (1, 2))  # error: X0105: generator
    nested = [a + b for a in (1, 2) for b in (3, 4)]  # error: X0105: nested comprehensions
    tl.store(x, 0.0, **table)  # error: X0105: write the keywords out
    awaited = yield 1  # error: X0105: yield


@kernel("x: *f32, n: i32")
def assigns_to_parts(x, n):
    v = tl.load(x + tl.arange(0, 8))
    v[0] = 1.0  # error: X0118: tl.where
    v[0] += 1.0  # error: X0118: tl.where
    v.total = 1.0  # error: X0118: use a variable
    first, *rest = (1, 2, 3)  # error: X0118: name each value
    for a, b in range(0, n):  # error: X0118: for i in range
        pass


@kernel("x: *f32")
def unpacks(x):
    a, b = 1, 2
    (c, d), e = (a, b), 3
    tl.store(x, a + b + c + d + e)
    f, g = (1, 2, 3)  # error: X0116: 3 values for 2 names
    h, i = tl.load(x)  # error: X0116: only tuples can be unpacked
    tl.store(x, f + g + h + i)


@kernel("x: *f32")
def evaluates_when_compiling(x):
    a: tl.constexpr = 4
    b: tl.constexpr = a // 0  # error: X0110: ZeroDivisionError
    c: tl.constexpr = a + "x"  # error: X0110: TypeError
    d: tl.constexpr = (1, 2)[5]  # error: X0110: IndexError
    tl.store(x, b + c + d)


@kernel("x: *f32, BLOCK=48")
def asserts(x, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 16 == 0)
    tl.static_assert(BLOCK == 48, "not evaluated: " + 1)
    tl.static_assert(BLOCK == 64, f"BLOCK is {BLOCK:>4}")  # error: X0130: BLOCK is   48
    tl.static_assert(tl.load(x) > 0)  # error: X0111: must be known when compiling
    assert BLOCK > 0
    assert BLOCK == 64, "needs 64"  # error: X0130: needs 64
    assert tl.load(x) > 0, "positive"


@kernel("x: *f32")
def formats(x):
    v = tl.load(x)
    tl.static_print(f"{v}")  # error: X0111: tl.device_print
    tl.static_print("type", v.dtype, f"{v.dtype} {2:03d} {'a'!r}")
    tl.device_print("v", v)
    print("v", v)
    tl.device_print(v)  # error: X0111: prefix must be known
