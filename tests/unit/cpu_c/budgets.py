"""Whether an op's results lie within its budget of what the interpreter gives."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

from xdsl_core.dtypes import from_numpy
from xdsl_core.interp import run
from xdsl_core.opdef import Contraction, OpDef, Sample, Ulp
from xdsl_core.opdef.rules import evaluate
from xdsl_core.opdef.sampling import sample_operands, sample_regions
from xdsl_core.ops.harness import SampleCase

Array = Any  # numpy.ndarray

_FREE_SIGN = re.compile(r"sign of (a )?zero|zeros of both signs", re.IGNORECASE)
# What the interpreter's own float64 arithmetic may be off, in ulp (tests/unit/ops/test_accuracy.py).
_ORACLE = 1.6


def is_float(array: Array) -> bool:
    return array.dtype.kind not in "biu"


def complaint(
    definition: OpDef, sample: Sample, case: SampleCase, got: dict[str, Array], expected: dict[str, Array]
) -> str:
    """Where a result is out of its budget, in words; empty if nowhere."""
    for name in case.outputs:
        allowed = _allowed(definition, sample, case, name, expected[name])
        bad = np.flatnonzero(~_within(definition, got[name], expected[name], allowed))
        if bad.size:
            place = bad[0]
            return (
                f"{name}[{place}] is {got[name][place]!r}, not {expected[name][place]!r} ({bad.size} wrong)"
            )
    return ""


def _within(definition: OpDef, got: Array, expected: Array, allowed: Array) -> Array:
    if not is_float(expected):
        return got == expected
    free_sign = _FREE_SIGN.search(" ".join(definition.doc.split()))
    with np.errstate(all="ignore"):
        found, wanted = got.astype(np.float64), expected.astype(np.float64)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        if not free_sign:
            same &= (np.signbit(found) == np.signbit(wanted)) | np.isnan(wanted)
        return same | (np.abs(found - wanted) <= allowed)


def _allowed(definition: OpDef, sample: Sample, case: SampleCase, name: str, expected: Array) -> Array:
    """The error that each element of a result may have."""
    budget = definition.budget
    if not isinstance(budget, Ulp | Contraction) or not is_float(expected):
        return np.zeros(expected.shape)
    limits = ml_dtypes.finfo(expected.dtype)
    with np.errstate(all="ignore"):
        wide = np.abs(expected.astype(np.float64))
    exponent = np.frexp(np.where(np.isfinite(wide), np.maximum(wide, float(limits.smallest_normal)), 1.0))[1]
    place = np.ldexp(float(limits.eps), exponent - 1)
    if isinstance(budget, Ulp):
        ulps = budget.of(from_numpy(expected.dtype).name)
        own = _ORACLE if expected.dtype == np.float64 and ulps > 0.5 else 0.0
        return place * (0.0 if ulps <= 0.5 else ulps + 0.5 + own)
    names = definition.namespace(
        sample_operands(definition, sample), sample.attributes, sample_regions(definition, sample)
    )
    terms, relative = (evaluate(text, names) for text in (budget.over, budget.term_error))
    unit = float(limits.eps) / 2
    return (4.0 * np.sqrt(terms) * unit + relative) * _magnitudes(case, name) + place


def _magnitudes(case: SampleCase, name: str) -> Array:
    """The reference applied to the absolute values of the operands."""
    arguments = case.fresh_arguments()
    for parameter, array in arguments.items():
        if is_float(array) and parameter not in case.outputs:
            arguments[parameter] = np.abs(array)
    run(case.module, (1,), list(arguments.values()))
    return arguments[name].astype(np.float64)
