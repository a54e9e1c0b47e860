"""Cases about steadiness: the same launch twice gives the same bits, and several threads at once do too."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.numerics import Array
from xdsl_conformance.op_cases import GRID, prefilled, text_of
from xdsl_conformance.subject import Refused, Subject
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.ir.traits import Trait
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import SampleCase, case_of, is_runnable

THREADS = 4


def steadiness_cases() -> Iterator[Case]:
    """For every op with an order to it (sums, products, scans): twice the same, and the same from threads."""
    for definition in CORE:
        if not is_runnable(definition) or not definition.traits & {Trait.REDUCTION, Trait.PURE}:
            continue
        if Trait.REDUCTION in definition.traits or definition.name in ("tile.dot", "tile.cumsum"):
            for question, profile in (("twice", "core"), ("threads", "tile")):
                yield Case(
                    f"steady/{question}/{definition.name}",
                    profile,
                    f"{definition.name} gives the same bits {question}",
                    partial(ask, definition.name, question),
                    {"op": definition.name},
                    partial(text_of, definition.name, 0),
                )


def ask(op: str, question: str, subject: Subject) -> Outcome:
    """Compare the bits of repeated runs of the op's first sample."""
    definition = CORE[op]
    case = case_of(definition, definition.samples[0])
    runs = [prefilled(case) for _ in range(2 if question == "twice" else THREADS)]
    try:
        if question == "twice":
            for arguments in runs:
                subject.execute(case.module, GRID, arguments)
        else:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(lambda arguments: subject.execute(case.module, GRID, arguments), runs))
    except Refused as refusal:
        return Outcome(Verdict.NOT_SUPPORTED, str(refusal))
    for arguments in runs[1:]:
        changed = _difference(case, runs[0], arguments)
        if changed:
            return Outcome(Verdict.FAIL, changed)
    return Outcome(Verdict.PASS)


def _difference(case: SampleCase, first: dict[str, Array], other: dict[str, Array]) -> str:
    for name in case.outputs:
        ours, theirs = (np.ascontiguousarray(found[name]).view(np.uint8) for found in (first, other))
        if not np.array_equal(ours, theirs):
            return f"{name} differs between runs: {first[name]!r} and {other[name]!r}"
    return ""
