"""The README tells the truth: its program runs, and its C and its error are what the tools print today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"<!-- (?P<name>[\w ]+) -->\n```\w*\n(?P<text>.*?)```\n", re.DOTALL)


def blocks() -> dict[str, str]:
    return {match["name"]: match["text"] for match in BLOCK.finditer(README.read_text(encoding="utf-8"))}


def check(request: pytest.FixtureRequest, name: str, text: str) -> None:
    """Compares a block of the README with what it should be; --update-golden writes it."""
    if request.config.getoption("--update-golden"):
        content = README.read_text(encoding="utf-8")
        match = next(match for match in BLOCK.finditer(content) if match["name"] == name)
        content = content[: match.start("text")] + text + content[match.end("text") :]
        README.write_text(content, encoding="utf-8")
    assert blocks()[name] == text, f"the README's block `{name}` is out of date: pytest --update-golden"


def emitted_c(tmp_path: Path) -> str:
    """The loop over the programs in the C of the README's kernel."""
    file = tmp_path / "add.py"
    file.write_text(blocks()["program"], encoding="utf-8")
    command = [sys.executable, "-m", "xdsl_core.cli.main", "compile", f"{file}:add_kernel", "--emit", "c"]
    signature = "x: *f32, y: *f32, out: *f32, n: i32, BLOCK=1024"
    run = subprocess.run(
        [*command, "--backend", "cpu_c", "--signature", signature], capture_output=True, text=True, check=True
    )
    return run.stdout[run.stdout.index("void body(") :].rstrip() + "\n"


@pytest.mark.compiler
def test_the_program_runs(tmp_path: Path) -> None:
    file = tmp_path / "add.py"
    file.write_text(blocks()["program"], encoding="utf-8")
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == blocks()["output"]


@pytest.mark.compiler
def test_the_c_is_what_is_emitted(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    check(request, "C", emitted_c(tmp_path))


def test_the_error_is_what_is_printed(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    program = blocks()["program"].replace(", mask=inside) + tl", ") + tl", 1)
    assert program != blocks()["program"]
    file = tmp_path / "add.py"
    file.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "xdsl_core.cli.main", "run", "--backend", "reference", str(file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    check(request, "error", run.stderr.replace(str(file), "add.py"))


def test_every_command_exists() -> None:
    from typer.main import get_command

    from xdsl_core.cli.extensions import installed_commands
    from xdsl_core.cli.main import application

    own = getattr(get_command(application()), "commands")  # noqa: B009 (a group has it)
    commands = {*own, *(entry.name for entry in installed_commands())}
    named = set(re.findall(r"xdslc ([a-z-]+)", README.read_text(encoding="utf-8")))
    assert named
    assert named <= commands
