"""Calls: arguments, helpers, recursion."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
import xdsl_core.language.extra.deeplink as dl
from tests.filecheck.expectations import helper, kernel


@helper
def divide(a, b=3, W: tl.constexpr = 1):
    return a // b, (a % b) * W


@helper
def power(x, n: tl.constexpr):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@helper
def endless(x):
    return endless(x)  # error: X0141: no run-time recursion


@helper
def broken(x):
    y = x + missing_name  # error: X0103: missing_name is not defined
    return y


@helper
def narrow_exp(x):
    return tl.exp(x)  # error: X0131: x.to(tl.float32)


@helper
def sometimes(x):  # error: X0139: on some paths only
    if x > 0:
        return x
    tl.device_print("x", x)


@helper
def either(x):
    if x > 0:  # error: X0139: returns different types
        return x
    return x.to(tl.float64)


@helper
def gives_nothing(x):
    tl.device_print("x", x)


@kernel("x: *i32, out: *f32")
def good_calls(x, out):
    v = tl.load(x)
    a, b = divide(v)
    c, d = divide(v, W=10, b=4)
    tl.store(out, a + b + c + d + power(tl.load(out), 3))
    tl.store(out, divide(*(v, 2))[0])


@kernel("x: *i32")
def bad_arguments(x):
    v = tl.load(x)
    divide()  # error: X0112: missing a required argument: 'a'
    divide(v, 1, 2, 3)  # error: X0112: too many positional arguments
    divide(v, WW=1)  # error: X0112: did you mean W=?
    tl.load(x, maks=None)  # error: X0112: did you mean mask=?
    tl.load()  # error: X0112: missing a required argument: 'pointer'
    tl.arange(0, 8, 16)  # error: X0112: the signature is arange(start, end)


@kernel("x: *f32")
def recursion(x):
    tl.store(x, endless(1.0))


@kernel("x: *f32")
def helper_fails(x):
    v = broken(tl.load(x))
    tl.store(x, v)
    w = narrow_exp(tl.load(x).to(tl.float16))
    tl.store(x, w)


@kernel("x: *f32")
def library_fails(x):
    v = tl.load(x).to(tl.float16)
    tl.store(x, tl.sigmoid(v))  # error: X0131: this is inside tl.sigmoid


@kernel("x: *f32")
def helper_returns_different_things(x):
    tl.store(x, sometimes(tl.load(x)))
    tl.store(x, either(tl.load(x)))
    nothing = gives_nothing(tl.load(x))
    tl.store(x, nothing)  # error: X0115: value must be


@kernel("x: *f32")
def kernel_returns(x):  # error: X0140: writes its results with tl.store
    return tl.load(x)


@kernel("x: *f32, BLOCK=8")
def wrong_kinds(x, BLOCK: tl.constexpr):
    n = 8
    i = tl.arange(0, n)  # error: X0111: annotate it: n: tl.constexpr
    j = tl.arange(0, BLOCK)
    v = tl.load(x + j)
    v.to("float16")  # error: X0115: a dtype such as tl.float32
    tl.zeros((BLOCK, 2.5), tl.float32)  # error: X0115: must hold integers
    tl.sum(v, axis="rows")  # error: X0115: an integer
    tl.exp(None)  # error: X0115: must be a tile
    tl.store(x + j, tl.float32)  # error: X0115: must be a tile
    tl.zeros((n, n), tl.float32)  # error: X0111: must be known when compiling
    tl.full([BLOCK], v, tl.float32)  # error: X0115: value must be a scalar
    float(v)  # error: X0111: cast it: x.to(tl.float32)


@kernel("x: *f32, BLOCK=8")
def calls_of_python_functions(x, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.store(x, max(len(v), 3, 4) + min(1, 2) + abs(-2) + len((1, 2)) + int("3"))
    len()  # error: X0112: missing a required argument
    list(3)  # error: X0110: not iterable
    len(tl.load(x))  # error: X0115: a scalar has no length


@kernel("x: *f32")
def spreads(x):
    tl.store(*(x, 1.0))
    tl.store(*x)  # error: X0115: only tuples can be spread


@kernel("x: *f32, n: i32")
def extensions(x, n):
    dl.compile_hint(x, "dot_pad_only_m")  # error: X0162: did you mean 'dot_pad_only_k'
    dl.wait_cross_flag(dl.SyncFlag.C2V, 2)  # error: X0163: no earlier statement sets
    tl.arange(0, 1 << 24)  # error: X0166: a tile of 16777216 elements
    tl.custom("acme.fancy", n)  # error: X0164: the backend has no op 'acme.fancy'
