"""Errors of kernels are shown without the compiler's own Python frames."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import CompilationError


@xdsl.jit
def empty_range(out):
    tl.store(out, tl.arange(4, 0))


def frames() -> list[str]:
    with pytest.raises(CompilationError) as caught:
        empty_range.on("reference")[(1,)](np.zeros(4, np.int32))
    return [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]


def test_no_frame_of_the_compiler_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDSL_DEBUG", raising=False)
    assert not any("frontend" in name or "language" in name for name in frames())


def test_debugging_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_DEBUG", "1")
    assert any("frontend" in name for name in frames())
