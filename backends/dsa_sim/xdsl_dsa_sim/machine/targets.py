"""Where targets come from: the files of this package, and the user's own."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import TargetDescription, load_target
from xdsl_dsa_sim.machine.model import machine_model

BACKEND = "dsa_sim"
FOLDER = Path(__file__).parents[1] / "targets"
DEFAULT = "ascend910b2"
PATH_VARIABLE = "XDSL_TARGET_PATH"


@cache
def builtin_targets() -> Mapping[str, TargetDescription]:
    """The targets of this package by name, the default one first."""
    found = {file.stem: load_file(file) for file in sorted(FOLDER.glob("*.toml"))}
    return {DEFAULT: found.pop(DEFAULT), **found}


def load_targets(path: str | None = None) -> Mapping[str, TargetDescription]:
    """All targets by name: those of this package, then the user's, which win over ours of the same name.

    `path` lists files and folders of TOML files with the system's path separator; by default the environment
    variable XDSL_TARGET_PATH.
    """
    listed = os.environ.get(PATH_VARIABLE, "") if path is None else path
    found = dict(builtin_targets())
    for entry in filter(None, listed.split(os.pathsep)):
        for file in _files(Path(entry)):
            description = load_file(file)
            found[description.name] = description
    return found


def load_file(file: Path) -> TargetDescription:
    """The target in a TOML file, with the simulator's own tables checked too; BackendError X0620, X0621,
    X0903.
    """
    description = load_target(file, backend=BACKEND, folders=(FOLDER,))
    machine_model(description)
    return description


def find_target(name: str, *, path: str | None = None) -> TargetDescription:
    """The target with this name, or in the file of this name; BackendError X0904 if there is neither."""
    if name.endswith(".toml"):
        return load_file(_files(Path(name))[0])
    known = load_targets(path)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        raise BackendError(
            error(
                "X0904",
                f"dsa_sim has no target {name}",
                note=f"it has {', '.join(known)}",
                help=f"did you mean {near[0]}?" if near else f"put a file of yours into {PATH_VARIABLE}",
            )
        )
    return known[name]


def _files(entry: Path) -> tuple[Path, ...]:
    if entry.is_dir():
        return tuple(sorted(entry.glob("*.toml")))
    if entry.is_file():
        return (entry,)
    raise BackendError(
        error("X0904", f"there is no target file {entry}", help=f"correct {PATH_VARIABLE} or --target-file")
    )
