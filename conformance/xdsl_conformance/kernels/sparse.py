"""Sparse matrices in compressed rows, times a vector and times a matrix."""

from __future__ import annotations

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_conformance import tracked as tr
from xdsl_conformance.kernel_case import KernelCase, Make, Problem
from xdsl_conformance.kernels.data import Generator, normal


@xdsl.jit
def spmv(starts, columns, values, x, out, BLOCK: tl.constexpr):
    """One row a program; rows may be empty."""
    row = tl.program_id(0)
    first, end = tl.load(starts + row), tl.load(starts + row + 1)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(first, end, BLOCK):
        at = start + tl.arange(0, BLOCK)
        column = tl.load(columns + at, mask=at < end, other=0)
        total += tl.load(values + at, mask=at < end, other=0.0) * tl.load(
            x + column, mask=at < end, other=0.0
        )
    tl.store(out + row, tl.sum(total, axis=0))


@xdsl.jit
def spmm(starts, columns, values, x, out, width: tl.constexpr):
    """One row a program, one element of it at a time."""
    row = tl.program_id(0)
    lanes = tl.arange(0, width)
    total = tl.zeros((width,), dtype=tl.float32)
    for at in range(tl.load(starts + row), tl.load(starts + row + 1)):
        total += tl.load(values + at) * tl.load(x + tl.load(columns + at) * width + lanes)
    tl.store(out + row * width + lanes, total)


def _sparse(rows: int, columns: int, width: int) -> Make:
    def make(generator: Generator) -> Problem:
        dense = normal(generator, rows, columns) * (generator.random((rows, columns)) < 0.3)
        dense[1] = 0.0
        places = [np.flatnonzero(row) for row in dense]
        starts = np.concatenate([[0], np.cumsum([len(place) for place in places])]).astype(np.int32)
        column = np.concatenate(places).astype(np.int32)
        values = np.concatenate([row[place] for row, place in zip(dense, places, strict=True)])
        x = normal(generator, columns, width) if width else normal(generator, columns)
        out = np.empty((rows, width) if width else rows, np.float32)
        meta = {"width": width} if width else {"BLOCK": 8}
        expected = tr.tracked(dense) @ x.astype(np.float64)
        return Problem((rows,), (starts, column, values, x, out), meta, {4: expected})

    return make


KERNELS = (
    KernelCase("spmv", "tile", "sparse matrix times vector", spmv, {"6x40": _sparse(6, 40, 0)}),
    KernelCase("spmm", "tile", "sparse matrix times matrix", spmm, {"5x20x8": _sparse(5, 20, 8)}),
)
