"""Where in a kernel's source something stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A span of kernel source: 1-based lines, 0-based columns (as `ast` counts them).

    `callers` is the chain of call sites through which an inlined function was reached, innermost first.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""
    callers: tuple[Location, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


UNKNOWN = Location("<unknown>", 0)
