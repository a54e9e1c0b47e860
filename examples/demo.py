"""Runs every example on every installed backend and prints how far each result is from numpy.

`make demo`, or `python -m examples.demo [--backend NAME] [--only EXAMPLE] [--all-rows]`. The exit status is 1
if a result is over its budget or an example fails.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xdsl_core.backend import Available, BackendHandle, Unavailable, default_registry
from xdsl_core.diagnostics import XdslError
from xdsl_core.testing import Comparison

EXAMPLES = ("vector_add", "fused_softmax", "layer_norm", "gelu", "matmul", "flash_attention")


def main() -> int:
    """Prints the table; the exit status says whether everything is within budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", action="append", help="only this backend (repeatable)")
    parser.add_argument("--only", action="append", choices=EXAMPLES, help="only this example (repeatable)")
    parser.add_argument("--all-rows", action="store_true", help="a row for each comparison, not the worst")
    options = parser.parse_args()

    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    registry = default_registry()
    backends = registry.backends()
    if options.backend:
        backends = tuple(registry.get(name) for name in options.backend)
    table = Table(title="max error in budgets (1.0 is the limit), and the time of a launch")
    for column in ("example", "backend", "case"):
        table.add_column(column)
    for column in ("max error", "time"):
        table.add_column(column, justify="right")
    table.add_column("")

    failures: list[str] = []
    for example in options.only or EXAMPLES:
        for backend in backends:
            if isinstance(backend.availability(), Available):
                with console.status(f"{example} on {backend.name}"):
                    comparisons = attempt(example, backend, failures)
                for comparison in comparisons if options.all_rows else worst_of(comparisons):
                    add_row(table, example, backend.name, comparison)
        table.add_section()
    console.print(table)
    report_missing(console, backends)
    for failure in failures:
        console.print(f"[red]{escape(failure)}[/]")
    return 1 if failures or not table.row_count else 0


def attempt(example: str, backend: BackendHandle, failures: list[str]) -> list[Comparison]:
    """The comparisons of an example on a backend; what fails is added to `failures`."""
    run = importlib.import_module(f"examples.{example}").run
    try:
        comparisons: list[Comparison] = run(backend.name)
    except XdslError as problem:
        failures.append(f"{example} on {backend.name}:\n{problem}")
        return []
    except Exception:
        failures.append(f"{example} on {backend.name}:\n{traceback.format_exc()}")
        return []
    failures += [f"{example} on {backend.name}: {c}" for c in comparisons if not c.passed]
    return comparisons


def worst_of(comparisons: list[Comparison]) -> list[Comparison]:
    """The comparison with the largest error, in a list; empty for none."""
    return [max(comparisons, key=lambda comparison: comparison.error)] if comparisons else []


def add_row(table: Table, example: str, backend: str, comparison: Comparison) -> None:
    """One line of the table."""
    verdict = "[green]ok[/]" if comparison.passed else "[red]over budget[/]"
    time = "" if comparison.seconds is None else f"{comparison.seconds * 1e3:.2f} ms"
    table.add_row(example, backend, comparison.what, f"{comparison.error:.3f}", time, verdict)


def report_missing(console: Console, backends: tuple[BackendHandle, ...]) -> None:
    """Says which backends were left out, and how to get them."""
    for backend in backends:
        found = backend.availability()
        if isinstance(found, Unavailable):
            console.print(
                f"[yellow]{backend.name} was left out: {escape(found.reason)}; {escape(found.fix)}[/]"
            )
    for failure in default_registry().failures():
        console.print(f"[yellow]not usable: {escape(str(failure))}[/]")


if __name__ == "__main__":
    sys.exit(main())
