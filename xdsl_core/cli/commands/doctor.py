"""`xdslc doctor`: what this machine has and lacks, with the fix for each lack."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass

import typer
from rich.markup import escape

from xdsl_core.backend import Unavailable, default_registry
from xdsl_core.cli.console import console, print_table

REQUIRED = ("numpy", "ml_dtypes", "pluggy", "cffi", "jinja2", "typer", "rich")
OPTIONAL = ("torch", "triton", "ziglang")
MARKS = {"ok": "[green]ok[/]", "missing": "[yellow]missing[/]", "broken": "[red]broken[/]"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: `state` is a key of MARKS, `fix` what to do about it."""

    subject: str
    state: str
    found: str
    fix: str = ""


def doctor() -> None:
    """Check this installation: Python, packages, compilers, the cache and the backends."""
    findings = [
        Finding("python", "ok", f"{platform.python_version()} at {sys.executable}"),
        Finding("machine", "ok", f"{platform.machine()}, {len(os.sched_getaffinity(0))} processors"),
        *(_package(name, optional=False) for name in REQUIRED),
        *(_package(name, optional=True) for name in OPTIONAL),
        _compiler(),
        _cache(),
        *_backends(),
        *_settings(),
    ]
    rows = [(f.subject, MARKS[f.state], escape(f.found), escape(f.fix)) for f in findings]
    print_table(("", "", "found", "to fix it"), rows)
    broken = sum(finding.state == "broken" for finding in findings)
    console().print(f"\n{broken} problems" if broken else "\nno problems")
    if broken:
        raise typer.Exit(1)


def _package(name: str, *, optional: bool) -> Finding:
    if importlib.util.find_spec(name) is not None:
        return Finding(name, "ok", importlib.metadata.version(name))
    found = "not installed" + (" (optional)" if optional else "")
    return Finding(name, "missing" if optional else "broken", found, f"pip install {name}")


def _compiler() -> Finding:
    names = [name for name in (os.environ.get("CC", ""), "cc", "gcc", "clang") if name]
    path = next((found for name in names if (found := shutil.which(name.split()[0]))), None)
    if path is not None:
        return Finding("C compiler", "ok", path)
    if importlib.util.find_spec("ziglang") is not None:
        return Finding("C compiler", "ok", "python -m ziglang cc")
    return Finding("C compiler", "missing", f"none of {', '.join(names)}", "pip install ziglang")


def _cache() -> Finding:
    from xdsl_core.backend.cache_folder import cache_folder

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        fix = "set XDSL_CACHE_DIR to a folder that can be written"
        return Finding("kernel cache", "broken", f"{folder}: {problem.strerror}", fix)
    return Finding("kernel cache", "ok", str(folder))


def _backends() -> list[Finding]:
    registry = default_registry()
    findings = []
    for handle in registry.backends():
        found = handle.availability()
        if isinstance(found, Unavailable):
            findings.append(Finding(f"backend {handle.name}", "missing", found.reason, found.fix))
        else:
            tools = found.toolchain if " " in found.toolchain else "available"
            findings.append(Finding(f"backend {handle.name}", "ok", tools))
    for failure in registry.failures():
        fix = f"update or remove {failure.distribution}"
        findings.append(Finding(f"backend {failure.name}", "broken", str(failure), fix))
    return findings


def _settings() -> list[Finding]:
    names = sorted(name for name in os.environ if name.startswith("XDSL_"))
    return [Finding(name, "ok", os.environ[name]) for name in names]
