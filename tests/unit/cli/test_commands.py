"""The commands of `xdslc`: what they print, and that each mistake in their use is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xdsl_core import __version__
from xdsl_core.diagnostics import catalogue
from xdsl_core.ops import opset

Run = Callable[..., Any]


def test_version(xdslc: Run) -> None:
    assert xdslc("--version").out == f"xdslc {__version__}\n"


def test_backends_are_listed_with_their_state(xdslc: Run) -> None:
    rows = {row["name"]: row for row in json.loads(xdslc("backends", "--json").out)}
    assert {"reference", "cpu_c"} <= set(rows)
    assert rows["reference"]["state"] == "available"
    table = xdslc("backends").out
    assert all(name in table for name in rows)


def test_one_backend_is_shown_with_options_and_claims(xdslc: Run) -> None:
    found = xdslc("backends", "reference").out
    assert "num_warps" in found
    assert "claimed ops" in found
    assert json.loads(xdslc("backends", "reference", "--json").out)["claimed ops"]


def test_targets(xdslc: Run) -> None:
    names = [f"{target['backend']}:{target['name']}" for target in json.loads(xdslc("targets", "--json").out)]
    assert any(name.startswith("reference:") for name in names)
    listed = xdslc("targets").out
    for name in names:
        assert name in listed
        assert name in xdslc("targets", "show", name).out


def test_ops_are_listed_and_shown(xdslc: Run) -> None:
    listed = json.loads(xdslc("ops", "--json").out)
    assert {entry["name"] for entry in listed} == set(opset().names())
    shown = xdslc("ops", "tile.dot").out
    assert "C2" in shown
    assert "lhs.shape[-1] == rhs.shape[-2]" in shown
    table = xdslc("ops").out
    assert all(name in table for name in opset().names())


@pytest.mark.parametrize("code", catalogue())
def test_every_code_is_explained(xdslc: Run, code: str) -> None:
    found = xdslc("explain", code.lower())
    assert found.status == 0
    assert found.out.startswith(f"{code}: ")
    assert catalogue()[code].explanation.splitlines()[0].split()[0] in found.out


def test_codes_are_listed(xdslc: Run) -> None:
    listed = xdslc("explain", "--list").out
    assert all(code in listed for code in catalogue())


def test_doctor_finds_nothing_broken_here(xdslc: Run) -> None:
    found = xdslc("doctor")
    assert found.status == 0, found.out
    assert "no problems" in found.out
    for subject in ("python", "numpy", "C compiler", "kernel cache", "backend reference", "XDSL_CACHE_DIR"):
        assert subject in found.out


def test_ir_shows_the_frontends_and_every_pass(xdslc: Run, kernels: Path) -> None:
    found = xdslc("ir", f"{kernels}:scale_kernel", "-b", "cpu_c")
    assert found.status == 0, found.err
    assert found.out.startswith("// ---- frontend")
    assert found.out.count("// ---- ") > 1
    assert "memory.load" in found.out


def test_ir_of_one_stage_can_be_parsed_again(xdslc: Run, kernels: Path) -> None:
    from xdsl_core.ir.parser import parse_module
    from xdsl_core.ir.printer import print_module

    text = xdslc("ir", f"{kernels}:scale_kernel", "-b", "reference", "--stage", "frontend").out
    assert print_module(parse_module(text, opset())).strip() == text.strip()


def test_ir_as_mlir(xdslc: Run, kernels: Path) -> None:
    found = xdslc("ir", f"{kernels}:scale_kernel", "-b", "reference", "--mlir", "--stage", "frontend").out
    assert '"memory.load"(' in found


def test_ir_is_dumped_and_timed(xdslc: Run, kernels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    place = f"{kernels}:scale_kernel"
    found = xdslc("ir", place, "-b", "cpu_c", "--dump-ir", folder, "--timing", "--stage", "frontend")
    assert "total" in found.err
    assert sorted(folder.iterdir())[0].name == "00-input.tile"
    assert len(list(folder.iterdir())) > 1


def test_a_signature_on_the_command_line_wins(xdslc: Run, kernels: Path) -> None:
    text = "x: *bf16, n: i64, factor: f32, BLOCK=32"
    found = xdslc("ir", f"{kernels}:scale_kernel", "-b", "reference", "--stage", "frontend", "-s", text).out
    assert "bf16" in found
    assert "tile<32x" in found


def test_compile_emits_tile_ir_source_and_a_library(xdslc: Run, kernels: Path, tmp_path: Path) -> None:
    place = f"{kernels}:scale_kernel"
    assert "memory.load" in xdslc("compile", place, "--emit", "tile", "-b", "cpu_c").out
    source = tmp_path / "scale.c"
    xdslc("compile", place, "--emit", "c", "-b", "cpu_c", "--output", source)
    assert "factor" in source.read_text(encoding="utf-8")


@pytest.mark.compiler
def test_compile_emits_a_library(xdslc: Run, kernels: Path, tmp_path: Path) -> None:
    library = tmp_path / "scale.so"
    found = xdslc("compile", f"{kernels}:scale_kernel", "--emit", "so", "-b", "cpu_c", "--output", library)
    assert found.status == 0, found.err
    assert library.read_bytes()[:4] == b"\x7fELF"


def test_accesses_are_explained(xdslc: Run, kernels: Path) -> None:
    found = xdslc("explain-access", f"{kernels}:scale_kernel", "-b", "reference").out
    assert "2 accesses, 0 irregular" in found
    assert "contiguous" in found
    text = "x: *f32, places: *i32, out: *f32"
    found = xdslc("explain-access", f"{kernels}:gather_kernel", "-b", "reference", "-s", text).out
    assert "3 accesses, 1 irregular" in found
    assert "not linear" in found


def test_run_passes_arguments_on_and_selects_the_backend(
    xdslc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from xdsl_core.cli.commands.run import run
    from xdsl_core.runtime.select import selection

    monkeypatch.delenv("XDSL_BACKEND", raising=False)
    monkeypatch.setattr(selection(), "target", None)
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom xdsl_core.runtime.select import selection\n"
        "print(__name__, sys.argv[1:], selection().resolved())\n",
        encoding="utf-8",
    )
    found = xdslc("run", "--backend", "reference", script, "--size", "3", "-b", "x")
    assert found.status == 0, found.err
    assert found.out == "__main__ ['--size', '3', '-b', 'x'] reference\n"
    assert run.__doc__


def test_the_cache_is_shown_and_cleared(
    xdslc: Run, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    from xdsl_core.cli.kernels import choose

    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path / "cache"))
    assert "0 kernels" in xdslc("cache").out
    kernel = choose(f"{kernels}:scale_kernel", None).kernel
    x = np.arange(100, dtype=np.float32)
    kernel.on("reference")[(2,)](x, 100, 2.0, BLOCK=64)
    assert (x == 2 * np.arange(100)).all()
    (entry,) = json.loads(xdslc("cache", "--json").out)["kernels"]
    assert entry["kernel"] == "scale_kernel"
    assert "scale_kernel" in xdslc("cache").out
    assert "removed 1 kernels" in xdslc("cache", "clear").out
    assert "0 kernels" in xdslc("cache").out


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("ir", "nothing.py:k"), "X0801", "there is no file nothing.py"),
        (("run", "nothing.py"), "X0801", "there is no file nothing.py"),
        (("ir", "{kernels}:scale_kernl"), "X0802", "did you mean 'scale_kernel'?"),
        (("ir", "{kernels}"), "X0802", "has 2 kernels: name one of them"),
        (("ir", "{broken}:k"), "X0803", "ZeroDivisionError"),
        (("ir", "{kernels}:gather_kernel"), "X0804", "--signature"),
        (("ir", "{kernels}:gather_kernel", "-s", "x: *f33"), "X0805", "near: f32"),
        (("ir", "{kernels}:gather_kernel", "-s", "x: *f32, place: *i32, out: *f32"), "X0806", "'places'"),
        (("ir", "{kernels}:gather_kernel", "-s", "x: *f32, places: *i32"), "X0806", "nothing of out"),
        (("ir", "{kernels}:scale_kernel", "-s", "x: *f32, n: i32, factor: f32, BLOCK: i32"), "X0806", "="),
        (("compile", "{kernels}:scale_kernel", "--emit", "ptx", "-b", "cpu_c"), "X0807", "it emits tile, c"),
        (("ops", "dott"), "X0808", "did you mean tile.dot?"),
        (("ir", "{kernels}:scale_kernel", "--stage", "frontent"), "X0808", "the stages are frontend"),
        (("explain", "X9999"), "X0809", "there is no error code X9999"),
        (("ir", "{kernels}:scale_kernel", "-o", "num_warps"), "X0810", "--option num_warps=8"),
        (("ir", "{kernels}:scale_kernel", "-o", "num_warp=8", "-b", "reference"), "X0606", "'num_warps'"),
        (("ir", "{kernels}:scale_kernel", "-b", "cpu_d"), "X0601", "cpu_c"),
        (("targets", "show", "reference:nowhere"), "X0604", "nowhere"),
    ],
)  # fmt: skip
def test_a_mistake_has_a_code_and_a_fix(
    xdslc: Run, kernels: Path, tmp_path: Path, arguments: tuple[str, ...], code: str, text: str
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1 / 0\n", encoding="utf-8")
    found = xdslc(*(argument.format(kernels=kernels, broken=broken) for argument in arguments))
    assert found.status == 1
    assert found.err.startswith(f"error[{code}]")
    assert text in found.err
    assert "Traceback" not in found.err.partition("\n")[0]
