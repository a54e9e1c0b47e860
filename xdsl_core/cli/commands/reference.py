"""`xdslc ops` and `xdslc explain`: the definitions and the catalogue, printed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from xdsl_core.cli.console import console, print_json, print_table
from xdsl_core.diagnostics import CompilationError, catalogue, error

if TYPE_CHECKING:
    from xdsl_core.opdef import OpDef


def ops(
    name: Annotated[str, typer.Argument(help="Show this op in full.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the ops of the tile IR, or show one: operands, constraints, results, budget."""
    from xdsl_core.ops import opset

    definitions = opset()
    if name:
        found = definitions.get(name)
        if found is None:
            near = ", ".join(_near(name, definitions.names()))
            hint = f"did you mean {near}?" if near else "`xdslc ops` lists all"
            raise CompilationError(error("X0808", f"there is no op {name!r}", help=hint))
        print_json(_facts(found)) if json else _show(found)
        return
    ordered = sorted(definitions, key=lambda definition: definition.name)
    if json:
        print_json([_facts(definition) for definition in ordered])
        return
    rows = [(d.name, d.profile, str(d.budget), escape(d.doc.splitlines()[0])) for d in ordered]
    print_table(("op", "profile", "budget", "what it does"), rows)


def _near(name: str, names: Sequence[str]) -> list[str]:
    """The names that look like `name`, with and without their dialect."""
    short = {full.rpartition(".")[2]: full for full in names}
    found = [
        *difflib.get_close_matches(name, names, n=3),
        *(short[tail] for tail in difflib.get_close_matches(name.rpartition(".")[2], short, n=3)),
    ]
    return list(dict.fromkeys(found))[:3]


def _facts(definition: OpDef) -> dict[str, Any]:
    parts = ("operands", "attributes", "results", "regions")
    return {
        "name": definition.name,
        "since": definition.since,
        "profile": definition.profile,
        "traits": sorted(str(trait) for trait in definition.traits),
        "doc": definition.doc,
        **{part: {key: facet.doc for key, facet in getattr(definition, part).items()} for part in parts},
        "constraints": {rule.label: rule.text for rule in definition.constraints},
        "budget": str(definition.budget),
    }


def _show(definition: OpDef) -> None:
    out = console()
    out.print(f"[bold]{definition.name}[/]  since {definition.since}, profile {definition.profile}")
    out.print()
    out.print(escape(definition.doc))
    for part in ("operands", "attributes", "results", "regions"):
        facets: Mapping[str, Any] = getattr(definition, part)
        if facets:
            out.print()
            rows = [(key, escape(_kind(facet)), escape(facet.doc)) for key, facet in facets.items()]
            print_table((part, "", ""), rows)
    if definition.constraints:
        out.print()
        rows = [(rule.label, escape(rule.text), escape(rule.help)) for rule in definition.constraints]
        print_table(("constraint", "must hold", "fix"), rows)
    out.print(f"\nerror budget: {escape(str(definition.budget))}")


def _kind(facet: Any) -> str:
    """What an operand or attribute may be, in words."""
    words = []
    if hasattr(facet, "pattern"):
        words.append(facet.pattern.text)
    if hasattr(facet, "kinds"):
        words.append(" or ".join(kind.__name__ for kind in facet.kinds))
    if getattr(facet, "choices", None):
        words.append("one of " + ", ".join(map(repr, facet.choices)))
    words += [flag for flag in ("optional", "variadic") if getattr(facet, flag, False)]
    if hasattr(facet, "required") and not facet.required:
        words.append(f"default {facet.default!r}")
    return ", ".join(words)


def explain(
    code: Annotated[str, typer.Argument(help="The code of an error, such as X0203.")] = "",
    list_all: Annotated[bool, typer.Option("--list", help="List all codes.")] = False,
) -> None:
    """Explain the code of an error: what went wrong, an example, and the fix."""
    known = catalogue()
    if list_all or not code:
        print_table(
            ("code", "what it means"), [(entry.code, escape(entry.title)) for entry in known.values()]
        )
        return
    entry = known.get(code.upper())
    if entry is None:
        near = ", ".join(difflib.get_close_matches(code.upper(), known, n=3))
        hint = f"did you mean {near}?" if near else "`xdslc explain --list` lists all"
        raise CompilationError(error("X0809", f"there is no error code {code}", help=hint))
    console().print(f"[bold]{entry.code}[/]: {escape(entry.title)}\n")
    console().print(entry.explanation, markup=False, highlight=False)
