"""The reference of ops as markdown, from their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from xdsl_core.dtypes import DType
from xdsl_core.ir.traits import Trait
from xdsl_core.opdef.definition import OpDef
from xdsl_core.opdef.facets import AttributeFacet, OperandFacet, Sample

_TRAITS = {
    Trait.PURE: "pure",
    Trait.ELEMENTWISE: "lane by lane",
    Trait.MOVEMENT: "moves elements",
    Trait.COMMUTATIVE: "commutative",
    Trait.REDUCTION: "reduction",
    Trait.CONSTANT: "constant",
    Trait.READS_MEMORY: "reads memory",
    Trait.WRITES_MEMORY: "writes memory",
    Trait.ATOMIC: "atomic",
    Trait.EFFECT: "visible effect",
    Trait.TERMINATOR: "ends a block",
    Trait.CONTROL: "runs regions",
    Trait.POINTER_ARITHMETIC: "pointer arithmetic",
}


def document(definitions: Iterable[OpDef]) -> str:
    """The whole reference: ops by family, in the order of their names."""
    ordered = sorted(definitions, key=lambda definition: definition.name)
    parts = [
        "# Ops",
        "Generated from the definitions in `xdsl_core/ops`. A constraint is checked just as it stands here.",
    ]
    for family, members in groupby(ordered, key=lambda definition: definition.name.partition(".")[0]):
        parts.append(f"## {family}")
        parts += [document_op(definition) for definition in members]
    return "\n\n".join(parts) + "\n"


def document_op(definition: OpDef) -> str:
    """The section of one op: what it means, its parts, rules, budget, and a use."""
    facts = [f"profile {definition.profile}", f"since {definition.since}"]
    facts += [words for trait, words in _TRAITS.items() if trait in definition.traits]
    parts = [f"### {definition.name}", f"`{signature(definition)}`", definition.doc, f"*{', '.join(facts)}*"]
    table = [
        *(_row(name, _operand(facet), facet.doc) for name, facet in definition.operands.items()),
        *(_row(name, _attribute(facet), facet.doc) for name, facet in definition.attributes.items()),
        *(_row(name, "region", facet.doc) for name, facet in definition.regions.items()),
        *(
            _row(name, "results" if facet.variadic else "result", facet.doc)
            for name, facet in definition.results.items()
        ),
    ]
    if table:
        parts.append("\n".join(["| part | what | meaning |", "|---|---|---|", *table]))
    if definition.constraints:
        parts.append(
            "\n".join(
                f"- **{rule.label}** `{rule.text}`: else *{rule.message}* ({rule.code}); {rule.help}"
                for rule in definition.constraints
            )
        )
    free = " The sign of a zero is free." if definition.sign_of_zero_is_free else ""
    parts += [
        f"Error budget: {definition.budget}.{free}",
        f"Samples: {', '.join(_sample_texts(definition))}.",
    ]
    return "\n\n".join(parts)


def signature(definition: OpDef) -> str:
    """How an op is written: operands, then attributes, regions and results."""
    operands = [
        name + ("?" if facet.optional else "*" if facet.variadic else "")
        for name, facet in definition.operands.items()
    ]
    attributes = [
        name if facet.required else f"{name}={facet.default!r}"
        for name, facet in definition.attributes.items()
    ]
    regions = "".join(f" {{{name}}}" for name in definition.regions)
    results = [name + ("*" if facet.variadic else "") for name, facet in definition.results.items()]
    inside = ", ".join(operands) + (f"; {', '.join(attributes)}" if attributes else "")
    return f"{definition.name}({inside}){regions}" + (f" -> {', '.join(results)}" if results else "")


def _row(name: str, what: str, meaning: str) -> str:
    return f"| {name} | {what} | {meaning} |".replace("\n", " ")


def _operand(facet: OperandFacet) -> str:
    rank = f" of rank {' or '.join(map(str, facet.rank))}" if facet.rank else ""
    kind = "optional " if facet.optional else "any number of " if facet.variadic else ""
    return f"{kind}{facet.pattern.text}{rank}"


def _attribute(facet: AttributeFacet) -> str:
    kinds = " or ".join("dtype" if kind is DType else kind.__name__ for kind in facet.kinds)
    choices = "" if facet.choices is None else ": " + ", ".join(repr(choice) for choice in facet.choices)
    return kinds + choices + ("" if facet.required else f", default {facet.default!r}")


def _sample_texts(definition: OpDef) -> Iterator[str]:
    """A few samples, those first that differ in their types."""
    seen: dict[str, None] = {}
    for sample in definition.samples:
        seen.setdefault(_sample_text(sample))
    yield from list(seen)[:4]


def _sample_text(sample: Sample) -> str:
    types = [
        f"{name}: {kinds if isinstance(kinds, str) else '(' + ', '.join(kinds) + ')'}"
        for name, kinds in sample.types.items()
    ]
    attributes = [f"{name}={value}" for name, value in sample.attributes.items()]
    return "`" + ", ".join([*types, *attributes] or ["no operands"]) + "`"
