"""Every hook is documented for vendors and implemented by a test; every error code has a test."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from xdsl_core.backend import hookspecs
from xdsl_core.backend.contract import CONTRACTS, hook_names
from xdsl_core.diagnostics import explain
from xdsl_core.diagnostics.codes import backend, launch

TESTS = Path(__file__).resolve().parents[2]
KINDS = ("backend", "runtime", "target", "torch")


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


@pytest.mark.parametrize("code", [*backend.CODES, *launch.CODES])
def test_error_code_has_a_test_and_an_example(code: str) -> None:
    files = [
        *TESTS.glob("plugins/*.py"),
        *(path for kind in KINDS for path in TESTS.glob(f"unit/{kind}/*.py")),
    ]
    assert any(f'"{code}"' in file.read_text(encoding="utf-8") for file in files)
    assert len(explain(code).explanation.split()) > 20
