"""`xdslc backends` and `xdslc targets`: what is installed, what works, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from xdsl_core.backend import (
    BackendHandle,
    LoadFailure,
    Unavailable,
    default_registry,
    option_types,
)
from xdsl_core.cli.console import console, print_json, print_table
from xdsl_core.cli.target_file import TargetFile, with_target_file
from xdsl_core.cli.target_picture import target_svg
from xdsl_core.diagnostics import BackendError, XdslError, error
from xdsl_core.target import TargetDescription
from xdsl_core.target.description import to_json


def backends(
    name: Annotated[str, typer.Argument(help="Show this backend in detail.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the installed backends, good and broken ones, with versions and what is missing."""
    registry = default_registry()
    if name:
        failure = next((failure for failure in registry.failures() if failure.name == name), None)
        if failure is not None:
            _show_failure(failure)
            raise typer.Exit(1)
        _show_backend(registry.get(name), json=json)
        return
    rows = [_summary(handle) for handle in registry.backends()]
    broken = [_broken(failure) for failure in registry.failures()]
    if json:
        print_json([*rows, *broken])
        return
    keys = ("name", "version", "api", "package", "targets", "status")
    print_table(keys, [[_cell(row, key) for key in keys] for row in [*rows, *broken]])
    if registry.plugins():
        console().print(f"\nplugins that watch or wrap all backends: {', '.join(registry.plugins())}")


def _cell(row: dict[str, str], key: str) -> str:
    text = escape(row[key])
    colours = {"available": "green", "not available": "yellow", "broken": "red"}
    return f"[{colours[row['state']]}]{text}[/]" if key == "status" else text


def _summary(handle: BackendHandle) -> dict[str, str]:
    found = handle.availability()
    if isinstance(found, Unavailable):
        state, status = "not available", f"not available: {found.reason}\nto get it: {found.fix}"
    else:
        state, status = "available", "available" + (f" ({found.toolchain})" if " " in found.toolchain else "")
    try:
        targets = ", ".join(target.name for target in handle.targets())
    except XdslError as problem:
        state, status, targets = "broken", f"broken: {problem.diagnostics[0].message}", ""
    return {
        "name": handle.name, "version": handle.info.version, "api": handle.info.api_version,
        "package": handle.distribution, "targets": targets, "state": state, "status": status,
    }  # fmt: skip


def _broken(failure: LoadFailure) -> dict[str, str]:
    status = f"broken ({failure.stage}): {failure.reason}"
    return {
        "name": failure.name, "version": "", "api": "", "package": failure.distribution, "targets": "",
        "state": "broken", "status": status,
    }  # fmt: skip


def _show_failure(failure: LoadFailure) -> None:
    console().print(f"[red]{escape(str(failure))}[/]")
    if failure.traceback:
        console().print(escape(failure.traceback))


def _show_backend(handle: BackendHandle, *, json: bool) -> None:
    options = [
        (name, getattr(kind, "__name__", str(kind)), repr(getattr(handle.options({}), name)))
        for name, kind in option_types(handle.info.options).items()
    ]
    claims = [(target.name, str(len(handle.capabilities(target).ops))) for target in handle.targets()]
    if json:
        print_json({**_summary(handle), "options": options, "claimed ops": dict(claims)})
        return
    summary = _summary(handle)
    console().print(f"[bold]{handle.name}[/] {summary['version']}: {escape(handle.info.description)}")
    for key in ("package", "api", "status"):
        console().print(f"{key}: {_cell(summary, key)}")
    if handle.info.homepage:
        console().print(f"homepage: {handle.info.homepage}")
    console().print()
    print_table(("target", "claimed ops"), claims)
    console().print()
    print_table(("launch option", "type", "default"), [tuple(map(escape, option)) for option in options])


def targets(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the targets of all backends."""
    if context.invoked_subcommand is not None:
        return
    found = [target for handle in default_registry().backends() for target in _targets_of(handle)]
    if json:
        print_json([to_json(target) for target in found])
        return
    rows = [(str(target.target), str(target.cores), _clock(target), escape(target.title)) for target in found]
    print_table(("target", "cores", "clock", "what it is"), rows)


def _targets_of(handle: BackendHandle) -> tuple[TargetDescription, ...]:
    try:
        return handle.targets()
    except XdslError:
        return ()  # `xdslc backends` says what is wrong


def show_target(
    name: Annotated[str, typer.Argument(help="backend:name, or a backend for its default target.")] = "",
    target_file: TargetFile = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw it into this file.")] = None,
) -> None:
    """Show a target: its memory spaces, data paths, compute units and limits."""
    if not name and target_file is None:
        hint = "xdslc targets show dsa_sim:ascend910b2; `xdslc targets` lists them"
        raise BackendError(error("X0605", "no target was named", help=hint))
    _, target = default_registry().resolve(with_target_file(name, target_file))
    if svg is not None:
        svg.write_text(target_svg(target), encoding="utf-8")
        typer.echo(f"wrote {svg}", err=True)
    if json:
        print_json(to_json(target))
        return
    console().print(f"[bold]{target.target}[/] {escape(target.title)}")
    console().print(f"{target.cores} cores at {_clock(target)}")
    for label, rate in (("DRAM", target.dram_bandwidth), ("L2", target.l2_bandwidth)):
        if rate:
            console().print(f"{label}: {rate / 1e9:.4g} GB/s")
    _section(
        ("memory space", "kernels ask for", "capacity", "alignment", "one for each", "banks"),
        [(s.name, s.portable, _bytes(s.capacity), f"{s.alignment} B", s.owner, str(s.banks))
         for s in target.memory_spaces],
    )  # fmt: skip
    _section(
        ("data path", "engine", "bytes/cycle", "start-up", "layout"),
        [(f"{p.source} -> {p.destination}", p.engine, f"{p.bytes_per_cycle:g}", str(p.latency),
          p.layout_change) for p in target.data_paths],
    )  # fmt: skip
    _section(
        ("compute unit", "kind", "count", "what it does in a step"),
        [(u.name, u.kind, str(u.count), _step(u)) for u in target.compute_units],
    )
    _section(("limit", "value"), [(key, str(value)) for key, value in target.limits.items()])


def _section(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if rows:
        console().print()
        print_table(columns, [tuple(map(escape, row)) for row in rows])


def _step(unit: Any) -> str:
    if unit.fractals:
        return ", ".join(f"{f.m}x{f.n}x{f.k} {f.dtype}" for f in unit.fractals)
    return f"{unit.bytes_per_cycle:g} bytes" if unit.bytes_per_cycle else ""


def _clock(target: TargetDescription) -> str:
    return f"{target.clock_hz / 1e9:.3g} GHz" if target.clock_hz else "unknown clock"


def _bytes(count: int) -> str:
    if not count:
        return "not stated"
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count} B"
