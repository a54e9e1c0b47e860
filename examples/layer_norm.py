"""Layer normalisation, forward: a program goes over its row in blocks for mean, variance and result.

Run it with `python examples/layer_norm.py [BACKEND]`.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.testing import Comparison, compare, half_ulp, time_launch, unit_roundoff

SIGNATURES = {
    "layer_norm_kernel": (
        "x: *f32, out: *f32, weight: *f32, bias: *f32, mean: *f32, rstd: *f32, "
        "stride: i32, columns: i32, epsilon: f32, BLOCK=1024"
    )
}
LAUNCHES = {
    "layer_norm_kernel": (
        "x=128x3000, out=128x3000, weight=3000, bias=3000, mean=128, rstd=128, "
        "stride=3000, columns=3000, epsilon=1e-5, grid=128"
    )
}


@xdsl.jit
def layer_norm_kernel(x, out, weight, bias, mean, rstd, stride, columns, epsilon, BLOCK: tl.constexpr):
    """Stores one normalised row, its mean, and the reciprocal of its standard deviation."""
    row = tl.program_id(0)
    x += row * stride
    out += row * stride

    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
    row_mean = tl.sum(total, axis=0) / columns

    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < columns
        values = tl.load(x + offsets, mask=inside, other=0.0).to(tl.float32)
        centred = tl.where(inside, values - row_mean, 0.0)
        squares += centred * centred
    row_rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + epsilon)

    tl.store(mean + row, row_mean)
    tl.store(rstd + row, row_rstd)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < columns
        values = tl.load(x + offsets, mask=inside, other=0.0).to(tl.float32)
        normalised = (values - row_mean) * row_rstd
        result = normalised * tl.load(weight + offsets, mask=inside) + tl.load(bias + offsets, mask=inside)
        tl.store(out + offsets, result, mask=inside)


class Inputs(NamedTuple):
    """A matrix with contiguous rows, a weight and a bias for each column."""

    x: np.ndarray
    weight: np.ndarray
    bias: np.ndarray


class Outputs(NamedTuple):
    """The normalised matrix, and mean and reciprocal standard deviation of each row."""

    out: np.ndarray
    mean: np.ndarray
    rstd: np.ndarray


def layer_norm(
    inputs: Inputs, outputs: Outputs, *, backend: str, epsilon: float = 1e-5, block: int = 1024
) -> None:
    """Normalises the rows of `inputs.x` into `outputs`."""
    rows, columns = inputs.x.shape
    block = min(block, xdsl.next_power_of_2(columns))
    layer_norm_kernel.on(backend)[(rows,)](
        inputs.x, outputs.out, inputs.weight, inputs.bias, outputs.mean, outputs.rstd,
        inputs.x.strides[0] // inputs.x.itemsize, columns, epsilon, BLOCK=block,
    )  # fmt: skip


def make(rows: int, columns: int) -> tuple[Inputs, Outputs]:
    """Random inputs with a mean that is not zero, and outputs full of NaN."""
    generator = np.random.default_rng(0)
    x = (generator.standard_normal((rows, columns)) * 0.5 - 2.3).astype(np.float32)
    weight, bias = generator.random((2, columns), dtype=np.float32)
    shapes = ((rows, columns), (rows,), (rows,))
    return Inputs(x, weight, bias), Outputs(*(np.full(shape, np.nan, np.float32) for shape in shapes))


def reference(inputs: Inputs, epsilon: float = 1e-5) -> tuple[Outputs, Outputs]:
    """The results in float64, and what error each element of a float32 result may have.

    First-order propagation of the errors of the two sums (4 * sqrt(columns) * u of the magnitudes), and one
    rounding for each operation after them; sqrt and the division are rounded once each.
    """
    u = unit_roundoff(np.float32)
    sum_error = 4.0 * np.sqrt(inputs.x.shape[1]) * u
    x = inputs.x.astype(np.float64)
    mean = x.mean(axis=1, keepdims=True)
    mean_error = sum_error * np.abs(x).mean(axis=1, keepdims=True) + u * np.abs(mean)

    centred = x - mean
    centred_error = mean_error + u * (np.abs(x) + np.abs(centred))
    shifted = (centred**2).mean(axis=1, keepdims=True) + epsilon
    # an error of the mean cancels to first order in the variance, its square does not
    noise = 2 * np.abs(centred).mean(axis=1, keepdims=True) * u * np.abs(x).max(axis=1, keepdims=True)
    shifted_error = (sum_error + 3 * u) * shifted + mean_error**2 + noise
    rstd = 1 / np.sqrt(shifted)
    rstd_error = rstd * (0.5 * shifted_error / shifted + 2 * u)

    scaled = np.abs(inputs.weight) * rstd
    out = centred * rstd * inputs.weight + inputs.bias
    out_error = scaled * centred_error + np.abs(centred * inputs.weight) * (rstd_error + 2 * u * rstd)
    expected = Outputs(out, mean[:, 0], rstd[:, 0])
    budget = Outputs(out_error + 2 * half_ulp(out, np.float32), mean_error[:, 0], rstd_error[:, 0])
    return expected, budget


def run(backend: str) -> list[Comparison]:
    """Compares all three results with numpy: one block, several blocks with a tail."""
    comparisons = []
    for rows, columns in ((64, 1000), (33, 2500)):
        inputs, outputs = make(rows, columns)
        seconds = time_launch(lambda i=inputs, o=outputs: layer_norm(i, o, backend=backend))
        expected, budget = reference(inputs)
        comparisons += [
            compare(getattr(outputs, name), getattr(expected, name), getattr(budget, name),
                    what=f"{rows}x{columns} {name}", seconds=seconds)
            for name in Outputs._fields
        ]  # fmt: skip
    return comparisons


def main() -> None:
    """Prints the comparisons of one backend."""
    for comparison in run(sys.argv[1] if len(sys.argv) > 1 else "cpu_c"):
        print(comparison)


if __name__ == "__main__":
    main()
