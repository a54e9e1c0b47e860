"""Every hook is documented for vendors, and some test implements it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from xdsl_core.backend import hookspecs
from xdsl_core.backend.contract import CONTRACTS, hook_names

TESTS = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("hook", hook_names())
def test_hook_is_documented(hook: str) -> None:
    text = inspect.getdoc(getattr(hookspecs, hook)) or ""
    first = text.splitlines()[0]
    assert first.endswith(".")
    if hook in CONTRACTS:
        assert "Example: `" in text
        assert ("Must" in text) == CONTRACTS[hook].must
        assert ("May; default" in text or "May; data only" in text) == (not CONTRACTS[hook].must)
    else:
        assert "May." in text


@pytest.mark.parametrize("hook", hook_names())
def test_hook_is_implemented_by_a_test(hook: str) -> None:
    files = [
        *TESTS.glob("plugins/**/*.py"),
        *TESTS.glob("unit/backend/*.py"),
        *TESTS.glob("unit/runtime/*.py"),
    ]
    assert any(f"def {hook}(" in file.read_text(encoding="utf-8") for file in files)
