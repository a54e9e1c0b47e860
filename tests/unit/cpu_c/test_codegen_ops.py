"""Every op on cpu_c gives what the interpreter gives, within the op's budget: its samples as kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.cpu_c.kernels import Workshop, source_of
from xdsl_conformance.op_cases import mismatch_of
from xdsl_core.interp import run
from xdsl_core.ir.types import dtype_of, is_pointer, pointee_of
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.opdef.sampling import family, sample_types
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of, is_runnable

pytestmark = pytest.mark.compiler

RUNNABLE = [definition for definition in CORE if is_runnable(definition)]
PARTS = 4
Chosen = tuple[OpDef, int, Sample]


def traits_of(definition: OpDef, sample: Sample) -> tuple[str, ...]:
    """What makes a sample different from others: families of elements and whether they are tiles."""
    found = []
    for kinds in sample_types(definition, sample).values():
        for kind in kinds:
            element = pointee_of(kind) if is_pointer(kind) else dtype_of(kind)
            found.append(f"{family(element)}{'[]' if kind.shape else ''}")
    target = sample.attributes.get("to")
    return (*found, family(target) if target is not None else "", *map(str, sample.regions))


def spread() -> Iterator[Chosen]:
    """Samples of each op, one of each kind."""
    for definition in RUNNABLE:
        seen = set()
        for number, sample in enumerate(definition.samples):
            kind = traits_of(definition, sample)
            if kind not in seen:
                seen.add(kind)
                yield definition, number, sample


def check(workshop: Workshop, chosen: list[Chosen]) -> list[str]:
    """What goes wrong, a line a sample and variant."""
    cases = [case_of(definition, sample, seed=number) for definition, number, sample in chosen]
    launchers = workshop.launchers([source_of(case.module) for case in cases])
    found = []
    for (definition, number, sample), case, variants in zip(chosen, cases, launchers, strict=True):
        expected = case.fresh_arguments()
        run(case.module, (1,), list(expected.values()))
        for variant, launch in enumerate(variants):
            got: dict[str, Any] = case.fresh_arguments()
            launch((1, 1, 1), tuple(got.values()))
            problem = mismatch_of(definition, sample, case, got, expected)
            if problem:
                found.append(f"{definition.name} {number} {dict(sample.types)} variant {variant}: {problem}")
    return found


def test_spread_reaches_every_op_and_family() -> None:
    chosen = list(spread())
    assert {definition.name for definition, _, _ in chosen} == {definition.name for definition in RUNNABLE}
    assert 200 < len(chosen) < 900


@pytest.mark.parametrize("part", range(PARTS))
def test_ops(part: int, workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    assert not check(workshop, list(spread())[part::PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("definition", RUNNABLE, ids=lambda definition: definition.name)
def test_every_sample(definition: OpDef, workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    chosen = [(definition, number, sample) for number, sample in enumerate(definition.samples)]
    assert not check(workshop, chosen)
