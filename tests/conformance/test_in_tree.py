"""A sample of the suite on the in-tree backends: the same cases every time, few enough for every run.

`make conformance` asks everything.
"""

from __future__ import annotations

import pytest

from xdsl_conformance.execution import examine, sample, select, subject_of
from xdsl_conformance.verdict import Verdict

# How many cases; one of a backend that compiles takes longer.
SAMPLES = {
    "reference": 120,
    "cpu_c": 24,
    "dsa_sim:ascend910b2": 60,
    "dsa_sim:toy": 60,
    "gpu_triton:interpret": 40,
}
NEEDS = {"cpu_c": pytest.mark.compiler, "gpu_triton:interpret": pytest.mark.triton}
LEAST_PASSED = 0.6  # of the sample: a backend need not claim all of `full`


@pytest.mark.parametrize("name", [pytest.param(name, marks=NEEDS.get(name, ())) for name in SAMPLES])
def test_sample_is_right(name: str) -> None:
    cases = sample(select("full"), SAMPLES[name], seed=20)
    report = examine(subject_of(name), cases, profile="full", workers=1, timeout=120.0)
    assert not [(entry.id, entry.verdict.value, entry.detail) for entry in report.bad]
    assert report.counts[Verdict.PASS] > LEAST_PASSED * len(cases)
