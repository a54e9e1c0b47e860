"""Which backend kernels run on."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.unit.runtime.fakes import ClosureBackend
from xdsl_core.backend import Available, BackendInfo, Unavailable
from xdsl_core.diagnostics import BackendError
from xdsl_core.runtime import select
from xdsl_core.runtime.select import selection, use
from xdsl_core.target import Target


def test_environment_chooses(backend: ClosureBackend) -> None:
    assert selection().resolved() == Target("closure")


def test_use_holds_until_the_next(backend: ClosureBackend) -> None:
    use("closure:there")
    assert selection().resolved() == Target("closure", "there")
    use(None)
    assert selection().resolved() == Target("closure")


def test_use_as_a_context_manager_holds_inside_in_all_threads(backend: ClosureBackend) -> None:
    use("closure:here")
    seen: list[Any] = []
    with use("closure:there"):
        thread = threading.Thread(target=lambda: seen.append(selection().resolved()))
        thread.start()
        thread.join()
    assert seen == [Target("closure", "there")]
    assert selection().resolved() == Target("closure", "here")


@pytest.mark.parametrize(("target", "code"), [("nobody", "X0601"), ("closure:x", "X0604"), ("a b", "X0605")])
def test_unknown_target_is_refused_at_once(backend: ClosureBackend, target: str, code: str) -> None:
    use("closure:here")
    with pytest.raises(BackendError) as caught:
        use(target)
    assert caught.value.code == code
    assert selection().target == Target("closure", "here")


class FakeRegistry:
    """Two backends; the first one cannot run here."""

    def __init__(self, second: Any) -> None:
        self.found = {"cpu_c": Unavailable("no C compiler found", "pip install ziglang"), "reference": second}

    def get(self, name: str) -> Any:
        class Handle:
            info = BackendInfo(name, "1", "1.0")

            def availability(_: Any) -> Any:
                return self.found[name]

        return Handle()


def test_default_is_the_first_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDSL_BACKEND", raising=False)
    monkeypatch.setattr(select, "default_registry", lambda: FakeRegistry(Available()))
    assert select.Selection().resolved() == Target("reference")


def test_nothing_available_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDSL_BACKEND", raising=False)
    monkeypatch.setattr(select, "default_registry", lambda: FakeRegistry(Unavailable("gone", "reinstall")))
    with pytest.raises(BackendError) as caught:
        select.Selection().resolved()
    assert caught.value.code == "X0511"
    assert "cpu_c: no C compiler found (pip install ziglang)" in str(caught.value)
