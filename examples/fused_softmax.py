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

    To first order the relative error of exp(d) is |d| * u from rounding d, and 8 u from exp itself (4 ulp).
    The denominator has the mean of these, weighted by the result, and the error of a sum; the quotient is
    rounded once.
    """
    distance = x.astype(np.float64) - x.max(axis=1, keepdims=True)
    numerator = np.exp(distance)
    result = numerator / numerator.sum(axis=1, keepdims=True)
    of_numerator = np.abs(distance) + 8.0
    of_denominator = (result * of_numerator).sum(axis=1, keepdims=True) + 4.0 * np.sqrt(x.shape[1])
    relative = unit_roundoff(np.float32) * (of_numerator + of_denominator)
    return result, relative * result + half_ulp(result, np.float32)


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
