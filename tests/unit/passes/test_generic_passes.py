"""Before -> after of the generic passes, as cases/PASS.tile shows them."""

from __future__ import annotations

import pytest

from tests.unit.passes.helpers import CASES, after, cases, tidy
from xdsl_core.passes import (
    Canonicalize,
    EliminateCommonSubexpressions,
    EliminateDeadCode,
    FoldConstants,
    HoistLoopInvariants,
    Pass,
)

PASSES: tuple[Pass, ...] = (
    Canonicalize(),
    EliminateCommonSubexpressions(),
    EliminateDeadCode(),
    FoldConstants(),
    HoistLoopInvariants(),
)
PARAMETERS = [
    pytest.param(step, *case, id=f"{step.name}: {title}")
    for step in PASSES
    for title, case in cases(step.name).items()
]


@pytest.mark.parametrize(("step", "before", "expected"), PARAMETERS)
def test_before_after(step: Pass, before: str, expected: str) -> None:
    assert after(step, before) == tidy(expected)


def test_every_file_belongs_to_a_pass() -> None:
    assert {path.stem for path in CASES.iterdir()} == {step.name for step in PASSES}


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
def test_second_run_changes_nothing(step: Pass) -> None:
    for before, _ in cases(step.name).values():
        once = after(step, before)
        assert after(step, once) == once


def test_folding_is_limited() -> None:
    body = """
        %a = tile.arange {start = 0, end = 8} : tile<8xi32>
        %b = tile.reduce_sum %a {axis = 0} : i32
        memory.store %ip, %b"""
    assert after(FoldConstants(largest=7), body) == tidy(body)


def test_long_chains_do_not_exhaust_the_stack() -> None:
    count = 3000
    loop = "control.for %x, %y, %n body (%i: i32) {"
    chain = " ".join(f"%a{i} = tile.add %a{i - 1}, %i : i32" for i in range(1, count))
    body = f"{loop} %a0 = tile.neg %i : i32 {chain} memory.store %ip, %a{count - 1} control.yield }}"
    for step in PASSES:
        after(step, body)
    steady = body.replace(", %i :", ", %x :").replace("tile.neg %i", "tile.neg %x")
    hoisted = after(HoistLoopInvariants(), steady)
    assert hoisted.rindex("tile.add") < hoisted.index("control.for")
    assert after(EliminateDeadCode(), f"{loop} %a0 = tile.neg %i : i32 {chain} control.yield }}") == ""
