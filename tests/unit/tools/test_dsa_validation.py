"""Simulated times stay near the published ones."""

from __future__ import annotations

import pytest

from benchmarks.dsa.simulated import Simulated, repeated
from benchmarks.dsa_validation import ROWS, Outcome, geometric_mean, measure

QUICK = {"C2", "C3c", "P2", "P3a"}
# what misses, and why, stands in docs/dsa_accuracy.md
MISSED = {"P4a", "P4a matrix", "P4a loads", "P4b loads", "P6a", "P6b"}


def test_quick_rows_are_within_their_tolerances() -> None:
    for outcome in measure([row for row in ROWS if row.name in QUICK]):
        assert outcome.is_within, f"{outcome.row.name}: {outcome.error:+.1%}"


@pytest.mark.slow
def test_every_row_and_the_mean() -> None:
    outcomes = measure(ROWS)
    beyond = {outcome.row.name for outcome in outcomes if not outcome.is_within}
    assert beyond == MISSED
    assert geometric_mean([outcome for outcome in outcomes if outcome.row.is_prediction]) <= 0.12


def test_errors_are_signed_and_their_mean_is_geometric() -> None:
    row = next(row for row in ROWS if row.name == "P7")
    slow, fast = (Outcome(row, row.measured * factor) for factor in (1.08, 0.98))
    assert (round(slow.error, 9), round(fast.error, 9)) == (0.08, -0.02)
    assert slow.is_within
    assert not Outcome(row, row.measured * 1.11).is_within
    assert geometric_mean([slow, fast]) == pytest.approx(0.04)


def test_a_repeated_launch_is_what_the_second_pass_adds() -> None:
    passes = {
        1: Simulated(30.0, 20.0, {"V": 5.0}, {"V": 0.25}, 100),
        2: Simulated(55.0, 45.0, {"V": 15.0}, {}, 250),
    }
    found = repeated(lambda count: passes[count])
    assert (found.microseconds, found.core_microseconds, found.dram) == (35.0, 25.0, 150)
    assert (found.busy["V"], found.ratio["V"]) == (10.0, 0.4)
