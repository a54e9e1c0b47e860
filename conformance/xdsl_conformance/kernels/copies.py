"""Masked copies of all kinds, for the cases about memory that must not be touched."""

from __future__ import annotations

import xdsl_core as xdsl
import xdsl_core.language as tl


@xdsl.jit
def copy(x, out, n, m, BLOCK: tl.constexpr):
    """out[:n] = x[:n]."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


@xdsl.jit
def copy_reversed(x, out, n, m, BLOCK: tl.constexpr):
    """out[:n] = x[:n], lanes before the first element masked off."""
    i = n - (tl.program_id(0) + 1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i >= 0, other=0), mask=i >= 0)


@xdsl.jit
def copy_strided(x, out, n, m, BLOCK: tl.constexpr):
    """Every m-th element."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i * m < n
    tl.store(out + i * m, tl.load(x + i * m, mask=inside, other=0), mask=inside)


@xdsl.jit
def copy_looked_up(x, out, n, m, BLOCK: tl.constexpr):
    """Addresses of masked-off lanes are far outside."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = tl.where(i < n, i, 1 << 30)
    tl.store(out + far, tl.load(x + far, mask=i < n), mask=i < n)


@xdsl.jit
def copy_matrix(x, out, n, m, BLOCK: tl.constexpr):
    """A matrix n / m x m in tiles of BLOCK x BLOCK."""
    r, c = tl.arange(0, BLOCK)[:, None], tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (r < n // m) & (c < m)
    tl.store(out + r * m + c, tl.load(x + r * m + c, mask=inside, other=0), mask=inside)


@xdsl.jit
def copy_in_loop(x, out, n, m, BLOCK: tl.constexpr):
    """One program, block after block: the last one is cut."""
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0), mask=i < n)
