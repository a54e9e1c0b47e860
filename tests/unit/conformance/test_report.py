"""Reports, waivers, differences and the pytest plugin of the suite."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from xdsl_conformance import manifest
from xdsl_conformance.execution import examine, sample, select, subject_of
from xdsl_conformance.random_programs.access import access_program
from xdsl_conformance.random_programs.choices import Recorded, shrink
from xdsl_conformance.report import Entry, Report, difference, read_report, to_json
from xdsl_conformance.scoreboard import matrix, to_badge, to_html, to_junit, to_markdown
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_conformance.waivers import apply_waiver, waiver_of
from xdsl_core.backend import Waiver, read_waivers
from xdsl_core.diagnostics import BackendError
from xdsl_core.ir import print_module

TODAY = datetime.date(2030, 1, 1)


def report_of(**verdicts: Verdict) -> Report:
    detail, labels = "a < b & c\x00", {"dtype": "f32"}
    entries = [
        Entry(f"op/{name}", verdict, "core", "what", detail, 0.5, 0.1, {"op": name, **labels}, "func")
        for name, verdict in verdicts.items()
    ]
    versions = {"xdsl-core": "1"}
    return Report("acme:x1", "core", "2030-01-01T00:00:00+00:00", 1.5, versions, "xdslc", tuple(entries))


def test_the_command_examines_a_backend_and_writes_a_report(tmp_path: Path) -> None:
    cases = select("full", ["kernel/add/*"])
    report = examine(subject_of("reference"), cases, profile="smoke", workers=2, command="x")
    assert report.is_good
    assert {entry.verdict for entry in report.entries} == {Verdict.PASS}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(to_json(report)))
    assert to_json(read_report(path)) == to_json(report)


def test_report_fits_its_schema() -> None:
    schema = json.loads((files("xdsl_conformance") / "data/report.schema.json").read_text())
    data = to_json(report_of(**{verdict.value: verdict for verdict in Verdict}))
    assert set(schema["required"]) == set(data) == set(schema["properties"])
    assert set(schema["$defs"]["verdict"]["enum"]) == {verdict.value for verdict in Verdict}
    item = schema["properties"]["cases"]["items"]
    for case in data["cases"]:
        assert set(item["required"]) <= set(case) <= set(item["properties"])


def test_scoreboards_are_whole_and_escaped() -> None:
    report = report_of(a=Verdict.FAIL, b=Verdict.PASS, c=Verdict.CRASH, d=Verdict.NOT_SUPPORTED)
    tests = ElementTree.fromstring(to_junit(report)).findall(".//testcase")
    assert [child.tag for test in tests for child in test] == ["failure", "error", "skipped"]
    page = to_html(report)
    assert "a &lt; b &amp; c" in page
    assert "xdslc conformance acme:x1 --id op/a --repro" in page
    assert "src=" not in page
    assert "**0/1**" in to_markdown(report)
    assert "33.3% of 3" in ElementTree.fromstring(to_badge(report)).attrib["aria-label"]
    assert [cell.state for row in matrix(report.entries).rows.values() for cell in row if cell] == [
        "bad", "good", "bad", "none",
    ]  # fmt: skip


def test_difference_tells_worse_from_better() -> None:
    before = report_of(a=Verdict.PASS, b=Verdict.FAIL, c=Verdict.PASS)
    after = report_of(a=Verdict.FAIL, b=Verdict.PASS, d=Verdict.PASS)
    found = difference(before, after)
    assert found["worse"] == ["op/a: pass -> fail"]
    assert found["better"] == ["op/b: fail -> pass"]
    assert (found["new"], found["gone"]) == (["op/d: pass"], ["op/c: pass"])


def test_waivers_hold_until_their_last_day_and_are_told_when_not_needed() -> None:
    waiver = Waiver("op/tile.dot/*", "erratum 12", TODAY)
    assert waiver_of("op/tile.dot/f16.1", [waiver], TODAY) is waiver
    assert waiver_of("op/tile.dot/f16.1", [waiver], TODAY + datetime.timedelta(1)) is None
    assert waiver_of("op/tile.add/f16.1", [waiver], TODAY) is None
    assert apply_waiver(Outcome(Verdict.FAIL, "wrong"), waiver).verdict is Verdict.WAIVED
    assert apply_waiver(Outcome(Verdict.PASS), waiver).verdict is Verdict.UNEXPECTED_PASS
    assert apply_waiver(Outcome(Verdict.NOT_SUPPORTED), waiver).verdict is Verdict.NOT_SUPPORTED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('waiver = 1', "list of tables"),
        ('[[waiver]]\ncase = "a"\nreason = "b"', "expires"),
        ('[[waiver]]\ncase = "a"\nreason = " "\nexpires = 2030-01-01', "no reason"),
        ('[[waiver]]\ncase = "a"\nreason = "b"\nexpires = 2030-01-01\nmore = 1', "more"),
        ("[[", "no list of waivers"),
    ],
)  # fmt: skip
def test_bad_waivers_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(text)
    with pytest.raises(BackendError, match=words) as caught:
        read_waivers(path)
    assert caught.value.diagnostics[0].code == "X0813"


def test_unknown_cases_and_profiles_are_refused() -> None:
    for arguments in (("core", ["op/tile.ad/f32.1"]), ("cores", [])):
        with pytest.raises(BackendError, match="did you mean"):
            select(*arguments)


def test_released_ids_stay_what_they_were() -> None:
    """New cases are added with `python -m xdsl_conformance.manifest`; an id is never given away."""
    for name, text in manifest.lists().items():
        assert set(manifest.committed(name).splitlines()) == set(text.splitlines()), name


def test_random_programs_are_the_same_for_a_seed_and_shrink() -> None:
    one, two = Recorded(seed=7), Recorded(seed=7)
    assert print_module(access_program(one)) == print_module(access_program(two))

    def fails(taken: Sequence[int]) -> bool:
        return "tile.min" in print_module(access_program(Recorded(taken)))

    seed = next(seed for seed in range(50) if fails(_taken(access_program, seed)))
    small = shrink(_taken(access_program, seed), fails)
    assert fails(small)
    assert len(small) < len(_taken(access_program, seed)) / 2


def _taken(write: Callable[[Recorded], Any], seed: int) -> list[int]:
    choices = Recorded(seed=seed)
    write(choices)
    return choices.taken


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_suite_runs_under_pytest_from_anywhere(tmp_path: Path, workers: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--pyargs", "xdsl_conformance", "--backend=reference"]
    command += ["--profile=smoke", "--at-most=12", "-p", "no:cacheprovider", *workers]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "12 passed" in found.stdout


def test_the_plugin_stays_out_of_other_runs(tmp_path: Path) -> None:
    option = "def pytest_addoption(parser):\n    parser.addoption('--backend')\n"
    test = "def test_it(pytestconfig):\n    assert pytestconfig.getoption('--backend') == 'x'\n"
    (tmp_path / "conftest.py").write_text(option)
    (tmp_path / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "--backend=x", "-p", "no:cacheprovider"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_sample_is_the_same_for_a_seed() -> None:
    cases = select("core")
    assert sample(cases, 30, seed=1) == sample(cases, 30, seed=1)
    assert sample(cases, 30, seed=1) != sample(cases, 30, seed=2)


@pytest.mark.parametrize(("profile", "patterns"), [("smok", ()), ("smoke", ("op/tile.ad/*",))])
def test_a_case_or_profile_that_is_not_there(profile: str, patterns: tuple[str, ...]) -> None:
    with pytest.raises(BackendError) as caught:
        select(profile, patterns)
    assert caught.value.code == "X0812"
