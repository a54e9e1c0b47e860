"""Passes keep the meaning of random programs: same memory, bit by bit, as before."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.programs import programs, run, same
from xdsl_core.ir import Module, print_module
from xdsl_core.passes import (
    Canonicalize,
    EliminateCommonSubexpressions,
    EliminateDeadCode,
    FoldConstants,
    HoistLoopInvariants,
    Pass,
    canonical_pipeline,
    run_pipeline,
)
from xdsl_core.passes.pipeline import Pipeline

PASSES: tuple[Pass, ...] = (
    Canonicalize(),
    EliminateCommonSubexpressions(),
    EliminateDeadCode(),
    FoldConstants(),
    HoistLoopInvariants(),
)
SLOW = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def check(module: Module, pipeline: Pipeline, seed: int) -> None:
    before = print_module(module)
    expected = run(module, seed=seed)
    result = run_pipeline(module.clone(), pipeline, verify="each").module
    difference = same(expected, run(result, seed=seed))
    assert not difference, f"{difference}\n{before}\n->\n{print_module(result)}"


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_pass_keeps_the_meaning(step: Pass) -> None:
    @SLOW
    @given(programs(), st.integers(0, 11))
    def keeps(module: Module, seed: int) -> None:
        check(module, Pipeline((step,)), seed)

    keeps()


@SLOW
@given(programs(longest=24), st.integers(0, 11))
def test_canonical_pipeline_keeps_the_meaning(module: Module, seed: int) -> None:
    check(module, canonical_pipeline(), seed)


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_second_run_changes_nothing(step: Pass) -> None:
    @settings(SLOW, max_examples=30)
    @given(programs())
    def is_stable(module: Module) -> None:
        once = run_pipeline(module, Pipeline((step,))).module
        text = print_module(once)
        again = run_pipeline(once, Pipeline((step,)), verify="each").module
        assert print_module(again) == text

    is_stable()
