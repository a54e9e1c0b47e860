"""Without a usable Triton the plug-in says so."""

from __future__ import annotations

import sys

import pytest

from xdsl_core.diagnostics import LaunchError
from xdsl_core.triton_plugin import activate


def test_a_missing_triton_is_an_error_with_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    monkeypatch.setitem(sys.modules, "triton.runtime.driver", None)
    with pytest.raises(LaunchError, match="X0853"):
        activate()
