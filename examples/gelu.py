"""GELU of a vector, exact and by the usual approximation.

D. Hendrycks and K. Gimpel, Gaussian Error Linear Units, arXiv:1606.08415. Run it with
`python examples/gelu.py [BACKEND]`.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.testing import Comparison, compare, half_ulp, time_launch, unit_roundoff

SIGNATURES = {"gelu_kernel": "x: *f32, out: *f32, n: i32, BLOCK=1024, APPROXIMATE=True"}
LAUNCHES = {"gelu_kernel": "x=98432, out=98432, n=98432, grid=cdiv(n, BLOCK)"}


@xdsl.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr, APPROXIMATE: tl.constexpr):
    """Stores x * P(Z <= x) for a standard normal Z; APPROXIMATE takes a logistic function for P."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    values = tl.load(x + offsets, mask=inside)
    if APPROXIMATE:
        # 0.5 * (1 + tanh(z)) == sigmoid(2 z), with z = sqrt(2 / pi) * (x + 0.044715 x^3)
        below = tl.sigmoid(1.5957691216057308 * values * (1 + 0.044715 * values * values))
    else:
        below = 0.5 * (1 + tl.erf(values * 0.7071067811865476))
    tl.store(out + offsets, values * below, mask=inside)


def gelu(x: np.ndarray, out: np.ndarray, *, approximate: bool, backend: str, block: int = 1024) -> None:
    """Stores gelu(x) to out, float32."""
    n = x.size
    gelu_kernel.on(backend)[(xdsl.cdiv(n, block),)](x, out, n, BLOCK=block, APPROXIMATE=approximate)


def reference(x: np.ndarray, *, approximate: bool) -> tuple[np.ndarray, np.ndarray]:
    """gelu(x) in float64, and what error each element of a float32 result may have.

    The approximate form's exponential turns the rounding of its argument z (6 operations) into a relative
    error; the exact form adds 1 to erf (4 ulp), so its error is absolute where the result is small.
    """
    u = unit_roundoff(np.float32)
    x = x.astype(np.float64)
    if approximate:
        argument = 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        below = 1 / (1 + np.exp(-argument))
        error = below * (u * (6 * np.abs(argument) * (1 - below) + 12))
    else:
        argument = x / math.sqrt(2)
        erf = np.vectorize(math.erf)(argument)
        below = 0.5 * np.vectorize(math.erfc)(-argument)
        slope = 2 / math.sqrt(math.pi) * np.exp(-(argument**2))
        error = u * (0.5 * (8 * np.abs(erf) + 2 * slope * np.abs(argument)) + 1)
    result = x * below
    return result, np.abs(x) * error + half_ulp(result, np.float32)


def run(backend: str) -> list[Comparison]:
    """Compares both forms with numpy, from where the result vanishes to where it is x."""
    x = np.linspace(-6, 6, 20_001, dtype=np.float32)
    comparisons = []
    for approximate in (True, False):
        out = np.full_like(x, np.nan)
        seconds = time_launch(lambda out=out, a=approximate: gelu(x, out, approximate=a, backend=backend))
        expected, budget = reference(x, approximate=approximate)
        what = "approximate" if approximate else "exact"
        comparisons.append(compare(out, expected, budget, what=what, seconds=seconds))
    return comparisons


def main() -> None:
    """Prints the comparisons of one backend."""
    for comparison in run(sys.argv[1] if len(sys.argv) > 1 else "cpu_c"):
        print(comparison)


if __name__ == "__main__":
    main()
