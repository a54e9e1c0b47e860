"""The part of the dialect `buffer` that computes, reaches single elements, and shows values."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import BufferType, ScalarType, Type, element_of
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyNumber, Bool, Integer, buffer, buffer_or_scalar, scalar
from xdsl_core.ops._buffer_parts import COPIES, core_name, each, engine_name
from xdsl_core.ops._buffers import (
    apply,
    read,
    write,
)
from xdsl_core.ops._shared import ONE_OF_EACH
from xdsl_core.ops.atomic import KINDS


@op("buffer.compute", since="0.1", profile="ext-dsa", traits=COPIES)
class Compute:
    """An op of the language on whole buffers: `operation` lane by lane, or along an axis, with its
    `attributes`.

    Sources stand in the op's order; scalars and elements at stride 0 count for every lane. A result without
    lanes goes to a buffer of one element. In place is fine for ops that work lane by lane.
    """

    destinations = operand(buffer(AnyNumber), doc="the results", variadic=True)
    sources = operand(buffer_or_scalar(AnyNumber), doc="the operands", variadic=True)
    operation = attribute(str, doc="the name of the op")
    attributes = attribute(dict, doc="its attributes", default=None)
    engine, core = engine_name(), core_name()
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
                {
                    "destinations": (f"buffer<4x{e}, UB, row_major>",),
                    "sources": (f"buffer<4x{e}, UB, row_major>", e),
                },
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
    engine, core = engine_name(), core_name()
    result = result(doc="the element")
    samples = tuple(Sample(types) for types in each("source", shape="1x"))
    budget = Exact()

    @type_rule
    def _(source: BufferType) -> Type:
        return ScalarType(source.element)

    @reference
    def _compute(machine: Any, source: Any) -> Any:
        return read(machine, source).reshape(-1)[0]


@op("buffer.gather", since="0.1", profile="ext-dsa", traits=COPIES)
class Gather:
    """Loads single elements of global memory, each from its own address. Lanes masked off keep what they
    held.
    """

    destination = operand(buffer(AnyNumber), doc="one element a lane")
    addresses = operand(buffer(Integer), doc="addresses in bytes")
    mask = operand(buffer_or_scalar(Bool), doc="lanes that touch memory", optional=True)
    engine, core = engine_name(), core_name()
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
    error_samples = (
        ErrorSample("C1", {"destination": "buffer<4xf32, UB>", "addresses": "buffer<5xi64, UB>"}),
    )

    @type_rule
    def _() -> None:
        return None

    @reference
    def _compute(machine: Any, op: Op, destination: Any, addresses: Any, mask: Any) -> None:
        element = element_of(op.operand("destination").type)
        where = read(machine, addresses)
        active = None if mask is None else np.broadcast_to(read(machine, mask), where.shape)
        write(machine, destination, machine.load(where, active, read(machine, destination), element))


@op("buffer.scatter", since="0.1", profile="ext-dsa", traits=COPIES)
class Scatter:
    """Stores single elements to global memory, each to its own address; of equal ones one wins."""

    addresses = operand(buffer(Integer), doc="addresses in bytes")
    source = operand(buffer_or_scalar(AnyNumber), doc="one element a lane")
    mask = operand(buffer_or_scalar(Bool), doc="lanes that touch memory", optional=True)
    engine, core = engine_name(), core_name()
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


@op("buffer.atomic", since="0.1", profile="ext-dsa", traits=(*COPIES, Trait.ATOMIC))
class Atomic:
    """Updates elements of global memory indivisibly, as atomic.rmw, or with `compare` as atomic.cas."""

    destination = operand(buffer(AnyNumber), doc="what was there before", optional=True)
    addresses = operand(buffer(Integer), doc="addresses in bytes")
    source = operand(buffer_or_scalar(AnyNumber), doc="one element a lane")
    compare = operand(buffer_or_scalar(AnyNumber), doc="replaces only where this is found", optional=True)
    mask = operand(buffer_or_scalar(Bool), doc="lanes that take part", optional=True)
    kind = attribute(str, doc="how to combine", choices=KINDS)
    engine, core = engine_name(), core_name()
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
    def _compute(  # noqa: PLR0917
        machine: Any,
        op: Op,
        destination: Any,
        addresses: Any,
        source: Any,
        compare: Any,
        mask: Any,
        kind: str,
    ) -> None:
        from xdsl_core.ops.atomic import update_of

        where = read(machine, addresses)
        operands = [source] if compare is None else [compare, source]
        values = tuple(np.broadcast_to(read(machine, value), where.shape) for value in operands)
        active = None if mask is None else np.broadcast_to(read(machine, mask), where.shape)
        update = update_of(kind, compares=compare is not None)
        old = machine.atomic(
            where, values, active, element_of(op.operand("source").type), update, orders=True
        )
        if destination is not None:
            write(machine, destination, old)


@op("buffer.multiply", since="0.1", profile="ext-dsa", traits=COPIES)
class Multiply:
    """The matrix product lhs @ rhs, plus what the accumulator held unless `accumulate` is 0; see tile.dot."""

    accumulator = operand(buffer(AnyNumber), doc="M x N", rank=(2,))
    lhs = operand(buffer(AnyNumber), doc="M x K", rank=(2,))
    rhs = operand(buffer(AnyNumber), doc="K x N", rank=(2,))
    accumulate = operand(scalar(Integer), doc="0 to start a sum")
    precision = attribute(str, doc="of f32 factors", choices=("ieee", "tf32", "tf32x3"), default="ieee")
    engine, core = engine_name(), core_name()
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
    engine, core = engine_name(), core_name()
    samples = (
        *(Sample(types, {"prefix": "x"}) for types in each("value")),
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
    engine, core = engine_name(), core_name()
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
