"""Commands that other packages add: lazy, listed, and one that is broken harms nobody."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from xdsl_core.cli import extensions

Run = Callable[..., Any]
GROUP = extensions.GROUP


@pytest.fixture
def commands(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_commands.py").write_text("def hello(name: str) -> None:\n    print('hello', name)\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = [
        EntryPoint("acme-hello", "acme_commands:hello", GROUP),
        EntryPoint("acme-broken", "acme_not_there:command", GROUP),
        EntryPoint("ops", "acme_commands:hello", GROUP),
    ]
    monkeypatch.setattr(extensions, "installed_commands", lambda: found)


@pytest.mark.usefixtures("commands")
def test_a_command_of_another_package_runs(xdslc: Run) -> None:
    assert xdslc("acme-hello", "world").out == "hello world\n"


@pytest.mark.usefixtures("commands")
def test_a_broken_command_is_listed_and_told_when_called(xdslc: Run) -> None:
    listed = xdslc("--help")
    assert listed.status == 0
    assert {"acme-hello", "acme-broken", "acme_not_there"} <= set(listed.out.replace("'", " ").split())
    found = xdslc("acme-broken")
    assert found.status == 1
    assert "X0811" in found.err
    assert "acme_not_there" in found.err


@pytest.mark.usefixtures("commands")
def test_own_commands_win(xdslc: Run) -> None:
    assert "tile.dot" in xdslc("ops").out


def test_an_unknown_command_is_refused(xdslc: Run) -> None:
    assert xdslc("conformanse").status != 0
