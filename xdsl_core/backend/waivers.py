"""Reads waivers: failures in the conformance suite that are known, excused for a time, as data."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

from xdsl_core.backend.types import Waiver
from xdsl_core.diagnostics import BackendError, error

_FIELDS = {"case": str, "reason": str, "expires": datetime.date}


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a TOML file: a list of tables `waiver`. BackendError X0813 if it is none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("waiver", [])
    except (OSError, tomllib.TOMLDecodeError) as problem:
        raise _unreadable(path, str(problem)) from problem
    if not isinstance(entries, list):
        raise _unreadable(path, "`waiver` is not a list of tables; write [[waiver]]")
    return tuple(_waiver(path, number, entry) for number, entry in enumerate(entries, 1))


def _waiver(path: Path, number: int, entry: object) -> Waiver:
    fields = entry if isinstance(entry, dict) else {}
    for name, kind in _FIELDS.items():
        if not isinstance(fields.get(name), kind):
            raise _unreadable(path, f"waiver {number} has no `{name}` ({kind.__name__})")
    unknown = sorted(set(fields) - set(_FIELDS))
    if unknown:
        raise _unreadable(path, f"waiver {number} has an unknown field {unknown[0]!r}")
    if not fields["reason"].strip():
        raise _unreadable(path, f"waiver {number} gives no reason")
    return Waiver(fields["case"], fields["reason"], fields["expires"])


def _unreadable(path: Path, why: str) -> BackendError:
    hint = "`xdslc explain X0813` shows a waiver"
    return BackendError(error("X0813", f"{path} is no list of waivers: {why}", help=hint))
