"""The repository keeps its own rules: what ships, how modules look, and which files are promised."""

from __future__ import annotations

import ast
import configparser
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from xdsl_core import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FIND = PROJECT["tool"]["setuptools"]["packages"]["find"]
SHIPPED = re.compile(r"xdsl_(core|cpu_c|dsa_sim|gpu_triton|conformance)")
PACKAGES = sorted(
    path.parent
    for root in FIND["where"]
    for path in (ROOT / root).glob("xdsl_*/__init__.py")
    if SHIPPED.fullmatch(path.parent.name)
)
MODULES = sorted(module for package in PACKAGES for module in package.rglob("*.py"))
LONGEST_MODULE = 500
SUFFIXES = {".py", ".j2", ".c", ".h", ".toml", ".json", ".tile", ".txt"}
PROMISED = [
    "README.md",
    "ARCHITECTURE.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    ".ci/run",
    ".pre-commit-config.yaml",
    "mkdocs.yml",
    "docs/index.md",
]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", PROMISED)
def test_promised_file_exists(name: str) -> None:
    assert (ROOT / name).stat().st_size > 0


def test_ci_runs_the_make_targets() -> None:
    script = ROOT / ".ci/run"
    assert os.access(script, os.X_OK)
    assert {"make check", "make test"} <= set(re.findall(r"make \w+", script.read_text(encoding="utf-8")))


def test_every_package_root_is_importable() -> None:
    for package in PACKAGES:
        found = subprocess.run(
            [sys.executable, "-c", f"import {package.name}; print({package.name}.__file__)"],
            capture_output=True, text=True, cwd="/", check=True,
        )  # fmt: skip
        assert Path(found.stdout.strip()).parent == package


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_folders_with_modules_are_packages(package: Path) -> None:
    folders = {module.parent for module in package.rglob("*.py")}
    assert not [relative(folder) for folder in folders if not (folder / "__init__.py").exists()]
    assert (package / "py.typed").exists()


def test_no_module_is_too_long() -> None:
    lengths = {relative(module): len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert not {name: length for name, length in lengths.items() if length > LONGEST_MODULE}


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_module_says_what_it_is(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module starts with a docstring"


def test_no_reserved_name_is_used() -> None:
    groups = PROJECT["project"]["entry-points"]
    assert {"xdsl_core.backends", "xdsl_core.commands"} <= set(groups)
    # groups of others that we add to under a name of ours
    foreign = {"pytest11", "triton.backends"}
    assert not [name for name in groups if not name.startswith("xdsl_core.") and name not in foreign]
    assert "xdsl" not in PROJECT["project"]["scripts"]
    tops = {package.name for package in PACKAGES}
    assert not tops & {"xdsl", "backends", "conformance", "tests", "examples", "benchmarks"}


def test_entry_points_exist() -> None:
    for name, target in PROJECT["project"]["entry-points"]["xdsl_core.backends"].items():
        path = target.replace(".", "/")
        assert any((ROOT / root / f"{path}.py").exists() for root in FIND["where"]), (name, target)


def test_installed_metadata_is_current() -> None:
    """An editable install from before the last change of pyproject.toml hides new backends: install again."""
    distribution = metadata.distribution("xdsl-core")
    assert distribution.version == __version__
    parser = configparser.ConfigParser(delimiters="=")
    parser.read_string(distribution.read_text("entry_points.txt") or "")
    assert dict(parser["xdsl_core.backends"]) == PROJECT["project"]["entry-points"]["xdsl_core.backends"]


@pytest.mark.slow
def test_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    # a copy, so that the build leaves nothing in the checkout
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for package in PACKAGES:
        shutil.copytree(
            package, source / package.relative_to(ROOT), ignore=shutil.ignore_patterns("__pycache__")
        )
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        tmp_path,
    ]
    subprocess.run([*map(str, command), str(source)], check=True)
    (wheel,) = tmp_path.glob("xdsl_core-*.whl")
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {
        (Path(package.name) / path.relative_to(package)).as_posix()
        for package in PACKAGES
        for path in package.rglob("*")
        if path.is_file() and (path.suffix in SUFFIXES or path.name == "py.typed")
    }
    assert shipped == expected


@pytest.mark.parametrize("folder", ["xdsl_core", "backends", "conformance", "docs", "examples", "tests"])
def test_no_path_of_somebodys_machine(folder: str) -> None:
    private = re.compile(r"/(?:work|root|home)/\w+")
    suffixes = {".py", ".md", ".toml", ".yml", ".j2", ".c", ".h", ".tile"}
    files = [
        path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes and path != Path(__file__)
    ]
    hits = {relative(path): private.findall(path.read_text(encoding="utf-8")) for path in files}
    assert not {name: found for name, found in hits.items() if found}
