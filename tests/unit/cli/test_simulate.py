"""`xdslc sim`, targets from files, and targets as pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.unit.cli.conftest import Outcome
from xdsl_core.backend import default_registry
from xdsl_core.cli.launch_arguments import launch_arguments
from xdsl_core.cli.signature import parse_signature
from xdsl_core.cli.target_file import TARGET_PATH
from xdsl_core.cli.target_picture import target_svg
from xdsl_core.diagnostics import CompilationError
from xdsl_core.runtime.select import ENVIRONMENT, selection
from xdsl_dsa_sim.isa import parse_program, print_program

Xdslc = Callable[..., Outcome]
LAUNCH = ("--arg", "x=1000, n=1000, factor=2.0, grid=cdiv(n, BLOCK)")
TARGET = """
extends = "toy"
name = "my_chip"
title = "A chip of my own"
{more}
"""


NOWHERE = '[[data_paths]]\nfrom = "GM"\nto = "NOWHERE"\nengine = "MTE2"\n'


def number(key: str, value: str) -> str:
    return f'{key} = {{ value = {value}, source = "a test" }}'


@pytest.fixture(autouse=True)
def _no_target_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A target file is known to the process that named it; here the next test must not see it."""
    monkeypatch.setenv(TARGET_PATH, "")
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.setattr(selection(), "target", None)
    default_registry.cache_clear()
    yield
    default_registry.cache_clear()


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    file = tmp_path / "my_chip.toml"
    file.write_text(TARGET.format(more=""))
    return file


def test_sim_says_where_the_cycles_went(xdslc: Xdslc, kernels: Path) -> None:
    done = xdslc("sim", f"{kernels}:scale_kernel", "-b", "dsa_sim:toy", *LAUNCH)
    assert done.status == 0, done.err
    for words in (
        "scale_kernel on toy",
        "cycles",
        "busy",
        "data path",
        "roofline",
        "at most in use",
        "bottleneck:",
    ):
        assert words in done.out


def test_sim_takes_the_backend_with_profiles_where_none_is_named(xdslc: Xdslc, kernels: Path) -> None:
    assert "scale_kernel on ascend910b2" in xdslc("sim", f"{kernels}:scale_kernel", *LAUNCH).out


def test_sim_prints_json(xdslc: Xdslc, kernels: Path) -> None:
    found = json.loads(xdslc("sim", f"{kernels}:scale_kernel", "-b", "dsa_sim:toy", *LAUNCH, "--json").out)
    assert found["cycles"] > 0
    assert found["bytes_moved"]["GM->UB"] == 4000


def test_sim_writes_its_views(xdslc: Xdslc, kernels: Path, tmp_path: Path) -> None:
    trace, page, table = tmp_path / "trace.json", tmp_path / "page.html", tmp_path / "table.csv"
    views = ("--trace", str(trace), "--html", str(page), "--table", str(table))
    done = xdslc("sim", f"{kernels}:scale_kernel", "-b", "dsa_sim:ascend910b2", *LAUNCH, *views)
    assert done.status == 0, done.err
    kinds = {event["ph"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert kinds == {"M", "X", "s", "f"}
    assert "scale_kernel on ascend910b2" in page.read_text()
    rows = list(csv.DictReader(table.open()))
    assert {"block_id", "aiv_vec_ratio", "aiv_mte2_time(us)"} <= set(rows[0])


@pytest.mark.parametrize("mode", ["timing", "functional", "both"])
def test_sim_modes(xdslc: Xdslc, kernels: Path, mode: str) -> None:
    place = f"{kernels}:scale_kernel"
    found = json.loads(xdslc("sim", place, "-b", "dsa_sim:toy", *LAUNCH, "--mode", mode, "--json").out)
    assert (found["cycles"] > 0) == (mode != "functional")


def test_sim_runs_on_a_backend_without_cycles(xdslc: Xdslc, kernels: Path, tmp_path: Path) -> None:
    place = f"{kernels}:scale_kernel"
    done = xdslc("sim", place, "-b", "reference", *LAUNCH)
    assert done.status == 0
    assert "us" in done.out
    refused = xdslc("sim", place, "-b", "reference", *LAUNCH, "--trace", str(tmp_path / "t.json"))
    assert refused.status == 1
    assert "X0819" in refused.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=10, n=10, factor=1.0", "says nothing of grid"),
        ("x=10, grid=1, factor=1.0", "says nothing of n"),
        ("x=10, n=10, m=3, grid=1, factor=1.0", "no parameter 'm'"),
        ("x=10, n=size, grid=1, factor=1.0", "size has no value"),
        ("x=10, n=10 // 0, grid=1, factor=1.0", "cannot compute"),
        ("x=-4, n=10, grid=1, factor=1.0", "below zero"),
        ("x=10, n=open('f'), grid=1, factor=1.0", "can be used"),
        ("x, n=10, grid=1, factor=1.0", "cannot read 'x'"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(xdslc: Xdslc, kernels: Path, text: str, message: str) -> None:
    done = xdslc("sim", f"{kernels}:scale_kernel", "-b", "dsa_sim:toy", "--arg", text)
    assert done.status == 1
    assert "X0818" in done.err
    assert message in done.err


def test_arguments_are_expressions_over_what_stands_before() -> None:
    specs = parse_signature("a: *f16, ids: *i32, m: i32, n: i32, scale: f32, BLOCK=32")
    made = launch_arguments(
        ["m=100, n=cdiv(m, 3) + 2**3 % 5, a=mxn, ids=a, scale=-0.5", "grid=cdiv(n, BLOCK);m;2"], specs
    )
    assert made.grid == (2, 100, 2)
    assert made.values["a"].shape == (100, 37)
    assert made.values["a"].dtype == np.float16
    assert set(np.unique(made.values["ids"])) == {0, 1}
    assert (made.values["n"], made.values["scale"], made.values["BLOCK"]) == (37, -0.5, 32)


def test_later_arguments_win() -> None:
    specs = parse_signature("n: i32")
    assert launch_arguments(["n=1, grid=1", "n=2"], specs).values == {"n": 2}
    with pytest.raises(CompilationError, match="X0818"):
        launch_arguments([], specs)


def test_every_example_says_how_to_launch_it(xdslc: Xdslc) -> None:
    examples = Path(__file__).parents[3] / "examples"
    for file, kernel in (("vector_add", "add_kernel"), ("flash_attention", "attention_kernel")):
        done = xdslc("sim", f"{examples / file}.py:{kernel}", "-b", "dsa_sim:ascend910b2", "--mode", "timing")
        assert done.status == 0, done.err


def test_a_target_file_is_a_target(xdslc: Xdslc, kernels: Path, chip: Path) -> None:
    done = xdslc("sim", f"{kernels}:scale_kernel", "--target-file", str(chip), *LAUNCH)
    assert "scale_kernel on my_chip" in done.out
    assert xdslc("targets", "show", "--target-file", str(chip)).out.startswith(
        "dsa_sim:my_chip A chip of my own"
    )
    text = xdslc("compile", f"{kernels}:scale_kernel", "--emit", "asm", "--target-file", str(chip)).out
    assert "my_chip" in text


def test_assembler_round_trips(xdslc: Xdslc, kernels: Path, tmp_path: Path) -> None:
    file = tmp_path / "scale.asm"
    place = f"{kernels}:scale_kernel"
    done = xdslc("compile", place, "--emit", "asm", "-b", "dsa_sim:ascend910b2", "--output", str(file))
    assert done.status == 0, done.err
    text = file.read_text()
    assert "V mul.f32" in text
    assert f'file 1 "{kernels}"' in text
    assert print_program(parse_program(text)) == text


def test_what_cannot_be_emitted_is_told(xdslc: Xdslc, kernels: Path) -> None:
    done = xdslc("compile", f"{kernels}:scale_kernel", "--emit", "ptx", "-b", "dsa_sim:toy")
    assert done.status == 1
    assert "X0807" in done.err
    assert "it emits tile, asm" in done.err


def test_the_suite_examines_a_target_file(xdslc: Xdslc, chip: Path) -> None:
    done = xdslc(
        "conformance",
        "dsa_sim",
        "--target-file",
        str(chip),
        "--profile",
        "smoke",
        "--at-most",
        "2",
        "-n",
        "1",
    )
    assert done.status == 0, done.err
    assert "dsa_sim:my_chip, profile smoke" in done.out


def test_a_script_runs_on_a_target_file(xdslc: Xdslc, chip: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import xdsl_core as xdsl\nfrom xdsl_core.runtime.select import selection\n"
                      "print(selection().resolved())\n")  # fmt: skip
    assert xdslc("run", "--target-file", str(chip), str(script)).out.strip() == "dsa_sim:my_chip"


def test_a_backend_with_a_fixed_list_refuses_a_target_file(xdslc: Xdslc, kernels: Path, chip: Path) -> None:
    done = xdslc(
        "compile", f"{kernels}:scale_kernel", "--emit", "c", "-b", "cpu_c", "--target-file", str(chip)
    )
    assert done.status == 1
    assert "X0820" in done.err


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("clock = 3", "X0620", "did you mean 'clock_hz'?"),
        (number("clock_hz", "-1.0"), "X0621", "clock_hz is -1.0"),
        (number("clock_hz", '"fast"'), "X0620", "expected a number"),
        ('[[memory_spaces]]\nname = "UB"\n' + number("capacity", "-5"), "X0621", "UB.capacity is -5"),
        (NOWHERE + number("bytes_per_cycle", "4"), "X0621", "no memory space 'NOWHERE'"),
        ("clock_hz = = 3", "X0620", "TOML"),
    ],
)
def test_mistakes_in_a_target_file_are_named(
    xdslc: Xdslc, tmp_path: Path, more: str, code: str, message: str
) -> None:
    file = tmp_path / "my_chip.toml"
    file.write_text(TARGET.format(more=more))
    done = xdslc("targets", "show", "--target-file", str(file))
    assert done.status == 1
    assert code in done.err
    assert message in done.err
    assert str(file) in done.err


def test_a_missing_target_file_is_named(xdslc: Xdslc, tmp_path: Path) -> None:
    done = xdslc("targets", "show", "--target-file", str(tmp_path / "none.toml"))
    assert done.status == 1
    assert "X0620" in done.err


def every_simulated_target() -> list[Any]:
    return [pytest.param(target, id=target.name) for target in default_registry().get("dsa_sim").targets()]


@pytest.mark.parametrize("target", every_simulated_target())
def test_the_picture_shows_every_memory_path_and_unit(target: Any) -> None:
    picture = ElementTree.fromstring(target_svg(target))
    space = "{http://www.w3.org/2000/svg}"
    texts = [element.text or "" for element in picture.iter(f"{space}text")]
    for memory in target.memory_spaces:
        assert memory.name in texts
    for unit in target.compute_units:
        assert any(unit.name in text for text in texts)
    arrows = [path for path in picture.iter(f"{space}path") if path.get("marker-end")]
    kinds = [kind.name for kind in target.kinds]
    moving = [path for path in target.data_paths if path.source != path.destination]
    assert len(arrows) == sum(len(kinds) if path.core == "" else 1 for path in moving)


def test_targets_show_draws(xdslc: Xdslc, tmp_path: Path) -> None:
    file = tmp_path / "chip.svg"
    assert xdslc("targets", "show", "dsa_sim:ascend910b2", "--svg", str(file)).status == 0
    assert file.read_text().startswith("<svg")
    assert "X0605" in xdslc("targets", "show").err
