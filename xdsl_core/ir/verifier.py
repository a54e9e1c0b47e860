"""Checks that a module is sound: structure, dominance, links, and every op's own rules."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_core.diagnostics import Diagnostic, Location, error
from xdsl_core.ir.core import Block, Function, Module, Op, Region, Value
from xdsl_core.ir.traits import Trait


def verify(module: Module) -> list[Diagnostic]:
    """Everything that is wrong with a module; empty for a valid one.

    Structure comes first: blocks end in a terminator, values are defined before their uses, ops have the
    parts that their definition names, links agree in both directions. Where that holds, the op's definition
    checks the rest, including what its regions take and give.
    """
    found: list[Diagnostic] = []
    for name, function in module.functions.items():
        if name != function.name:
            message = f"function {function.name} is registered as {name}"
            found.append(error("X0322", message, location=function.location))
        found += verify_function(function)
    return found


def verify_function(function: Function) -> list[Diagnostic]:
    """Everything that is wrong with one function."""
    verifier = _Verifier()
    if len(function.parameter_attributes) != len(function.parameters):
        message = f"function {function.name} has parameter attributes for another number of parameters"
        verifier.report("X0323", message, function.location)
    if verifier.region(function.body, function, f"function {function.name}", function.location):
        verifier.use_lists(function.location)
    return verifier.found


class _Verifier:
    """Walks one function. `visible` holds the values that may be used at the point reached."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self.ops: dict[int, Op] = {}
        self.values: list[Value] = []
        self.visible: set[Value] = set()

    def report(self, code: str, message: str, location: Location, label: str = "") -> None:
        self.found.append(error(code, message, location=location, label=label))

    def region(self, region: Region, parent: Op | Function, name: str, location: Location) -> bool:
        """Check a region; False if it has not one block, so that nothing inside can be checked."""
        if region.parent is not parent:
            self.report("X0322", f"{name}: a region names another parent", location)
        if len(region.blocks) != 1:
            self.report("X0323", f"{name}: a region has {len(region.blocks)} blocks, it needs one", location)
            return False
        self.block(region.blocks[0], region, name, location)
        return True

    def block(self, block: Block, region: Region, name: str, location: Location) -> None:
        if block.region is not region:
            self.report("X0322", f"{name}: a block names another region", location)
        start = len(self.values)
        self.define(block.arguments, block, name, location)
        for op in block.ops:
            self.op(op, block)
        for op in block.ops[:-1]:
            if op.has(Trait.TERMINATOR):
                self.report("X0320", f"{op.name} must be the last op of its block", op.location)
        if block.terminator is None:
            last = block.ops[-1].location if block.ops else location
            self.report("X0320", f"{name}: a block does not end in a terminator", last)
        self.visible.difference_update(self.values[start:])

    def define(self, values: Sequence[Value], owner: Op | Block, name: str, at: Location) -> None:
        for index, value in enumerate(values):
            if value.owner is not owner or value.index != index:
                self.report("X0322", f"{name}: value {index} names another owner or position", at)
        self.values += values
        self.visible.update(values)

    def op(self, op: Op, block: Block) -> None:
        if id(op) in self.ops:
            self.report("X0322", f"{op.name} stands in two places", op.location)
            return
        self.ops[id(op)] = op
        if op.block is not block:
            self.report("X0322", f"{op.name} names another block", op.location)
        before = len(self.found)
        self.parts(op)
        self.operands(op)
        for region in op.regions:
            self.region(region, op, op.name, op.location)
        self.define(op.results, op, op.name, op.location)
        if len(self.found) == before:
            self.rules(op)

    def parts(self, op: Op) -> None:
        definition = op.definition
        slots, segments = definition.operand_schema, op.segments
        if len(slots) != len(segments) or sum(segments) != len(op.operands):
            self.report("X0323", f"{op.name}: the operands do not fill the {len(slots)} slots", op.location)
        results = definition.result_schema
        if len(results) != len(op.results) and not any(result.variadic for result in results):
            message = f"{op.name} has {len(op.results)} results, its definition {len(results)}"
            self.report("X0323", message, op.location)
        if len(op.regions) != len(definition.region_names):
            names = ", ".join(definition.region_names) or "none"
            message = f"{op.name} has {len(op.regions)} regions, its definition has: {names}"
            self.report("X0323", message, op.location)

    def operands(self, op: Op) -> None:
        key = id(op)
        for index, value in enumerate(op.operands):
            if value not in self.visible:
                self.not_visible(op, index, value)
            if value.uses.get((key, index)) is not op:
                message = f"{op.name} is missing from the uses of its operand {index}"
                self.report("X0322", message, op.location)

    def not_visible(self, op: Op, index: int, value: Value) -> None:
        name = f"%{value.name}" if value.name else f"operand {index}"
        diagnostic = error("X0321", f"{op.name}: {name} is not defined here", location=op.location)
        origin = value.defining_op
        if origin is not None and origin.block is not None:
            diagnostic = diagnostic.with_note("note", f"it is a result of {origin.name}", origin.location)
        self.found.append(diagnostic)

    def rules(self, op: Op) -> None:
        try:
            self.found += op.definition.verify(op)
        except Exception as problem:
            message = f"{op.name}: its definition cannot check this use: {type(problem).__name__}: {problem}"
            self.report("X0324", message, op.location)

    def use_lists(self, location: Location) -> None:
        for value in self.values:
            for (key, index), op in value.uses.items():
                user = self.ops.get(key)
                operands = user.operands if user is op else ()
                if index >= len(operands) or operands[index] is not value:
                    message = f"value {value!r} lists a use by {op.name} that is not there"
                    self.report("X0322", message, op.location if op.location.line else location)
