"""The dialect `buffer`: memory of a target's spaces, views of it, copies, and instructions that work on it.

What a kernel becomes when its tiles are given places. Ops name the `engine` that executes them and the kind of
`core` it belongs to, as the target description does. Elements of a buffer are counted in row-major order of its
shape whatever its layout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import BufferType, ScalarType, Type, element_of, pointee_of
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    OpSet,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyNumber, Bool, Integer, Pointer, buffer, buffer_or_scalar, scalar
from xdsl_core.ops._buffers import (
    Memory,
    apply,
    dense_strides,
    read,
    row_major,
    view_layout,
    window,
    write,
)
from xdsl_core.ops._shared import ONE_OF_EACH
from xdsl_core.ops.atomic import KINDS

ROW_MAJOR = "row_major"
STRIDED = "strided"
_WRITES = (Trait.WRITES_MEMORY,)
_COPIES = (Trait.READS_MEMORY, Trait.WRITES_MEMORY)


def _engine() -> Any:
    return attribute(str, doc="the engine whose queue it goes to", default="")


def _core() -> Any:
    return attribute(str, doc="the kind of core, empty where all are alike", default="")


def _each(*names: str, shape: str = "4x8x", space: str = "UB") -> tuple[dict[str, str], ...]:
    """Buffers of one type in the named operands, one mapping for each family of elements."""
    return tuple(
        dict.fromkeys(names, f"buffer<{shape}{element}, {space}, row_major>") for element in ONE_OF_EACH
    )


SAME_SHAPE = constraint(
    "C1",
    "destination.shape == source.shape",
    "the buffers differ in shape",
    help="view the larger one in the shape of the other",
    code="X0213",
)


@op("buffer.allocate", since="0.1", profile="ext-dsa")
class Allocate:
    """Memory of its own in a space; what it holds at first is undefined.

    `copies` parts of the type's size follow each other, for the iterations of a loop that are in flight at once.
    `offset` is the first byte of the first part, from the start of the space, -1 until memory is planned.
    """

    type = attribute(BufferType, doc="shape, element, space and layout of one part")
    copies = attribute(int, doc="how many parts there are", default=1)
    offset = attribute(int, doc="the first byte in the space", default=-1)
    result = result(doc="the memory; of several parts, to be selected from")
    constraints = (
        constraint("C1", "copies >= 1", "a buffer has at least one part", help="ask for one part or more"),
    )
    samples = tuple(
        Sample({}, {"type": BufferType((4, 8), dtype, "UB"), "copies": copies})
        for dtype, copies in ((dtypes.f32, 1), (dtypes.i1, 2), (dtypes.f16, 3))
    )
    error_samples = (ErrorSample("C1", {}, {"type": BufferType((4,), dtypes.f32, "UB"), "copies": 0}),)
    budget = Exact()

    @type_rule
    def _(type: BufferType) -> Type:
        return type

    @reference
    def _compute(type: BufferType, copies: int) -> Any:
        return Memory.fresh(type, copies)


@op("buffer.select", since="0.1", profile="ext-dsa", traits=(Trait.PURE, Trait.MOVEMENT))
class Select:
    """One of the parts of an allocation."""

    source = operand(buffer(AnyNumber), doc="the allocation")
    part = operand(scalar(Integer), doc="which part, from 0")
    result = result(doc="the part")
    samples = tuple(
        Sample({**types, "part": kind}, values={"part": 0})
        for types, kind in zip(_each("source"), ("i32", "u8", "i64") * 4, strict=False)
    )
    budget = Exact()

    @type_rule
    def _(source: Type) -> Type:
        return source

    @reference
    def _compute(source: Any, part: Any) -> Any:
        return source.select(int(part))


@op("buffer.view", since="0.1", profile="ext-dsa", traits=(Trait.PURE, Trait.MOVEMENT))
class View:
    """Another look at the elements of an allocation: element [i, j] is number start + i*strides[0] + j*strides[1].

    start is `offset` plus the element at `origins`. A stride of 0 repeats elements, for reading only. Of a
    buffer in blocks only matrices of neighbouring rows and columns can be seen, transposed or not.
    """

    source = operand(buffer(AnyNumber), doc="an allocation, or a part of one")
    origins = operand(scalar(Integer), doc="one index for each dimension of the source, or none", variadic=True)
    shape = attribute(tuple, doc="extents of the view")
    strides = attribute(tuple, doc="elements of the source from one element of the view to the next")
    offset = attribute(int, doc="the first element", default=0)
    result = result(doc="the view")
    constraints = (
        constraint(
            "C1",
            "len(shape) == len(strides)",
            "a view needs a stride for each extent",
            help="give as many strides as extents",
        ),
        constraint(
            "C2",
            "len(origins) in (0, len(source.shape))",
            "the origin has another rank than the source",
            help="give one index for each dimension of the source, or none",
        ),
    )
    samples = (
        *(Sample(types, {"shape": (8, 4), "strides": (1, 8)}) for types in _each("source")),
        *(
            Sample(
                {"source": "buffer<4x8xf32, UB, row_major>", "origins": (kind, kind)},
                {"shape": (3, 5), "strides": (0, 1), "offset": 2},
                {"origins": (1, 0)},
            )
            for kind in ("i32", "i64", "u8")
        ),
    )
    error_samples = (
        ErrorSample("C1", {"source": "buffer<4xf32, UB>"}, {"shape": (2, 2), "strides": (1,)}),
        ErrorSample(
            "C2", {"source": "buffer<4x4xf32, UB>", "origins": ("i32",)}, {"shape": (4,), "strides": (1,)}
        ),
    )
    budget = Exact()

    @type_rule
    def _(source: BufferType, shape: tuple[int, ...], strides: tuple[int, ...]) -> Type:
        return BufferType(shape, source.element, source.space, view_layout(source, shape, strides))

    @reference
    def _compute(source: Any, origins: Any, shape: Any, strides: Any, offset: int) -> Any:
        return source.view(tuple(map(int, origins)), shape, strides, offset)


@op("buffer.window", since="0.1", profile="ext-dsa", traits=(Trait.PURE, Trait.MOVEMENT))
class Window:
    """Global memory as a buffer: element [i, j] stands i*strides[0] + j*strides[1] elements after the pointer."""

    pointer = operand(scalar(Pointer), doc="address of the first element")
    strides = operand(scalar(Integer), doc="elements from one to the next, one for each extent", variadic=True)
    shape = attribute(tuple, doc="extents, at least as large as what is accessed")
    space = attribute(str, doc="the target's name of global memory")
    element = attribute(DType, doc="what it holds; a bool is read as a byte", default=None)
    result = result(doc="the window")
    constraints = (
        constraint(
            "C1",
            "len(strides) == len(shape)",
            "a window needs a stride for each extent",
            help="give as many strides as extents",
        ),
    )
    samples = tuple(
        Sample(
            {"pointer": f"ptr<{element}>", "strides": (kind, kind)},
            {"shape": (2, 3), "space": "GM"},
            {"strides": (3, 1)},
        )
        for element, kind in zip(ONE_OF_EACH, ("i64", "i32", "u8") * 4, strict=False)
    )
    error_samples = (
        ErrorSample("C1", {"pointer": "ptr<f32>", "strides": ("i64",)}, {"shape": (2, 3), "space": "GM"}),
    )
    budget = Exact()

    @type_rule
    def _(pointer: Type, shape: tuple[int, ...], space: str, element: DType | None) -> Type:
        return BufferType(shape, element or pointee_of(pointer), space, STRIDED)

    @reference
    def _compute(op: Op, pointer: Any, strides: Any, shape: tuple[int, ...]) -> Any:
        return window(pointer, strides, shape, element_of(op.result.type))


@op("buffer.copy", since="0.1", profile="ext-dsa", traits=_COPIES)
class Copy:
    """Copies elements along a data path, or within one space; layout and dtype change if the path can do that.

    With `extents` only that many elements along each dimension are copied. The rest of the destination becomes
    `fill`, or stays as it is without one. `atomic` combines with what global memory holds, as atomic.rmw.
    """

    destination = operand(buffer(AnyNumber), doc="where elements go")
    source = operand(buffer(AnyNumber), doc="where they come from")
    extents = operand(scalar(Integer), doc="how many along each dimension, or none for all", variadic=True)
    fill = attribute(int, float, bool, doc="what stands beyond the extents", default=None)
    atomic = attribute(str, doc="how to combine", choices=("", *KINDS), default="")
    cache = attribute(str, doc="the hint of the load or store", default="")
    engine, core = _engine(), _core()
    constraints = (
        SAME_SHAPE,
        constraint(
            "C2",
            "len(extents) in (0, len(source.shape))",
            "extents and buffers differ in rank",
            help="give one extent for each dimension, or none",
        ),
    )
    samples = (
        *(Sample(types) for types in _each("destination", "source")),
        *(
            Sample(
                {
                    "destination": "buffer<4x8xf32, UB, row_major>",
                    "source": "buffer<4x8xf16, UB, row_major>",
                    "extents": (kind, kind),
                },
                {"fill": -1.0},
                {"extents": (2, 5)},
            )
            for kind in ("i64", "u32")
        ),
    )
    error_samples = (
        ErrorSample("C1", {"destination": "buffer<4xf32, UB>", "source": "buffer<5xf32, UB>"}),
        ErrorSample(
            "C2",
            {"destination": "buffer<4x2xf32, UB>", "source": "buffer<4x2xf32, UB>", "extents": ("i64",)},
        ),
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(
        machine: Any, op: Op, destination: Any, source: Any, extents: Any, fill: Any, atomic: str
    ) -> None:
        inside = tuple(slice(0, int(extent)) for extent in extents) or ...
        if fill is not None:
            write(machine, destination, np.full(op.operand("destination").type.shape, fill))
        values = read(machine, source, inside)
        write(machine, destination, values, inside, atomic=atomic)


@op("buffer.fill", since="0.1", profile="ext-dsa", traits=_WRITES)
class Fill:
    """Sets every element to one number."""

    destination = operand(buffer(AnyNumber), doc="what is set")
    value = operand(scalar(AnyNumber), doc="the number, of the buffer's element")
    engine, core = _engine(), _core()
    constraints = (
        constraint(
            "C1",
            "destination.element == value.element",
            "the number is of another dtype than the buffer",
            help="cast the number",
            code="X0209",
        ),
    )
    samples = tuple(
        Sample({"destination": f"buffer<4x{element}, UB, row_major>", "value": element})
        for element in ONE_OF_EACH
    )
    error_samples = (ErrorSample("C1", {"destination": "buffer<4xf32, UB>", "value": "i32"}),)

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, destination: Any, value: Any) -> None:
        write(machine, destination, np.full(op.operand("destination").type.shape, value))


@op("buffer.iota", since="0.1", profile="ext-dsa", traits=_WRITES)
class Iota:
    """Numbers the elements along an axis: start + position, the same on all other axes."""

    destination = operand(buffer(Integer), doc="what is set")
    start = operand(scalar(Integer), doc="the first number")
    axis = attribute(int, doc="the axis that is counted along", default=0)
    engine, core = _engine(), _core()
    constraints = (
        constraint(
            "C1",
            "0 <= axis < len(destination.shape)",
            "there is no such axis",
            help="axes count from 0 to the rank less 1",
            code="X0212",
        ),
    )
    samples = (
        Sample({"destination": "buffer<4x8xi32, UB, row_major>", "start": "i32"}, {"axis": 1}, {"start": 3}),
        Sample({"destination": "buffer<5xu8, UB, row_major>", "start": "u8"}, values={"start": 0}),
    )
    error_samples = (ErrorSample("C1", {"destination": "buffer<4xi32, UB>", "start": "i32"}, {"axis": 1}),)

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, destination: Any, start: Any, axis: int) -> None:
        shape = op.operand("destination").type.shape
        line = np.arange(shape[axis]).reshape([-1 if dim == axis else 1 for dim in range(len(shape))])
        write(machine, destination, np.broadcast_to(line + int(start), shape))


@op("buffer.compute", since="0.1", profile="ext-dsa", traits=_COPIES)
class Compute:
    """An op of the language on whole buffers: `operation` lane by lane, or along an axis, with its `attributes`.

    Sources stand in the op's order; scalars and elements at stride 0 count for every lane. A result without lanes
    goes to a buffer of one element. In place is fine for ops that work lane by lane.
    """

    destinations = operand(buffer(AnyNumber), doc="the results", variadic=True)
    sources = operand(buffer_or_scalar(AnyNumber), doc="the operands", variadic=True)
    operation = attribute(str, doc="the name of the op")
    attributes = attribute(dict, doc="its attributes", default=None)
    engine, core = _engine(), _core()
    constraints = (
        constraint(
            "C1",
            "len(destinations) >= 1",
            "an instruction without a result does nothing",
            help="give a destination for each result of the op",
        ),
    )
    samples = (
        *(
            Sample(
                {"destinations": (f"buffer<4x{e}, UB, row_major>",), "sources": (f"buffer<4x{e}, UB, row_major>", e)},
                {"operation": operation},
            )
            for e, operation in zip(
                ONE_OF_EACH, ("tile.add",) * (len(ONE_OF_EACH) - 1) + ("tile.and",), strict=True
            )
        ),
        Sample(
            {"destinations": ("buffer<1xf32, UB, row_major>",), "sources": ("buffer<6xf32, UB, row_major>",)},
            {"operation": "tile.reduce_sum", "attributes": {"axis": 0}},
        ),
    )
    error_samples = (ErrorSample("C1", {"destinations": (), "sources": ("f32",)}, {"operation": "tile.neg"}),)

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(
        machine: Any, op: Op, destinations: Any, sources: Any, operation: str, attributes: Any
    ) -> None:
        apply(machine, op, destinations, sources, operation, attributes or {})


@op("buffer.read", since="0.1", profile="ext-dsa", traits=(Trait.READS_MEMORY,))
class Read:
    """The first element of a buffer as a scalar. The scalar unit waits for it."""

    source = operand(buffer(AnyNumber), doc="where the element is")
    engine, core = _engine(), _core()
    result = result(doc="the element")
    samples = tuple(Sample(types) for types in _each("source", shape="1x"))
    budget = Exact()

    @type_rule
    def _(source: BufferType) -> Type:
        return ScalarType(source.element)

    @reference
    def _compute(machine: Any, source: Any) -> Any:
        return read(machine, source).reshape(-1)[0]


@op("buffer.gather", since="0.1", profile="ext-dsa", traits=_COPIES)
class Gather:
    """Loads single elements of global memory, each from its own address. Lanes masked off keep what they held."""

    destination = operand(buffer(AnyNumber), doc="one element a lane")
    addresses = operand(buffer(Integer), doc="addresses in bytes")
    mask = operand(buffer_or_scalar(Bool), doc="lanes that touch memory", optional=True)
    engine, core = _engine(), _core()
    constraints = (
        constraint(
            "C1",
            "destination.shape == addresses.shape",
            "the buffers differ in shape",
            help="give one address for each element",
            code="X0213",
        ),
    )
    samples = tuple(
        Sample(
            {
                "destination": f"buffer<4x{element}, UB, row_major>",
                "addresses": f"buffer<4x{kind}, UB, row_major>",
                "mask": "i1",
            }
        )
        for element, kind in zip(ONE_OF_EACH, ("i64", "u64") * 6, strict=False)
    )
    error_samples = (ErrorSample("C1", {"destination": "buffer<4xf32, UB>", "addresses": "buffer<5xi64, UB>"}),)

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, destination: Any, addresses: Any, mask: Any) -> None:
        element = element_of(op.operand("destination").type)
        where = read(machine, addresses)
        active = None if mask is None else np.broadcast_to(read(machine, mask), where.shape)
        write(machine, destination, machine.load(where, active, read(machine, destination), element))


@op("buffer.scatter", since="0.1", profile="ext-dsa", traits=_COPIES)
class Scatter:
    """Stores single elements to global memory, each to its own address; of equal ones one wins."""

    addresses = operand(buffer(Integer), doc="addresses in bytes")
    source = operand(buffer_or_scalar(AnyNumber), doc="one element a lane")
    mask = operand(buffer_or_scalar(Bool), doc="lanes that touch memory", optional=True)
    engine, core = _engine(), _core()
    samples = tuple(
        Sample(
            {
                "addresses": f"buffer<4x{kind}, UB, row_major>",
                "source": f"buffer<4x{element}, UB, row_major>",
                "mask": "i1",
            }
        )
        for element, kind in zip(ONE_OF_EACH, ("i64", "u64") * 6, strict=False)
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, addresses: Any, source: Any, mask: Any) -> None:
        where = read(machine, addresses)
        active = None if mask is None else np.broadcast_to(read(machine, mask), where.shape)
        values = np.broadcast_to(read(machine, source), where.shape)
        machine.store(where, values, active, element_of(op.operand("source").type))


@op("buffer.atomic", since="0.1", profile="ext-dsa", traits=(*_COPIES, Trait.ATOMIC))
class Atomic:
    """Updates single elements of global memory indivisibly, as atomic.rmw, or with `compare` as atomic.cas."""

    destination = operand(buffer(AnyNumber), doc="what was there before", optional=True)
    addresses = operand(buffer(Integer), doc="addresses in bytes")
    source = operand(buffer_or_scalar(AnyNumber), doc="one element a lane")
    compare = operand(buffer_or_scalar(AnyNumber), doc="replaces only where this is found", optional=True)
    mask = operand(buffer_or_scalar(Bool), doc="lanes that take part", optional=True)
    kind = attribute(str, doc="how to combine", choices=KINDS)
    engine, core = _engine(), _core()
    samples = tuple(
        Sample(
            {
                "destination": f"buffer<4x{element}, UB, row_major>",
                "addresses": f"buffer<4x{kind}, UB, row_major>",
                "source": f"buffer<4x{element}, UB, row_major>",
                "compare": f"buffer<4x{element}, UB, row_major>",
                "mask": "i1",
            },
            {"kind": "xchg"},
        )
        for element, kind in zip(ONE_OF_EACH, ("i64", "u64") * 6, strict=False)
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(
        machine: Any, op: Op, destination: Any, addresses: Any, source: Any, compare: Any, mask: Any, kind: str
    ) -> None:
        from xdsl_core.ops.atomic import update_of

        where = read(machine, addresses)
        operands = [source] if compare is None else [compare, source]
        values = tuple(np.broadcast_to(read(machine, value), where.shape) for value in operands)
        active = None if mask is None else np.broadcast_to(read(machine, mask), where.shape)
        update = update_of(kind, compares=compare is not None)
        old = machine.atomic(where, values, active, element_of(op.operand("source").type), update, orders=True)
        if destination is not None:
            write(machine, destination, old)


@op("buffer.multiply", since="0.1", profile="ext-dsa", traits=_COPIES)
class Multiply:
    """The matrix product lhs @ rhs, plus what the accumulator held unless `accumulate` is 0; see tile.dot."""

    accumulator = operand(buffer(AnyNumber), doc="M x N", rank=(2,))
    lhs = operand(buffer(AnyNumber), doc="M x K", rank=(2,))
    rhs = operand(buffer(AnyNumber), doc="K x N", rank=(2,))
    accumulate = operand(scalar(Integer), doc="0 to start a sum")
    precision = attribute(str, doc="of f32 factors", choices=("ieee", "tf32", "tf32x3"), default="ieee")
    engine, core = _engine(), _core()
    constraints = (
        constraint(
            "C1",
            "accumulator.shape == (lhs.shape[0], rhs.shape[1]) and lhs.shape[1] == rhs.shape[0]",
            "the shapes make no product",
            help="M x N = M x K @ K x N",
            code="X0211",
        ),
    )
    samples = tuple(
        Sample(
            {
                "accumulator": f"buffer<4x5x{element}, UB, row_major>",
                "lhs": f"buffer<4x3x{element}, UB, row_major>",
                "rhs": f"buffer<3x5x{element}, UB, row_major>",
                "accumulate": kind,
            }
        )
        for element, kind in zip(ONE_OF_EACH, ("i32", "u8") * 6, strict=False)
    )
    error_samples = (
        ErrorSample(
            "C1",
            {
                "accumulator": "buffer<4x4xf32, UB>",
                "lhs": "buffer<4x3xf32, UB>",
                "rhs": "buffer<4x4xf32, UB>",
                "accumulate": "i32",
            },
        ),
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, accumulator: Any, lhs: Any, rhs: Any, accumulate: Any) -> None:
        wide = dtypes.f64.numpy if element_of(op.operand("accumulator").type).is_float else np.int64  # type: ignore[union-attr]
        product = read(machine, lhs).astype(wide) @ read(machine, rhs).astype(wide)
        if int(accumulate):
            product = product + read(machine, accumulator)
        write(machine, accumulator, product)


@op("buffer.print", since="0.1", profile="ext-dsa", traits=(Trait.EFFECT, Trait.READS_MEMORY))
class Print:
    """Prints a buffer or scalar, as debug.print with one value."""

    value = operand(buffer_or_scalar(AnyNumber), doc="what to print", optional=True)
    prefix = attribute(str, doc="text before it")
    hex = attribute(bool, doc="integers in base 16", default=False)
    engine, core = _engine(), _core()
    samples = (
        *(Sample(types, {"prefix": "x"}) for types in _each("value")),
        Sample({}, {"prefix": "here"}),
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, value: Any, prefix: str, hex: bool) -> None:
        kinds = [element_of(each.type) for each in op.group("value")]
        machine.print(prefix, tuple((read(machine, value), kind) for kind in kinds), hex)


@op("buffer.assert", since="0.1", profile="ext-dsa", traits=(Trait.EFFECT, Trait.READS_MEMORY))
class Assert:
    """Stops with an error if a condition is false where the mask is true, as debug.assert."""

    condition = operand(buffer_or_scalar(Bool), doc="what must hold")
    mask = operand(buffer_or_scalar(Bool), doc="where it counts", optional=True)
    message = attribute(str, doc="what to say if it does not hold")
    engine, core = _engine(), _core()
    samples = (
        Sample({"condition": "i1"}, {"message": "holds"}, {"condition": True}),
        Sample({"condition": "buffer<4xi1, UB, row_major>", "mask": "i1"}, {"message": "holds"}),
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, condition: Any, mask: Any, message: str) -> None:
        machine.check(read(machine, condition), None if mask is None else read(machine, mask), message)


BUFFER = OpSet(
    (
        *(Allocate, Select, View, Window, Copy, Fill, Iota, Compute, Read, Gather, Scatter, Atomic),
        *(Multiply, Print, Assert),
    )
)

__all__ = [
    "BUFFER",
    "ROW_MAJOR",
    "STRIDED",
    "Allocate",
    "Assert",
    "Atomic",
    "Compute",
    "Copy",
    "Fill",
    "Gather",
    "Iota",
    "Multiply",
    "Print",
    "Read",
    "Scatter",
    "Select",
    "View",
    "Window",
    "dense_strides",
    "row_major",
]
