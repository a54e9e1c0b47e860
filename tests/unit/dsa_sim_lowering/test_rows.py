"""The vector cores beside a matrix core share the rows of tiles where nothing mixes rows, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl


@xdsl.jit
def epilogue_kernel(  # noqa: C901 - one branch a mode
    a, b, c, out, m, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MODE: tl.constexpr
):
    r, q, k = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    at, inside = r[:, None] * N + q[None, :], (r[:, None] < m) & (q[None, :] < n)
    x = tl.load(a + r[:, None] * K + k[None, :], mask=r[:, None] < m, other=0)
    y = tl.load(b + k[:, None] * N + q[None, :])
    d = tl.dot(x, y, input_precision="ieee")
    if MODE == "bias":
        d = d + tl.load(c + q)[None, :]
    elif MODE == "row numbers":
        d = tl.where(r[:, None] >= q[None, :], d * (r[:, None] + 1), 5.0)
    elif MODE == "row maximum":
        d = d - tl.max(d, axis=1)[:, None]
    elif MODE == "scan of rows":
        d = tl.cumsum(d, axis=1)
    elif MODE == "transposed store":
        at, inside = q[None, :] * m + r[:, None], r[:, None] < m
        d = d + 1
    elif MODE == "numbers of rows and columns":
        i = tl.arange(0, M)
        d = tl.where(i[:, None] <= i[None, :] % M, d, -d) if M == N else d + i[:, None]
    elif MODE == "gathered":
        d = d + tl.load(c + (r % 4))[:, None]
    elif MODE == "branch":
        if n > 3:
            d = d * 2
        else:
            d = d * 3 + 1
    elif MODE == "loop":
        for _ in range(3):
            d = d + tl.dot(x + 1, y, input_precision="ieee")
    elif MODE == "column maximum":
        d = d - tl.max(d, axis=0)[None, :]
    elif MODE == "transposed":
        d = tl.trans(tl.trans(d) + tl.load(c + q)[:, None])
    elif MODE == "read back":
        tl.store(out + at, d + 1, mask=inside)
        d = tl.load(out + at, mask=inside) * 2
    tl.store(out + at, d, mask=inside)


BY_ROWS = (
    "bias",
    "row numbers",
    "row maximum",
    "scan of rows",
    "transposed store",
    "numbers of rows and columns",
    "gathered",
    "branch",
    "loop",
)
MIXING_ROWS = ("column maximum", "transposed", "read back")
SHAPES = ((16, 16, 16, 16, 16), (32, 16, 8, 50, 13))
# An odd number of rows cannot be shared.
ODD = ((7, 5, 3, 20, 5),)


def launch(mode: str, shape: tuple[int, ...], backend: str) -> tuple[np.ndarray[Any, Any], Any]:
    m, n, k, rows, columns = shape
    whole = -(-rows // m) * m
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, size).astype(np.float32) for size in ((whole, k), (k, n)))
    c, out = np.arange(64, dtype=np.float32), np.zeros(whole * max(m, n), np.float32)
    made = epilogue_kernel.on(backend)[(whole // m,)](a, b, c, out, rows, columns, M=m, N=n, K=k, MODE=mode)
    return out, made


@pytest.mark.parametrize("shape", [*SHAPES, *ODD])
@pytest.mark.parametrize("mode", [*BY_ROWS, *MIXING_ROWS])
def test_rows_are_shared_where_nothing_mixes_them(mode: str, shape: tuple[int, ...]) -> None:
    found, made = launch(mode, shape, "dsa_sim:ascend910b2")
    expected, _ = launch(mode, shape, "reference")
    np.testing.assert_array_equal(found, expected)
    members = made.executable.payload.image.program.members
    assert members == ({} if mode in BY_ROWS and shape in SHAPES else {"AIV": 1})
