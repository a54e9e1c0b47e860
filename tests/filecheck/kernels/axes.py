"""Reductions, scans and dot."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
from tests.filecheck.expectations import helper, kernel


@helper
def larger(a, b):
    return tl.maximum(a, b)


@helper
def two_results(a, b):
    return a, b


@helper
def widens(a, b):
    return (a + b).to(tl.float64)


@helper
def welford(mean_a, count_a, mean_b, count_b):
    count = count_a + count_b
    return (mean_a * count_a + mean_b * count_b) / count, count


@kernel("x: *f32")
def reductions(x):
    i = tl.arange(0, 8)
    v = tl.load(x + i[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.sum(v, axis=2)  # error: X0134: axis 2 does not exist
    tl.max(v, axis=-3)  # error: X0134: axes are -2 to 1
    tl.sum(tl.load(x))  # error: X0134: a scalar has no axes
    tl.xor_sum(v, axis=0)  # error: X0131: takes integers
    tl.reduce(v, 0, two_results)  # error: X0143: must return f32
    tl.reduce(v, 0, widens)  # error: X0143: must return f32
    tl.reduce(tl.load(x), 0, larger)  # error: X0115: needs a tile
    tl.reduce((v, i), 0, welford)  # error: X0122: all tiles must have one shape
    tl.associative_scan(v, 5, larger)  # error: X0134: axis 5 does not exist
    tl.reduce(v, 0, larger, keep_dims=True)


@kernel("x: *f32")
def reductions_of_pointers(x):
    p = x + tl.arange(0, 8)
    tl.sum(p, axis=0)  # error: X0131: takes numbers
    tl.max(p)  # error: X0131: takes numbers
    tl.argmax(p, 0)  # error: X0131: takes numbers
    tl.cumsum(p)  # error: X0131: takes numbers
    tl.reduce(p, 0, larger)  # error: X0131: load what they point to


@kernel("x: *f32")
def good_reductions(x):
    i = tl.arange(0, 8)
    v = tl.load(x + i[:, None] * 4 + tl.arange(0, 4)[None, :])
    mean, count = tl.reduce((v, tl.full((8, 4), 1.0, tl.float32)), 1, welford)
    tl.store(x + i, mean * count)
    total = tl.reduce(v, None, larger)
    best, place = tl.max(v, axis=1, return_indices=True)
    tl.store(x + i, best + place + total)
    tl.store(x + i, tl.argmin(v, 1) + tl.associative_scan(i, 0, larger, reverse=True))
    tl.store(x, tl.sum(v.sum(axis=0, keep_dims=True).ravel()))


@kernel("a: *f16, b: *f32, c: *i32")
def dots(a, b, c):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    wide = i[:, None] * 16 + i[None, :]
    x, y, z = tl.load(a + wide), tl.load(b + wide), tl.load(c + wide)
    tall = tl.load(a + i[:, None] * 8 + j[None, :])
    tl.dot(x, y)  # error: X0137: operands of one dtype, not f16 and f32
    tl.dot(z, z)  # error: X0137: tl.dot takes int8
    tl.dot(tall, tall)  # error: X0137: tl.trans(b)
    tl.dot(x, i)  # error: X0137: tl.dot takes int8
    tl.dot(x, tl.load(a + i))  # error: X0137: two tiles of the same rank
    tl.dot(x, x, acc=tl.zeros((16, 8), tl.float32))  # error: X0137: must have shape [16, 16]
    tl.dot(y, y, acc=tl.zeros((16, 16), tl.float16))  # error: X0137: an accumulator of f32
    tl.dot(x, x, out_dtype=tl.bfloat16)  # error: X0137: float32 or float16
    tl.dot(x, x, input_precision="exact")  # error: X0138: 'tf32'
    tl.dot(x, x, input_precision="tf32", allow_tf32=True)  # error: X0138: exclude each other


@kernel("a: *f16, b: *f32")
def good_dots(a, b):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    x = tl.load(a + i[:, None] * 8 + j[None, :])
    acc = tl.dot(x, x.T)
    acc = tl.dot(x, tl.trans(x), acc, max_num_imprecise_acc=0, allow_tf32=False)
    half = tl.dot(x, x.T, out_dtype=tl.float16)
    tl.static_assert(half.dtype == tl.float16)
    batch = tl.broadcast_to(x[None, None, :, :], (2, 3, 16, 8))
    product = tl.dot(batch, tl.permute(batch, 0, 1, 3, 2))
    tl.static_assert(product.shape == (2, 3, 16, 16))
    tl.store(b + i[:, None] * 16 + i[None, :], acc + half)


@kernel("x: *f32")
def hints(x):
    i = tl.arange(0, 8)
    i = tl.max_contiguous(tl.multiple_of(i, 8), 8)
    tl.multiple_of(i, (8, 8))  # error: X0135: one number for each axis
    tl.assume(tl.program_id(0) >= 0)
    tl.debug_barrier()
    tl.store(x + i, tl.flip(tl.softmax(tl.load(x + i), dim=0)))
    tl.flip(tl.arange(0, 6))  # error: X0130: must be a power of two
    tl.flip(i, 2)  # error: X0134: axis 2 does not exist
