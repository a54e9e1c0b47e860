"""Refuses definitions that are not whole: every part documented, every rule and dtype family sampled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl_core.ir.traits import Trait
from xdsl_core.opdef.facets import NoBudget
from xdsl_core.opdef.sampling import FAMILIES, family, sample_families

if TYPE_CHECKING:
    from xdsl_core.opdef.definition import OpDef

PROFILES = ("core", "tile", "full", "ext-atomics", "ext-fp8", "ext-dsa")


class DefinitionError(TypeError):
    """The class body of an op is not whole."""


def require_whole(definition: OpDef) -> None:
    """DefinitionError with the first thing that a definition lacks."""
    for problem in problems(definition):
        raise DefinitionError(f"{definition.name}: {problem}")


def problems(definition: OpDef) -> Iterator[str]:
    """What a definition lacks."""
    if not definition.doc:
        yield "no docstring"
    if definition.profile not in PROFILES:
        yield f"profile {definition.profile} is none of {', '.join(PROFILES)}"
    for group in (definition.operands, definition.attributes, definition.results, definition.regions):
        yield from (f"{name} has no doc" for name, facet in group.items() if not facet.doc)
    yield from _unknown_parameters(definition)
    yield from _rules_without_samples(definition)
    if not definition.samples:
        yield "no samples"
    for name in definition.operands:
        missing = missing_families(definition, name)
        if missing:
            yield f"no sample gives {name} an element of {', '.join(missing)}"
    if (
        definition.results
        and Trait.CONTROL not in definition.traits
        and isinstance(definition.budget, NoBudget)
    ):
        yield "no error budget"


def missing_families(definition: OpDef, operand: str) -> list[str]:
    """The families of elements that an operand takes and that no sample gives it."""
    pattern = definition.operands[operand].pattern
    taken = {family(dtype) for dtype in pattern.dtypes} | ({"pointer"} if pattern.pointers else set())
    given = sample_families(definition, operand)
    # values that only pass through on their way to or from a region need no sample of each
    if Trait.CONTROL in definition.traits or Trait.TERMINATOR in definition.traits:
        return []
    return [name for name in (*FAMILIES, "pointer") if name in taken - given]


def _rules_without_samples(definition: OpDef) -> Iterator[str]:
    labels = [rule.label for rule in definition.constraints]
    if labels != [f"C{number + 1}" for number in range(len(labels))]:
        yield f"constraint labels must be C1, C2, ... without gaps: {', '.join(labels)}"
    refused = {sample.constraint for sample in definition.error_samples}
    if refused != set(labels):
        yield f"error samples for {', '.join(sorted(refused))}; constraints are {', '.join(labels)}"


def _unknown_parameters(definition: OpDef) -> Iterator[str]:
    parts = {*definition.operands, *definition.attributes, *definition.regions}
    asked = (
        ("type rule", definition.rule_parameters, parts),
        ("reference", definition.meaning_parameters, parts | {"machine", "op"}),
        ("rule for undefined lanes", definition.undefined_parameters, parts | {"op", "undefined"}),
    )
    for role, parameters, known in asked:
        unknown = set(parameters) - known
        if unknown:
            yield f"the {role} asks for {', '.join(sorted(unknown))}; the op has {', '.join(sorted(known))}"
