"""Every case of a profile as a test; `--backend` says of whom it is asked."""

from __future__ import annotations

import datetime

import pytest

from xdsl_conformance.execution import entry_of, sample, select, subject_of
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Verdict
from xdsl_conformance.waivers import apply_waiver, waiver_of
from xdsl_conformance.worker import answer
from xdsl_core.backend import Waiver, read_waivers
from xdsl_core.diagnostics import XdslError


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a case of the chosen profile."""
    cases = select(metafunc.config.getoption("--profile"))
    at_most = metafunc.config.getoption("--at-most")
    chosen = sample(cases, at_most, seed=0) if at_most else cases
    metafunc.parametrize("case_id", [case.id for case in chosen])


@pytest.fixture(scope="session")
def subject(pytestconfig: pytest.Config) -> Subject:
    """The backend that `--backend` names."""
    name = pytestconfig.getoption("--backend")
    if not name:
        raise pytest.UsageError("say which backend is to be examined: --backend=NAME")
    try:
        return subject_of(name)
    except XdslError as problem:
        raise pytest.UsageError(str(problem)) from problem


@pytest.fixture(scope="session")
def waivers(pytestconfig: pytest.Config, subject: Subject) -> tuple[Waiver, ...]:
    """The backend's own waivers and those of `--waivers`."""
    path = pytestconfig.getoption("--waivers")
    return (*subject.backend.conformance(subject.target).waivers, *(read_waivers(path) if path else ()))


def test_case(case_id: str, subject: Subject, waivers: tuple[Waiver, ...]) -> None:
    """The backend's answer is right, or refused because it is not claimed (a skip)."""
    (case,) = select("full", [case_id])
    today = datetime.datetime.now(datetime.timezone.utc).date()
    entry = entry_of(case, apply_waiver(answer(subject, case_id), waiver_of(case_id, waivers, today)))
    if entry.verdict in (Verdict.NOT_SUPPORTED, Verdict.WAIVED):
        pytest.skip(f"{entry.verdict.value}: {entry.detail.splitlines()[0]}")
    if not entry.verdict.is_good:
        repro = f"xdslc conformance {subject.name} --id '{case_id}' --repro"
        pytest.fail(f"{entry.verdict.value}: {entry.detail}\n{repro}\n{entry.source}", pytrace=False)
