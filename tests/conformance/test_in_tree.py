"""A sample of the suite on the in-tree backends: the same cases every time, few enough for every run.

`make conformance` asks everything.
"""

from __future__ import annotations

import pytest

from xdsl_conformance.execution import examine, sample, select, subject_of
from xdsl_conformance.verdict import Verdict

# A case of a backend that compiles takes longer.
SAMPLES = {"reference": 120, "cpu_c": 24, "dsa_sim:ascend910b2": 60, "dsa_sim:toy": 60}


@pytest.mark.parametrize(
    "name",
    [
        "reference",
        pytest.param("cpu_c", marks=pytest.mark.compiler),
        "dsa_sim:ascend910b2",
        "dsa_sim:toy",
    ],
)
def test_sample_is_right(name: str) -> None:
    cases = sample(select("full"), SAMPLES[name], seed=20)
    report = examine(subject_of(name), cases, profile="full", workers=1, timeout=120.0)
    assert not [(entry.id, entry.verdict.value, entry.detail) for entry in report.bad]
    assert report.counts[Verdict.PASS] > 0.8 * len(cases)
