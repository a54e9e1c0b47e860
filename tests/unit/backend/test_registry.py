"""The registry without installed packages: programmatic backends, dispatch, wrappers, observers."""

from __future__ import annotations

import sys
from collections.abc import Generator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from tests.unit.backend.fakes import TinyBackend, empty_registry, nothing_installed
from xdsl_core.backend import (
    Artifact,
    BackendInfo,
    Executable,
    Launch,
    Registry,
    Source,
    Unavailable,
    default_registry,
    hookimpl,
)
from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.backend.contract import CONTRACTS, api_version_problem, hook_names
from xdsl_core.diagnostics import BackendError
from xdsl_core.target import Target


def launch(handle: Any, grid: tuple[int, int, int] = (1, 1, 1)) -> Launch:
    found: Launch = handle.launch(Executable("payload"), grid, (), None, kernel="k")
    return found


def test_each_handle_gets_its_own_backends_answer() -> None:
    registry = empty_registry()
    first, second = registry.register(TinyBackend("first")), registry.register(TinyBackend("second"))
    assert launch(first).extra == {"by": "first"}
    assert launch(second).extra == {"by": "second"}
    assert [handle.name for handle in registry.backends()] == ["first", "second"]


def test_resolve_gives_backend_and_target() -> None:
    registry = empty_registry()
    registry.register(TinyBackend())
    assert registry.resolve("tiny")[1].name == "small"
    assert registry.resolve(Target("tiny", "large"))[1].name == "large"
    with pytest.raises(BackendError, match="no target 'larg'") as caught:
        registry.resolve("tiny:larg")
    assert caught.value.code == "X0604"
    assert "did you mean 'large'" in str(caught.value)


def test_unknown_backend_suggests_the_nearest_and_lists_the_rest() -> None:
    registry = empty_registry()
    registry.register(TinyBackend())
    with pytest.raises(BackendError) as caught:
        registry.get("tiney")
    assert caught.value.code == "X0601"
    assert "did you mean 'tiny'?" in str(caught.value)
    assert "installed: tiny" in str(caught.value)


def test_optional_hooks_have_defaults(tmp_path: Path) -> None:
    handle = empty_registry().register(TinyBackend())
    target = handle.target()
    assert handle.templates(target) == {}
    assert handle.load(Artifact({}), target).payload == Artifact({})
    assert handle.conformance(target).waivers == ()
    profile = handle.profile(Executable(None), (1, 1, 1), (), handle.options({}))
    assert profile.seconds is not None
    assert profile.seconds > 0


def test_unregistering_forgets_the_backend() -> None:
    registry = empty_registry()
    registry.register(TinyBackend())
    registry.unregister("tiny")
    assert registry.names() == ()
    registry.register(TinyBackend())


class Misspelt(TinyBackend):
    @hookimpl
    def xdsl_codgen(self) -> Any: ...


class ExtraParameter(TinyBackend):
    @hookimpl
    def xdsl_load(self, artifact: Any, device: int) -> Any: ...


class NewerApi(TinyBackend):
    @hookimpl
    def xdsl_backend_info(self) -> Any:
        return BackendInfo("tiny", "0.1", "1.9")


class NoInfo(TinyBackend):
    @hookimpl
    def xdsl_backend_info(self) -> Any:
        return "tiny"


class FailingInfo(TinyBackend):
    @hookimpl
    def xdsl_backend_info(self) -> Any:
        raise RuntimeError("no config")


class WrongOptions(TinyBackend):
    @hookimpl
    def xdsl_backend_info(self) -> Any:
        return BackendInfo("tiny", "0.1", "1.0", options=dict)  # type: ignore[arg-type]


class OnlyInfo:
    @hookimpl
    def xdsl_backend_info(self) -> Any: ...


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        (object(), "it holds no function marked with @hookimpl"),
        (Misspelt(), "there is no hook xdsl_codgen; did you mean xdsl_codegen?"),
        (ExtraParameter(), "expected xdsl_load(artifact, target)"),
        (NewerApi(), "written for API version 1.9"),
        (NoInfo(), "xdsl_backend_info returned a str"),
        (FailingInfo(), "xdsl_backend_info raised RuntimeError: no config"),
        (WrongOptions(), "a class deriving from Options"),
        (OnlyInfo(), "required hooks are missing: xdsl_availability"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_unusable_backend_is_refused_with_the_reason(plugin: object, reason: str) -> None:
    registry = empty_registry()
    with pytest.raises(BackendError) as caught:
        registry.register(plugin)
    assert caught.value.code == "X0603"
    assert reason in str(caught.value)
    assert registry.names() == ()


def test_a_name_is_registered_once() -> None:
    registry = empty_registry()
    registry.register(TinyBackend())
    with pytest.raises(BackendError, match="there is a backend called tiny already"):
        registry.register(TinyBackend())


def test_entry_point_and_info_must_agree_on_the_name() -> None:
    entry = EntryPoint("other", "tests.unit.backend.test_registry:NAMED", "xdsl_core.backends")
    registry = Registry(entry_points=lambda group: [entry] if group == "xdsl_core.backends" else [])
    (failure,) = registry.failures()
    assert failure.stage == "info"
    assert "it calls itself 'tiny'" in failure.reason


NAMED = TinyBackend()


class Tracer:
    """Observes launches and passes."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @hookimpl
    def xdsl_launch_started(self, backend: str, kernel: str, grid: Any) -> None:
        self.seen.append(("started", backend, kernel, grid))

    @hookimpl
    def xdsl_launch_finished(self, backend: str, launch: Launch) -> None:
        self.seen.append(("finished", backend, launch.extra))

    @hookimpl
    def xdsl_pass_started(self, name: str) -> None:
        self.seen.append(("pass", name))

    @hookimpl
    def xdsl_pass_finished(self, name: str, seconds: float) -> None:
        self.seen.append(("passed", name, seconds))


def test_observers_see_every_backend_until_they_are_removed() -> None:
    registry, tracer = empty_registry(), Tracer()
    handle = registry.register(TinyBackend())
    assert not handle.launch_watchers
    registry.add_plugin(tracer, name="tracer")
    assert handle.launch_watchers == ["tracer"]
    launch(handle)
    handle.pass_started("fuse", None)  # type: ignore[arg-type]
    handle.pass_finished("fuse", None, 0.5)  # type: ignore[arg-type]
    assert tracer.seen == [
        ("started", "tiny", "k", (1, 1, 1)),
        ("finished", "tiny", {"by": "tiny"}),
        ("pass", "fuse"),
        ("passed", "fuse", 0.5),
    ]
    registry.remove_plugin("tracer")
    assert not handle.launch_watchers
    launch(handle)
    assert len(tracer.seen) == 4


class Templates:
    """Overrides a template of every backend."""

    @hookimpl(wrapper=True)
    def xdsl_templates(self) -> Generator[None, Any, Any]:
        found = yield
        return {**(found or {}), "kernel.c": "mine"}


def test_wrapper_changes_what_a_backend_gives() -> None:
    registry = empty_registry()
    handle = registry.register(TinyBackend())
    registry.add_plugin(Templates(), name="templates")
    assert handle.templates(handle.target()) == {"kernel.c": "mine"}


def test_compile_wrapper_is_part_of_the_fingerprint() -> None:
    registry = empty_registry()
    handle = registry.register(TinyBackend())
    target = handle.target()
    plain = handle.fingerprint(target)
    assert plain is not None
    assert plain != handle.fingerprint(handle.target("large"))
    registry.add_plugin(Templates(), name="templates", version="1")
    assert handle.fingerprint(target) not in (None, plain)
    registry.remove_plugin("templates")
    assert handle.fingerprint(target) == plain
    registry.add_plugin(Templates(), name="templates")
    assert handle.fingerprint(target) is None


class Answers:
    """Is no backend, but answers for all of them."""

    @hookimpl
    def xdsl_templates(self) -> Any:
        return {}


def test_plugin_may_wrap_but_not_answer() -> None:
    with pytest.raises(BackendError, match="wrapper=True"):
        empty_registry().add_plugin(Answers(), name="answers")


class Failing(TinyBackend):
    @hookimpl
    def xdsl_availability(self) -> Any:
        raise OSError("no driver")

    @hookimpl
    def xdsl_codegen(self) -> Any:
        raise KeyError("tile.dot")


def test_hook_that_fails_names_backend_and_hook() -> None:
    handle = empty_registry().register(Failing())
    with pytest.raises(BackendError, match="failed in xdsl_codegen: KeyError: 'tile") as caught:
        handle.codegen(None, handle.target(), {}, handle.options({}))  # type: ignore[arg-type]
    assert caught.value.code == "X0609"
    found = handle.availability()
    assert isinstance(found, Unavailable)
    assert "OSError: no driver" in found.reason


class ForeignTargets(TinyBackend):
    @hookimpl
    def xdsl_targets(self) -> Any:
        return TinyBackend("other").xdsl_targets()


class NoTargets(TinyBackend):
    @hookimpl
    def xdsl_targets(self) -> Any:
        return ()


@pytest.mark.parametrize(
    ("plugin", "found"), [(ForeignTargets(), "a target of backend 'other'"), (NoTargets(), "no target")]
)
def test_targets_must_belong_to_the_backend(plugin: TinyBackend, found: str) -> None:
    with pytest.raises(BackendError, match=f"xdsl_targets returned {found}") as caught:
        empty_registry().register(plugin).targets()
    assert caught.value.code == "X0608"


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("1.0", None),
        ("1.7", "written for API version 1.7"),
        ("2.0", "written for API version 2.0"),
        ("0.9", "written for API version 0.9"),
        ("one", "not of the form"),
        (None, "not of the form"),
    ],
)
def test_api_version(version: Any, problem: str | None) -> None:
    found = api_version_problem(version)
    assert (found is None) == (problem is None)
    assert problem is None or problem in str(found)


def test_every_contract_is_a_hook() -> None:
    assert set(CONTRACTS) < set(hook_names())


def test_artifact_is_stored_and_loaded(tmp_path: Path) -> None:
    (tmp_path / "made.so").write_bytes(b"code")
    artifact = Artifact({"kernel.so": tmp_path / "made.so", "kernel.c": b"text"}, {"entry": "k"})
    artifact.save(tmp_path / "stored")
    loaded = Artifact.load(tmp_path / "stored")
    assert loaded.metadata == {"entry": "k"}
    assert {name: loaded.read(name) for name in loaded.files} == {"kernel.so": b"code", "kernel.c": b"text"}
    with pytest.raises(ValueError, match="not a plain name"):
        Artifact({"../x": b""}).save(tmp_path / "other")


def test_default_registry_is_one_object() -> None:
    assert default_registry() is default_registry()


def test_source_and_registry_need_no_installation() -> None:
    assert Source("c", "int x;").files == {}
    assert list(nothing_installed("xdsl_core.backends")) == []


def test_cache_folder_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDSL_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("XDSL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / "xdg" / "xdsl_core"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "xdsl_core"
