"""The suite is tested: every wrong backend is caught by the cases that are named for it."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from tests.mutants.backends import Mutant, plugin_of
from tests.mutants.mistakes import MUTANTS
from xdsl_conformance.catalogue import catalogue
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Verdict
from xdsl_conformance.worker import answer
from xdsl_core.backend import default_registry
from xdsl_core.target import Capabilities

EXPECTED = {"over_claim": Verdict.OVER_CLAIM, "wrong_refusal": Verdict.WRONG_REFUSAL}
MOST_CASES = 2000


def cases_for(mutant: Mutant) -> list[str]:
    return [name for name in catalogue() if any(fnmatchcase(name, pattern) for pattern in mutant.caught_by)]


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    name = f"mutant_{request.param}"
    registry = default_registry()
    registry.register(plugin_of(MUTANTS[request.param], name))
    yield Subject(name)
    registry.unregister(name)


@pytest.mark.parametrize("subject", MUTANTS, indirect=True)
def test_mutant_is_caught(subject: Subject) -> None:
    name = subject.name.removeprefix("mutant_")
    chosen = cases_for(MUTANTS[name])
    assert 0 < len(chosen) < MOST_CASES
    outcomes = {case: answer(subject, case) for case in chosen}
    verdicts = {outcome.verdict for outcome in outcomes.values()}
    assert Verdict.SUITE_ERROR not in verdicts, outcomes
    assert EXPECTED.get(name, Verdict.FAIL) in verdicts, outcomes


@pytest.mark.parametrize("name", MUTANTS)
def test_the_reference_passes_the_same_cases(name: str) -> None:
    subject = Subject("reference")
    wrong = {case: answer(subject, case) for case in cases_for(MUTANTS[name])}
    assert not {case: found for case, found in wrong.items() if found.verdict is not Verdict.PASS}


def test_a_mutant_without_a_mistake_passes_all_of_them() -> None:
    """What the mutants are caught for is their mistake, and not how they are made."""
    default_registry().register(plugin_of(Mutant("none", ()), "mutant_none"))
    try:
        chosen = sorted({case for mutant in MUTANTS.values() for case in cases_for(mutant)})
        outcomes = {case: answer(Subject("mutant_none"), case) for case in chosen}
    finally:
        default_registry().unregister("mutant_none")
    assert not {case: found for case, found in outcomes.items() if found.verdict is not Verdict.PASS}


def test_a_backend_that_claims_nothing_gets_nothing_but_not_supported() -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("it cannot run anything")

    null = Mutant("compiles only", (), launch=crash, capabilities=lambda _: Capabilities())
    default_registry().register(plugin_of(null, "mutant_null"))
    try:
        subject = Subject("mutant_null")
        chosen = [name for name in catalogue() if name.startswith(("op/", "kernel/", "random/"))][::40]
        verdicts = {answer(subject, name).verdict for name in chosen}
    finally:
        default_registry().unregister("mutant_null")
    assert verdicts == {Verdict.NOT_SUPPORTED}
