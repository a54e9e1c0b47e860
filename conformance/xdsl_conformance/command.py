"""`xdslc conformance` and `xdslc report`: the suite on the command line."""

from __future__ import annotations

import faulthandler
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from xdsl_conformance.case import Case
from xdsl_conformance.execution import entry_of, examine, own_kernel_cache, sample, select, subject_of
from xdsl_conformance.report import Entry, Report, difference, read_report, to_json
from xdsl_conformance.requirements import REQUIREMENTS, met
from xdsl_conformance.scoreboard import to_badge, to_html, to_junit, to_markdown
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Verdict
from xdsl_conformance.worker import answer
from xdsl_core.backend import read_waivers
from xdsl_core.backend.target_file import with_target_file

_COLOURS = {True: "green", False: "red"}


def conformance(
    backend: Annotated[str, typer.Argument(help="BACKEND or BACKEND:TARGET.")],
    target_file: Annotated[
        Path | None, typer.Option(help="A target description of your own (TOML), for BACKEND.")
    ] = None,
    profile: Annotated[str, typer.Option(help="smoke, core, tile, full, or an extension.")] = "core",
    id: Annotated[list[str], typer.Option(help="Only these cases; * matches anything.")] = [],  # noqa: B006
    repro: Annotated[bool, typer.Option(help="Ask the cases in this process, in the open.")] = False,
    workers: Annotated[int, typer.Option("-n", min=1, help="Cases at once.")] = os.cpu_count() or 1,
    at_most: Annotated[int, typer.Option(min=0, help="A sample of this many cases; 0 is all.")] = 0,
    seed: Annotated[int, typer.Option(help="Which sample.")] = 0,
    timeout: Annotated[float | None, typer.Option(help="Seconds a case; default: the backend's.")] = None,
    waivers: Annotated[Path | None, typer.Option(help="A TOML file of waivers.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the cases and stop.")] = False,
    requirements: Annotated[
        bool, typer.Option("--requirements", help="Show what claims and target meet, and stop.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the report here.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a scoreboard here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a scoreboard here.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    badge: Annotated[Path | None, typer.Option(help="Write an SVG badge here.")] = None,
) -> None:
    """Examine a backend: ask the cases of a profile, compare, and say what is right and what is not.

    The exit status is 0 if nothing has to be done, 1 if something is wrong or nothing passed.
    """
    cases = select(profile, id)
    if at_most:
        cases = sample(cases, at_most, seed=seed)
    if list_only:
        for case in cases:
            print(f"{case.id}\t{case.profile}\t{case.summary}")
        return
    if requirements:
        subject = Subject(backend)
        for name, is_met in met(subject.capabilities, subject.target).items():
            print(f"{name}\t{'yes' if is_met else f'no: {REQUIREMENTS[name].lacking}'}")
        return
    subject = subject_of(with_target_file(backend, target_file))
    excuses = read_waivers(waivers) if waivers is not None else ()
    if repro:
        results = [_repeat(subject, case) for case in cases]
        raise typer.Exit(0 if all(results) else 1)
    with _progress() as progress:
        bar = progress.add_task(escape(subject.name), total=len(cases), wrong=0)
        wrong: list[Entry] = []

        def show(entry: Entry) -> None:
            if not entry.verdict.is_good:
                wrong.append(entry)
                progress.console.print(_line(entry))
            progress.update(bar, advance=1, wrong=len(wrong))

        report = examine(
            subject, cases, profile=",".join(id) or profile, workers=workers, waivers=excuses,
            timeout=timeout, command=_command_line(), show=show,
        )  # fmt: skip
    writers: tuple[tuple[Path | None, Callable[[Report], str]], ...] = (
        (json, _json_text), (html, to_html), (markdown, to_markdown), (junit, to_junit), (badge, to_badge),
    )  # fmt: skip
    for path, write in writers:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(write(report), encoding="utf-8")
    _summarise(report)
    raise typer.Exit(0 if report.is_good else 1)


def _json_text(report: Report) -> str:
    import json

    return json.dumps(to_json(report), indent=1) + "\n"


def _command_line() -> str:
    return shlex.join(["xdslc", *sys.argv[1:]])


def _progress() -> Progress:
    console = Console()
    console = console if console.is_terminal else Console(width=160)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, TextColumn("[red]{task.fields[wrong]} wrong"), console=console)


def _line(entry: Entry) -> str:
    first = (entry.detail.strip().splitlines() or [""])[0]
    return f"[red]{entry.verdict.value:>15}[/] {escape(entry.id)}  {escape(first)}"


def _repeat(subject: Subject, case: Case) -> bool:
    """Ask one case in this process and print all there is to know; True if its verdict is good."""
    console = Console()
    console.print(f"[bold]{escape(case.id)}[/]: {escape(case.summary)}")
    faulthandler.enable()  # the case may take the process down
    with own_kernel_cache():
        entry = entry_of(case, answer(subject, case.id))
    colour = _COLOURS[entry.verdict.is_good]
    console.print(f"[{colour}]{entry.verdict.value}[/] in {entry.seconds:.3f} s", end="")
    console.print(f", {entry.budget_use:.3g} budgets" if entry.budget_use else "")
    if entry.detail:
        print(entry.detail)
    source = entry.source or (case.source() if case.source is not None else "")
    if source:
        print(f"\n{source}")
    return entry.verdict.is_good


def _summarise(report: Report) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for verdict in Verdict:
        if report.counts[verdict]:
            table.add_row(f"[{_COLOURS[verdict.is_good]}]{verdict.value}[/]", str(report.counts[verdict]))
    console = Console()
    console.print(
        f"\n[bold]{escape(report.subject)}[/], profile {escape(report.profile)}, {report.seconds:.1f} s"
    )
    console.print(table)
    for entry in report.bad[:10]:
        console.print(f"\n[red]{entry.verdict.value}[/] [bold]{escape(entry.id)}[/]")
        print(entry.detail.strip())
        print(f"xdslc conformance {report.subject} --id '{entry.id}' --repro")
    if len(report.bad) > 10:
        print(f"\nand {len(report.bad) - 10} more; --html FILE shows all")


report = typer.Typer(help="Read reports of the conformance suite.", no_args_is_help=True)


@report.command("diff")
def report_diff(
    before: Annotated[Path, typer.Argument(help="The JSON of an earlier run.")],
    after: Annotated[Path, typer.Argument(help="The JSON of a later run.")],
) -> None:
    """Show which verdicts changed between two reports; the exit status is 1 if some got worse."""
    found = difference(read_report(before), read_report(after))
    for kind, lines in found.items():
        if lines:
            print(f"{kind} ({len(lines)})")
            for line in lines:
                print(f"  {line}")
    if not any(found.values()):
        print("no difference")
    raise typer.Exit(1 if found["worse"] else 0)


@report.command("render")
def report_render(
    source: Annotated[Path, typer.Argument(help="The JSON of a run.")],
    html: Annotated[Path | None, typer.Option(help="Write a scoreboard here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a scoreboard here.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    badge: Annotated[Path | None, typer.Option(help="Write an SVG badge here.")] = None,
) -> None:
    """Turn the JSON of a run into other forms."""
    found = read_report(source)
    for path, write in ((html, to_html), (markdown, to_markdown), (junit, to_junit), (badge, to_badge)):
        if path is not None:
            path.write_text(write(found), encoding="utf-8")
