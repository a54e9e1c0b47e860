"""The readable text of the IR: `parse_module` reads it back, and equal modules give equal text.

    module {
      func @scale(%x: ptr<f32> {divisible_by = 16}, %n: i32) {
        %pid = grid.program_id {axis = 0} : i32
        %v = memory.load %p, mask = %m : tile<4xf32>
        %r0, %r1 = control.for %lo, %n, %step, inits = [%a, %b] : (tile<4xf32>, i32) body (%i: i32, %c: i32) {
          control.yield [%c, %i]
        }
        control.return
      }
    }

Required operands stand in order, optional and variadic ones after the name of their slot; a variadic slot
that is the op's only one needs no name. Attributes equal to their default are left out. A value is printed
under its name, with a number where the name is taken (`%x.1`), and by number alone where it has none (`%0`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.ir.attributes import print_attribute, print_attributes, print_key, quote
from xdsl_core.ir.core import Block, Function, Module, Op, Value
from xdsl_core.ir.schema import Definition
from xdsl_core.ir.types import Type

_PLAIN_VALUE = re.compile(r"[^\W\d]\w*")
_PLAIN_SYMBOL = re.compile(r"[^\W\d][\w.$]*")


def print_module(module: Module, *, locations: bool = False) -> str:
    """The text of a module; with `locations`, functions and ops carry their place in the source."""
    head = f"module attributes {print_attributes(module.attributes)} {{" if module.attributes else "module {"
    lines = [head]
    for function in module.functions.values():
        _Printer(lines, locations).function(function, "  ")
    lines.append("}")
    return "\n".join(lines) + "\n"


def print_function(function: Function, *, locations: bool = False) -> str:
    """The text of one function, as it stands in its module."""
    lines: list[str] = []
    _Printer(lines, locations).function(function, "")
    return "\n".join(lines) + "\n"


def print_op(op: Op, *, locations: bool = False) -> str:
    """The text of one op with its regions, for messages and debuggers: outer values appear by their name."""
    lines: list[str] = []
    _Printer(lines, locations).op(op, "")
    return "\n".join(lines)


def print_location(location: Location) -> str:
    """`"kernel.py":12:9 to 12:20 in "kernel" from ["caller.py":3:5]`; lines and columns count from 1."""
    if location == UNKNOWN:
        return "unknown"
    text = f"{quote(location.file)}:{location.line}:{location.column + 1}"
    if location.end_line or location.end_column:
        text += f" to {location.end_line}:{location.end_column + 1}"
    if location.function:
        text += f" in {quote(location.function)}"
    if location.callers:
        text += f" from [{', '.join(map(print_location, location.callers))}]"
    return text


class ValueNames(dict[Value, str]):
    """Names of values in one function, each once; a value that nothing defines (in a broken module) gets one.

    Names that are not `plain` are put in quotes.
    """

    def __init__(self, plain: re.Pattern[str] = _PLAIN_VALUE) -> None:
        super().__init__()
        self.plain = plain
        self.taken: dict[str, int] = {}

    def define(self, value: Value) -> str:
        """Choose the name of a value."""
        hint = value.name
        count = self.taken.get(hint, 0)
        self.taken[hint] = count + 1
        if not hint:
            text = f"%{count}"
        else:
            head = hint if self.plain.fullmatch(hint) else quote(hint)
            text = f"%{head}.{count}" if count else f"%{head}"
        self[value] = text
        return text

    def __missing__(self, value: Value) -> str:
        return self.define(value)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the ops of one definition are printed.

    `positional`: all slots take exactly one value. `sole`: the only slot is variadic. `attributes` are name,
    key text and default text (None if required) in order.
    """

    positional: bool
    sole: bool
    slots: tuple[tuple[str, bool, bool], ...]
    attributes: tuple[tuple[str, str, str | None], ...]
    known: frozenset[str]


@cache
def _plan(definition: Definition) -> _Plan:
    slots = tuple(
        (slot.name, slot.variadic, slot.optional or slot.variadic) for slot in definition.operand_schema
    )
    attributes = tuple(
        (schema.name, print_key(schema.name), None if schema.required else print_attribute(schema.default))
        for schema in definition.attribute_schema
    )
    return _Plan(
        positional=not any(named for _, _, named in slots),
        sole=len(slots) == 1 and slots[0][1],
        slots=slots,
        attributes=attributes,
        known=frozenset(name for name, _, _ in attributes),
    )


class _Printer:
    """Writes lines; holds what is computed once: value names, texts of types and plans of definitions."""

    def __init__(self, lines: list[str], locations: bool) -> None:
        self.write = lines.append
        self.locations = locations
        self.names = ValueNames()
        self.types: dict[int, str] = {}
        self.plans: dict[int, _Plan] = {}

    def function(self, function: Function, indent: str) -> None:
        parameters = []
        for value, hints in zip(function.parameters, function.parameter_attributes, strict=True):
            text = self.argument(value)
            parameters.append(f"{text} {print_attributes(hints)}" if hints else text)
        name = function.name if _PLAIN_SYMBOL.fullmatch(function.name) else quote(function.name)
        head = f"{indent}func @{name}({', '.join(parameters)})"
        if function.attributes:
            head += f" attributes {print_attributes(function.attributes)}"
        if self.locations:
            head += f" loc({print_location(function.location)})"
        self.write(head + " {")
        for block in function.body.blocks:
            self.block(block, indent + "  ")
        self.write(indent + "}")

    def block(self, block: Block, indent: str) -> None:
        for op in block.ops:
            self.op(op, indent)

    def op(self, op: Op, indent: str) -> None:
        definition = op.definition
        plan = self.plans.get(id(definition))
        if plan is None:
            plan = self.plans[id(definition)] = _plan(definition)
        text = definition.name
        if op.operands:
            if plan.positional:
                text += " " + ", ".join([self.names[value] for value in op.operands])
            else:
                text += self.operands(op, plan)
        if op.attributes:
            text += self.attributes(op, plan)
        results = op.results
        if results:
            # region names come first in the text, but a result is named before the values inside
            text = f"{', '.join(map(self.names.define, results))} = {text} : {self.result_types(results)}"
        if self.locations:
            text += f" loc({print_location(op.location)})"
        if op.regions:
            self.regions(op, indent + text, indent)
        else:
            self.write(indent + text)

    def operands(self, op: Op, plan: _Plan) -> str:
        names = self.names
        if plan.sole:
            return f" [{', '.join([names[value] for value in op.operands])}]"
        parts: list[str] = []
        named: list[str] = []
        start = 0
        for (name, variadic, keyword), count in zip(plan.slots, op.segments, strict=False):
            values = [names[value] for value in op.operands[start : start + count]]
            start += count
            if not keyword:
                parts += values
            elif values:
                text = ", ".join(values)
                named.append(f"{name} = [{text}]" if variadic else f"{name} = {text}")
        return " " + ", ".join(parts + named)

    def attributes(self, op: Op, plan: _Plan) -> str:
        attributes = op.attributes
        parts = []
        for name, key, default in plan.attributes:
            if name in attributes:
                text = print_attribute(attributes[name])
                if text != default:
                    parts.append(f"{key} = {text}")
        if len(attributes) > len(plan.attributes) or not plan.known.issuperset(attributes):
            extra = sorted(attributes.keys() - plan.known)
            parts += [f"{print_key(name)} = {print_attribute(attributes[name])}" for name in extra]
        return f" {{{', '.join(parts)}}}" if parts else ""

    def regions(self, op: Op, head: str, indent: str) -> None:
        inner = indent + "  "
        for index, region in enumerate(op.regions):
            names = op.definition.region_names
            head += f" {names[index] if index < len(names) else f'region{index}'}"
            for block in region.blocks or (Block(),):
                if block.arguments:
                    head += f" ({', '.join(map(self.argument, block.arguments))})"
                self.write(head + " {")
                self.block(block, inner)
                head = indent + "}"
        self.write(head)

    def argument(self, value: Value) -> str:
        return f"{self.names.define(value)}: {self.type(value.type)}"

    def result_types(self, results: tuple[Value, ...]) -> str:
        if len(results) == 1:
            return self.type(results[0].type)
        return f"({', '.join([self.type(value.type) for value in results])})"

    def type(self, type: Type) -> str:
        # by identity: hashing a type costs more than printing it
        text = self.types.get(id(type))
        if text is None:
            text = self.types[id(type)] = str(type)
        return text
