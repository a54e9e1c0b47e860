"""`xdslc sim`: a launch of a kernel, and where its time went."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from xdsl_core.backend import Available, BackendHandle, Profile, default_registry, option_types
from xdsl_core.backend.dispatch import implemented
from xdsl_core.cli.commands.kernel import Option, Place, Signature
from xdsl_core.cli.console import console, print_json, print_table
from xdsl_core.cli.kernels import choose
from xdsl_core.cli.launch_arguments import launch_arguments
from xdsl_core.cli.stages import options_from
from xdsl_core.cli.target_file import TargetFile, with_target_file
from xdsl_core.diagnostics import BackendError, error

SUMMARY, TRACE, TIMELINE, TABLE = "summary.txt", "trace.json", "timeline.html", "utilisation.csv"


def sim(
    place: Place,
    signature: Signature = None,
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", "-a", help='Arguments and grid: "x=64x128, n=128, grid=cdiv(n, 32)".'),
    ] = None,
    backend: Annotated[
        str, typer.Option("--backend", "-b", help="backend:target; the default is the first with profiles.")
    ] = "",
    target_file: TargetFile = None,
    option: Option = None,
    mode: Annotated[str, typer.Option(help="What is simulated: both, functional or timing.")] = "",
    trace: Annotated[Path | None, typer.Option(help="Write a trace for Perfetto here.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a timeline as a page here.")] = None,
    table: Annotated[Path | None, typer.Option(help="Write the table of msprof's columns here.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a kernel on new arrays and say where the time went: cycles, engines, data paths, bottleneck."""
    target = with_target_file(backend, target_file) or _first_with_profiles()
    handle, _ = default_registry().resolve(target)
    handle.require_available()
    chosen = choose(place, signature)
    launch = launch_arguments([chosen.launch, *(arg or [])], chosen.specs)
    options = options_from(option or [])
    if mode:
        options["mode"] = mode
    wanted = {TRACE: trace, TIMELINE: html, TABLE: table}
    if (trace or html) and "trace" in option_types(handle.info.options):
        options["trace"] = True
    profile = chosen.kernel.on(target).profile(launch.grid, **launch.values, **options)
    if profile is None:
        typer.echo("the grid is empty: nothing ran")
        return
    if json:
        print_json(_as_json(profile))
    elif SUMMARY in profile.views:
        typer.echo(profile.views[SUMMARY]())
    else:
        _show(profile)
    for view, file in wanted.items():
        if file is not None:
            file.write_text(_view(profile, view, handle), encoding="utf-8")
            typer.echo(f"wrote {file}", err=True)


def _first_with_profiles() -> str:
    """The first installed backend that answers `xdsl_profile` and can run here; X0614 if there is none."""
    for handle in default_registry().backends():
        if "xdsl_profile" in implemented(handle.plugin) and isinstance(handle.availability(), Available):
            return handle.name
    hint = "name one with --backend; `xdslc backends` lists them"
    raise BackendError(error("X0614", "no installed backend makes profiles", help=hint))


def _view(profile: Profile, name: str, handle: BackendHandle) -> str:
    if name in profile.views:
        return profile.views[name]()
    there = ", ".join(profile.views) or "none"
    near = difflib.get_close_matches(name, profile.views, n=1)
    hint = f"it has {near[0]}" if near else "choose a backend whose profiles have it with --backend"
    message = f"the profile of backend {handle.name} has no {name}"
    raise BackendError(error("X0819", message, note=f"its views: {there}", help=hint))


def _as_json(profile: Profile) -> dict[str, Any]:
    return {
        "cycles": profile.cycles,
        "seconds": profile.seconds,
        "utilisation": dict(profile.utilisation),
        "bytes_moved": dict(profile.bytes_moved),
        "bottleneck": profile.bottleneck,
        "notes": list(profile.notes),
    }


def _show(profile: Profile) -> None:
    """What every backend's profile has."""
    if profile.cycles is not None:
        console().print(f"{profile.cycles:,} cycles", highlight=False)
    if profile.seconds is not None:
        console().print(f"{profile.seconds * 1e6:.2f} us", highlight=False)
    if profile.utilisation:
        print_table(
            ("engine", "busy"), [(name, f"{share:.1%}") for name, share in profile.utilisation.items()]
        )
    if profile.bytes_moved:
        print_table(
            ("data path", "bytes"), [(name, f"{size:,}") for name, size in profile.bytes_moved.items()]
        )
    for line in (*profile.notes, *([f"bottleneck: {profile.bottleneck}"] if profile.bottleneck else [])):
        console().print(escape(line), highlight=False)
