"""Sends a hook call to one backend, with the wrappers and observers of third parties around it."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterable
from typing import Any

import pluggy

from xdsl_core.backend import hookspecs
from xdsl_core.backend.contract import CONTRACTS, hook_names, signature
from xdsl_core.diagnostics import BackendError, Diagnostic, XdslError, error

_LAUNCH_HOOKS = frozenset({"xdsl_launch", "xdsl_launch_started", "xdsl_launch_finished"})
_COMPILE_HOOKS = frozenset(
    {
        "xdsl_capabilities",
        "xdsl_pipeline",
        "xdsl_templates",
        "xdsl_codegen",
        "xdsl_compile",
        "xdsl_load",
        "xdsl_register_ops",
    }
)


class InvalidPlugin(Exception):
    """Why an object cannot serve as a plugin, in words."""


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows the hooks and has no plugin."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def implemented(plugin: Any) -> dict[str, bool]:
    """The hooks that `plugin` implements: name to whether as a wrapper."""
    manager, found = pluggy.PluginManager(hookspecs.PROJECT), {}
    for attribute in dir(plugin):
        marks = manager.parse_hookimpl_opts(plugin, attribute)
        if marks is not None:
            found[marks.get("specname") or attribute] = bool(marks.get("wrapper") or marks.get("hookwrapper"))
    return found


def validate(plugin: Any) -> pluggy.PluginManager:
    """A manager with `plugin` alone; InvalidPlugin if its hooks are unknown or have the wrong parameters."""
    hooks = implemented(plugin)
    if not hooks:
        raise InvalidPlugin("it holds no function marked with @hookimpl")
    for hook in hooks:
        if hook not in hook_names():
            near = difflib.get_close_matches(hook, hook_names(), n=1)
            raise InvalidPlugin(f"there is no hook {hook}" + (f"; did you mean {near[0]}?" if near else ""))
    manager = new_manager()
    try:
        manager.register(plugin)
    except pluggy.PluginValidationError as cause:
        lines = [line for line in str(cause).splitlines() if not line.startswith("Plugin ")]
        expected = "; ".join(signature(hook) for hook in hooks if hook in str(cause))
        raise InvalidPlugin(f"bad hook signature: {' '.join(lines)}; expected {expected}") from cause
    return manager


def validate_backend(plugin: Any) -> pluggy.PluginManager:
    """As `validate`, and every hook that a backend must have is there."""
    manager, hooks = validate(plugin), implemented(plugin)
    missing = [
        contract.name for contract in CONTRACTS.values() if contract.must and contract.name not in hooks
    ]
    if missing:
        raise InvalidPlugin(f"required hooks are missing: {', '.join(missing)}")
    return manager


def validate_watcher(plugin: Any) -> None:
    """As `validate`, and a hook that a backend answers is only wrapped, never answered."""
    validate(plugin)
    for hook, wraps in implemented(plugin).items():
        if hook in CONTRACTS and not wraps:
            raise InvalidPlugin(f"{hook} is answered by backends; mark it with @hookimpl(wrapper=True)")


class Dispatcher:
    """The plugins of a registry, and the calls to them.

    `launch_watchers` names the plugins that have to see every launch: while it is empty the runtime may call
    `Executable.direct`. It is one list for the registry's life, so that hot paths can hold on to it.
    """

    def __init__(self) -> None:
        self._manager = new_manager()
        self._backends: dict[str, Any] = {}
        self._watchers: dict[str, tuple[Any, str]] = {}
        self._callers: dict[tuple[str, str], Any] = {}
        self._lock = threading.RLock()
        self.launch_watchers: list[str] = []

    def add_backend(self, name: str, plugin: Any) -> None:
        with self._lock:
            self._manager.register(plugin, name=f"backend:{name}")
            self._backends[name] = plugin
            self._callers.clear()
            self._note_launch_watchers()

    def remove_backend(self, name: str) -> None:
        with self._lock:
            self._manager.unregister(self._backends.pop(name))
            self._callers.clear()
            self._note_launch_watchers()

    def add_watcher(self, name: str, plugin: Any, version: str) -> None:
        """Adds a plugin that is no backend; `version` identifies its code ("" if nothing does)."""
        with self._lock:
            self._manager.register(plugin, name=f"plugin:{name}")
            self._watchers[name] = (plugin, version)
            self._callers.clear()
            self._note_launch_watchers()

    def remove_watcher(self, name: str) -> None:
        with self._lock:
            plugin, _ = self._watchers.pop(name)
            self._manager.unregister(plugin)
            self._callers.clear()
            self._note_launch_watchers()

    def _note_launch_watchers(self) -> None:
        plugins = [(name, plugin) for name, (plugin, _) in self._watchers.items()]
        watching = [name for name, plugin in plugins if _LAUNCH_HOOKS & implemented(plugin).keys()]
        # A backend that observes its own launches must see them too.
        observers = _LAUNCH_HOOKS - {"xdsl_launch"}
        watching += [
            name for name, plugin in self._backends.items() if observers & implemented(plugin).keys()
        ]
        self.launch_watchers[:] = watching

    @property
    def watchers(self) -> tuple[str, ...]:
        """The names of the plugins that are no backends."""
        return tuple(self._watchers)

    def compile_wrappers(self) -> dict[str, str]:
        """The plugins that take part in compilation: name to version, which keys caches."""
        return {
            name: version
            for name, (plugin, version) in self._watchers.items()
            if _COMPILE_HOOKS & implemented(plugin).keys()
        }

    def call(self, backend: str, hook: str, /, **arguments: Any) -> Any:
        """What `hook` gives for one backend; an exception that is no XdslError becomes BackendError X0609."""
        try:
            return self._caller(backend, hook)(**arguments)
        except XdslError:
            raise
        except Exception as cause:
            raise BackendError(hook_failed(backend, hook, cause, self.watchers)) from cause

    def _caller(self, backend: str, hook: str) -> Any:
        caller = self._callers.get((backend, hook))
        if caller is None:
            with self._lock:
                others = [plugin for name, plugin in self._backends.items() if name != backend]
                caller = self._manager.subset_hook_caller(hook, others)
                self._callers[backend, hook] = caller
        return caller


def hook_failed(backend: str, hook: str, cause: BaseException, watchers: Iterable[str]) -> Diagnostic:
    """The diagnostic for a hook that raised something else than an XdslError."""
    plugins = ", ".join(watchers)
    return error(
        "X0609",
        f"backend {backend} failed in {hook}: {type(cause).__name__}: {cause}",
        note=f"plugins that may take part: {plugins}" if plugins else "",
        help=f"report it to the authors of {backend}; XDSL_DEBUG=1 shows the traceback",
    )
