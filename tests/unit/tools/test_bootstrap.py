"""The set-up of the make targets: what it refuses, what it remembers; no CUDA build is ever taken."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, on a folder of its own; `module.commands` lists what it ran."""
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools/bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    venv = tmp_path / ".venv"
    venv.mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    for name, value in {"ROOT": tmp_path, "VENV": venv, "STAMP": venv / "bootstrap.json"}.items():
        monkeypatch.setattr(module, name, value)
    commands: list[str] = []

    def run(*command: object, quiet: bool = False) -> bool:
        commands.append(" ".join(map(str, command)))
        return True

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "commands", commands, raising=False)
    return module


def test_the_package_is_installed_once(bootstrap: ModuleType) -> None:
    assert bootstrap.install_package(bootstrap.read_stamp(), {"test"})
    assert bootstrap.commands[-1].endswith("-e .[test]")
    count = len(bootstrap.commands)
    assert bootstrap.install_package(bootstrap.read_stamp(), set())
    assert bootstrap.install_package(bootstrap.read_stamp(), {"test"})
    assert len(bootstrap.commands) == count


def test_another_extra_and_a_changed_project_are_installed(bootstrap: ModuleType) -> None:
    bootstrap.install_package(bootstrap.read_stamp(), {"test"})
    bootstrap.install_package(bootstrap.read_stamp(), {"dev"})
    assert bootstrap.commands[-1].endswith("-e .[dev,test]")
    (bootstrap.ROOT / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    bootstrap.install_package(bootstrap.read_stamp(), set())
    assert bootstrap.commands[-1].endswith("-e .")


def test_a_new_package_root_is_installed(bootstrap: ModuleType) -> None:
    before = bootstrap.fingerprint()
    for name in ("backends/acme/xdsl_acme", "conformance/xdsl_conformance"):
        folder = bootstrap.ROOT / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        after = bootstrap.fingerprint()
        assert after != before
        before = after


@pytest.mark.parametrize(
    ("names", "cpu"),
    [
        (["torch", "filelock", "sympy"], True),
        (["torch", "nvidia-cublas", "sympy"], False),
        (["torch", "triton"], False),
        (["torch", "cuda-bindings"], False),
    ],
)
def test_a_cuda_build_is_recognised_by_what_it_brings(
    bootstrap: ModuleType, names: list[str], cpu: bool
) -> None:
    plan = {"install": [{"metadata": {"name": name}} for name in names]}
    (bootstrap.VENV / "torch-plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert bootstrap.is_cpu_build(()) == cpu


def test_without_a_cpu_build_nothing_is_installed_and_it_is_said_once(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TORCH", raising=False)
    monkeypatch.setattr(bootstrap, "is_cpu_build", lambda source: False)
    monkeypatch.setattr(bootstrap, "run", lambda *command, quiet=False: False)
    bootstrap.install_torch(stamp := bootstrap.read_stamp())
    assert "will be skipped" in capsys.readouterr().err
    bootstrap.install_torch(stamp)
    assert capsys.readouterr().err == ""


def test_a_python_without_venv_is_told_what_to_install(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "PYTHON", bootstrap.VENV / "missing")
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    assert not bootstrap.create_environment()
    assert "apt install python3-venv" in capsys.readouterr().err


def test_a_compiler_is_found_by_name_or_as_ziglang(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bootstrap.has_compiler()
    assert bootstrap.commands[-1].endswith("-c import ziglang")
    monkeypatch.setattr(bootstrap, "run", lambda *command, quiet=False: False)
    assert not bootstrap.has_compiler()
    compiler = tmp_path / "clang"
    compiler.touch(mode=0o755)
    assert bootstrap.has_compiler()


def test_programs_are_installed_once_and_only_where_we_may(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PROGRAMS", raising=False)
    monkeypatch.setattr(
        bootstrap.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None
    )
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    bootstrap.install_programs({})
    assert bootstrap.commands == []
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    bootstrap.install_programs({})
    assert bootstrap.commands[0].startswith("apt-get install")
    assert "chromium" in bootstrap.commands[0]
    monkeypatch.setattr(bootstrap, "run", lambda *command, quiet=False: False)
    bootstrap.install_programs(stamp := bootstrap.read_stamp())
    assert "will be skipped" in capsys.readouterr().err
    bootstrap.install_programs(stamp)
    assert capsys.readouterr() == ("", "")
