"""The reference of the hooks as markdown, from hookspecs.py and the types that pass through it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator

from xdsl_core.backend import hookspecs, types
from xdsl_core.backend.contract import CONTRACTS, hook_names
from xdsl_core.backend.options import Options
from xdsl_core.backend.types import API_VERSION

# What backends make or are given, in the order in which a compilation meets them.
TYPES = (
    types.BackendInfo,
    Options,
    types.Available,
    types.Unavailable,
    types.Source,
    types.Artifact,
    types.Executable,
    types.Pointer,
    types.Launch,
    types.Profile,
    types.ConformanceConfig,
    types.Waiver,
)


def document() -> str:
    """The whole page."""
    parts = [
        "# The hooks of a backend",
        "Generated from `xdsl_core/backend/hookspecs.py`. "
        f"The API has version {API_VERSION}; [stability](stability.md) says what may change and when. "
        "[Writing a backend](writing-a-backend.md) shows the hooks at work.",
        inspect.cleandoc(hookspecs.__doc__ or "").partition("\n")[2].strip(),
        "## Overview",
        "\n".join(["| hook | must | returns |", "|---|---|---|", *map(_row, hook_names())]),
        "## Hooks",
        *(_hook(name) for name in hook_names()),
        "## Types",
        *(_type(kind) for kind in TYPES),
    ]
    return "\n\n".join(parts) + "\n"


def _row(name: str) -> str:
    contract = CONTRACTS.get(name)
    must = "yes" if contract is not None and contract.must else ""
    return f"| [`{name}`](#{name}) | {must} | {_returned(name)} |"


def _returned(name: str) -> str:
    annotation = str(inspect.signature(getattr(hookspecs, name)).return_annotation)
    return "nothing" if annotation == "None" else f"`{annotation}`"


def _hook(name: str) -> str:
    function = getattr(hookspecs, name)
    signature = inspect.signature(function)
    parameters = ", ".join(f"{p.name}: {p.annotation}" for p in signature.parameters.values())
    heading = f"### {name}\n\n    {name}({parameters}) -> {signature.return_annotation}"
    return f"{heading}\n\n{_examples(inspect.getdoc(function) or '')}"


def _examples(text: str) -> str:
    """A docstring with its example, which may be broken over lines, on one."""
    body, mark, example = text.partition("Example: ")
    return body + (f"*Example:* {' '.join(example.split())}" if mark else "")


def _type(kind: type) -> str:
    fields = [f"    {field.name}: {field.type}{_default(field)}" for field in dataclasses.fields(kind)]
    methods = list(_methods(kind))
    return "\n\n".join([f"### {kind.__name__}", inspect.getdoc(kind) or "", "\n".join(fields), *methods])


def _default(field: dataclasses.Field[object]) -> str:
    if field.default is not dataclasses.MISSING:
        default = field.default
        return f" = {default.__name__ if isinstance(default, type) else repr(default)}"
    factory = field.default_factory
    return "" if factory is dataclasses.MISSING else f" = {factory()!r}"


def _methods(kind: type) -> Iterator[str]:
    for name, method in vars(kind).items():
        function = method.__func__ if isinstance(method, staticmethod) else method
        if not name.startswith("_") and inspect.isfunction(function):
            parameters = ", ".join(p for p in inspect.signature(function).parameters if p != "self")
            yield f"`{name}({parameters})`: {' '.join((inspect.getdoc(function) or '').split())}"
