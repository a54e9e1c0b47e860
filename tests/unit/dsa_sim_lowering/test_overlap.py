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


def pointer(name: str, array: Any, *, start: int = 0, size: int = 16) -> Pointer:
    address = array.ctypes.data + start
    return Pointer(name, address, f32, address, size, True, array)


def test_only_shared_memory_that_is_written_overlaps() -> None:
    array, written = np.zeros(64, np.uint8), frozenset("ab")
    assert not overlap((pointer("a", array), pointer("b", array, start=16), 3), written)
    assert overlap((pointer("a", array), 3, pointer("b", array, start=15)), written)
    assert overlap((pointer("c", array, start=8), pointer("b", array, start=15)), written)
    assert not overlap((pointer("c", array, start=8), pointer("d", array, start=15)), written)
    assert overlap(
        (pointer("c", array, size=64), pointer("d", array), pointer("b", array, start=40)), written
    )
    assert not overlap((pointer("a", array, size=0), pointer("b", array)), written)


@xdsl.jit
def products_kernel(q, k, out, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out + at, tl.exp(tl.dot(tl.load(q + at), tl.load(k + at), input_precision="ieee")))


def test_slices_that_are_only_read_do_not_overlap() -> None:
    q, k = both = np.zeros((2, 16, 16), np.float32)
    compiled = products_kernel.on("dsa_sim:ascend910b2")[(1,)](q, k, np.zeros((16, 16), np.float32), M=16)
    kernel = compiled.executable.payload
    assert kernel.written == {"out"}
    assert both.base is None
    assert kernel.image is not kernel.overlapping
    assert not kernel.image.program.members
