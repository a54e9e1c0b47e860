"""Loops: bounds, what they carry, what is left after them."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
from tests.filecheck.expectations import kernel


@kernel("x: *f32, n: i32")
def changes_type(x, n):
    acc = tl.zeros([8], tl.float16)
    shape = tl.zeros([8], tl.float32)
    for k in range(0, n):
        acc += tl.load(x + k * 8 + tl.arange(0, 8))  # error: X0125: acc is tile<8xf32> here, but tile<8xf16>
        shape = tl.sum(shape, axis=0)  # error: X0125: start from a value of the type it has here
    tl.store(x + tl.arange(0, 8), acc)


@kernel("x: *f32, n: i32")
def changes_type_in_while(x, n):
    total = 0
    while n > 0:
        total = total + 1.5  # error: X0125: total is f32 here, but i32 before the loop
        n = n - 1
    tl.store(x, total)


@kernel("x: *f32, n: i32, BLOCK=8")
def changes_a_constant(x, n, BLOCK: tl.constexpr):
    step: tl.constexpr = 1
    nothing = None
    for k in range(0, n):
        BLOCK = BLOCK * 2  # error: X0126: BLOCK is compile-time
        step: tl.constexpr = 2  # error: X0126: step is compile-time
        nothing = 1  # error: X0126: nothing is None before the loop
    k: tl.constexpr = n + 2
    tl.arange(0, k)  # error: X0111: must be known when compiling
    m = n + 1
    m: tl.constexpr = 4  # error: X0126: a value of the running kernel already


@kernel("x: *f32, n: i32")
def values_after_a_loop(x, n):
    for k in range(0, n):
        inside = tl.load(x + k)
    tl.store(x, inside)  # error: X0127: may run zero times
    tl.store(x, k)  # error: X0127: the loop counts in
    for k in range(0, n):
        if k > 2:
            found = k
        tl.store(x, found)  # error: X0127: found may have no value here


@kernel("x: *f32, n: i32")
def values_that_an_iteration_loses(x, n):
    j = 5
    for i in range(0, n):  # error: X0127: j has no value after its loop
        tl.store(x + j, 0.0)
        for j in range(0, 2):
            tl.store(x + j, 1.0)
    m = n
    while m > 0:  # error: X0127: use another name for m
        for m in range(0, 2):
            pass
    k = 5
    for i in range(0, n):
        for k in range(0, 2):
            tl.store(x + k, 1.0)
    tl.store(x, k)  # error: X0127: the loop counts in


@kernel("x: *f32, n: i32")
def iterates(x, n):
    for v in (1.0, 2.0):  # error: X0128: tl.static_range(len(values))
        tl.store(x, v)
    for v in x:  # error: X0128: it needs range
        pass
    for i in tl.static_range(n):  # error: X0111: a bound of tl.static_range
        pass
    for i in tl.static_range(0, 4, 0):  # error: X0129: cannot be 0
        pass
    for i in tl.static_range(0, 20000):  # error: X0129: would be unrolled 20000 times
        pass
    for i in range():  # error: X0112: range(start, end, step)
        pass
    for i in range(0, n, num_stage=2):  # error: X0112: num_stage
        pass


@kernel("x: *f32, n: i32, f: f32")
def bounds(x, n, f):
    for i in range(0, f):  # error: X0129: must be integer scalars
        pass
    for i in range(0, tl.arange(0, 8)):  # error: X0129: reduce tiles to a scalar
        pass
    for i in range(0, n, 0):  # error: X0129: cannot be 0
        pass
    step = -1
    for i in range(n, 0, step):  # error: X0129: must be positive
        pass
    for i in range(n, 0, -1):
        tl.store(x + i, 0.0)
    while True:  # error: X0142: would never end
        pass
    while False:
        tl.store(nothing, 0.0)


@kernel("x: *f32, n: i32")
def fine(x, n):
    acc = 0.0
    pair = (0.0, 1)
    for k in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
        acc += tl.load(x + k)
        pair = (pair[0] + acc, pair[1] * 2)
        for j in tl.static_range(2):
            acc = acc * 2.0 + j
    while (n > 0) & (acc < 10.0):
        n -= 1
        acc = acc + 1.0
    tl.store(x, acc + pair[0] + pair[1])


@kernel("x: *f32, n: i32")
def goes_on_after_a_mistake_in_a_loop(x, n):
    acc = tl.load(x)
    for k in range(0, n):
        acc = acc + unknown  # error: X0103: unknown is not defined
        tl.store(x + k, acc)
    tl.store(x, acc)
    tl.store(x, also_unknown)  # error: X0103: also_unknown is not defined
