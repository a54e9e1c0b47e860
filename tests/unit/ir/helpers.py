"""Modules made of the ops' own samples, and a comparison of modules that no text goes through."""

from __future__ import annotations

from typing import Any

from xdsl_core.ir import Block, Builder, Function, Module, Op, Trait, Value, parse_module, parse_type
from xdsl_core.ir.attributes import attribute_key
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.ops import Return, opset


def parse(text: str) -> Module:
    return parse_module(text, opset())


DEFINITIONS = {definition.name: definition for definition in opset()}


def sample_module(definition: OpDef, sample: Sample) -> Module:
    """A function whose parameters are the operands of a sample and whose body is the op."""
    groups: list[tuple[str, ...]] = []
    for slot in definition.operand_schema:
        given = sample.types.get(slot.name, ())
        groups.append((given,) if isinstance(given, str) else tuple(given))
    types = [
        (f"p{number}", parse_type(text)) for number, text in enumerate(t for group in groups for t in group)
    ]
    function = Function("kernel", types)
    values = iter(function.parameters)
    operands = [[next(values) for _ in group] for group in groups]
    regions = [sample.regions[name]() for name in definition.region_names]
    results = definition.infer(operands, sample.attributes, regions)
    op = Op(definition, operands, results, sample.attributes, regions)
    function.block.append(op)
    if not op.has(Trait.TERMINATOR):
        Builder(function.block).build(Return)
    module = Module()
    module.add(function)
    return module


def description(module: Module, *, locations: bool = False, names: bool = True) -> Any:
    """Everything a module consists of, as nested tuples that are equal for equal modules."""
    numbers: dict[Value, int] = {}

    def define(values: Any) -> Any:
        for value in values:
            numbers[value] = len(numbers)
        return tuple((value.type, value.name if names else "") for value in values)

    def describe(op: Op) -> Any:
        attributes = {
            schema.name: schema.default for schema in op.definition.attribute_schema if not schema.required
        } | op.attributes
        return (
            op.name,
            op.segments,
            tuple(numbers[value] for value in op.operands),
            attribute_key(attributes),
            tuple(tuple(block(inner) for inner in region.blocks) for region in op.regions),
            define(op.results),
            op.location if locations else None,
        )

    def block(block: Block) -> Any:
        return define(block.arguments), tuple(describe(op) for op in block.ops)

    return attribute_key(module.attributes), tuple(
        (
            name,
            attribute_key(function.attributes),
            tuple(map(attribute_key, function.parameter_attributes)),
            tuple(block(inner) for inner in function.body.blocks),
            function.location if locations else None,
        )
        for name, function in module.functions.items()
    )
