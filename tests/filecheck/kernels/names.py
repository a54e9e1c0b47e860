"""Names, globals, attributes."""
# ruff: noqa  (the mistakes are the point)

import math

import xdsl_core.language as tl
from tests.filecheck.expectations import helper, kernel

PLAIN = 4
TEXT = "text"
FIXED = tl.constexpr(4)
ANNOTATED: tl.constexpr = 8
ELEMENT = tl.float16
alias = tl.exp


def plain_function(x):
    return x


@helper
def twice(x):
    return x + x


@kernel("x: *f32")
def reads_globals(x):
    i = tl.arange(0, FIXED * ANNOTATED)
    tl.store(x + i, alias(twice(tl.load(x + i))) * math.pi)
    tl.static_assert(ELEMENT == tl.float16)
    tl.static_assert(math.log2(FIXED) == 2.0)
    tl.static_assert(FIXED.value == 4)


@kernel("x: *f32")
def reads_ordinary_globals(x):
    i = tl.arange(0, PLAIN)  # error: X0102: PLAIN = tl.constexpr(...)
    tl.static_print(TEXT)  # error: X0102: TEXT is an ordinary global
    tl.store(x + i, 0.0)


@kernel("x: *f32")
def misspells(x):
    offsets = tl.arange(0, 8)
    tl.store(x + ofsets, 0.0)  # error: X0103: did you mean offsets?
    tl.store(x + nothing_like_it, 0.0)  # error: X0103: nothing_like_it is not defined
    y = tl.laod(x)  # error: X0114: did you mean load?
    tl.store(x, y)


@kernel("x: *f32")
def uses_before_definition(x):
    tl.store(x, later)  # error: X0103: later is not defined
    later = 1.0
    tl.store(x, later)


@kernel("x: *f32")
def deletes(x):
    y = 1.0
    del y
    tl.store(x, y)  # error: X0103: y is not defined
    del nothing  # error: X0103: nothing is not defined
    del x[0]  # error: X0118: only variables


@kernel("x: *f32")
def asks_for_attributes(x):
    v = tl.load(x)
    v.values  # error: X0114: tensors have no attribute values
    v.reshpae((1,))  # error: X0114: did you mean reshape?
    v.dtype.bits_per_lane  # error: X0114: has no attribute
    tl.math.nothing(v)  # error: X0114: has no attribute nothing


@kernel("x: *f32")
def calls_python(x):
    y = plain_function(tl.load(x))  # error: X0113: @xdsl.jit
    z = plain_function(4)  # error: X0113: ordinary Python function
    tl.store(x, math.sqrt(tl.load(x)))  # error: X0111: tl.sqrt
    w = FIXED(x)  # error: X0113: cannot be called
    tl.store(x, y + z + w)
