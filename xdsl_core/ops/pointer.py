"""Pointer arithmetic and conversions. Pointers are byte addresses; offsets count elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Op
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import PointerType, Type, pointee_of, with_element
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
from xdsl_core.opdef.patterns import Integer, Pointer, TypePattern
from xdsl_core.ops._shared import ELEMENTWISE, integers

ADDRESS = TypePattern("i64 or u64", (dtypes.i64, dtypes.u64))
_POINTER_ARITHMETIC = (*ELEMENTWISE, Trait.POINTER_ARITHMETIC)


def _offset_sample(pointer: str, offset: str) -> Sample:
    # pointers stand well inside their buffer: offsets this small stay inside too
    low = 0 if offset.rpartition("x")[2].startswith("u") or offset.startswith("u") else -9
    return Sample({"pointer": pointer, "offset": offset}, values={"offset": integers(low, 9)})


@op("tile.offset", since="0.1", profile="core", traits=_POINTER_ARITHMETIC)
class Offset:
    """The pointer moved by `offset` elements of what it points to, either way.

    The offset is widened to 64 bits by its signedness and multiplied by the element's size there, so it does
    not wrap in the offset's own width. A pointer may leave its buffer as long as nothing is accessed there.
    """

    pointer = operand(Pointer, doc="a pointer or a tile of pointers")
    offset = operand(Integer, doc="elements to move by, of the shape of the pointer")
    result = result(doc="pointers of the type of `pointer`")
    constraints = (
        constraint(
            "C1",
            "pointer.shape == offset.shape",
            "pointer and offset differ in shape",
            help="broadcast the pointer or the offset",
            code="X0210",
        ),
    )
    samples = (
        *(_offset_sample("ptr<f32>", kind) for kind in ("i32", "i64", "u32")),
        *(
            _offset_sample(f"tile<5xptr<{e}>>", "tile<5xi32>")
            for e in ("f32", "f16", "i8", "i64", "f64", "i1")
        ),
        _offset_sample("tile<3x7xptr<bf16>>", "tile<3x7xi64>"),
        _offset_sample("tile<6xptr<u16>>", "tile<6xu8>"),
        _offset_sample("tile<6xptr<u16>>", "tile<6xi8>"),
        _offset_sample("tile<1xptr<i32>>", "tile<1xi16>"),
    )
    error_samples = (ErrorSample("C1", {"pointer": "ptr<f32>", "offset": "tile<4xi32>"}),)
    budget = Exact()

    @type_rule
    def _(pointer: Type) -> Type:
        return pointer

    @reference
    def _compute(op: Op, pointer: Any, offset: Any) -> Any:
        return pointer + offset.astype(np.int64) * pointee_of(op.result.type).bytes


@op("tile.pointer_to_int", since="0.1", profile="full", traits=ELEMENTWISE)
class PointerToInt:
    """The byte address as i64.

    What number it is differs from run to run and between backends; differences of addresses in one buffer,
    and the alignment that parameter hints promise, do not.
    """

    pointer = operand(Pointer, doc="a pointer or a tile of pointers")
    result = result(doc="i64 of the shape of the pointer")
    samples = (
        Sample({"pointer": "ptr<f32>"}, comparable=False),
        Sample({"pointer": "tile<5xptr<i8>>"}, comparable=False),
    )
    budget = Exact()

    @type_rule
    def _(pointer: Type) -> Type:
        return with_element(pointer, dtypes.i64)

    @reference
    def _compute(pointer: Any) -> Any:
        return pointer


@op("tile.int_to_pointer", since="0.1", profile="full", traits=ELEMENTWISE)
class IntToPointer:
    """The pointer with a byte address, as made by `tile.pointer_to_int`; any other address must not be
    accessed.
    """

    operand = operand(ADDRESS, doc="byte addresses, a scalar or a tile")
    pointee = attribute(DType, doc="what the pointer points to")
    result = result(doc="pointers of the shape of the operand")
    samples = (
        Sample({"operand": "i64"}, {"pointee": dtypes.f32}, comparable=False),
        Sample({"operand": "tile<6xi64>"}, {"pointee": dtypes.i8}, comparable=False),
        Sample({"operand": "tile<3xu64>"}, {"pointee": dtypes.f16}, comparable=False),
    )
    budget = Exact()

    @type_rule
    def _(operand: Type, pointee: DType) -> Type:
        return with_element(operand, PointerType(pointee))

    @reference
    def _compute(operand: Any) -> Any:
        return operand.astype(np.int64)


@op("tile.pointer_cast", since="0.1", profile="full", traits=_POINTER_ARITHMETIC)
class PointerCast:
    """The same address, read as a pointer to another element. The memory space stays."""

    pointer = operand(Pointer, doc="a pointer or a tile of pointers")
    pointee = attribute(DType, doc="what the result points to")
    result = result(doc="pointers of the shape of the operand")
    samples = (
        Sample({"pointer": "ptr<f32>"}, {"pointee": dtypes.i32}),
        Sample({"pointer": "tile<3x5xptr<i64>>"}, {"pointee": dtypes.u8}),
        Sample({"pointer": "tile<1xptr<bf16>>"}, {"pointee": dtypes.u16}),
    )
    budget = Exact()

    @type_rule
    def _(pointer: Type, pointee: DType) -> Type:
        assert not isinstance(pointer.element, DType)  # type: ignore[union-attr]
        return with_element(pointer, PointerType(pointee, pointer.element.space))  # type: ignore[union-attr]

    @reference
    def _compute(pointer: Any) -> Any:
        return pointer
