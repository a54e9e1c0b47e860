"""`xdslc backend new`: what it writes works at once, and is worked on with the suite's help."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.vendor import Vendor
from tests.unit.cli import conftest as command_line
from xdsl_core.backend import scaffold
from xdsl_core.backend.scaffold import write_backend
from xdsl_core.diagnostics import BackendError

Run = Callable[..., Any]
xdslc = command_line.xdslc


def test_every_file_is_listed_and_none_is_left_unrendered(xdslc: Run, tmp_path: Path) -> None:
    found = xdslc("backend", "new", "acme_npu", "--directory", tmp_path / "made")
    assert found.status == 0, found.err
    written = sorted(path for path in (tmp_path / "made").rglob("*") if path.is_file())
    assert sorted(found.out.split("\n\n")[0].splitlines()) == [str(path) for path in written]
    assert {".gitignore", ".github"} <= {path.name for path in (tmp_path / "made").iterdir()}
    for path in written:
        assert "{{ name }}" not in path.read_text() or path.suffix == ".j2"
        if path.suffix == ".py":
            compile(path.read_text(), path.name, "exec")


def test_the_folder_is_called_like_the_backend(
    xdslc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert xdslc("backend", "new", "acme_npu").status == 0
    assert 'acme_npu = "acme_npu.plugin"' in (tmp_path / "acme_npu/pyproject.toml").read_text()


def test_the_readme_names_files_that_are_there(tmp_path: Path) -> None:
    write_backend("acme_npu", tmp_path)
    named = re.findall(r"^\| `([^`]+)` ", (tmp_path / "README.md").read_text(), re.MULTILINE)
    assert len(named) > 5
    assert all((tmp_path / name).exists() for name in named)


def test_no_file_of_the_scaffold_is_one_that_wheels_leave_out() -> None:
    files = Path(scaffold.__file__).parent / "files"
    left_out = [
        path for path in files.rglob("*") if path.name.startswith(".") or path.suffix not in ("", ".j2")
    ]
    assert not [path for path in left_out if path.is_file()]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(BackendError, match=r"holds README\.md already") as caught:
        write_backend("acme_npu", tmp_path)
    assert caught.value.code == "X0842"
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Acme-NPU", "did you mean 'acme_npu'?"),
        ("AcmeNpu", "did you mean 'acme_npu'?"),
        ("acme npu", "did you mean 'acme_npu'?"),
        ("2acme", "did you mean 'acme'?"),
        ("acme__npu", "did you mean 'acme_npu'?"),
        ("../acme", "did you mean 'acme'?"),
        ("class", "write something like 'acme_npu'"),
        ("", "write something like 'acme_npu'"),
        ("reference", "choose another, such as 'acme_reference'"),
        ("numpy", "choose another, such as 'numpy_chip'"),
        ("json", "choose another, such as 'json_chip'"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_with_a_better_one(
    name: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(BackendError) as caught:
        write_backend(name, tmp_path, taken=("reference", "cpu_c"))
    assert caught.value.code == "X0841"
    assert hint in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_check_says_whether_a_backend_keeps_the_contract(xdslc: Run) -> None:
    found = xdslc("backend", "check", "reference")
    assert (found.status, found.out) == (0, "reference: keeps the contract\n")


@pytest.mark.slow
@pytest.mark.compiler
def test_scaffold_works_at_once_and_the_suite_finds_a_bug_in_it(tmp_path: Path) -> None:
    vendor, project = Vendor.at(tmp_path / "venv"), tmp_path / "acme_npu"
    vendor.xdslc("backend", "new", "acme_npu", directory=tmp_path)
    vendor.install(project)
    assert "keeps the contract" in vendor.xdslc("backend", "check", "acme_npu").stdout
    smoke = vendor.xdslc("conformance", "acme_npu", "--profile", "smoke", "-n", "2").stdout
    assert re.search(r"^pass +\d+$", smoke, re.MULTILINE), smoke
    assert "fail" not in smoke
    vendor.run("-m", "pytest", "-q", "-p", "no:cacheprovider", directory=project)

    lowering = project / "src" / "acme_npu" / "lowering.py"
    right = lowering.read_text()
    assert '"{lhs} < {rhs}"' in right
    lowering.write_text(right.replace('"{lhs} < {rhs}"', '"!({lhs} >= {rhs})"'))  # wrong for NaN alone
    told = vendor.xdslc("conformance", "acme_npu", "--profile", "core", "-n", "2", ok=False).stdout
    repro = next(line for line in told.splitlines() if line.startswith("xdslc conformance acme_npu"))
    assert repro.endswith(" --repro")
    _, *arguments = shlex.split(repro)
    shown = vendor.xdslc(*arguments, ok=False).stdout
    assert "tile.lt" in repro
    assert "expected" in shown
    lowering.write_text(right)
    assert "pass" in vendor.xdslc(*arguments).stdout
