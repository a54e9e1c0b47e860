"""A small backend as an object, which tests change one hook at a time."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from xdsl_core.backend import (
    API_VERSION,
    Artifact,
    Available,
    BackendInfo,
    Executable,
    Launch,
    Registry,
    Source,
    hookimpl,
)
from xdsl_core.target import Capabilities, Claim, TargetDescription


class TinyBackend:
    """A complete backend called `name`."""

    def __init__(self, name: str = "tiny") -> None:
        self.name = name
        self.launched: list[Any] = []

    @hookimpl
    def xdsl_backend_info(self) -> Any:
        return BackendInfo(self.name, "0.1", API_VERSION)

    @hookimpl
    def xdsl_availability(self) -> Any:
        return Available("tools 1")

    @hookimpl
    def xdsl_targets(self) -> Any:
        return (TargetDescription(self.name, "small"), TargetDescription(self.name, "large"))

    @hookimpl
    def xdsl_capabilities(self, target: TargetDescription) -> Any:
        return Capabilities((Claim("tile.dot", frozenset({"f16"})),))

    @hookimpl
    def xdsl_pipeline(self, target: TargetDescription, options: Any) -> Any:
        from xdsl_core.passes import Pipeline

        return Pipeline(())

    @hookimpl
    def xdsl_codegen(self, module: Any, target: TargetDescription, templates: Any, options: Any) -> Any:
        return Source("text", f"{self.name} {module} {dict(templates)}")

    @hookimpl
    def xdsl_compile(self, source: Source, workdir: Path) -> Any:
        return Artifact({"kernel.txt": source.text.encode()}, {"language": source.language})

    @hookimpl
    def xdsl_launch(self, executable: Executable, grid: Any, args: Any) -> Any:
        self.launched.append((executable, grid, args))
        return Launch(extra={"by": self.name})


def nothing_installed(group: str) -> Iterable[EntryPoint]:
    """The entry points of an environment without plug-ins."""
    return ()


def empty_registry() -> Registry:
    """A registry that finds nothing installed."""
    return Registry(entry_points=nothing_installed)
