"""Operands of operators: kinds, dtypes, shapes."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
from tests.filecheck.expectations import kernel


@kernel("x: *f32, y: *f16, n: i32")
def pointers(x, y, n):
    tl.store(x + n - 1, 0.0)
    tl.store(1 + x, 0.0)
    x + y  # error: X0119: two pointers cannot be added
    x + 0.5  # error: X0119: takes no f32 offset
    x * 2  # error: X0119: does not work on pointers
    tl.where(n > 0, x, y)  # error: X0119: two pointers of one type
    x + "one"  # error: X0119: does not work on these operands
    -x  # error: X0119: does not work on pointers


@kernel("x: *f32, u: *u32, s: *i32, h: *f8e5m2")
def dtypes(x, u, s, h):
    f, a, b, q = tl.load(x), tl.load(u), tl.load(s), tl.load(h)
    f // 2.0  # error: X0119: // works on integers
    f & 1  # error: X0119: bit operators work on integers
    f << 1  # error: X0119: bit operators work on integers
    ~f  # error: X0119: ~ works on integers
    f**2  # error: X0119: tl.math.pow
    a % b  # error: X0120: one is signed
    a // b  # error: X0120: one is signed
    a / b  # error: X0120: one is signed
    a % 7


@kernel("x: *f32, u: *u32, s: *i32, h: *f8e5m2")
def numbers(x, u, s, h):
    f, a, b, q = tl.load(x), tl.load(u), tl.load(s), tl.load(h)
    a + -1  # error: X0121: meets unsigned values
    a.to(tl.uint8) + 300  # error: X0121: out of the range of u8
    b + 2**70  # error: X0121: does not fit in 64 bits
    tl.full([4], 1.5, tl.int32)  # error: X0121: no value of i32
    q + b  # error: X0119: cast the fp8 operand
    f in (1.0, 2.0)  # error: X0119: compare with each value
    1 in f  # error: X0119: compare with each value
    f @ f  # error: X0119: tl.dot


@kernel("x: *f32")
def shapes(x):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    tl.store(x + i[:, None] * 16 + j[None, :], 0.0)
    i + j  # error: X0122: i is tile<8xi32>, j is tile<16xi32>
    tl.where(i > 0, i, j)  # error: X0122: the shapes do not agree
    tl.broadcast_to(i, (16,))  # error: X0122: cannot broadcast [8] to [16]
    tl.broadcast_to(i, (8, 8))  # error: X0122: the rank changes


@kernel("x: *f32")
def reshapes(x):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    tl.broadcast(i, j)  # error: X0122: the shapes do not agree
    tl.reshape(i, (3, 3))  # error: X0135: holds 9 elements, not 8
    tl.reshape(i, (0, 8))  # error: X0135: extents must be 1 or more
    tl.zeros((0, 4), tl.float32)  # error: X0135: extents must be 1 or more
    tl.permute(i[None, :], (0, 0))  # error: X0135: no permutation
    tl.trans(i)  # error: X0134: needs two axes
    tl.expand_dims(i, 3)  # error: X0134: axis 3 does not exist
    tl.expand_dims(i, (0, 0))  # error: X0134: named twice


@kernel("x: *f32")
def too_many_errors_stop_at_ten(x):
    i = tl.arange(0, 8)
    i[i]  # error: X0117: a tile is indexed with integers, slices, None and ...
    i[1.5]  # error: X0117: a tile is indexed with
    i[tl.load(x) :]  # error: X0117: tl.extract_slice takes offsets of the running kernel
    i[3:3]  # error: X0161: the slice is empty
    i[:, :]  # error: X0117: 2 indices for a tile of rank 1
    (1, 2)[tl.load(x)]  # error: X0117: must be known when compiling
    tl.store(x + i[None, :], 0.0)


@kernel("x: *f32")
def grids(x):
    tl.store(x, tl.program_id(0) + tl.num_programs(2))
    tl.program_id(3)  # error: X0134: the axes 0, 1 and 2
    tl.program_id(axis=-1)  # error: X0134: axis -1 does not exist


@kernel("x: *f32")
def ranges(x):
    tl.store(x + tl.arange(0, 48), 0.0)
    tl.arange(0, 0)  # error: X0206: needs end > start
    tl.arange(4, 0)  # error: X0206: needs end > start


@kernel("x: *f16, b: *i1, i: *i32")
def functions(x, b, i):
    h, t, n = tl.load(x), tl.load(b), tl.load(i)
    tl.exp(h)  # error: X0131: cast it: x.to(tl.float32)
    tl.sqrt_rn(h.to(tl.float64))  # error: X0131: takes float32
    tl.umulhi(n, h)  # error: X0131: takes int32
    tl.fdiv(n, n)  # error: X0131: takes floats
    tl.fdiv(h, h, ieee_rounding=True, approx=True)  # error: X0138: exclude each other
    tl.abs(x)  # error: X0131: takes
    tl.fma(n, n, n)  # error: X0131: takes float8e4nv
    min(h, "x")  # error: X0115: takes tiles, scalars and numbers
    tl.zeros_like(x + tl.arange(0, 8))  # error: X0132: 0 is no pointer
    tl.minimum(h, 1.0)
    tl.sqrt(4)
    t & (n > 0)


@kernel("x: *f32, i: *i32")
def casts(x, i):
    f, n = tl.load(x), tl.load(i)
    f.to(tl.float16, fp_downcast_rounding="rtz")
    f.to(tl.float16, fp_downcast_rounding="up")  # error: X0138: no rounding mode
    n.to(tl.float32, fp_downcast_rounding="rtz")  # error: X0132: does not apply
    f.to(tl.int16, bitcast=True)  # error: X0133: f32 has 32 bits
    x.to(tl.int32)  # error: X0132: 64-bit integers only
    f.to(tl.pointer_type(tl.int8))  # error: X0132: cannot cast f32
    x.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(x.to(tl.int64).to(tl.pointer_type(tl.float32)), f)


@kernel("b: *i1, i: *i32")
def truth(b, i):
    lanes = tl.arange(0, 8)
    t, n = tl.load(b + lanes), tl.load(i + lanes)
    tl.store(b + lanes, t and (n > 0))
    tl.store(b + lanes, not t)
    n and t  # error: X0119: need bools
    tl.store(b + lanes, not n)
