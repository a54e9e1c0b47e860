"""Where the values of a kernel are while it becomes buffers and instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.dtypes import DType, i64
from xdsl_core.ir import Block, BufferType, Builder, Op, PointerType, Type, Value
from xdsl_core.ir.types import element_of
from xdsl_core.ops import PointerToInt
from xdsl_core.ops.buffer import Allocate, Compute, Copy, Fill, Read, View, dense_strides, row_major
from xdsl_core.passes.memory.facts import Facts
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.scalars import ScalarCode


@dataclass(frozen=True, slots=True)
class Uniform:
    """The same scalar, or pointer, in every lane."""

    value: Value


@dataclass(frozen=True, slots=True)
class Held:
    """Lanes in the vector unit's memory: element [i, j] of the tile is number offset + i*strides[0] +
    j*strides[1]
    of `base`. Also a scalar that was made there, with no extents.
    """

    base: Value
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def is_dense(self) -> bool:
        return row_major(self.shape, self.strides)


@dataclass(frozen=True, slots=True)
class Accumulated:
    """A matrix in the matrix unit's accumulator; `started` is 0 as long as nothing was added to it."""

    buffer: Value
    started: Value


Place = Uniform | Held | Accumulated


def stored_element(type: Type) -> DType:
    """What memory holds of an element: addresses for pointers."""
    element = element_of(type)
    return i64 if isinstance(element, PointerType) else element


@dataclass
class Lowering:
    """The state of one function's lowering: where values are, and where the next op goes.

    `places` knows tiles, and scalars in vector memory; `scalars` those in registers; `staged` the loads
    that feed the matrix unit, by memory; `accumulated` what its accumulator holds, also where vector memory
    has a copy. `builder` inserts at the point that has been reached.
    """

    machine: Machine
    analysis: IndexAnalysis
    builder: Builder
    facts: Facts
    places: dict[Value, Place] = field(default_factory=dict)
    scalars: dict[Value, Value] = field(default_factory=dict)
    staged: dict[tuple[Op, str], Value] = field(default_factory=dict)
    accumulated: dict[Value, Accumulated] = field(default_factory=dict)

    @property
    def code(self) -> ScalarCode:
        """Scalar code at the point that has been reached."""
        return ScalarCode(self.builder, self.scalar, self.read_lane)

    @contextmanager
    def inside(self, block: Block) -> Iterator[Builder]:
        """Insert at the end of another block for a while."""
        with self.builder.at(block):
            yield self.builder

    def scalar(self, value: Value) -> Value:
        """The register that holds a scalar of the kernel."""
        found = self.scalars.get(value)
        if found is None:
            place = self.places[value]
            assert isinstance(place, Held)
            found = self.read(place)
        return found

    def place(self, value: Value) -> Place:
        """Where a tile of the kernel is, or a scalar that may be in vector memory."""
        found = self.places.get(value)
        return Uniform(self.scalars[value]) if found is None else found

    def allocate(
        self,
        shape: Sequence[int],
        element: DType,
        *,
        name: str = "",
        space: str = "",
        layout: str = "row_major",
    ) -> Value:
        """Memory of its own, by default where vector instructions work."""
        kind = BufferType(tuple(shape) or (1,), element, space or self.machine.local, layout)
        made = self.builder.build(Allocate, type=kind).result
        made.name = name
        return made

    def new(self, shape: Sequence[int], element: DType, *, name: str = "", pad: bool = False) -> Held:
        """A tile's memory; with `pad` every row starts where vector instructions may start."""
        shape = tuple(shape)
        if not pad or len(shape) < 2:
            return Held(self.allocate(shape, element, name=name), shape, dense_strides(shape))
        lanes = max(1, self.machine.space(self.machine.local).alignment // element.bytes)
        padded = (*shape[:-1], -(-shape[-1] // lanes) * lanes)
        return Held(self.allocate(padded, element, name=name), shape, dense_strides(padded))

    def view(self, held: Held, *, origins: Sequence[Value] = ()) -> Value:
        """The buffer value for a tile in vector memory."""
        shape = held.shape or (1,)
        strides = held.strides or (1,)
        kind = held.base.type
        if not origins and not held.offset and shape == kind.shape and row_major(shape, strides):
            return held.base
        return self.builder.value(
            View, held.base, tuple(origins), shape=shape, strides=strides, offset=held.offset
        )

    def operand(self, place: Place) -> Value:
        """A place as an operand of an instruction: a buffer, or a scalar for all lanes."""
        if isinstance(place, Held):
            return self.view(place)
        assert isinstance(place, Uniform)
        if isinstance(place.value.type, PointerType):
            return self.builder.value(PointerToInt, place.value)
        return place.value

    def hold(self, place: Place, shape: Sequence[int], element: DType, *, name: str = "") -> Held:
        """The place as lanes in vector memory, filled in if it is a scalar."""
        if isinstance(place, Held):
            return place
        assert isinstance(place, Uniform)
        made = self.new(shape, element, name=name)
        self.fill(made, self.operand(place))
        return made

    def dense(self, place: Place, shape: Sequence[int], element: DType, *, name: str = "") -> Held:
        """The place as lanes that follow each other without gaps."""
        held = self.hold(place, shape, element, name=name)
        if held.is_dense and not held.offset:
            return held
        made = self.new(held.shape, element, name=name)
        self.move(made, held)
        return made

    def starts_rows_aligned(self, held: Held, element: DType) -> bool:
        """Whether a copy may take a tile as it is: neighbours along the last dimension, every row aligned."""
        if held.strides[-1:] != (1,) and held.shape[-1] > 1:
            return False
        unit = self.machine.space(self.machine.local).alignment
        pairs = zip(held.shape[:-1], held.strides[:-1], strict=True)
        rows = all(extent == 1 or (stride and stride * element.bytes % unit == 0) for extent, stride in pairs)
        return rows and held.offset * element.bytes % unit == 0

    def fill(self, target: Held, value: Value) -> None:
        """Put a scalar into every lane."""
        self.builder.build(Fill, self.view(target), value, **self.unit("fill"))

    def move(self, target: Held, source: Held) -> None:
        """Copy lanes within vector memory."""
        self.builder.build(Copy, self.view(target), self.view(source), (), **self.unit("move"))

    def put(self, target: Held, place: Place) -> None:
        """Give a tile's memory the lanes of a place."""
        if isinstance(place, Held):
            self.move(target, place)
        else:
            self.fill(target, self.operand(place))

    def compute(
        self,
        operation: str,
        destinations: Sequence[Held],
        sources: Sequence[Place],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """One instruction of the vector unit."""
        self.builder.build(
            Compute,
            [self.view(destination) for destination in destinations],
            [self.operand(source) for source in sources],
            operation=operation,
            attributes=dict(attributes) if attributes else None,
            **self.unit(operation),
        )

    def unit(self, operation: str) -> dict[str, Any]:
        """Engine and core of a vector instruction."""
        unit = self.machine.unit_for(operation)
        return {"engine": unit.queue, "core": self.machine.core_of(unit)}

    def scalar_unit(self) -> dict[str, Any]:
        """Engine and core of the scalar unit beside the vector unit."""
        core = self.machine.core_of(self.machine.vector)
        return {"engine": self.machine.scalar_engine(core), "core": core}

    def read(self, held: Held, origins: Sequence[Value] = ()) -> Value:
        """One element of vector memory as a scalar."""
        single = replace(held, shape=(1,), strides=(1,)) if held.shape else held
        return self.builder.value(Read, self.view(single, origins=origins), **self.scalar_unit())

    def read_lane(self, value: Value, places: Sequence[Value | None]) -> Value:
        """One lane of a tile of the kernel as a scalar."""
        place = self.places[value]
        if isinstance(place, Uniform):
            return place.value
        assert isinstance(place, Held)
        lanes = dict(enumerate(places))
        shape = place.base.type.shape
        dense = dense_strides(shape)
        code = self.code
        start = code.number(place.offset)
        for dim, stride in enumerate(place.strides):
            lane = lanes.get(dim)
            if lane is not None:
                start = code.add(start, code.multiply(code.wide(lane), code.number(stride)))
        # the base is one run of elements: count along its last dimension, whose stride is 1
        origins = [code.number(0)] * (len(shape) - 1) + [start]
        assert dense[-1] == 1
        return self.read(Held(place.base, (1,), (1,)), origins)


def space_of(buffer: Value) -> str:
    """The memory space that a buffer value is in."""
    assert isinstance(buffer.type, BufferType)
    return buffer.type.space


def refuse(op: Op, message: str, *, help: str) -> CompilationError:
    """The error for what the target cannot do."""
    return CompilationError(error("X0711", message, location=op.location, help=help))
