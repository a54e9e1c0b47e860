"""OpDef: an op's definition made from one class body, and the checks that the body is whole."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl_core.diagnostics import CompilationError, Diagnostic, error
from xdsl_core.ir.core import Op, Value
from xdsl_core.ir.schema import AttributeSchema, OperandSchema, ResultSchema
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type
from xdsl_core.opdef.completeness import DefinitionError, require_whole
from xdsl_core.opdef.facets import (
    AttributeFacet,
    Budget,
    Constraint,
    ErrorSample,
    NoBudget,
    OperandFacet,
    RegionFacet,
    ResultFacet,
    Sample,
)
from xdsl_core.opdef.rules import evaluate


@dataclass(frozen=True)
class OpDef:
    """Everything there is to know about an op except how a backend lowers it.

    `sign_of_zero_is_free` allows a backend a zero of either sign where the result is zero; else it is exact.
    """

    name: str
    since: str
    profile: str
    doc: str
    traits: frozenset[Trait]
    operands: Mapping[str, OperandFacet]
    attributes: Mapping[str, AttributeFacet]
    results: Mapping[str, ResultFacet]
    regions: Mapping[str, RegionFacet]
    constraints: tuple[Constraint, ...]
    rule: Callable[..., Any] = field(repr=False)
    meaning: Callable[..., Any] = field(repr=False)
    samples: tuple[Sample, ...] = field(repr=False)
    error_samples: tuple[ErrorSample, ...] = field(repr=False)
    budget: Budget = field(default_factory=NoBudget)
    undefined: Callable[..., Any] | None = field(default=None, repr=False)
    sign_of_zero_is_free: bool = False

    def __post_init__(self) -> None:
        operand_schema = tuple(OperandSchema(n, f.optional, f.variadic) for n, f in self.operands.items())
        attribute_schema = tuple(
            AttributeSchema(n, f.kinds, f.required, f.default) for n, f in self.attributes.items()
        )
        derived = {
            "operand_schema": operand_schema,
            "attribute_schema": attribute_schema,
            "result_schema": tuple(ResultSchema(n, f.variadic) for n, f in self.results.items()),
            "region_names": tuple(self.regions),
            "undefined_parameters": tuple(inspect.signature(self.undefined).parameters)
            if self.undefined
            else (),
            "rule_parameters": tuple(inspect.signature(self.rule).parameters),
            "meaning_parameters": tuple(inspect.signature(self.meaning).parameters),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    operand_schema: tuple[OperandSchema, ...] = field(init=False, repr=False, compare=False)
    attribute_schema: tuple[AttributeSchema, ...] = field(init=False, repr=False, compare=False)
    result_schema: tuple[ResultSchema, ...] = field(init=False, repr=False, compare=False)
    region_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    rule_parameters: tuple[str, ...] = field(init=False, repr=False, compare=False)
    meaning_parameters: tuple[str, ...] = field(init=False, repr=False, compare=False)
    undefined_parameters: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def namespace(
        self, operands: Sequence[Sequence[Value]], attributes: Mapping[str, Any], regions: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Names that constraints and type rules see: operand types, attributes with defaults, regions."""
        names: dict[str, Any] = {}
        for schema, group in zip(self.operand_schema, operands, strict=True):
            if schema.variadic:
                names[schema.name] = tuple(value.type for value in group)
            else:
                names[schema.name] = group[0].type if group else None
        for attribute in self.attribute_schema:
            names[attribute.name] = attributes.get(attribute.name, attribute.default)
        names.update(zip(self.region_names, regions, strict=False))
        return names

    def problems(
        self, operands: Sequence[Sequence[Value]], attributes: Mapping[str, Any], regions: Sequence[Any] = ()
    ) -> list[Diagnostic]:
        """All slots and attributes that this use breaks; if none, the first broken constraint."""
        found = [*self._slot_problems(operands), *self._attribute_problems(attributes)]
        if found or not self.constraints:
            return found
        names = self.namespace(operands, attributes, regions)
        broken = next((rule for rule in self.constraints if not evaluate(rule.expression, names)), None)
        return [] if broken is None else [self._broken(broken, operands, names)]

    def infer(
        self, operands: Sequence[Sequence[Value]], attributes: Mapping[str, Any], regions: Sequence[Any]
    ) -> tuple[Type, ...]:
        """Result types of a use; CompilationError with every broken rule."""
        found = self.problems(operands, attributes, regions)
        if found:
            raise CompilationError(found)
        return self._rule_types(self.namespace(operands, attributes, regions))

    def verify(self, op: Op) -> list[Diagnostic]:
        """All rules the op breaks, its recorded result types included."""
        groups = op.groups()
        found = self.problems(groups, op.attributes, op.regions)
        if not found:
            expected = self._rule_types(self.namespace(groups, op.attributes, op.regions))
            actual = tuple(value.type for value in op.results)
            if expected != actual:
                text = (
                    f"{self.name}: result types are {_types(actual)}, its type rule gives {_types(expected)}"
                )
                found.append(error("X0204", text))
        return [diagnostic.at(op.location) for diagnostic in found]

    def call_meaning(self, machine: Any, op: Op, groups: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """The reference applied to runtime values by operand slot; always a tuple of results."""
        names: dict[str, Any] = {"machine": machine, "op": op}
        for schema, group in zip(self.operand_schema, groups, strict=True):
            names[schema.name] = tuple(group) if schema.variadic else (group[0] if group else None)
        for attribute in self.attribute_schema:
            names[attribute.name] = op.attributes.get(attribute.name, attribute.default)
        names.update(zip(self.region_names, op.regions, strict=False))
        outcome = self.meaning(*(names[parameter] for parameter in self.meaning_parameters))
        if len(op.results) == 1 and not isinstance(outcome, tuple):
            return (outcome,)
        return () if outcome is None else tuple(outcome)

    def call_undefined(self, op: Op, operands: Mapping[str, Any], undefined: Mapping[str, Any]) -> Any:
        """The op's own rule for undefined lanes, applied to operands and their undefined lanes by name."""
        assert self.undefined is not None
        names: dict[str, Any] = {"op": op, "undefined": undefined, **operands}
        for attribute in self.attribute_schema:
            names[attribute.name] = op.attributes.get(attribute.name, attribute.default)
        return self.undefined(
            *(names[parameter] for parameter in inspect.signature(self.undefined).parameters)
        )

    def _rule_types(self, names: Mapping[str, Any]) -> tuple[Type, ...]:
        outcome = self.rule(*(names[parameter] for parameter in self.rule_parameters))
        if outcome is None:
            return ()
        return outcome if isinstance(outcome, tuple) else (outcome,)

    def _slot_problems(self, operands: Sequence[Sequence[Value]]) -> list[Diagnostic]:
        found = []
        for (name, facet), group in zip(self.operands.items(), operands, strict=True):
            if not facet.variadic and len(group) != 1 and not (facet.optional and not group):
                found.append(error("X0201", f"{self.name}: operand {name} is missing"))
            for value in group:
                if not facet.pattern.admits(value.type):
                    message = f"{self.name}: {name} must be {facet.pattern.text}"
                    found.append(error("X0201", message, label=f"{value.name or name} is {value.type}"))
                elif facet.rank is not None and len(value.type.shape) not in facet.rank:
                    ranks = " or ".join(map(str, facet.rank))
                    message = f"{self.name}: {name} must have rank {ranks}"
                    found.append(error("X0201", message, label=f"{value.name or name} is {value.type}"))
        return found

    def _attribute_problems(self, attributes: Mapping[str, Any]) -> list[Diagnostic]:
        found = []
        for name in attributes:
            if name not in self.attributes:
                known = ", ".join(self.attributes) or "none"
                found.append(error("X0203", f"{self.name}: no attribute {name}", help=f"it has: {known}"))
        for name, facet in self.attributes.items():
            if name not in attributes:
                if facet.required:
                    found.append(error("X0203", f"{self.name}: attribute {name} is missing"))
                continue
            value = attributes[name]
            kinds = " or ".join(kind.__name__ for kind in facet.kinds)
            if not facet.admits(value):
                found.append(error("X0203", f"{self.name}: attribute {name} must be {kinds}, not {value!r}"))
            elif facet.choices is not None and value not in facet.choices:
                known = ", ".join(map(repr, facet.choices))
                found.append(
                    error("X0203", f"{self.name}: attribute {name} is {value!r}", help=f"one of: {known}")
                )
        return found

    def _broken(
        self, rule: Constraint, operands: Sequence[Sequence[Value]], names: Mapping[str, Any]
    ) -> Diagnostic:
        mentioned = set(re.findall(r"[A-Za-z_]\w*", rule.text))
        parts = []
        for schema, group in zip(self.operand_schema, operands, strict=True):
            if schema.name in mentioned:
                parts += [f"{value.name or schema.name} is {value.type}" for value in group]
        parts += [f"{name} is {names[name]}" for name in self.attributes if name in mentioned]
        return error(
            rule.code,
            f"{self.name}: {rule.message}",
            label=", ".join(parts),
            requires=f"({rule.label}): {rule.text}",
            help=rule.help,
        )


def _types(types: Sequence[Type]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


def op(name: str, *, since: str, profile: str, traits: Sequence[Trait] = ()) -> Callable[[Any], Any]:
    """Make an OpDef from a class body and what its bases share. DefinitionError says what the body lacks."""

    def define(body: type) -> OpDef:
        parts: dict[str, Any] = {}
        for base in reversed(body.__mro__[:-1]):
            parts.update(vars(base))
        definition = OpDef(
            name=name,
            since=since,
            profile=profile,
            doc=inspect.cleandoc(body.__doc__ or ""),
            traits=frozenset(traits),
            operands=_facets(parts, OperandFacet),
            attributes=_facets(parts, AttributeFacet),
            results=_facets(parts, ResultFacet),
            regions=_facets(parts, RegionFacet),
            constraints=tuple(parts.get("constraints", ())),
            rule=_marked(name, parts, "type_rule"),
            meaning=_marked(name, parts, "reference"),
            samples=tuple(parts.get("samples", ())),
            error_samples=tuple(parts.get("error_samples", ())),
            budget=parts.get("budget", NoBudget()),
            undefined=_optional(parts, "undefined_lanes"),
            sign_of_zero_is_free=bool(parts.get("sign_of_zero_is_free", False)),
        )
        require_whole(definition)
        return definition

    return define


def _facets(parts: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {name.rstrip("_"): facet for name, facet in parts.items() if isinstance(facet, kind)}


def _optional(parts: Mapping[str, Any], mark: str) -> Callable[..., Any] | None:
    for part in reversed(list(parts.values())):
        function = part.__func__ if isinstance(part, staticmethod) else part
        if getattr(function, "__opdef__", None) == mark:
            return function
    return None


def _marked(name: str, parts: Mapping[str, Any], mark: str) -> Callable[..., Any]:
    function = _optional(parts, mark)
    if function is None:
        raise DefinitionError(f"{name}: no @{mark}")
    return function
