"""What cases ask of a backend is derived from its claims and the target's description."""

from __future__ import annotations

import pytest

from xdsl_conformance.catalogue import catalogue
from xdsl_conformance.chip_cases import USES, elements
from xdsl_conformance.requirements import REQUIREMENTS, met, unmet
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Verdict
from xdsl_conformance.worker import answer
from xdsl_core.cli.main import main
from xdsl_core.target import Capabilities, Claim, MemorySpace, TargetDescription

DRAM = MemorySpace("DRAM", "GLOBAL", 1 << 30, owner="device")
CACHE = MemorySpace("L2", "", 1 << 20, owner="device")
SCRATCH = MemorySpace("UB", "VECTOR", 192 << 10)
CLAIMS = {
    "atomics": (Claim("atomic.rmw", frozenset({"i32"})), Claim("atomic.cas", frozenset({"i32"}))),
    "fp8": (Claim("tile.cast", frozenset({"f32", "f8e5m2"})),),
    "any_extent": (Claim("tile.add", frozenset({"f32"})),),
}


def target(*spaces: MemorySpace, cores: int = 1) -> TargetDescription:
    return TargetDescription("acme", "one", cores=cores, memory_spaces=(DRAM, *spaces))


def test_nothing_is_met_by_nothing() -> None:
    assert not any(met(Capabilities(), target(CACHE)).values())


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_meet_what_they_are_about(name: str) -> None:
    found = met(Capabilities(CLAIMS[name]), target())
    assert [known for known, is_met in found.items() if is_met] == [name]


def test_limits_count() -> None:
    powers = Capabilities((Claim("tile.add", frozenset({"f32"}), {"power_of_two": 1}),))
    assert unmet(["any_extent"], powers, target()) == "tiles of any extent are not claimed"


def test_the_description_meets_what_it_is_about() -> None:
    assert unmet(["own_memory"], Capabilities(), target(SCRATCH)) == ""
    assert unmet(["own_memory"], Capabilities(), target(CACHE)) != ""
    assert unmet(["several_cores"], Capabilities(), target(cores=2)) == ""


def test_cases_require_nothing_that_is_unknown() -> None:
    required = {name for case in catalogue().values() for name in case.requires}
    assert required <= set(REQUIREMENTS)


def test_without_what_a_case_requires_it_is_not_supported() -> None:
    outcome = answer(Subject("reference"), "chip/fits")
    assert outcome.verdict is Verdict.NOT_SUPPORTED
    assert outcome.detail == "the target describes no memory of its cores"


@pytest.mark.parametrize("name", USES)
def test_kernels_about_memory_compute_what_is_expected(name: str) -> None:
    """On a backend without such memories, with a description that has some."""
    subject = Subject("reference")
    subject.__dict__["_resolved"] = (subject.backend, target(SCRATCH))
    assert elements(subject.target, USES[name].share) * 4 <= SCRATCH.capacity * USES[name].share
    outcome = answer(subject, f"chip/{name}")
    assert outcome.verdict is Verdict.PASS, outcome.detail


def test_the_command_shows_what_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["conformance", "reference", "--requirements"])
    assert stopped.value.code == 0
    lines = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert list(lines) == list(REQUIREMENTS)
    assert lines["own_memory"] == "no: the target describes no memory of its cores"
    assert lines["atomics"] == "yes"
