"""Collects what is wrong with a kernel, so that one run reports several mistakes."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl_core.diagnostics import CompilationError, Diagnostic

LIMIT = 10


class AlreadyReported(Exception):
    """What is asked for depends on something that was reported before."""


class TooMany(Exception):
    """The limit of diagnostics is reached."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands for the value of a variable whose definition was reported as wrong."""


BROKEN = Broken()


@dataclass(frozen=True, slots=True)
class Unusable:
    """Stands for a variable that means nothing after a branch or loop; reading it reports the diagnostic."""

    diagnostic: Diagnostic


@dataclass(slots=True)
class Problems:
    """The diagnostics of one compilation, each once."""

    found: list[Diagnostic] = field(default_factory=list)

    def report(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Add diagnostics. TooMany once LIMIT are there."""
        known = {(one.code, one.location.file, one.location.line, one.location.column) for one in self.found}
        for diagnostic in diagnostics:
            place = (
                diagnostic.code,
                diagnostic.location.file,
                diagnostic.location.line,
                diagnostic.location.column,
            )
            if place not in known:
                self.found.append(diagnostic)
        if len(self.found) >= LIMIT:
            raise TooMany

    def error(self) -> CompilationError | None:
        """All of them as one error, or None."""
        return CompilationError(self.found[:LIMIT]) if self.found else None
