"""Cases from the ops' own samples: every op, every sample, each a kernel that loads, applies the op and
stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.numerics import (
    Array,
    Mismatch,
    allowed_error,
    distance,
    is_float,
    worst,
)
from xdsl_conformance.subject import Refused, Subject, is_refusal
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import XdslError
from xdsl_core.interp import run
from xdsl_core.ir import print_module
from xdsl_core.ir.types import dtype_of, is_pointer, pointee_of
from xdsl_core.opdef import Contraction, OpDef, Sample
from xdsl_core.opdef.sampling import sample_types
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import SampleCase, case_of, is_runnable

GRID = (1, 1, 1)
# Ops that a chip without anything special must do, one sample each: what `smoke` asks.
_SMOKE = frozenset(
    {"tile.constant", "tile.arange", "tile.add", "tile.mul", "tile.lt", "memory.load", "memory.store"}
)
_SMOKE_DTYPES = frozenset({"f32", "i32"})


def op_cases() -> Iterator[Case]:
    """One case a sample of every op that can stand in a kernel of its own."""
    for definition in CORE:
        if not is_runnable(definition):
            continue
        for number, sample in enumerate(definition.samples):
            dtype = dtype_label(definition, sample)
            yield Case(
                f"op/{definition.name}/{dtype}.{number}",
                profile_of(definition, sample, dtype),
                f"{definition.name} on {', '.join(_texts(sample)) or 'nothing'}",
                partial(ask, definition.name, number),
                {"op": definition.name, "dtype": dtype},
                partial(text_of, definition.name, number),
            )


def text_of(op: str, number: int) -> str:
    """The kernel of a sample as tile IR."""
    return print_module(case_of(CORE[op], CORE[op].samples[number], seed=number).module)


def dtype_label(definition: OpDef, sample: Sample) -> str:
    """The element types of a sample's operands, each once; of the result where there are no operands."""
    names = []
    for kinds in sample_types(definition, sample).values():
        for kind in kinds:
            element = pointee_of(kind) if is_pointer(kind) else dtype_of(kind)
            names.append(element.name)
    given = sample.attributes.get("type")
    if not names and given is not None:
        names.append(str(given.element))
    wide = [name for name in dict.fromkeys(names) if name != "i1"] or names[:1] or ["none"]
    return "-".join(wide)


def _texts(sample: Sample) -> list[str]:
    return [text if isinstance(text, str) else " ".join(text) for text in sample.types.values()]


def profile_of(definition: OpDef, sample: Sample, dtype: str) -> str:
    """The smallest profile that asks a sample."""
    if "f8" in dtype or str(sample.attributes.get("to", "")).startswith("f8"):
        return "ext-fp8"
    if definition.name in _SMOKE and dtype in _SMOKE_DTYPES:
        return "smoke"
    return definition.profile


def ask(op: str, number: int, subject: Subject) -> Outcome:
    """Run one sample on the backend and compare with the interpreter within the op's budget."""
    definition = CORE[op]
    return ask_sample(definition, definition.samples[number], number, subject)


def ask_sample(definition: OpDef, sample: Sample, seed: int, subject: Subject) -> Outcome:
    """Run a sample of an op, its own or one made for the suite, and compare with the interpreter."""
    case = case_of(definition, sample, seed=seed)
    got = prefilled(case)
    try:
        subject.execute(case.module, GRID, got)
    except Refused as refusal:
        return _unclaimed(subject, definition, sample, case, str(refusal))
    except XdslError as problem:
        verdict = Verdict.OVER_CLAIM if is_refusal(problem) else Verdict.FAIL
        return Outcome(verdict, str(problem))
    return compare(definition, sample, case, got)


def prefilled(case: SampleCase) -> dict[str, Array]:
    """Fresh arguments whose results hold NaN, or bits that no kernel writes by chance: what is not written
    shows.
    """
    arguments = case.fresh_arguments()
    for name in case.outputs:
        if not name.startswith("result"):
            continue
        if is_float(arguments[name]):
            arguments[name][...] = np.nan
        else:
            arguments[name].view(np.uint8)[...] = 0xA5 if arguments[name].dtype != np.bool_ else 1
    return arguments


def _unclaimed(subject: Subject, definition: OpDef, sample: Sample, case: SampleCase, reason: str) -> Outcome:
    """Not claimed: that is fine, but if it works all the same the claims are too small."""
    got = prefilled(case)
    try:
        subject.execute(case.module, GRID, got, claimed=False)
    except XdslError as problem:
        return Outcome(Verdict.NOT_SUPPORTED, f"{reason} ({problem.code})")
    except Exception as fault:
        return Outcome(Verdict.NOT_SUPPORTED, f"{reason} ({type(fault).__name__})")
    outcome = compare(definition, sample, case, got)
    if outcome.verdict is Verdict.PASS:
        return Outcome(Verdict.UNDER_CLAIM, f"{reason}; it works all the same")
    return Outcome(Verdict.NOT_SUPPORTED, reason)


def compare(definition: OpDef, sample: Sample, case: SampleCase, got: dict[str, Array]) -> Outcome:
    """PASS or FAIL by the op's budget, worst element first."""
    expected = prefilled(case)
    run(case.module, GRID, list(expected.values()))
    use = 0.0
    for name, errors in _errors(definition, sample, case, got, expected):
        mismatch = worst(name, errors, got[name], expected[name])
        if mismatch is not None:
            return Outcome(Verdict.FAIL, explain(mismatch, definition, case), mismatch.budgets)
        use = max(use, float(errors.max(initial=0.0)))
    return Outcome(Verdict.PASS, budget_use=use)


def mismatch_of(
    definition: OpDef, sample: Sample, case: SampleCase, got: dict[str, Array], expected: dict[str, Array]
) -> Mismatch | None:
    """The worst element of the first result that is over the op's budget; None if all are within it."""
    for name, errors in _errors(definition, sample, case, got, expected):
        mismatch = worst(name, errors, got[name], expected[name])
        if mismatch is not None:
            return mismatch
    return None


def _errors(
    definition: OpDef, sample: Sample, case: SampleCase, got: dict[str, Array], expected: dict[str, Array]
) -> Iterator[tuple[str, Array]]:
    """Each result's name, and the error of its elements in budgets."""
    free_sign = definition.sign_of_zero_is_free
    for name in case.outputs:
        magnitudes = _magnitudes(case, name) if isinstance(definition.budget, Contraction) else None
        allowed = allowed_error(definition, sample, expected[name], magnitudes)
        yield name, distance(got[name], expected[name], allowed, free_sign=free_sign)


def explain(mismatch: Mismatch, definition: OpDef, case: SampleCase) -> str:
    """The mismatch with the budget it broke and the inputs that showed it."""
    lines = [str(mismatch), f"budget of {definition.name}: {definition.budget}"]
    for name, array in case.arguments.items():
        if name not in case.outputs:
            lines.append(f"{name} = {np.array2string(array.ravel()[:16], precision=9)} {array.dtype}")
    return "\n".join(lines)


def _magnitudes(case: SampleCase, name: str) -> Array:
    """The reference applied to the absolute values of the operands."""
    arguments = case.fresh_arguments()
    for parameter, array in arguments.items():
        if is_float(array) and parameter not in case.outputs:
            arguments[parameter] = np.abs(array)
    run(case.module, GRID, list(arguments.values()))
    return arguments[name].astype(np.float64)
