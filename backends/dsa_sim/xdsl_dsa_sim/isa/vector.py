"""Instructions of the vector unit: lane by lane from the op table, reductions, scans, fills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Block as IrBlock
from xdsl_core.ir.core import Op, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import ScalarType, dtype_of
from xdsl_core.opdef import OpDef
from xdsl_core.ops import math, opset
from xdsl_dsa_sim.isa.definition import (
    REDUCTION,
    SCAN,
    VECTOR,
    AttributeSpec,
    InstructionDef,
    OperandSpec,
    number,
    reads,
    reads_either,
    writes,
)
from xdsl_dsa_sim.isa.views import View, to_storage

_PREFIX = "tile."
_CONDITION = "condition"


def is_lanewise(definition: OpDef) -> bool:
    """Whether an op of the table becomes an instruction that works lane by lane on numbers."""
    return (
        Trait.ELEMENTWISE in definition.traits
        and "pointer" not in definition.name
        and Trait.POINTER_ARITHMETIC not in definition.traits
    )


@cache
def lanewise_ops() -> Mapping[str, OpDef]:
    """Mnemonic to op definition of everything that works lane by lane."""
    return {op.name.removeprefix(_PREFIX): op for op in opset() if is_lanewise(op)}


def is_function(name: str) -> bool:
    """Whether a mnemonic is a mathematical function (of ops.math), which units do in several steps."""
    definition = lanewise_ops().get(name)
    return definition is not None and definition.meaning.__module__ == math.__name__


@cache
def _result(definition: OpDef, dtype: DType, to: DType | None) -> DType:
    block = IrBlock([])
    groups = [
        [Value(ScalarType(operand_dtype(name, dtype)), block, index)]
        for index, name in enumerate(definition.operands)
    ]
    (kind,) = definition.infer(groups, {} if to is None else {"to": to}, ())
    return dtype_of(kind)


def lanewise_result(definition: OpDef, dtype: DType, attributes: Mapping[str, Any]) -> DType:
    """The dtype of the result of a lanewise op on operands of `dtype`."""
    return _result(definition, dtype, attributes.get("to"))


def operand_dtype(name: str, dtype: DType) -> DType:
    """The dtype of an operand of a lanewise instruction with mnemonic dtype `dtype`."""
    return dtypes.i1 if name == _CONDITION else dtype


@cache
def _sample_op(definition: OpDef, source: DType, result: DType) -> Op:
    """An op of the IR on scalars, for references that ask for the types of their operands."""
    block = IrBlock([])
    groups = [
        [Value(ScalarType(operand_dtype(name, source)), block, index)]
        for index, name in enumerate(definition.operands)
    ]
    attributes = {"to": result} if "to" in definition.attributes else {}
    return Op(definition, groups, [ScalarType(result)], attributes)


def compute(
    definition: OpDef, dtype: DType, result: DType, operands: tuple[Any, ...], attributes: Mapping[str, Any]
) -> Any:
    """An op's reference on stored numbers, as stored numbers of `result`."""
    op = _sample_op(definition, dtype, result)
    names: dict[str, Any] = {"op": op, "to": result, **attributes}
    for name, operand in zip(definition.operands, operands, strict=True):
        names[name] = operand
    with np.errstate(all="ignore"):
        found = definition.meaning(*(names[parameter] for parameter in definition.meaning_parameters))
        return to_storage(found, result)


def wide(value: Any, dtype: DType) -> Any:
    """A number or a view as a reference takes it: floats in float64, integers in their dtype."""
    if isinstance(value, View):
        return value.numbers()
    if dtype.is_float:
        return np.asarray(to_storage(value, dtype)).astype(np.float64)
    return np.asarray(int(value) & (1 << dtype.bits) - 1, f"u{dtype.bytes}").astype(dtype.numpy)


def _attributes_of(definition: OpDef) -> tuple[AttributeSpec, ...]:
    return tuple(
        AttributeSpec(name, facet.kinds, facet.doc, facet.default, facet.choices or ())
        for name, facet in definition.attributes.items()
        if name != "to"
    )


def _lanewise_semantics(definition: OpDef) -> Callable[..., Any]:
    def meaning(
        destination: View, dtype: DType, operands: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> None:
        values = tuple(wide(operands[name], operand_dtype(name, dtype)) for name in definition.operands)
        result = compute(definition, dtype, destination.dtype, values, attributes)
        destination.write(np.broadcast_to(result, destination.shape))

    return meaning


def _lanewise(name: str, definition: OpDef) -> InstructionDef:
    operands: tuple[OperandSpec, ...] = tuple(
        reads_either(operand, facet.doc) for operand, facet in definition.operands.items()
    )
    return InstructionDef(
        name=name,
        doc=f"{definition.doc}\n\nLane by lane; a source of stride 0 or a number stands for every lane.",
        unit="vector",
        operands=(writes("destination", "the results"), *operands),
        attributes=_attributes_of(definition),
        typed=True,
        semantics=_lanewise_semantics(definition),
        timing=VECTOR,
        shapes="broadcast",
        cost_class=name,
    )


@cache
def lanewise_instructions() -> tuple[InstructionDef, ...]:
    """One instruction for every op of the table that works lane by lane."""
    return tuple(_lanewise(name, definition) for name, definition in lanewise_ops().items())


def _along_axis(name: str) -> Callable[..., Any]:
    definition = opset()[f"{_PREFIX}{name}"]

    def meaning(destination: View, source: View, attributes: Mapping[str, Any]) -> None:
        names = {"source": source.numbers(), **attributes}
        with np.errstate(all="ignore"):
            found = definition.meaning(*(names[parameter] for parameter in definition.meaning_parameters))
        destination.store(np.reshape(found, destination.shape))

    return meaning


def _position_along_axis(name: str) -> Callable[..., Any]:
    definition = opset()[f"{_PREFIX}{name}"]

    def meaning(value: View, index: View, source: View, attributes: Mapping[str, Any]) -> None:
        names = {"source": source.numbers(), **attributes}
        best, where = definition.meaning(*(names[parameter] for parameter in definition.meaning_parameters))
        value.store(np.reshape(best, value.shape))
        index.store(np.reshape(where, index.shape))

    return meaning


def _reduction(definition: OpDef) -> InstructionDef:
    name = definition.name.removeprefix(_PREFIX)
    two = "index" in definition.results
    destinations = (
        (writes("value", "the elements that won"), writes("index", "their positions along the axis"))
        if two
        else (writes("destination", "the source's shape without the axis, or with extent 1 there"),)
    )
    return InstructionDef(
        name=name,
        doc=definition.doc,
        unit="vector",
        operands=(*destinations, reads("source", "what is reduced")),
        attributes=_attributes_of(definition),
        semantics=_position_along_axis(name) if two else _along_axis(name),
        timing=REDUCTION,
        shapes="reduce",
        cost_class=name,
    )


def _scan(name: str) -> InstructionDef:
    definition = opset()[f"{_PREFIX}{name}"]
    return InstructionDef(
        name=name,
        doc=definition.doc,
        unit="vector",
        operands=(writes("destination", "of the source's shape"), reads("source", "what is scanned")),
        attributes=_attributes_of(definition),
        semantics=_along_axis(name),
        timing=SCAN,
        shapes="same destination source",
        cost_class=name,
    )


@cache
def reduction_instructions() -> tuple[InstructionDef, ...]:
    """Reductions and scans of the op table that have no region."""
    reductions = (op for op in opset() if Trait.REDUCTION in op.traits and not op.regions)
    return (*map(_reduction, reductions), *map(_scan, ("cumsum", "cumprod")))


def _fill(destination: View, value: Any) -> None:
    destination.write(to_storage(wide(value, destination.dtype), destination.dtype))


def _iota(destination: View, start: int, step: int, axis: int) -> None:
    shape = [1] * len(destination.shape)
    shape[axis] = -1
    line = int(start) + int(step) * np.arange(destination.shape[axis], dtype=np.int64)
    destination.write(line.astype(destination.dtype.numpy).reshape(shape))


def _move(destination: View, source: View) -> None:
    destination.write(np.broadcast_to(source.read(), destination.shape))


FILLS = (
    InstructionDef(
        name="fill",
        doc="""Sets every element to one number.""",
        unit="vector",
        operands=(writes("destination", "what is set"), number("value", "the number")),
        semantics=_fill,
        timing=VECTOR,
        cost_class="fill",
    ),
    InstructionDef(
        name="iota",
        doc="""Numbers the elements along an axis: start + step * position, the same on all other axes.""",
        unit="vector",
        operands=(
            writes("destination", "integers"),
            number("start", "the first number"),
            number("step", "from one to the next"),
        ),
        attributes=(AttributeSpec("axis", (int,), "the axis that is counted along", 0),),
        semantics=_iota,
        timing=VECTOR,
        cost_class="iota",
    ),
    InstructionDef(
        name="move",
        doc="""Copies within the vector unit's memory through any strides: broadcasts (stride 0), slices,
        transposition.""",
        unit="vector",
        operands=(writes("destination", "where elements go"), reads("source", "extents equal or broadcast")),
        semantics=_move,
        timing=VECTOR,
        shapes="broadcast",
        cost_class="move",
    ),
)
