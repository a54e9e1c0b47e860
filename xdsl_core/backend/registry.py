"""Finds backends by their entry points, lazily; a broken one becomes a LoadFailure and harms no other."""

from __future__ import annotations

import difflib
import importlib.metadata
import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

from xdsl_core.backend.contract import api_version_problem, checked
from xdsl_core.backend.dispatch import (
    Dispatcher,
    InvalidPlugin,
    validate_backend,
    validate_watcher,
)
from xdsl_core.backend.handle import BackendHandle
from xdsl_core.backend.types import BackendInfo
from xdsl_core.diagnostics import BackendError, Diagnostic, XdslError, error
from xdsl_core.target import Target, TargetDescription

BACKENDS = "xdsl_core.backends"
PLUGINS = "xdsl_core.plugins"
_IN_PROCESS = "registered in this process"


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A plugin that cannot be used.

    `stage` is where it failed: "discover" (its name is taken), "import", "hooks" (unknown, missing or with
    wrong parameters), "info" (what it says of itself) or "version" (of the API). `traceback` may be empty.
    """

    name: str
    distribution: str
    stage: str
    reason: str
    traceback: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution}): {self.stage}: {self.reason}"


class _Failed(Exception):
    """Carries stage and reason from a step of loading to the LoadFailure."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.stage = stage


def installed_entry_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of all installed distributions in a group."""
    return importlib.metadata.entry_points(group=group)


class Registry:
    """The backends that can be reached by name.

    Nothing is searched or imported before the first question; `get` imports the backend it is asked for and
    no other. Backends can also be added by `register`, plugins that are no backends by `add_plugin`. Safe to
    use from several threads.
    """

    def __init__(
        self, *, entry_points: Callable[[str], Iterable[EntryPoint]] = installed_entry_points
    ) -> None:
        self._entry_points = entry_points
        self._dispatcher = Dispatcher()
        self._handles: dict[str, BackendHandle] = {}
        self._failures: dict[tuple[str, str], LoadFailure] = {}
        self._pending: dict[str, EntryPoint] | None = None
        self._lock = threading.RLock()

    def names(self) -> tuple[str, ...]:
        """The names of all backends found, broken ones included; imports none of them."""
        with self._lock:
            found = {*self._discovered(), *self._handles}
            return tuple(sorted(found.union(failure.name for failure in self._failures.values())))

    def backends(self) -> tuple[BackendHandle, ...]:
        """Every backend that can be loaded, by name. Whether it can run here is its `availability`."""
        with self._lock:
            for name in list(self._discovered()):
                self._load(name)
            return tuple(handle for _, handle in sorted(self._handles.items()))

    def failures(self) -> tuple[LoadFailure, ...]:
        """What could not be loaded, and why."""
        self.backends()
        return tuple(failure for _, failure in sorted(self._failures.items()))

    def plugins(self) -> tuple[str, ...]:
        """The names of the plugins that are no backends."""
        self._discovered()
        return self._dispatcher.watchers

    def get(self, name: str) -> BackendHandle:
        """The backend of this name; BackendError X0601 if there is none, X0602 if it cannot be loaded."""
        handle = self._handles.get(name)
        if handle is not None:
            return handle
        with self._lock:
            if name in self._discovered():
                self._load(name)
            if name in self._handles:
                return self._handles[name]
            failure = next((failure for failure in self._failures.values() if failure.name == name), None)
            raise BackendError(self._unknown(name) if failure is None else _broken(failure))

    def resolve(self, target: Target | str) -> tuple[BackendHandle, TargetDescription]:
        """The backend and the machine that a target ("backend:name" or "backend") means."""
        wanted = Target.parse(target) if isinstance(target, str) else target
        handle = self.get(wanted.backend)
        return handle, handle.target(wanted.name)

    def register(self, plugin: Any, *, distribution: str = _IN_PROCESS) -> BackendHandle:
        """Adds a backend from an object or module with hooks; BackendError X0603 if it cannot be used."""
        with self._lock:
            try:
                info = _examine(plugin, name=None, distribution=distribution)
                if info.name in self.names():
                    raise _Failed("discover", f"there is a backend called {info.name} already")
                return self._add(plugin, info, distribution)
            except _Failed as problem:
                raise BackendError(_unusable(plugin, problem)) from problem

    def unregister(self, name: str) -> None:
        """Forgets a backend that was added by `register`; KeyError if there is none of this name."""
        with self._lock:
            del self._handles[name]
            self._dispatcher.remove_backend(name)

    def add_plugin(self, plugin: Any, *, name: str, version: str = "") -> None:
        """Adds observers and wrappers around all backends; BackendError X0603 if they cannot be used.

        A plugin that wraps compilation and gives no `version` turns the on-disk cache off while it is there.
        """
        with self._lock:
            self._discovered()
            try:
                validate_watcher(plugin)
                self._dispatcher.add_watcher(name, plugin, version)
            except (InvalidPlugin, ValueError) as problem:
                raise BackendError(_unusable(plugin, problem)) from problem

    def remove_plugin(self, name: str) -> None:
        """Removes what `add_plugin` added; KeyError if there is none of this name."""
        self._dispatcher.remove_watcher(name)

    def _discovered(self) -> dict[str, EntryPoint]:
        """The entry points that are not loaded yet; reads the installed distributions the first time."""
        with self._lock:
            if self._pending is None:
                self._pending = {}
                for entry in sorted(self._entry_points(BACKENDS), key=lambda e: (e.name, _distribution(e))):
                    self._note(entry)
                for entry in self._entry_points(PLUGINS):
                    self._load_plugin(entry)
            return self._pending

    def _note(self, entry: EntryPoint) -> None:
        assert self._pending is not None
        first = self._pending.setdefault(entry.name, entry)
        if first is not entry:
            reason = (
                f"the name {entry.name} is provided by {_distribution(first)} and {_distribution(entry)}; "
                f"{_distribution(first)} is used"
            )
            self._fail(entry, "discover", reason)

    def _load(self, name: str) -> None:
        """One try for one entry point: either a handle or a failure comes of it."""
        entry = self._discovered().pop(name)
        try:
            plugin = _import(entry)
            self._add(
                plugin, _examine(plugin, name=name, distribution=_distribution(entry)), _distribution(entry)
            )
        except _Failed as problem:
            self._fail(entry, problem.stage, str(problem), _traceback(problem))

    def _load_plugin(self, entry: EntryPoint) -> None:
        try:
            plugin = _import(entry)
            validate_watcher(plugin)
            version = entry.dist.version if entry.dist is not None else ""
            self._dispatcher.add_watcher(f"{_distribution(entry)}/{entry.name}", plugin, version)
        except _Failed as problem:
            self._fail(entry, problem.stage, str(problem), _traceback(problem))
        except (InvalidPlugin, ValueError) as problem:
            self._fail(entry, "hooks", str(problem))

    def _add(self, plugin: Any, info: BackendInfo, distribution: str) -> BackendHandle:
        try:
            self._dispatcher.add_backend(info.name, plugin)
        except ValueError as cause:
            raise _Failed("hooks", f"its plugin object already serves another name: {cause}") from cause
        handle = BackendHandle(self._dispatcher, plugin, info, distribution)
        self._handles[info.name] = handle
        return handle

    def _fail(self, entry: EntryPoint, stage: str, reason: str, trace: str = "") -> None:
        distribution = _distribution(entry)
        self._failures[entry.name, distribution] = LoadFailure(entry.name, distribution, stage, reason, trace)

    def _unknown(self, name: str) -> Diagnostic:
        names = self.names()
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "install a package that provides it"
        failures = "\n".join(str(failure) for failure in self.failures())
        return error(
            "X0601",
            f"there is no backend {name!r}",
            note=f"installed: {', '.join(names) or 'none'}"
            + (f"\nnot usable:\n{failures}" if failures else ""),
            help=hint,
        )


@cache
def default_registry() -> Registry:
    """The registry of the process, over everything that is installed."""
    return Registry()


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "unknown distribution"


def _import(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except (Exception, SystemExit) as cause:
        raise _Failed("import", f"{type(cause).__name__}: {cause}") from cause


def _examine(plugin: Any, *, name: str | None, distribution: str) -> BackendInfo:
    """What the plugin says of itself, once its hooks are in order; `name` is the entry point's."""
    try:
        manager = validate_backend(plugin)
    except InvalidPlugin as problem:
        raise _Failed("hooks", str(problem)) from problem
    label = name or distribution
    try:
        info: BackendInfo = checked("xdsl_backend_info", manager.hook.xdsl_backend_info(), backend=label)
    except XdslError as problem:
        raise _Failed("info", f"{problem.diagnostics[0].message}, not {_required(problem)}") from problem
    except (Exception, SystemExit) as cause:
        raise _Failed("info", f"xdsl_backend_info raised {type(cause).__name__}: {cause}") from cause
    version_problem = api_version_problem(info.api_version)
    if version_problem is not None:
        raise _Failed("version", version_problem)
    if name is not None and info.name != name:
        raise _Failed("info", f"it calls itself {info.name!r}, but its entry point is {name!r}; use one name")
    return info


def _required(problem: XdslError) -> str:
    return next((note.text for note in problem.diagnostics[0].notes if note.kind == "requires"), "that")


def _traceback(problem: BaseException) -> str:
    cause = problem.__cause__ or problem
    return "".join(traceback.format_exception(cause))


def _broken(failure: LoadFailure) -> Diagnostic:
    return error(
        "X0602",
        f"backend {failure.name!r} is installed but cannot be used: {failure.reason}",
        note=f"it comes with {failure.distribution}; it failed at: {failure.stage}",
        help=f"update or remove {failure.distribution}; `xdslc backends` lists what works",
    )


def _unusable(plugin: Any, problem: Exception) -> Diagnostic:
    name = getattr(plugin, "__name__", type(plugin).__name__)
    return error(
        "X0603",
        f"{name} cannot be used as a plugin: {problem}",
        help="the hooks are documented in xdsl_core/backend/hookspecs.py",
    )
