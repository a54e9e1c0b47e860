"""docs/writing-a-backend.md is executed: its files make a backend, its commands are run."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.plugins.vendor import ROOT, Vendor
from xdsl_conformance.execution import sample, select
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Verdict
from xdsl_conformance.worker import answer
from xdsl_core.backend import default_registry
from xdsl_core.backend.scaffold import write_backend
from xdsl_core.backend.testing import check_backend

PAGE = ROOT / "docs" / "writing-a-backend.md"
BLOCK = re.compile(r"^```(?P<language>\w+)(?: title=\"(?P<path>[^\"]+)\")?\n(?P<text>.*?)^```$", re.M | re.S)
MOST_LINES = 600
FEWEST_PASSED = 2000  # cases of `tile` that must pass; what is not claimed does not count


@dataclass(frozen=True)
class Step:
    """Something the reader does: writing (a part of) a file, or running commands."""

    text: str
    path: str = ""


def steps() -> list[Step]:
    """The blocks of the page, in order; each is a file's part or commands."""
    found = []
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        assert block["path"] or block["language"] == "sh", block[0]
        found.append(Step(block["text"], block["path"] or ""))
    return found


def write(step: Step, folder: Path, begun: set[str]) -> None:
    """The first part of a file replaces what is there, later ones follow it."""
    file = folder / step.path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text() + "\n\n" if step.path in begun else ""
    file.write_text(before + step.text)
    begun.add(step.path)


def run(line: str, vendor: Vendor, folder: Path) -> str:
    """A command of the page: `xdslc`, `pip install -e`, or `rm`."""
    program, *arguments = shlex.split(line)
    if program == "xdslc":
        parallel = ("-n", "2") if arguments[0] == "conformance" else ()
        return vendor.xdslc(*arguments, *parallel, directory=folder).stdout
    if program == "pip":
        assert arguments[:2] == ["install", "-e"]
        vendor.install(folder / arguments[2])
    elif program == "rm":
        for name in arguments:
            (folder / name).unlink()
    else:
        raise AssertionError(f"the test cannot run {line!r}")
    return ""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as it is at the end of the page."""
    folder = tmp_path_factory.mktemp("tutorial")
    write_backend("acme_npu", folder / "acme_npu")
    begun: set[str] = set()
    for step in steps():
        if step.path:
            write(step, folder, begun)
        else:
            removed = (line.split()[1:] for line in step.text.splitlines() if line.startswith("rm "))
            for name in (name for names in removed for name in names):
                (folder / name).unlink()
    return folder / "acme_npu"


@pytest.fixture
def subject(written: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Subject]:
    """The backend, imported from where it was written."""
    monkeypatch.syspath_prepend(str(written / "src"))
    plugin = importlib.import_module("acme_npu.plugin")
    default_registry().register(plugin)
    yield Subject("acme_npu")
    default_registry().unregister("acme_npu")
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_npu"]:
        del sys.modules[name]


def test_the_backend_is_small_and_its_own(written: Path) -> None:
    files = [path for path in (written / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    lines = [line for path in files for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) < MOST_LINES, len(lines)
    assert not [line for line in lines if re.search(r"xdsl_core\.(interp|runtime|ops)|xdsl_cpu_c", line)]
    assert not [line for line in lines if len(line) > 110]


def test_the_backend_keeps_the_contract(subject: Subject) -> None:
    assert check_backend(subject.backend) == []


def test_a_sample_of_the_suite_is_right(subject: Subject) -> None:
    cases = sample(select("tile"), 60, seed=5)
    outcomes = {case.id: answer(subject, case.id) for case in cases}
    assert not {name: found for name, found in outcomes.items() if not found.verdict.is_good}
    assert sum(found.verdict is Verdict.PASS for found in outcomes.values()) > 50


@pytest.mark.slow
@pytest.mark.compiler
def test_the_whole_page_works_step_by_step(tmp_path: Path) -> None:
    vendor, begun, told = Vendor.at(tmp_path / "venv"), set[str](), {}
    for step in steps():
        if step.path:
            write(step, tmp_path, begun)
            continue
        for line in step.text.splitlines():
            told[line] = run(line, vendor, tmp_path)
    last = next(text for line, text in told.items() if "--profile tile" in line)
    counts = dict(re.findall(r"^(\w+) +(\d+)", last, re.M))
    assert set(counts) <= {"pass", "not_supported"}, last
    assert int(counts["pass"]) > FEWEST_PASSED
    assert (tmp_path / "report.html").exists()
