"""The dialect `buffer`: memory of a target's spaces, views of it, copies, and instructions that work on it.

What a kernel becomes when its tiles are given places. Ops name the `engine` that executes them and the kind
of `core` it belongs to, as the target description does. Elements of a buffer are counted in row-major order
of its shape whatever its layout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import BufferType, Type, element_of, pointee_of
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
from xdsl_core.opdef.patterns import AnyNumber, Integer, Pointer, buffer, scalar
from xdsl_core.ops._buffer_parts import COPIES, WRITES, core_name, each, engine_name
from xdsl_core.ops._buffers import (
    Memory,
    dense_strides,
    read,
    row_major,
    view_layout,
    window,
    write,
)
from xdsl_core.ops._shared import ONE_OF_EACH
from xdsl_core.ops.atomic import KINDS
from xdsl_core.ops.buffer_work import (
    Assert,
    Atomic,
    Compute,
    Gather,
    Multiply,
    Print,
    Read,
    Scatter,
)

ROW_MAJOR = "row_major"
STRIDED = "strided"

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

    `copies` parts of the type's size follow each other, for the iterations of a loop that are in flight at
    once. `offset` is the first byte of the first part, from the start of the space, -1 until memory is
    planned.
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
        for types, kind in zip(each("source"), ("i32", "u8", "i64") * 4, strict=False)
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
    """Another look at the elements of an allocation: element [i, j] is number start + i*strides[0] +
    j*strides[1].

    start is `offset` plus the element at `origins`. A stride of 0 repeats elements, for reading only. Of a
    buffer in blocks only matrices of neighbouring rows and columns can be seen, transposed or not.
    """

    source = operand(buffer(AnyNumber), doc="an allocation, or a part of one")
    origins = operand(
        scalar(Integer), doc="one index for each dimension of the source, or none", variadic=True
    )
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
        *(Sample(types, {"shape": (8, 4), "strides": (1, 8)}) for types in each("source")),
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
    """Global memory as a buffer: element [i, j] stands i*strides[0] + j*strides[1] elements after the
    pointer.
    """

    pointer = operand(scalar(Pointer), doc="address of the first element")
    strides = operand(
        scalar(Integer), doc="elements from one to the next, one for each extent", variadic=True
    )
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


@op("buffer.copy", since="0.1", profile="ext-dsa", traits=COPIES)
class Copy:
    """Copies elements along a data path, or within one space; layout and dtype change if the path can do
    that.

    With `extents` only that many elements along each dimension are copied. The rest of the destination
    becomes `fill`, or stays as it is without one. `atomic` combines with what global memory holds, as
    atomic.rmw.
    """

    destination = operand(buffer(AnyNumber), doc="where elements go")
    source = operand(buffer(AnyNumber), doc="where they come from")
    extents = operand(scalar(Integer), doc="how many along each dimension, or none for all", variadic=True)
    fill = attribute(int, float, bool, doc="what stands beyond the extents", default=None)
    atomic = attribute(str, doc="how to combine", choices=("", *KINDS), default="")
    cache = attribute(str, doc="the hint of the load or store", default="")
    engine, core = engine_name(), core_name()
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
        *(Sample(types) for types in each("destination", "source")),
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


@op("buffer.fill", since="0.1", profile="ext-dsa", traits=WRITES)
class Fill:
    """Sets every element to one number."""

    destination = operand(buffer(AnyNumber), doc="what is set")
    value = operand(scalar(AnyNumber), doc="the number, of the buffer's element")
    engine, core = engine_name(), core_name()
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


@op("buffer.iota", since="0.1", profile="ext-dsa", traits=WRITES)
class Iota:
    """Numbers the elements along an axis: start + position, the same on all other axes."""

    destination = operand(buffer(Integer), doc="what is set")
    start = operand(scalar(Integer), doc="the first number")
    axis = attribute(int, doc="the axis that is counted along", default=0)
    engine, core = engine_name(), core_name()
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
