"""The instruction of the matrix unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_dsa_sim.isa.definition import MATRIX, AttributeSpec, InstructionDef, number, reads, updates
from xdsl_dsa_sim.isa.views import View


def _mmad(accumulator: View, lhs: View, rhs: View, accumulate: Any, precision: str) -> None:
    if accumulator.dtype.is_float:
        wide = np.float64 if accumulator.dtype.bits == 64 else np.float32
        product = np.matmul(
            _rounded(lhs.read().astype(wide), precision), _rounded(rhs.read().astype(wide), precision)
        )
    else:
        # products of 8-bit numbers and their sums are exact in float64
        product = np.matmul(lhs.read().astype(np.float64), rhs.read().astype(np.float64)).astype(np.int64)
    if accumulate:
        product = product + accumulator.read()
    accumulator.write(product.astype(accumulator.dtype.numpy))


def _rounded(values: Any, precision: str) -> Any:
    """tf32 keeps 10 bits of a float32's fraction."""
    if precision != "tf32" or values.dtype != np.float32:
        return values
    bits = values.view(np.uint32)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)).view(np.float32)


MATRIX_INSTRUCTIONS = (
    InstructionDef(
        name="mmad",
        doc="""Multiplies matrices: accumulator (M x N) = lhs (M x K) @ rhs (K x N), plus what it held if
        `accumulate`.

        Products add up in the accumulator's dtype. Operands lie in the spaces and layouts that the target's
        matrix unit takes; extents that are no multiple of the fractal cost whole ones. A batch is several
        instructions.""",
        unit="matrix",
        operands=(
            updates("accumulator", "M x N; only written if accumulate is 0"),
            reads("lhs", "M x K"),
            reads("rhs", "K x N"),
            number("accumulate", "0 to start a sum, anything else to continue it"),
        ),
        attributes=(
            AttributeSpec(
                "precision", (str,), "how f32 operands are rounded", "ieee", ("ieee", "tf32", "tf32x3")
            ),
        ),
        semantics=_mmad,
        timing=MATRIX,
        shapes="matrix",
        cost_class="mmad",
    ),
)
