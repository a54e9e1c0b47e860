"""Cases about saying no: what is not claimed must be refused, with the right error, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_conformance.case import Case
from xdsl_conformance.op_cases import GRID, text_of
from xdsl_conformance.subject import Subject, is_refusal
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import CompilationError
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of, is_runnable
from xdsl_core.target import Capabilities, Denial
from xdsl_core.target.legality import check


def refusal_cases() -> Iterator[Case]:
    """One case an op: with its claim taken away, a kernel that uses it is refused and names it."""
    for definition in CORE:
        if is_runnable(definition):
            yield Case(
                f"refusal/{definition.name}",
                "core",
                f"a kernel with {definition.name} is refused where the op is denied",
                partial(ask, definition.name),
                {"op": definition.name},
                partial(text_of, definition.name, 0),
            )


def ask(op: str, subject: Subject) -> Outcome:
    """Deny the op, and see that the refusal names it and that nothing ran."""
    definition = CORE[op]
    case = case_of(definition, definition.samples[0])
    denied: Capabilities = subject.capabilities.extended(Denial(op, "denied by the suite"))
    found = check(case.module, denied, backend=subject.backend.name)
    if not any(op in diagnostic.message for diagnostic in found):
        return Outcome(Verdict.WRONG_REFUSAL, f"no diagnostic names {op}: {[d.message for d in found]}")
    if not subject.refusals(case.module):
        return Outcome(Verdict.PASS)
    got = case.fresh_arguments()
    try:
        subject.execute(case.module, GRID, got, claimed=False)
    except CompilationError as problem:
        right = is_refusal(problem) or bool(problem.diagnostics[0].code)
        return Outcome(Verdict.PASS if right else Verdict.WRONG_REFUSAL, str(problem) if not right else "")
    except Exception as fault:
        return Outcome(Verdict.WRONG_REFUSAL, f"{type(fault).__name__}: {fault}")
    return Outcome(Verdict.PASS)
