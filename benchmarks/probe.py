"""What the machine can do at most, on all processors: multiply-adds and bytes from memory a second."""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from xdsl_core.backend.toolchain import compile_shared, find_compiler

# Twelve independent vectors keep two multiply-add units busy at a latency of up to six cycles.
_SOURCE = """
typedef float vector __attribute__((vector_size(32)));
void multiply_adds(long count, float *out)
{
    vector sums[12] = {{0}};
    vector factor = {1.0f}, term = {0.5f};
    for (long i = 0; i < count; i++) {
#pragma GCC unroll 12
        for (int k = 0; k < 12; k++) {
            sums[k] = sums[k] * factor + term;
            __asm__ volatile("" : "+x"(sums[k]));
        }
    }
#pragma GCC unroll 12
    for (int k = 0; k < 12; k++)
        *(vector *)out = *(vector *)out + sums[k];
}
"""
_PER_ITERATION = 12 * 8 * 2


@dataclass(frozen=True, slots=True)
class Peak:
    """The best seen: float32 operations and copied bytes (read and written) a second, in units of 1e9."""

    operations: float
    bytes: float

    def share(self, rate: float, unit: str) -> float | None:
        """The part of the peak that a rate in this unit is; None for a unit that has no peak here."""
        peak = {"GFLOP/s": self.operations, "GB/s": self.bytes}.get(unit)
        return None if peak is None else rate / peak


@cache
def peak(*, rounds: int = 20) -> Peak:
    """Measures the machine; a few tenths of a second."""
    processors = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        library = ctypes.CDLL(
            str(compile_shared(_SOURCE, Path(folder) / "probe.so", compiler=find_compiler()))
        )
    results = [np.zeros(16, np.float32) for _ in range(processors)]
    count = 200_000
    addresses = [result.ctypes.data - result.ctypes.data % 32 + 32 for result in results]

    def multiply(index: int) -> None:
        library.multiply_adds(ctypes.c_long(count), ctypes.c_void_p(addresses[index]))

    source = np.ones(1 << 25, np.float32)
    target = np.empty_like(source)
    parts = list(zip(np.array_split(source, processors), np.array_split(target, processors), strict=True))

    def copy(index: int) -> None:
        np.copyto(parts[index][1], parts[index][0])

    seconds = [min(_together(work, processors) for _ in range(rounds)) for work in (multiply, copy)]
    return Peak(
        count * _PER_ITERATION * processors / seconds[0] / 1e9, 2.0 * source.nbytes / seconds[1] / 1e9
    )


def _together(work: Callable[[int], None], processors: int) -> float:
    """Seconds until all threads have done their part; they start at once."""
    gate = threading.Barrier(processors + 1)

    def run(index: int) -> None:
        gate.wait()
        work(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(processors)]
    for thread in threads:
        thread.start()
    gate.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start
