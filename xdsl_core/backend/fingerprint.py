"""Identifies the code of a package, so that caches notice an edited checkout as well as a new version."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

_IGNORED = ("__pycache__",)


def package_of(plugin: Any) -> str:
    """The top-level package that holds `plugin` (a module, class or object)."""
    name = getattr(plugin, "__name__", "") if hasattr(plugin, "__spec__") else ""
    return (name or getattr(plugin, "__module__", "") or type(plugin).__module__).partition(".")[0]


@cache
def package_fingerprint(package: str) -> str:
    """A hash of name, size and time of change of every file of an imported package; asked once a process.

    "" for code that is in no file (defined at a prompt).
    """
    module = sys.modules.get(package)
    roots = list(getattr(module, "__path__", ()))
    file = getattr(module, "__file__", None)
    if not roots and not file:
        return ""
    lines = (
        sorted(line for root in roots for line in _files(root))
        if roots
        else [_line(str(file), os.stat(str(file)))]
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:24]


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _IGNORED:
                    yield from _files(entry.path)
            else:
                yield _line(entry.path, entry.stat())


def _line(path: str, facts: os.stat_result) -> str:
    return f"{path} {facts.st_size} {facts.st_mtime_ns}"
