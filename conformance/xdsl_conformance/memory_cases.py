"""Masked-off lanes touch no memory: arrays that end, or begin, at a page the process may not touch.

A kernel that reads or writes one element too many dies there, which costs one case. Stores are also watched
by odd bits around the array.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.kernels import copies
from xdsl_conformance.numerics import Array
from xdsl_conformance.subject import Subject, is_refusal
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import XdslError

DTYPES = ("float32", "int8", "int64", "float16")
SIZES = (1, 5, 31, 64, 65)
_NO_ACCESS = 0
_CANARY = 0xA5


@dataclass(frozen=True, slots=True)
class Copy:
    """A kernel that copies elements of its first argument, which of them, and whether an array is guarded at
    its start.
    """

    kernel: Any
    moved: Callable[[int, int], Array]
    m: int = 1
    at_start: bool = False


COPIES = {
    "tail": Copy(copies.copy, lambda n, m: np.arange(n)),
    "reversed": Copy(copies.copy_reversed, lambda n, m: np.arange(n), at_start=True),
    "strided": Copy(copies.copy_strided, lambda n, m: np.arange(0, n, m), m=3),
    "looked_up": Copy(copies.copy_looked_up, lambda n, m: np.arange(n)),
    "matrix": Copy(copies.copy_matrix, lambda n, m: np.arange(n // m * m), m=5),
    "in_loop": Copy(copies.copy_in_loop, lambda n, m: np.arange(n)),
}


def memory_cases() -> Iterator[Case]:
    """Each way to copy, with each dtype and size, at the edge of what may be touched."""
    for name in COPIES:
        for dtype in DTYPES:
            sizes = SIZES if dtype == "float32" else SIZES[1:3]
            for size in sizes:
                yield Case(
                    f"memory/{name}/{dtype}.{size}",
                    "core",
                    f"a masked copy ({name}) of {size} x {dtype} touches nothing else",
                    partial(ask, name, dtype, size),
                    {"kernel": name},
                )


def ask(name: str, dtype: str, size: int, subject: Subject) -> Outcome:
    """Copy between guarded arrays; what is not copied keeps its bits."""
    copier = COPIES[name]
    data = np.random.default_rng(size).integers(1, 100, size).astype(dtype)
    with guarded(data, at_start=copier.at_start) as x, guarded(data, at_start=copier.at_start) as out:
        x[...] = data
        out.view(np.uint8)[...] = _CANARY
        expected = out.copy()
        moved = copier.moved(size, copier.m)
        expected[moved] = data[moved]
        programs = -(-size // 16)
        try:
            copier.kernel.on(subject.name)[(programs,)](x, out, size, copier.m, BLOCK=16)
        except XdslError as problem:
            return Outcome(Verdict.NOT_SUPPORTED if is_refusal(problem) else Verdict.FAIL, str(problem))
        wrong = np.flatnonzero(out.view(np.uint8) != expected.view(np.uint8))
        if len(wrong):
            at = int(wrong[0]) // out.itemsize
            return Outcome(Verdict.FAIL, f"out[{at}] is {out[at]!r}, expected {expected[at]!r}")
    return Outcome(Verdict.PASS)


class guarded:
    """An array like another one, between two pages that may not be touched; it fills the room to one of them.

    The array must not be kept after the block.
    """

    def __init__(self, like: Array, *, at_start: bool) -> None:
        page = mmap.PAGESIZE
        room = -(-like.nbytes // page) * page
        self._memory = mmap.mmap(-1, room + 2 * page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for edge in (address, address + page + room):
            _protect(edge, page, _NO_ACCESS)
        start = page if at_start else page + room - like.nbytes
        self._array = np.frombuffer(self._memory, like.dtype, like.size, start)
        self._edges = (address, address + page + room)

    def __enter__(self) -> Array:
        return self._array

    def __exit__(self, *_: object) -> None:
        for edge in self._edges:
            _protect(edge, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)


def _protect(address: int, size: int, access: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), access) != 0:
        raise OSError(ctypes.get_errno(), "mprotect failed")
