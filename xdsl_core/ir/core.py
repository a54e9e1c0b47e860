"""Module > Function > Region > Block > Op, and the values between them (SSA with regions)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.ir.schema import Definition
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type


class Value:
    """An SSA value: a result of an op, or an argument of a block.

    `owner` is that op or block, `index` the position there, `name` a hint from the source (need not be
    unique), `uses` maps (id of op, operand index) to the using op.
    """

    __slots__ = ("index", "name", "owner", "type", "uses")

    def __init__(self, type: Type, owner: Op | Block, index: int, name: str = "") -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.name = name
        self.uses: dict[tuple[int, int], Op] = {}

    @property
    def defining_op(self) -> Op | None:
        """The op this is a result of; None for a block argument."""
        return self.owner if isinstance(self.owner, Op) else None

    @property
    def users(self) -> tuple[Op, ...]:
        """The ops that use this value, each once, in order of first use."""
        return tuple({id(op): op for op in self.uses.values()}.values())

    def replace_uses_with(self, other: Value) -> None:
        """Make every user of this value use `other`."""
        for (_, index), op in list(self.uses.items()):
            op.set_operand(index, other)
        if not other.name:
            other.name = self.name

    def __repr__(self) -> str:
        return f"<Value %{self.name or '?'}: {self.type}>"


class Op:
    """One operation.

    `operands` is flat; `segments` says how many belong to each operand slot of the definition.
    """

    __slots__ = (
        "attributes",
        "block",
        "definition",
        "location",
        "operands",
        "regions",
        "results",
        "segments",
    )

    def __init__(
        self,
        definition: Definition,
        operands: Sequence[Sequence[Value]],
        result_types: Sequence[Type],
        attributes: Mapping[str, Any] | None = None,
        regions: Iterable[Region] = (),
        location: Location = UNKNOWN,
    ) -> None:
        self.definition = definition
        self.segments = tuple(len(group) for group in operands)
        self.operands: tuple[Value, ...] = tuple(value for group in operands for value in group)
        self.attributes: dict[str, Any] = dict(attributes or {})
        self.regions: tuple[Region, ...] = tuple(regions)
        self.results: tuple[Value, ...] = tuple(Value(type, self, i) for i, type in enumerate(result_types))
        self.location = location
        self.block: Block | None = None
        for index, value in enumerate(self.operands):
            value.uses[id(self), index] = self
        for region in self.regions:
            region.parent = self

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    def has(self, trait: Trait) -> bool:
        return trait in self.definition.traits

    def group(self, name: str) -> tuple[Value, ...]:
        """The values in the operand slot `name` (none, one or several)."""
        start = 0
        for slot, count in zip(self.definition.operand_schema, self.segments, strict=True):
            if slot.name == name:
                return self.operands[start : start + count]
            start += count
        raise KeyError(f"{self.name} has no operand {name}")

    def operand(self, name: str) -> Value:
        """The value of the operand slot `name`; KeyError if it is absent."""
        group = self.group(name)
        if len(group) != 1:
            raise KeyError(f"{self.name}: operand {name} holds {len(group)} values")
        return group[0]

    def optional(self, name: str) -> Value | None:
        """The value of the optional operand slot `name`, or None."""
        group = self.group(name)
        return group[0] if group else None

    def groups(self) -> tuple[tuple[Value, ...], ...]:
        """The operands by slot, in the definition's order."""
        found, start = [], 0
        for count in self.segments:
            found.append(self.operands[start : start + count])
            start += count
        return tuple(found)

    def attribute(self, name: str) -> Any:
        """The value of an attribute, or its default."""
        if name in self.attributes:
            return self.attributes[name]
        for schema in self.definition.attribute_schema:
            if schema.name == name and not schema.required:
                return schema.default
        raise KeyError(f"{self.name} has no attribute {name}")

    def region(self, name: str) -> Region:
        return self.regions[self.definition.region_names.index(name)]

    def set_operand(self, index: int, value: Value) -> None:
        self.operands[index].uses.pop((id(self), index), None)
        self.operands = (*self.operands[:index], value, *self.operands[index + 1 :])
        value.uses[id(self), index] = self

    def set_group(self, name: str, values: Sequence[Value]) -> None:
        """Put other values into the operand slot `name`: none, one or several as the slot allows."""
        groups = list(self.groups())
        slots = self.definition.operand_schema
        groups[next(index for index, slot in enumerate(slots) if slot.name == name)] = tuple(values)
        for index, value in enumerate(self.operands):
            value.uses.pop((id(self), index), None)
        self.segments = tuple(len(group) for group in groups)
        self.operands = tuple(value for group in groups for value in group)
        for index, value in enumerate(self.operands):
            value.uses[id(self), index] = self

    def keep_results(self, keep: Sequence[int]) -> None:
        """Drop the results that are not listed; they must be unused."""
        self.results = tuple(_kept(self.results, keep))

    def drop_uses(self) -> None:
        """Forget the operands, here and in all regions, so that the op can be thrown away."""
        for index, value in enumerate(self.operands):
            value.uses.pop((id(self), index), None)
        for region in self.regions:
            for op in region.walk():
                for index, value in enumerate(op.operands):
                    value.uses.pop((id(op), index), None)

    def erase(self) -> None:
        """Remove the op from its block; its results must be unused."""
        used = [value for value in self.results if value.uses]
        if used:
            raise ValueError(f"{self.name} still has users: {used}")
        self.drop_uses()
        if self.block is not None:
            self.block.ops.remove(self)
            self.block = None

    def walk(self) -> Iterator[Op]:
        """This op, then all in its regions, in program order."""
        yield self
        for region in self.regions:
            yield from region.walk()

    @property
    def parent_op(self) -> Op | None:
        """The op whose region holds this one."""
        region = self.block.region if self.block is not None else None
        return region.parent if region is not None and isinstance(region.parent, Op) else None

    def __repr__(self) -> str:
        return f"<Op {self.name} at {self.location}>"


class Block:
    """A list of ops with arguments; the last op is the terminator."""

    __slots__ = ("arguments", "ops", "region")

    def __init__(self, argument_types: Sequence[Type] = (), names: Sequence[str] = ()) -> None:
        self.arguments: list[Value] = []
        self.ops: list[Op] = []
        self.region: Region | None = None
        for index, type in enumerate(argument_types):
            self.add_argument(type, names[index] if index < len(names) else "")

    def add_argument(self, type: Type, name: str = "") -> Value:
        value = Value(type, self, len(self.arguments), name)
        self.arguments.append(value)
        return value

    def keep_arguments(self, keep: Sequence[int]) -> None:
        """Drop the arguments that are not listed; they must be unused."""
        self.arguments = _kept(self.arguments, keep)

    def append(self, op: Op) -> Op:
        return self.insert(len(self.ops), op)

    def insert(self, index: int, op: Op) -> Op:
        op.block = self
        self.ops.insert(index, op)
        return op

    @property
    def terminator(self) -> Op | None:
        return self.ops[-1] if self.ops and self.ops[-1].has(Trait.TERMINATOR) else None

    def walk(self) -> Iterator[Op]:
        for op in list(self.ops):
            yield from op.walk()


def _kept(values: Sequence[Value], keep: Sequence[int]) -> list[Value]:
    """The values at some positions, renumbered; ValueError if another one has users."""
    kept = [values[index] for index in keep]
    dropped = {value.index for value in values} - set(keep)
    used = [values[index] for index in dropped if values[index].uses]
    if used:
        raise ValueError(f"values that still have users cannot be dropped: {used}")
    for index, value in enumerate(kept):
        value.index = index
    return kept


class Region:
    """Code inside an op or a function: one block (control flow is structured)."""

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.parent: Op | Function | None = None
        for block in blocks:
            self.add_block(block)

    def add_block(self, block: Block) -> Block:
        block.region = self
        self.blocks.append(block)
        return block

    @property
    def block(self) -> Block:
        """The only block."""
        (block,) = self.blocks
        return block

    def walk(self) -> Iterator[Op]:
        for block in self.blocks:
            yield from block.walk()


class Function:
    """A kernel: named, with typed parameters; `parameter_attributes` holds hints for each parameter."""

    __slots__ = ("attributes", "body", "location", "name", "parameter_attributes")

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, Type]],
        attributes: Mapping[str, Any] | None = None,
        parameter_attributes: Sequence[Mapping[str, Any]] | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        self.name = name
        self.attributes: dict[str, Any] = dict(attributes or {})
        hints = parameter_attributes or [{} for _ in parameters]
        self.parameter_attributes: list[dict[str, Any]] = [dict(hint) for hint in hints]
        self.location = location
        self.body = Region([Block([type for _, type in parameters], [name for name, _ in parameters])])
        self.body.parent = self

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def parameters(self) -> list[Value]:
        return self.block.arguments

    def walk(self) -> Iterator[Op]:
        return self.body.walk()


@dataclass(slots=True)
class Module:
    """Functions by name; `attributes` holds what passes agree on (target, stage)."""

    functions: dict[str, Function] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)

    def add(self, function: Function) -> Function:
        if function.name in self.functions:
            raise ValueError(f"function {function.name} is already there")
        self.functions[function.name] = function
        return function

    def walk(self) -> Iterator[Op]:
        for function in self.functions.values():
            yield from function.walk()

    def clone(self) -> Module:
        """A deep copy: values and ops are new, types, attributes and locations are shared."""
        copy = Module(attributes=dict(self.attributes))
        for function in self.functions.values():
            copy.add(clone_function(function))
        return copy


def clone_function(function: Function) -> Function:
    """A deep copy of a function."""
    copy = Function(
        function.name,
        [(value.name, value.type) for value in function.parameters],
        function.attributes,
        function.parameter_attributes,
        function.location,
    )
    mapping = dict(zip(function.parameters, copy.parameters, strict=True))
    for op in function.block.ops:
        copy.block.append(clone_op(op, mapping))
    return copy


def clone_op(op: Op, mapping: dict[Value, Value]) -> Op:
    """A copy of `op` with operands taken through `mapping`, which learns the new results."""
    groups = [[mapping.get(value, value) for value in group] for group in op.groups()]
    regions = [clone_region(region, mapping) for region in op.regions]
    types = [value.type for value in op.results]
    copy = Op(op.definition, groups, types, op.attributes, regions, op.location)
    for old, new in zip(op.results, copy.results, strict=True):
        new.name = old.name
        mapping[old] = new
    return copy


def clone_region(region: Region, mapping: dict[Value, Value]) -> Region:
    """A copy of a region; `mapping` learns the new block arguments and results."""
    copy = Region()
    for block in region.blocks:
        types = [value.type for value in block.arguments]
        fresh = copy.add_block(Block(types, [value.name for value in block.arguments]))
        mapping.update(zip(block.arguments, fresh.arguments, strict=True))
        for op in block.ops:
            fresh.append(clone_op(op, mapping))
    return copy
