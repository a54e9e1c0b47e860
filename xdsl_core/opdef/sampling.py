"""Turns samples into types, values and data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Block, Region, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.type_text import parse_type
from xdsl_core.ir.types import Type, dtype_of, is_pointer, pointee_of
from xdsl_core.opdef.facets import ErrorSample, Sample

if TYPE_CHECKING:
    from xdsl_core.opdef.definition import OpDef

Array = Any  # numpy.ndarray in the dtype's storage type
FAMILIES = ("bool", "int", "uint", "fp8", "half", "f32", "f64")
# Pointers stand this many elements inside their buffer, so that small offsets stay inside it too.
MARGIN = 16


def family(dtype: DType) -> str:
    """The family that a dtype belongs to: ops treat the members of one alike."""
    if not dtype.is_float:
        return dtype.kind
    return {8: "fp8", 16: "half", 32: "f32", 64: "f64"}[dtype.bits]


def sample_types(definition: OpDef, sample: Sample | ErrorSample) -> dict[str, tuple[Type, ...]]:
    """The types in each operand slot: none, one, or several."""
    found = {}
    for name in definition.operands:
        texts = sample.types.get(name, ())
        found[name] = tuple(parse_type(text) for text in ((texts,) if isinstance(texts, str) else texts))
    return found


def sample_operands(definition: OpDef, sample: Sample | ErrorSample) -> list[tuple[Value, ...]]:
    """Values of the sample's types by operand slot, the arguments of a block of their own."""
    block = Block()
    return [
        tuple(block.add_argument(kind, name) for kind in kinds)
        for name, kinds in sample_types(definition, sample).items()
    ]


def sample_regions(definition: OpDef, sample: Sample | ErrorSample) -> tuple[Region, ...]:
    """Fresh regions of the sample, in the definition's order."""
    return tuple(sample.regions[name]() for name in definition.regions)


def sample_families(definition: OpDef, operand: str) -> set[str]:
    """The families of elements that the samples of an op give to an operand; for pointers "pointer"."""
    given = {sample.types.get(operand, ()) for sample in definition.samples}
    texts = {text for texts in given for text in ((texts,) if isinstance(texts, str) else texts)}
    kinds = map(parse_type, texts)
    return {"pointer" if is_pointer(kind) else family(dtype_of(kind)) for kind in kinds}


def sample_data(definition: OpDef, sample: Sample, *, seed: int = 0) -> dict[str, tuple[Array, ...]]:
    """Data for each operand slot in storage dtypes; element offsets into a buffer for pointers.

    Ops that work lane by lane get special values (NaN, infinities, subnormals, ends of ranges) among random
    ones, others moderate numbers. The same seed gives the same data.
    """
    generator = np.random.default_rng(seed)
    special = bool({Trait.ELEMENTWISE, Trait.MOVEMENT} & definition.traits) or not definition.attributes
    found = {}
    for name, kinds in sample_types(definition, sample).items():
        given = sample.values.get(name)
        several = given if definition.operands[name].variadic and given is not None else (given,) * len(kinds)
        found[name] = tuple(
            _operand_data(kind, value, generator, special) for kind, value in zip(kinds, several, strict=True)
        )
    return found


def sample_memory(definition: OpDef, sample: Sample, *, seed: int = 0) -> dict[str, Array]:
    """The contents of the buffer behind each pointer operand."""
    generator = np.random.default_rng((seed, 1))
    found = {}
    for name, kinds in sample_types(definition, sample).items():
        for kind in kinds:
            if is_pointer(kind):
                size = 2 * _size(kind) + 2 * MARGIN
                buffer = parse_type(f"tile<{size}x{pointee_of(kind)}>")
                found[name] = _operand_data(buffer, sample.values.get(f"{name}.memory"), generator, True)
    return found


def _operand_data(kind: Type, given: Any, generator: np.random.Generator, special: bool) -> Array:
    if callable(given):
        given = given(generator, kind)
    if is_pointer(kind):
        if given is None:
            given = generator.integers(MARGIN, MARGIN + 2 * _size(kind), kind.shape)
        return np.broadcast_to(np.asarray(given, np.int64), kind.shape).copy()
    if given is None:
        return random_data(kind, generator, special=special)
    with np.errstate(all="ignore"):
        array = np.asarray(given, dtype=_list_dtype(given, dtype_of(kind)))
        return np.broadcast_to(array, kind.shape).astype(dtype_of(kind).numpy)


def _list_dtype(given: Any, dtype: DType) -> Any:
    """How to read a list of numbers: floats exactly, integers without a detour through float64."""
    if isinstance(given, np.ndarray | np.generic):
        return None
    return np.float64 if dtype.is_float else dtype.numpy


def _size(kind: Type) -> int:
    return int(np.prod(kind.shape, dtype=np.int64))


def random_data(kind: Type, generator: np.random.Generator, *, special: bool) -> Array:
    """Random numbers of a type, with `special` a third of them from the ends and odd places of its range."""
    dtype, shape = dtype_of(kind), kind.shape
    if dtype.is_bool:
        return generator.random(shape) < 0.5
    usual: Array
    if dtype.is_float:
        usual = generator.normal(0.0, 4.0, shape)
    else:
        low, high = max(int(dtype.lowest), -100), min(int(dtype.highest), 100)
        usual = generator.integers(low, high, shape, endpoint=True)
    with np.errstate(all="ignore"):
        data = np.asarray(usual).astype(dtype.numpy)
    if not special:
        return data
    odd = special_values(dtype)
    chosen = odd[generator.integers(0, len(odd), shape)]
    return np.asarray(np.where(generator.random(shape) < 1 / 3, chosen, data)).astype(dtype.numpy)


def special_values(dtype: DType) -> Array:
    """Numbers that go wrong first: zeros of both signs, ends of ranges, subnormals, infinities, NaN."""
    if not dtype.is_float:
        return np.array([0, 1, 2, dtype.highest, dtype.lowest, int(dtype.highest) - 1], dtype.numpy)
    import ml_dtypes

    limits = ml_dtypes.finfo(dtype.numpy)
    smallest, normal = float(limits.smallest_subnormal), float(limits.smallest_normal)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, float(dtype.highest), float(dtype.lowest), smallest, -smallest]
    numbers += [normal, -normal, 1.0 + float(limits.eps), float("inf"), float("-inf"), float("nan")]
    with np.errstate(all="ignore"):
        found: Array = np.array(numbers, np.float64).astype(dtype.numpy)
    return found
