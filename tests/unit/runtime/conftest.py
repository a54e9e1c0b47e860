"""A closure backend in the process's registry, and a cache folder of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.runtime.fakes import ClosureBackend
from xdsl_core.backend import default_registry
from xdsl_core.runtime.select import selection


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClosureBackend]:
    """The backend `closure`, selected."""
    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path / "cache"))
    plugin = ClosureBackend("closure")
    default_registry().register(plugin)
    before, selection().target = selection().target, None
    monkeypatch.setenv("XDSL_BACKEND", "closure")
    yield plugin
    selection().target = before
    default_registry().unregister("closure")
