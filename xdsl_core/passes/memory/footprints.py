"""What every op touches, and with which engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl_core.ir import Block, BufferType, Function, Op, PointerType, Trait, Value
from xdsl_core.ops import Load, Store
from xdsl_core.ops.buffer import Allocate, Assert, Atomic, Copy, Scatter, Select, View, Window
from xdsl_core.passes.memory.layouts import bytes_of_buffer
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.plan_memory import aligned

_WRITTEN = frozenset({"destination", "destinations", "accumulator"})
_BOTH = frozenset({"accumulator"})


@dataclass(frozen=True, slots=True, order=True)
class Engine:
    """A queue of a kind of core; `is_scalar` says that it is the one that hands out the work."""

    core: str
    name: str
    is_scalar: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of a space. Of global memory outside of scratch: a parameter, or None for anything.

    `rotates` is the block in which each iteration takes another part.
    """

    space: str
    first: int = 0
    last: int = 0
    parameter: Value | None = None
    rotates: Block | None = None

    @property
    def is_argument(self) -> bool:
        """Whether this is memory of the kernel's arguments."""
        return self.last == 0

    def meets(self, other: Extent) -> bool:
        if self.space != other.space or self.is_argument != other.is_argument:
            return False
        if self.is_argument:
            return self.parameter is None or other.parameter is None or self.parameter is other.parameter
        return self.first < other.last and other.first < self.last


@dataclass(slots=True)
class Footprint:
    """What one engine reads and writes in an op, regions included."""

    engine: Engine
    reads: set[Extent] = field(default_factory=set)
    writes: set[Extent] = field(default_factory=set)

    def meets(self, other: Footprint, rotating: Block | None, *, ignore_global: bool) -> bool:
        """Whether one writes what the other touches.

        Parts that rotate in the block `rotating` are different ones; with `ignore_global` memory of arguments
        is left out.
        """
        pairs = (
            (self.writes, other.writes),
            (self.writes, other.reads),
            (self.reads, other.writes),
        )
        return any(
            mine.meets(yours)
            for left, right in pairs
            for mine in left
            for yours in right
            if not (ignore_global and mine.is_argument)
            and not (rotating is not None and mine.rotates is rotating and mine == yours)
        )


class Footprints:
    """The footprints of the ops of a function, remembered. `overlapping` if parameters may be each other."""

    def __init__(self, function: Function, machine: Machine, *, overlapping: bool = False) -> None:
        self.function = function
        self.machine = machine
        self.overlapping = overlapping
        self.cores = cores_of(function, machine)
        self._known: dict[Op, list[Footprint]] = {}
        self.engines: set[Engine] = set()
        for op in function.walk():
            self.engines.update(footprint.engine for footprint in self.of(op))

    def of(self, op: Op) -> list[Footprint]:
        """One footprint for each engine that works in the op."""
        found = self._known.get(op)
        if found is None:
            found = self._known[op] = self._make(op)
        return found

    def slot(self, block: Block) -> Value | None:
        """The value that says which part this iteration of a block takes."""
        selects = (op for op in block.ops if op.definition is Select)
        return next((op.operand("part") for op in selects), None)

    def parts(self, block: Block) -> int:
        """How many parts buffers have that rotate in a block."""
        for op in block.ops:
            if op.definition is Select:
                source = op.operand("source").defining_op
                assert source is not None
                return int(source.attribute("copies"))
        return 1

    def _make(self, op: Op) -> list[Footprint]:
        if op.regions:
            merged: dict[Engine, Footprint] = {}
            for region in op.regions:
                for inner in region.block.ops:
                    for part in self.of(inner):
                        whole = merged.setdefault(part.engine, Footprint(part.engine))
                        whole.reads |= part.reads
                        whole.writes |= part.writes
            return list(merged.values())
        if op.definition in (Load, Store):
            return self._scalar_access(op)
        if op.definition in (Allocate, Select, View, Window) or not op.attributes.get("engine"):
            return []
        if not op.attributes["core"]:
            return [self._touched(op, self._scalar(core)) for core in self.cores]
        core, name = op.attributes["core"], op.attributes["engine"]
        return [self._touched(op, Engine(core, name, name == self.machine.scalar_engine(core)))]

    def _scalar(self, core: str) -> Engine:
        return Engine(core, self.machine.scalar_engine(core), True)

    def _touched(self, op: Op, engine: Engine) -> Footprint:
        """What an op on buffers reads and writes."""
        footprint = Footprint(engine)
        for schema, group in zip(op.definition.operand_schema, op.groups(), strict=True):
            for value in group:
                if isinstance(value.type, BufferType):
                    extent = self.extent(value)
                    if schema.name in _WRITTEN:
                        footprint.writes.add(extent)
                    if schema.name not in _WRITTEN or schema.name in _BOTH or op.has(Trait.ATOMIC):
                        footprint.reads.add(extent)
        self._add_indirect(op, footprint)
        return footprint

    def _add_indirect(self, op: Op, footprint: Footprint) -> None:
        """Single elements of global memory, which may be any."""
        anywhere = Extent(self.machine.global_space)
        if op.definition is Assert:
            # where it fails, stores before it have happened, and those after it have not
            footprint.reads.add(anywhere)
        names = [schema.name for schema in op.definition.operand_schema]
        if "addresses" not in names:
            return
        footprint.reads.add(anywhere)
        if names.index("addresses") == 0 or op.has(Trait.ATOMIC):
            footprint.writes.add(anywhere)

    def _scalar_access(self, op: Op) -> list[Footprint]:
        """A load by each core's scalar unit, a store by the vector core's."""
        extent = self._argument(op.operand("pointer"))
        vector = self.machine.core_of(self.machine.vector)
        cores = [vector] if op.definition is Store else self.cores
        found = []
        for core in cores:
            footprint = Footprint(self._scalar(core))
            (footprint.writes if op.definition is Store else footprint.reads).add(extent)
            found.append(footprint)
        return found

    def _argument(self, pointer: Value) -> Extent:
        """Memory of the argument that a pointer leads to."""
        parameter = None if self.overlapping else parameter_behind(pointer)
        return Extent(self.machine.global_space, parameter=parameter)

    def extent(self, value: Value) -> Extent:
        """The bytes behind a buffer value."""
        rotates = None
        op = value.defining_op
        while op is not None and op.definition in (View, Select):
            if op.definition is Select:
                rotates = op.block
            op = op.operands[0].defining_op
        assert op is not None
        kind = op.result.type
        assert isinstance(kind, BufferType)
        if op.definition is Window:
            return self._argument(op.operand("pointer"))
        space = self.machine.space(kind.space)
        first = int(op.attribute("offset"))
        size = aligned(bytes_of_buffer(kind.shape, kind.element, kind.layout), space)
        return Extent(kind.space, first, first + size * int(op.attribute("copies")), None, rotates)


def parameter_behind(pointer: Value) -> Value | None:
    """The kernel parameter that a pointer was made from; None if that is unknown."""
    while True:
        op = pointer.defining_op
        if op is None:
            block = pointer.owner
            region = block.region if isinstance(block, Block) else None
            return pointer if region is not None and isinstance(region.parent, Function) else None
        if not op.has(Trait.POINTER_ARITHMETIC):
            return None
        pointer = op.operands[0]


def written_parameters(function: Function) -> set[str]:
    """The names of the parameters that a function may write through; of all pointers if that is unknown."""
    found: set[Value | None] = set()
    for op in function.walk():
        if op.definition is Store:
            found.add(parameter_behind(op.operand("pointer")))
        elif op.definition in (Scatter, Atomic):
            found.add(None)
        elif op.definition is Copy:
            window = op.operand("destination").defining_op
            if window is not None and window.definition is Window:
                found.add(parameter_behind(window.operand("pointer")))
    pointers = [value for value in function.parameters if isinstance(value.type, PointerType)]
    return {value.name for value in pointers if None in found or value in found}


def cores_of(function: Function, machine: Machine) -> list[str]:
    """The kinds of cores whose engines a function uses; the vector core where it uses none."""
    used = {op.attributes.get("core") for op in function.walk()} - {None, ""}
    if any(op.definition is Store for op in function.walk()):
        used.add(machine.core_of(machine.vector))
    names = [kind.name for kind in machine.target.kinds if kind.name in used]
    return names or [machine.core_of(machine.vector)]
