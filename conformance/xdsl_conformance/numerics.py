"""Results against expectations, in units of the error budget of the op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from xdsl_core.dtypes import from_numpy
from xdsl_core.opdef import Contraction, OpDef, Sample, Ulp
from xdsl_core.opdef.rules import evaluate
from xdsl_core.opdef.sampling import sample_operands, sample_regions

Array = Any  # numpy.ndarray

# The interpreter computes in float64 itself: its own error there, in units of the last place.
_ORACLE_ULPS = 1.6


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst element of a result: where, what, and by how many budgets."""

    name: str
    place: tuple[int, ...]
    got: Any
    expected: Any
    budgets: float
    wrong: int

    def __str__(self) -> str:
        where = ", ".join(map(str, self.place))
        off = f"{self.budgets:.3g} budgets off" if np.isfinite(self.budgets) else "nothing else will do"
        values = f"{_shown(self.got)}, expected {_shown(self.expected)}"
        return f"{self.name}[{where}] is {values}: {off}; {self.wrong} wrong"


def _shown(number: Any) -> str:
    """A number with all its digits, without the name of its type."""
    return repr(number.item()) if isinstance(number, (np.bool_, np.integer)) else str(number)


def is_float(array: Array) -> bool:
    """True for arrays of any floating-point dtype, those of ml_dtypes included."""
    return array.dtype.kind not in "biu"


def distance(got: Array, expected: Array, allowed: Array, *, free_sign: bool) -> Array:
    """The error of every element in budgets: 0 where equal, infinite where nothing would be close enough.

    `allowed` is the budget by element; where it is 0 only the expected value will do. NaN matches NaN. Unless
    `free_sign`, a zero of the wrong sign is wrong whatever the budget.
    """
    if not is_float(expected):
        return np.where(got == expected, 0.0, np.inf)
    with np.errstate(all="ignore"):
        found, wanted = got.astype(np.float64), expected.astype(np.float64)
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        wrong_sign = (found == 0) & (wanted == 0) & (np.signbit(found) != np.signbit(wanted))
        errors = np.abs(found - wanted) / allowed
    errors = np.where(np.isnan(errors), np.inf, errors)
    if not free_sign:
        same &= ~wrong_sign
        errors = np.where(wrong_sign, np.inf, errors)
    return np.where(same, 0.0, errors)


def worst(name: str, errors: Array, got: Array, expected: Array) -> Mismatch | None:
    """The worst element if it is over its budget, else None."""
    if errors.size == 0 or float(errors.max()) <= 1.0:
        return None
    place = np.unravel_index(int(np.argmax(errors)), errors.shape)
    index = tuple(int(part) for part in place)
    return Mismatch(name, index, got[index], expected[index], float(errors[index]), int((errors > 1.0).sum()))


def unit_in_last_place(expected: Array) -> Array:
    """The distance between neighbours of the dtype at each element; subnormal numbers included."""
    limits = ml_dtypes.finfo(expected.dtype)
    with np.errstate(all="ignore"):
        wide = np.abs(expected.astype(np.float64))
    floor = np.maximum(wide, float(limits.smallest_normal))
    exponent = np.frexp(np.where(np.isfinite(wide), floor, 1.0))[1]
    return np.ldexp(float(limits.eps), exponent - 1)


def allowed_error(definition: OpDef, sample: Sample, expected: Array, magnitudes: Array | None) -> Array:
    """The budget of an op, by element of a result.

    `magnitudes` is the reference applied to the operands' absolute values: what a Contraction counts by.
    """
    budget = definition.budget
    if not isinstance(budget, Ulp | Contraction) or not is_float(expected):
        return np.zeros(expected.shape)
    place = unit_in_last_place(expected)
    if isinstance(budget, Ulp):
        ulps = budget.of(from_numpy(expected.dtype).name)
        own = _ORACLE_ULPS if expected.dtype == np.float64 and ulps > 0.5 else 0.0
        return place * (0.0 if ulps <= 0.5 else ulps + 0.5 + own)
    names = definition.namespace(
        sample_operands(definition, sample), sample.attributes, sample_regions(definition, sample)
    )
    terms, relative = (evaluate(text, names) for text in (budget.over, budget.term_error))
    unit = float(ml_dtypes.finfo(expected.dtype).eps) / 2
    assert magnitudes is not None
    return (4.0 * np.sqrt(terms) * unit + relative) * magnitudes + place
