"""Turns a sample of an op into a kernel that any backend can run, with its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_core.dtypes import DType, i64
from xdsl_core.ir.builder import Builder
from xdsl_core.ir.core import Function, Module, Op, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import PointerType, Type, dtype_of, is_pointer, pointee_of
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.opdef.sampling import sample_data, sample_memory, sample_operands, sample_regions, sample_types
from xdsl_core.ops.control import Return
from xdsl_core.ops.creation import Arange, Splat
from xdsl_core.ops.memory import Load, Store
from xdsl_core.ops.pointer import Offset
from xdsl_core.ops.shape import Reshape

Array = Any  # numpy.ndarray


@dataclass(frozen=True, slots=True)
class SampleCase:
    """A kernel around one op.

    `arguments` are its arrays in the kernel's order, by parameter name: operands, buffers that pointer
    operands point into, and `outputs`, which hold the results afterwards (and buffers that the op writes).
    `result_types` are the op's own. One program runs it.
    """

    op: str
    module: Module
    arguments: dict[str, Array]
    outputs: tuple[str, ...]
    result_types: tuple[Type, ...]

    def fresh_arguments(self) -> dict[str, Array]:
        """Copies of the arguments, for a run that writes to them."""
        return {name: array.copy() for name, array in self.arguments.items()}


def is_runnable(definition: OpDef) -> bool:
    """Whether samples of an op can stand in a kernel of their own: terminators are parts of other ops."""
    return Trait.TERMINATOR not in definition.traits


def case_of(definition: OpDef, sample: Sample, *, seed: int = 0) -> SampleCase:
    """The kernel that loads the operands, applies the op, and stores the results, with data from `seed`.

    Results that are pointers are stored as what they point to. Results of samples that are not comparable are
    left out.
    """
    if not is_runnable(definition):
        raise ValueError(f"{definition.name} is a part of other ops: it has no kernel of its own")
    data, memory = sample_data(definition, sample, seed=seed), sample_memory(definition, sample, seed=seed)
    arguments: dict[str, Array] = {}
    operands: list[tuple[str, Type]] = []
    for name, kinds in sample_types(definition, sample).items():
        for number, kind in enumerate(kinds):
            parameter = f"{name}{number}" if definition.operands[name].variadic else name
            operands.append((parameter, kind))
            arguments[parameter] = _flat(data[name][number])
            if is_pointer(kind):
                arguments[f"{parameter}_memory"] = memory[name]
    results = _result_types(definition, sample)
    writes = Trait.WRITES_MEMORY in definition.traits
    outputs = [f"{name}_memory" for name, kind in operands if writes and is_pointer(kind)]
    for number, kind in enumerate(results if sample.comparable else ()):
        name = f"result{number}"
        outputs.append(name)
        arguments[name] = np.zeros(max(1, int(np.prod(kind.shape))), _stored(kind).numpy)
    module = _module(definition, sample, operands, arguments, results)
    return SampleCase(definition.name, module, arguments, tuple(outputs), results)


def _result_types(definition: OpDef, sample: Sample) -> tuple[Type, ...]:
    return definition.infer(
        sample_operands(definition, sample), sample.attributes, sample_regions(definition, sample)
    )


def _stored(kind: Type) -> DType:
    """The dtype under which a result is stored: the pointee for pointers."""
    return pointee_of(kind) if is_pointer(kind) else dtype_of(kind)


def _flat(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1)


def _module(
    definition: OpDef,
    sample: Sample,
    operands: Sequence[tuple[str, Type]],
    arguments: dict[str, Array],
    results: Sequence[Type],
) -> Module:
    element = {
        name: PointerType(i64) if is_pointer(kind) else PointerType(dtype_of(kind)) for name, kind in operands
    }
    element |= {
        f"{name}_memory": PointerType(pointee_of(kind)) for name, kind in operands if is_pointer(kind)
    }
    element |= {f"result{number}": PointerType(_stored(kind)) for number, kind in enumerate(results)}
    function = Function("sample", [(name, element[name]) for name in arguments])
    parameters = dict(zip(arguments, function.parameters, strict=True))
    builder = Builder(function.block)
    values = []
    for name, kind in operands:
        value = builder.value(Load, _addresses(builder, parameters[name], kind.shape))
        if is_pointer(kind):
            value = builder.value(Offset, _spread(builder, parameters[f"{name}_memory"], kind.shape), value)
        value.name = name
        values.append(value)
    op = builder.create(
        definition,
        _by_slot(definition, sample, values),
        sample.attributes,
        sample_regions(definition, sample),
    )
    mask = _mask_of_results(op)
    for number, result in enumerate(op.results):
        if f"result{number}" in parameters:
            kept = builder.value(Load, result) if is_pointer(result.type) else result
            place = _addresses(builder, parameters[f"result{number}"], kept.type.shape)
            builder.build(Store, place, kept, mask)
    builder.build(Return)
    module = Module()
    module.add(function)
    return module


def _mask_of_results(op: Op) -> Value | None:
    """The lanes of the results that are defined: of a masked access, unless something fills the others."""
    slots = (schema.name for schema in op.definition.operand_schema)
    groups = dict(zip(slots, op.groups(), strict=True))
    mask, other = groups.get("mask", ()), groups.get("other", ())
    return mask[0] if mask and not other else None


def _by_slot(definition: OpDef, sample: Sample, values: Sequence[Value]) -> list[tuple[Value, ...]]:
    groups, start = [], 0
    for kinds in sample_types(definition, sample).values():
        groups.append(tuple(values[start : start + len(kinds)]))
        start += len(kinds)
    return groups


def _spread(builder: Builder, pointer: Value, shape: tuple[int, ...]) -> Value:
    """The pointer in every lane of a shape."""
    return builder.value(Splat, pointer, shape=shape) if shape else pointer


def _addresses(builder: Builder, pointer: Value, shape: tuple[int, ...]) -> Value:
    """Pointers to consecutive elements, in row-major order of a shape."""
    if not shape:
        return pointer
    lanes = builder.value(Arange, start=0, end=int(np.prod(shape)))
    if len(shape) > 1:
        lanes = builder.value(Reshape, lanes, shape=shape)
    return builder.value(Offset, _spread(builder, pointer, shape), lanes)
