"""Running `xdslc` inside the test's process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from xdsl_core.cli.main import main

KERNELS = """
import xdsl_core as xdsl
import xdsl_core.language as tl

SIGNATURES = {"scale_kernel": "x: *f32, n: i32, factor: f32, BLOCK=64"}


@xdsl.jit
def scale_kernel(x, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n)
    tl.store(x + offsets, values * factor, mask=offsets < n)


@xdsl.jit
def gather_kernel(x, places, out, BLOCK: tl.constexpr = 8):
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + tl.load(places + lanes)))
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did: its exit status and what it printed."""

    status: int
    out: str
    err: str


@pytest.fixture
def xdslc(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs a command of `xdslc` with the given arguments."""

    def run(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = stopped.value.code
        return Outcome(code if isinstance(code, int) else int(code is not None), captured.out, captured.err)

    return run


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A file with two kernels, one of which it gives a signature."""
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS, encoding="utf-8")
    return file
