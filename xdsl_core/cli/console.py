"""What all commands print with."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

LEXERS = {"c": "c", "triton": "python", "tile": "text", "mlir": "text", "ptx": "text"}


def console() -> Console:
    """The console of the standard output; as wide as asked for in a pipe, so that tables are not cut."""
    found = Console()
    return found if found.is_terminal else Console(width=160)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", wrap: bool = True
) -> None:
    """Prints rows under their columns; cells may hold rich markup."""
    table = Table(title=title or None, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=not wrap)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def print_text(text: str, language: str = "text") -> None:
    """Prints program text: in colour on a terminal, as it is otherwise."""
    if sys.stdout.isatty():
        console().print(Syntax(text, LEXERS.get(language, "text"), background_color="default"))
    else:
        print(text)


def print_json(value: Any) -> None:
    """Prints a value as JSON."""
    print(json.dumps(value, indent=1, default=str))
