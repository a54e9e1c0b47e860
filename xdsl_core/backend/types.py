"""The values that pass through the hooks: what a backend is given and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl_core.backend.options import Options

if TYPE_CHECKING:
    import datetime

    from xdsl_core.dtypes import DType

API_VERSION = "1.0"
Grid = tuple[int, int, int]
_METADATA_FILE = "metadata.json"


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """Who a backend is: its entry point's name, its version, the API_VERSION it was written for.

    `options` is its class of launch options, a frozen dataclass deriving from `Options`.
    """

    name: str
    version: str
    api_version: str
    description: str = ""
    options: type[Options] = Options
    homepage: str = ""


@dataclass(frozen=True, slots=True)
class Available:
    """The backend can run here; `toolchain` identifies the tools it found, and keys the cache."""

    toolchain: str = ""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The backend cannot run here: why, and what the user can do about it."""

    reason: str
    fix: str


Availability = Available | Unavailable


@dataclass(frozen=True, slots=True)
class Source:
    """What code generation wrote.

    `language` names it ("c", "triton", "tile"), `text` is the main file, `files` more of them by relative
    name. `metadata` is JSON-able and reaches `xdsl_compile` through the source.
    """

    language: str
    text: str
    files: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Artifact:
    """What compilation made, in a form that can be stored and loaded by another process.

    `files` maps a plain file name to its content, or to a path that is copied when the artifact is stored.
    `metadata` is JSON-able. The name "metadata.json" is taken.
    """

    files: Mapping[str, bytes | Path]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def save(self, directory: Path) -> None:
        """Writes every file and the metadata into `directory` (made if missing)."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            if name == _METADATA_FILE or Path(name).name != name:
                raise ValueError(f"artifact file name {name!r} is not a plain name or is taken")
            (directory / name).write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        (directory / _METADATA_FILE).write_text(json.dumps(dict(self.metadata), sort_keys=True))

    @staticmethod
    def load(directory: Path) -> Artifact:
        """The artifact that `save` wrote; its files are paths, read by whoever needs them."""
        metadata = json.loads((directory / _METADATA_FILE).read_text())
        files = {p.name: p for p in sorted(directory.iterdir()) if p.is_file() and p.name != _METADATA_FILE}
        return Artifact(files, metadata)

    def read(self, name: str) -> bytes:
        """The content of one file; KeyError if there is none of this name."""
        content = self.files[name]
        return content if isinstance(content, bytes) else content.read_bytes()


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer argument of a launch: the view's first element and the storage around it.

    `address` is in bytes; elements may lie on both sides of it. `storage_address` and `storage_bytes` bound
    the memory that belongs to the argument (for check modes and simulators). `owner` keeps that memory alive.
    """

    name: str
    address: int
    dtype: DType
    storage_address: int
    storage_bytes: int
    writable: bool
    owner: Any = field(repr=False, compare=False)


Argument = Pointer | int | float | bool
Direct = Callable[[Grid, tuple[Any, ...]], None]


@dataclass(frozen=True, slots=True)
class Executable:
    """Something that can be launched.

    `payload` is the backend's own. `direct`, where given, runs the whole grid: `direct(grid, args)` with
    three extents above zero and one plain number per run-time parameter, a pointer being its address or,
    with `takes_objects`, the array that the caller passed. The runtime calls it instead of `xdsl_launch` when
    nobody observes launches; both must do the same.
    """

    payload: Any
    direct: Direct | None = None
    takes_objects: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of a launch went.

    `cycles` and `seconds` are None where not known. `utilisation` maps a unit or engine to its busy share (0
    to 1), `bytes_moved` a data path ("GM->L1") to bytes. `bottleneck` and `notes` are for people. `views` are
    further texts by file name, made when asked for: "summary.txt", "trace.json" (the format of Chrome and
    Perfetto), "timeline.html", "utilisation.csv".
    """

    cycles: int | None = None
    seconds: float | None = None
    utilisation: Mapping[str, float] = field(default_factory=dict)
    bytes_moved: Mapping[str, int] = field(default_factory=dict)
    bottleneck: str = ""
    notes: tuple[str, ...] = ()
    views: Mapping[str, Callable[[], str]] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Launch:
    """What one launch did: seconds of wall time if measured, a profile if made, backend extras."""

    duration_seconds: float | None = None
    profile: Profile | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Waiver:
    """A conformance case that is known to fail: its id (or pattern), why, and the day the excuse ends."""

    case: str
    reason: str
    expires: datetime.date


@dataclass(frozen=True, slots=True)
class ConformanceConfig:
    """What a backend tells the conformance suite about itself: data only."""

    waivers: tuple[Waiver, ...] = ()
    profiles: tuple[str, ...] = ()
    timeout_seconds: float = 60.0
