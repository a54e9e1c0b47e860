"""Arguments that share memory: accesses keep the order of the program, through whichever pointer they go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.backend import Pointer
from xdsl_core.dtypes import f32
from xdsl_dsa_sim.executable import overlap

TARGETS = ("ascend910b2", "toy", "mlu370", "neuroncore_v2")


@xdsl.jit
def write_and_read_kernel(a, b, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for step in range(n):
        tl.store(a + i, tl.load(b + i) + 1)
        tl.store(out + step * B + i, tl.load(b + i) * 2)


@xdsl.jit
def square_kernel(a, b, out, n, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    for _ in range(n):
        tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee"))


@pytest.mark.parametrize("target", TARGETS)
def test_overlapping_slices(target: str) -> None:
    found = []
    for backend in ("reference", f"dsa_sim:{target}"):
        base, out = np.arange(40, dtype=np.int32), np.zeros(96, np.int32)
        write_and_read_kernel.on(backend)[(1,)](base[5:], base[:32], out, 3, B=32)
        found.append((base.tolist(), out.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("target", TARGETS)
def test_the_matrix_unit_reads_what_it_wrote(target: str) -> None:
    a = 2 * np.eye(16, dtype=np.float32)
    square_kernel.on(f"dsa_sim:{target}")[(1,)](a, a, a, 3, M=16)
    np.testing.assert_array_equal(a, 256 * np.eye(16))


def pointer(array: Any, *, start: int = 0, size: int = 16, writable: bool = True) -> Pointer:
    address = array.ctypes.data + start
    return Pointer("p", address, f32, address, size, writable, array)


def test_only_shared_memory_that_may_be_written_overlaps() -> None:
    array = np.zeros(64, np.uint8)
    first, second = pointer(array), pointer(array, start=16)
    assert not overlap((first, second, 3))
    assert overlap((pointer(array, start=15), first))
    assert not overlap((pointer(array, writable=False), pointer(array, start=8, writable=False)))
    assert overlap((pointer(array, writable=False), pointer(array, start=8)))
    assert overlap(
        (pointer(array, size=64, writable=False), pointer(array, start=8, size=4), pointer(array, start=40))
    )
    assert not overlap((pointer(array, size=0), first))
