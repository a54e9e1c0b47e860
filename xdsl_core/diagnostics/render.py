"""The one renderer of diagnostics: excerpt, caret, notes, call chain."""

from __future__ import annotations

import linecache

from xdsl_core.diagnostics.diagnostic import Diagnostic
from xdsl_core.diagnostics.location import Location


def render(diagnostic: Diagnostic) -> str:
    """The text of a diagnostic as DESIGN section 7 shows it, without colours."""
    lines = [f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    if diagnostic.location.line:
        lines += excerpt(diagnostic.location, diagnostic.label)
    elif diagnostic.label:
        lines.append(f"   = {diagnostic.label}")
    for note in diagnostic.notes:
        head = "requires" if note.kind == "requires" else f"{note.kind}:"
        first, *rest = note.text.split("\n")
        lines.append(f"   = {head} {first}")
        lines += [f"     {line}" for line in rest]
        if note.location is not None and note.location.line:
            lines += excerpt(note.location, "")
    for caller in diagnostic.location.callers:
        lines.append(f"   = note: called from {caller.file}:{caller.line} in {caller.function or '<kernel>'}")
    lines.append(f"   = see: xdslc explain {diagnostic.code}")
    return "\n".join(lines)


def excerpt(location: Location, label: str) -> list[str]:
    """The source line under its path, with carets below the span and `label` after them."""
    lines = [f"  --> {location.file}:{location.line}:{location.column + 1}"]
    text = linecache.getline(location.file, location.line).rstrip("\n")
    if not text.strip():
        return [*lines, f"   = {label}"] if label else lines
    gutter = " " * len(str(location.line))
    same_line = location.end_line in (0, location.line) and location.end_column > location.column
    width = (location.end_column if same_line else len(text)) - location.column
    carets = " " * location.column + "^" * max(1, width)
    return [
        *lines,
        f" {gutter} |",
        f" {location.line} | {text}",
        f" {gutter} | {carets} {label}".rstrip(),
    ]
