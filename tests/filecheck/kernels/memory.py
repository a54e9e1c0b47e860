"""Loads, stores and atomics."""
# ruff: noqa  (the mistakes are the point)

import xdsl_core.language as tl
from tests.filecheck.expectations import kernel


@kernel("x: *f32, n: i32")
def loads(x, n):
    i = tl.arange(0, 8)
    tl.load(n)  # error: X0136: needs a pointer
    tl.load(x + i, mask=i)  # error: X0136: the mask must hold bools
    tl.load(x + i, other=0.0)  # error: X0136: other has no meaning without a mask
    tl.load(x, mask=i < n)  # error: X0136: does not fit a scalar pointer
    tl.load(x + i, mask=tl.arange(0, 4) < n)  # error: X0136: does not fit pointers of shape [8]
    tl.load(x + i, boundary_check=(0,))  # error: X0146: block pointers
    tl.load(x + i, cache_modifier=".xx")  # error: X0138: one of: '.ca'
    tl.load(x + i, eviction_policy="never")  # error: X0138: evict_first
    tl.load(x + i, mask=i < n, other=x)  # error: X0132: cannot cast


@kernel("x: *f32, n: i32")
def blocks(x, n):
    block = tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,))
    tl.load(block, mask=n > 0)  # error: X0146: a block pointer takes no mask
    tl.make_tensor_descriptor(x, [n], [n], [8])  # error: X0160: the last axis of a tensor descriptor


@kernel("x: *f32, n: i32")
def stores(x, n):
    i = tl.arange(0, 8)
    tl.store(i, 0.0)  # error: X0136: needs a pointer
    tl.store(x, i)  # error: X0136: the value of shape [8] does not fit a scalar pointer
    tl.store(x + i, tl.zeros([4], tl.float32))  # error: X0136: does not fit pointers of shape [8]
    tl.store(x + i, 0.0, mask=i[:, None] < n)  # error: X0136: the mask of shape [8, 1] does not fit
    tl.store(x + i, 0.0, cache_modifier=".ca")  # error: X0138: '.wb'
    tl.store(x + i, 0.0, boundary_check=(0,))  # error: X0146: block pointers
    tl.store(x + i, i, mask=n > 0)
    tl.store(x + i, True)


@kernel("x: *f32, h: *f16, s: *i16, n: *i32")
def atomics(x, h, s, n):
    i = tl.arange(0, 8)
    tl.atomic_add(x + i, 1.0, mask=i < 4)
    tl.atomic_add(h, 1.0)
    tl.atomic_max(x, 1.0)
    (n + i).atomic_xchg(i, sem="relaxed", scope="cta")
    tl.atomic_cas(n, 0, 1)
    tl.atomic_add(s, 1)
    tl.atomic_poll(n, 1, timeout_ns=5)  # error: X0165: takes no timeout
    tl.atomic_poll(x, 1.0)  # error: X0145: does not work on f32
    tl.atomic_max(h, 1.0)  # error: X0145: does not work on f16
    tl.atomic_and(x, 1)  # error: X0145: does not work on f32
    tl.atomic_cas(n.to(tl.pointer_type(tl.int8)), 0, 1)  # error: X0145: 16, 32 and 64 bits
    tl.atomic_add(n, 1, sem="strong")  # error: X0138: 'acq_rel'
    tl.atomic_add(n, 1, scope="world")  # error: X0138: 'gpu'
    tl.atomic_add(i, 1)  # error: X0136: needs a pointer
