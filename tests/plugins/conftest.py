"""Installs the test plug-ins once a session, into a folder that only these tests see."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tests.plugins.wheels import install
from xdsl_core.backend import Registry

HERE = Path(__file__).parent
PROJECTS = sorted(path.parent for path in HERE.glob("*/pyproject.toml"))


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all test plug-ins are installed."""
    target = tmp_path_factory.mktemp("site")
    install(PROJECTS, tmp_path_factory.mktemp("wheels"), target)
    return target


@pytest.fixture
def registry(plugin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A fresh registry over the test plug-ins alone."""
    monkeypatch.syspath_prepend(str(plugin_folder))

    def entry_points(group: str) -> Iterable[EntryPoint]:
        installed = importlib.metadata.distributions(path=[str(plugin_folder)])
        return [entry for dist in installed for entry in dist.entry_points if entry.group == group]

    return Registry(entry_points=entry_points)
