"""A mistake, said once: code, place, what was found, what is required, how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl_core.diagnostics.location import UNKNOWN, Location


@dataclass(frozen=True, slots=True)
class Note:
    """A line under the caret: `kind` is "note", "help" or "requires"; `location` adds a second excerpt."""

    kind: str
    text: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake of one class.

    `code` is a key of the catalogue (X0203), `message` says what is wrong in a line, `label` stands beside
    the caret and names what was found, `notes` say what is required and how to fix it.
    """

    code: str
    message: str
    location: Location = UNKNOWN
    label: str = ""
    notes: tuple[Note, ...] = ()
    severity: str = "error"

    def with_note(self, kind: str, text: str, location: Location | None = None) -> Diagnostic:
        """The same diagnostic with one more note."""
        return replace(self, notes=(*self.notes, Note(kind, text, location)))

    def at(self, location: Location) -> Diagnostic:
        """The same diagnostic at `location`, unless it already knows its place."""
        return self if self.location is not UNKNOWN else replace(self, location=location)


class XdslError(Exception):
    """Every error a user can cause: carries diagnostics, prints them rendered.

    `diagnostics` is never empty; `code` is the first one's.
    """

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        if not found:
            raise ValueError("an XdslError needs at least one diagnostic")
        self.diagnostics: tuple[Diagnostic, ...] = found
        super().__init__(found[0].message)

    @property
    def code(self) -> str:
        return self.diagnostics[0].code

    def at(self, location: Location) -> XdslError:
        """The same error with `location` given to the diagnostics that have none."""
        return type(self)(tuple(diagnostic.at(location) for diagnostic in self.diagnostics))

    def __str__(self) -> str:
        from xdsl_core.diagnostics.render import render

        return "\n\n".join(render(diagnostic) for diagnostic in self.diagnostics)


class CompilationError(XdslError):
    """The kernel, or what it asks of a target, is wrong: found before anything runs."""


class LaunchError(XdslError):
    """The arguments or the grid of a launch are wrong: found before anything runs."""


class ExecutionError(XdslError):
    """A running program did something wrong: an access out of bounds, a race, a failed assertion."""


class BackendError(XdslError):
    """A backend, or its discovery, does not keep the contract."""


def error(
    code: str,
    message: str,
    *,
    location: Location = UNKNOWN,
    label: str = "",
    help: str = "",
    note: str = "",
    requires: str = "",
) -> Diagnostic:
    """Shorthand for a Diagnostic with at most one note of each kind."""
    kinds = (("requires", requires), ("note", note), ("help", help))
    notes = tuple(Note(kind, text) for kind, text in kinds if text)
    return Diagnostic(code, message, location, label, notes)
