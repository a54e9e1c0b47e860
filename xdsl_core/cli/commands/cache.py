"""`xdslc cache`: what is stored on disk, and how to get rid of it."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from xdsl_core.backend.cache_folder import cache_folder
from xdsl_core.cli.console import console, print_json, print_table
from xdsl_core.runtime.cache import CacheEntry, DiskCache

UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def show(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show where compiled kernels are stored, how many there are, and which."""
    if context.invoked_subcommand is not None:
        return
    cache = DiskCache(cache_folder())
    entries = cache.entries()
    if json:
        print_json(
            {"folder": cache.root, "bytes": cache.size(), "kernels": [_row(entry) for entry in entries]}
        )
        return
    console().print(f"{cache.root}: {len(entries)} kernels, {size_text(cache.size())}", highlight=False)
    if entries:
        console().print()
        rows = [tuple(_row(entry).values()) for entry in entries]
        print_table(("kernel", "target", "compiled for", "stored", "size", "key"), rows)


def clear() -> None:
    """Remove all compiled kernels and tuning results from the disk."""
    cache = DiskCache(cache_folder())
    size = cache.size()
    count = cache.clear()
    console().print(f"removed {count} kernels, {size_text(size)}, from {cache.root}", highlight=False)


def _row(entry: CacheEntry) -> dict[str, str]:
    specs = ", ".join(f"{name}: {spec}" for name, spec in entry.about.get("specs", {}).items())
    stored = datetime.datetime.fromtimestamp(entry.stored).isoformat(" ", "minutes")
    return {
        "kernel": str(entry.about.get("kernel", "")),
        "target": str(entry.about.get("target", "")),
        "specs": specs,
        "stored": stored,
        "size": size_text(entry.size),
        "key": entry.key[:12],
    }


def size_text(count: int) -> str:
    """A number of bytes for people."""
    for size, unit in UNITS:
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
