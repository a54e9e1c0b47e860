"""Softmax of the rows of a matrix: a row is one tile, read once and written once.

Run it with `python examples/fused_softmax.py [BACKEND]`.
"""

from __future__ import annotations

import sys

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.testing import Comparison, compare, half_ulp, time_launch, unit_roundoff

SIGNATURES = {
    "softmax_kernel": "out: *f32, x: *f32, out_stride: i32, x_stride: i32, columns: i32, BLOCK=1024"
}
LAUNCHES = {"softmax_kernel": "out=256x781, x=256x781, out_stride=781, x_stride=781, columns=781, grid=256"}


@xdsl.jit
def softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """Stores the softmax of one row; BLOCK is at least the number of columns."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * x_stride + offsets, mask=inside, other=-float("inf"))
    numerator = tl.exp(values - tl.max(values, axis=0))
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out + row * out_stride + offsets, result, mask=inside)


def softmax(x: np.ndarray, out: np.ndarray, *, backend: str) -> None:
    """Stores the softmax of each row of `x` (two dimensions, rows contiguous) to `out`."""
    rows, columns = x.shape
    x_stride, out_stride = (array.strides[0] // array.itemsize for array in (x, out))
    block = xdsl.next_power_of_2(columns)
    softmax_kernel.on(backend)[(rows,)](out, x, out_stride, x_stride, columns, BLOCK=block)


def reference(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The softmax in float64, and what error each element of a float32 result may have.

    exp(d) inherits the rounding of d, to first order |d| * u of its value, and adds 4 ulp of its own. The
    denominator sums these errors and adds that of a sum; the quotient is rounded once.
    """
    u = unit_roundoff(np.float32)
    distance = x.astype(np.float64) - x.max(axis=1, keepdims=True)
    numerator = np.exp(distance)
    numerator_error = np.abs(distance) * u * numerator + 8.0 * half_ulp(numerator, np.float32)
    total = numerator.sum(axis=1, keepdims=True)
    total_error = numerator_error.sum(axis=1, keepdims=True) + 4.0 * np.sqrt(x.shape[1]) * u * total
    result = numerator / total
    budget = (numerator_error + result * total_error) / total + half_ulp(result, np.float32)
    return result, budget


def run(backend: str) -> list[Comparison]:
    """Compares with numpy: a power of two, an odd number of columns, rows with padding, large values."""
    generator = np.random.default_rng(0)
    comparisons = []
    for rows, columns, scale in ((128, 1024, 1.0), (61, 781, 1.0), (64, 100, 50.0)):
        x = (generator.standard_normal((rows, columns + 3)) * scale).astype(np.float32)[:, :columns]
        out = np.full((rows, columns), np.nan, np.float32)
        seconds = time_launch(lambda x=x, out=out: softmax(x, out, backend=backend))
        expected, budget = reference(x)
        comparisons.append(compare(out, expected, budget, what=f"{rows}x{columns}", seconds=seconds))
    return comparisons


def main() -> None:
    """Prints the comparisons of one backend."""
    for comparison in run(sys.argv[1] if len(sys.argv) > 1 else "cpu_c"):
        print(comparison)


if __name__ == "__main__":
    main()
