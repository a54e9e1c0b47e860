"""The tile IR of whole kernels, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xdsl_core.language as tl
from xdsl_core.cli.signature import parse_signature
from xdsl_core.frontend.python.build import build_module
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.ir.parser import parse_module
from xdsl_core.ir.printer import print_module
from xdsl_core.ir.verifier import verify
from xdsl_core.ops import opset


def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def softmax(out, x, row_stride, n_rows, n_columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=2):
        columns = tl.arange(0, BLOCK)
        inside = columns < n_columns
        values = tl.load(x + row * row_stride + columns, mask=inside, other=-float("inf"))
        numerator = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * row_stride + columns, numerator / tl.sum(numerator, axis=0), mask=inside)


def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    columns, rows = tl.cdiv(N, BN), tl.cdiv(M, BM)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    pid_m = first + pid % (GROUP * columns) % height
    pid_n = pid % (GROUP * columns) // height
    offs_m = (pid_m * BM + tl.arange(0, BM)) % M
    offs_n = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    a_ptrs = a + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b + offs_k[:, None] * N + offs_n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a_ptrs, mask=offs_k[None, :] < K - k, other=0.0)
        y = tl.load(b_ptrs, mask=offs_k[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], total.to(tl.float16))


def branches(x, n):
    value = tl.load(x)
    if value > 10.0:
        if n > 3:
            tl.store(x, 0.0)
            return
        value = value * 2.0
    while (value < 100.0) & (n > 0):
        value = value + value
        n -= 1
    tl.store(x, value if n > 0 else -value)


KERNELS = [
    (add, "x_ptr: *f32:16, y_ptr: *f32:16, out_ptr: *f32:16, n: i32:16, BLOCK=1024"),
    (softmax, "out: *f32, x: *f32, row_stride: i32, n_rows: i32, n_columns: i32, BLOCK=256"),
    (matmul, "a: *f16, b: *f16, c: *f16, M: i32, N: i32, K: i32, BM=64, BN=32, BK=16, GROUP=8"),
    (branches, "x: *f32, n: i32"),
]


@pytest.mark.parametrize(("kernel", "signature"), KERNELS, ids=lambda value: getattr(value, "__name__", ""))
def test_text(kernel: Callable[..., Any], signature: str, golden: Callable[[str, str], None]) -> None:
    module = build_module(JitSource(kernel), parse_signature(signature))
    assert not verify(module)
    text = print_module(module)
    golden(f"frontend/{kernel.__name__}.tile", text)
    assert print_module(parse_module(text, opset())) == text
