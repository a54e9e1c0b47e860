"""The on-disk cache of compiled kernels: content-addressed, checked on every read, safe between processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl_core.backend import Artifact

_KERNELS = "kernels"
_RESULTS = "autotune"
_MANIFEST = "manifest.json"
_ARTIFACT = "artifact"
_STAGES = "stages"


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A stored kernel: key, what is known of it, time of storing (seconds since 1970), bytes."""

    key: str
    about: Mapping[str, Any]
    stored: float
    size: int


@dataclass(frozen=True, slots=True)
class StoredKernel:
    """What a hit gives: the artifact, whose files stay on disk, and what was stored with it."""

    artifact: Artifact
    about: Mapping[str, Any]
    folder: Path

    def stages(self) -> dict[str, str]:
        """The texts of the compilation's stages, in order."""
        names: list[str] = list(self.about.get("stages", ()))
        return {name: (self.folder / _STAGES / name).read_text(encoding="utf-8") for name in names}


@dataclass(frozen=True, slots=True)
class DiskCache:
    """Compiled kernels and tuning results under `root`.

    An entry is written to a folder of its own and then renamed into place, so that readers see all of it or
    nothing. A damaged entry is removed and counts as absent. Where the disk cannot be written, nothing is
    cached.
    """

    root: Path

    def get(self, key: str) -> StoredKernel | None:
        """The entry of `key` if every file has the recorded size and hash, else None."""
        folder = self._folder(key)
        try:
            manifest = json.loads((folder / _MANIFEST).read_bytes())
            if all(_matches(folder / name, facts) for name, facts in manifest["files"].items()):
                return StoredKernel(Artifact.load(folder / _ARTIFACT), manifest["about"], folder)
        except FileNotFoundError:
            if not folder.exists():
                return None
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self.remove(key)
        return None

    def put(
        self, key: str, artifact: Artifact, about: Mapping[str, Any], stages: Mapping[str, str]
    ) -> StoredKernel | None:
        """Stores an entry and reads it back; None if the disk cannot be written.

        Where another process was quicker its entry stays, which holds the same.
        """
        try:
            (self.root / _KERNELS).mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix=".new-", dir=self.root / _KERNELS))
        except OSError:
            return None
        try:
            write_kernel(staging, artifact, about, stages)
            folder = self._folder(key)
            folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):
                staging.rename(folder)
        except OSError:
            return None
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        return self.get(key)

    def remove(self, key: str) -> None:
        """Forgets one kernel; processes that have loaded it keep it."""
        folder = self._folder(key)
        grave = folder.with_name(f".old-{key}-{os.getpid()}-{time.monotonic_ns()}")
        with contextlib.suppress(OSError):
            folder.rename(grave)
            shutil.rmtree(grave, ignore_errors=True)

    def entries(self) -> tuple[CacheEntry, ...]:
        """All stored kernels, oldest first; those that cannot be read are left out."""
        found = []
        for manifest in (self.root / _KERNELS).glob(f"??/*/{_MANIFEST}"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                about = json.loads(manifest.read_bytes())["about"]
                size = sum(file.stat().st_size for file in manifest.parent.rglob("*") if file.is_file())
                found.append(CacheEntry(manifest.parent.name, about, manifest.stat().st_mtime, size))
        return tuple(sorted(found, key=lambda entry: entry.stored))

    def size(self) -> int:
        """Bytes on disk, everything included."""
        total = 0
        for file in self.root.rglob("*"):
            with contextlib.suppress(OSError):
                total += file.stat().st_size if file.is_file() else 0
        return total

    def clear(self) -> int:
        """Removes everything stored; returns how many kernels that were."""
        count = len(self.entries())
        for name in (_KERNELS, _RESULTS):
            shutil.rmtree(self.root / name, ignore_errors=True)
        return count

    def read_result(self, key: str) -> Any:
        """The JSON value stored under `key` by `write_result`, or None."""
        try:
            return json.loads((self.root / _RESULTS / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None

    def write_result(self, key: str, value: Any) -> None:
        """Stores a JSON value; does nothing where the disk cannot be written."""
        with contextlib.suppress(OSError):
            folder = self.root / _RESULTS
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
                json.dump(value, file)
            os.replace(file.name, folder / f"{key}.json")

    def _folder(self, key: str) -> Path:
        return self.root / _KERNELS / key[:2] / key


def write_kernel(
    folder: Path, artifact: Artifact, about: Mapping[str, Any], stages: Mapping[str, str]
) -> StoredKernel:
    """Writes an artifact with its stages and a manifest of hashes into a folder."""
    artifact.save(folder / _ARTIFACT)
    (folder / _STAGES).mkdir()
    for name, text in stages.items():
        (folder / _STAGES / name).write_text(text, encoding="utf-8")
    files = {path.relative_to(folder).as_posix(): _facts(path) for path in _files(folder)}
    about = {**about, "stages": list(stages)}
    (folder / _MANIFEST).write_text(json.dumps({"about": about, "files": files}), encoding="utf-8")
    return StoredKernel(Artifact.load(folder / _ARTIFACT), about, folder)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _facts(path: Path) -> list[Any]:
    content = path.read_bytes()
    return [len(content), hashlib.sha256(content).hexdigest()]


def _matches(path: Path, facts: list[Any]) -> bool:
    return _facts(path) == facts
