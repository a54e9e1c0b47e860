"""Runs every example on every installed backend and prints how far each result is from numpy.

`make demo`, or `python -m examples.demo [--backend NAME] [--only EXAMPLE] [--all-rows]`. Where a backend
knows the cycles of a launch, a second table shows those of the longest one and what held it up. The exit
status is 1 if a result is over its budget or an example fails.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xdsl_core.backend import (
    Available,
    BackendHandle,
    Launch,
    Profile,
    Unavailable,
    default_registry,
    hookimpl,
)
from xdsl_core.diagnostics import XdslError
from xdsl_core.testing import Comparison

EXAMPLES = ("vector_add", "fused_softmax", "layer_norm", "gelu", "matmul", "flash_attention")
# Backends that are shown on several machines; the others on their first one.
MACHINES = {"dsa_sim": ("ascend910b2", "mlu370", "neuroncore_v2", "toy")}


class Watch:
    """An observer of launches that keeps the profile of the longest one."""

    def __init__(self) -> None:
        self.longest: Profile | None = None

    @hookimpl
    def xdsl_launch_finished(self, launch: Launch) -> None:
        """Keeps a profile with more cycles than the last one."""
        profile = launch.profile
        if profile is None or profile.cycles is None:
            return
        if self.longest is None or profile.cycles > (self.longest.cycles or 0):
            self.longest = profile

    def take(self) -> Profile | None:
        """What was kept, and nothing is kept any more."""
        found, self.longest = self.longest, None
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; the exit status says whether everything is within budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", action="append", help="only this backend or target (repeatable)")
    parser.add_argument("--only", action="append", choices=EXAMPLES, help="only this example (repeatable)")
    parser.add_argument("--all-rows", action="store_true", help="a row for each comparison, not the worst")
    options = parser.parse_args(arguments)

    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    registry = default_registry()
    targets = options.backend or [name for handle in registry.backends() for name in targets_of(handle)]
    table = Table(title="max error in budgets (1.0 is the limit), and the time of a launch")
    for column in ("example", "backend", "case"):
        table.add_column(column)
    for column in ("max error", "time"):
        table.add_column(column, justify="right")
    table.add_column("")
    simulated = Table(title="simulated: the longest launch of each example, and what holds it up")
    for column in ("example", "machine"):
        simulated.add_column(column)
    simulated.add_column("cycles", justify="right")
    simulated.add_column("bottleneck")

    watch = Watch()
    registry.add_plugin(watch, name="demo", version="1")
    failures: list[str] = []
    for example in options.only or EXAMPLES:
        for target in targets:
            if isinstance(registry.resolve(target)[0].availability(), Available):
                with console.status(f"{example} on {target}"):
                    comparisons = attempt(example, target, failures)
                for comparison in comparisons if options.all_rows else worst_of(comparisons):
                    add_row(table, example, target, comparison)
                profile = watch.take()
                if profile is not None:
                    simulated.add_row(example, target, f"{profile.cycles:,}", escape(profile.bottleneck))
        table.add_section()
        simulated.add_section()
    registry.remove_plugin("demo")
    console.print(table)
    if simulated.row_count:
        console.print(simulated)
    report_missing(console, tuple({name: registry.resolve(name)[0] for name in targets}.values()))
    for failure in failures:
        console.print(f"[red]{escape(failure)}[/]")
    return 1 if failures or not table.row_count else 0


def targets_of(backend: BackendHandle) -> tuple[str, ...]:
    """The names under which a backend is shown."""
    machines = MACHINES.get(backend.name)
    return (backend.name,) if machines is None else tuple(f"{backend.name}:{name}" for name in machines)


def attempt(example: str, target: str, failures: list[str]) -> list[Comparison]:
    """The comparisons of an example on a target; what fails is added to `failures`."""
    run = importlib.import_module(f"examples.{example}").run
    try:
        comparisons: list[Comparison] = run(target)
    except XdslError as problem:
        failures.append(f"{example} on {target}:\n{problem}")
        return []
    except Exception:
        failures.append(f"{example} on {target}:\n{traceback.format_exc()}")
        return []
    failures += [f"{example} on {target}: {c}" for c in comparisons if not c.passed]
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
