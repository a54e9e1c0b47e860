"""Targets that the user describes in a file, for backends that read XDSL_TARGET_PATH."""

from __future__ import annotations

import os
from pathlib import Path

from xdsl_core.backend.registry import default_registry
from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import Target
from xdsl_core.target.toml import name_in_file

TARGET_PATH = "XDSL_TARGET_PATH"


def with_target_file(backend: str, file: Path | None) -> str:
    """The name of the target in `file`, made known to the backend; `backend` itself without a file.

    Without a backend it is the first one that takes the target. BackendError X0820 where none does, X0620,
    X0621 and the backend's own for the file's mistakes.
    """
    if file is None:
        return backend
    name = name_in_file(file)
    listed = [str(file.resolve()), *filter(None, [os.environ.get(TARGET_PATH, "")])]
    os.environ[TARGET_PATH] = os.pathsep.join(listed)
    registry = default_registry()
    handles = [registry.get(Target.parse(backend).backend)] if backend else registry.backends()
    for handle in handles:
        if any(known.name == name for known in handle.targets()):
            return f"{handle.name}:{name}"
    who = f"backend {handles[0].name}" if backend else "no installed backend"
    hint = f"choose one that reads {TARGET_PATH} with --backend"
    raise BackendError(error("X0820", f"{who} takes {'no ' if backend else ''}targets from files", help=hint))
