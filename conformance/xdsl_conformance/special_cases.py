"""Element-wise ops on every pair of special values, and on random bit patterns.

NaN, infinities, zeros of both signs, subnormal numbers, the ends of every range, ties of rounding: the ops'
own samples draw some of them, these cases ask all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.numerics import Array
from xdsl_conformance.op_cases import ask_sample, dtype_label, profile_of
from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome
from xdsl_core.dtypes import DType
from xdsl_core.ir import print_module
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import Type, dtype_of, is_pointer
from xdsl_core.opdef import OpDef, Sample, Ulp
from xdsl_core.opdef.sampling import sample_types, special_values
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of

Make = Callable[[tuple[DType, ...]], tuple[Array, ...]]
# Operands of three-operand ops take a few of the values each, so that all triples stay few.
_FEW = 8
_BITS = 1024


def special_cases() -> Iterator[Case]:
    """For every element-wise op and dtype: all combinations of special values; for functions: random bits."""
    for definition in CORE:
        if Trait.ELEMENTWISE not in definition.traits or not definition.operands:
            continue
        for number, sample in _representatives(definition):
            dtype = dtype_label(definition, sample)
            for question, make in _questions(definition):
                yield Case(
                    f"special/{definition.name}/{question}.{dtype}.{number}",
                    profile_of(definition, sample, dtype),
                    f"{definition.name} of {question} in {dtype}",
                    partial(ask, definition.name, number, make),
                    {"op": definition.name, "dtype": dtype},
                    partial(_text, definition.name, number, make),
                )


def _questions(definition: OpDef) -> Iterator[tuple[str, Make]]:
    yield "values", all_combinations
    if isinstance(definition.budget, Ulp) and len(definition.operands) == 1:
        yield "bits", random_bits


def _representatives(definition: OpDef) -> Iterator[tuple[int, Sample]]:
    """The first sample of each choice of dtypes and attributes whose operands may be anything."""
    seen = set()
    for number, sample in enumerate(definition.samples):
        types = sample_types(definition, sample)
        kinds = [kind for slot in types.values() for kind in slot]
        if sample.values or not sample.comparable or any(is_pointer(kind) for kind in kinds):
            continue
        key = (tuple(dtype_of(kind) for kind in kinds), repr(sorted(sample.attributes.items())))
        if key not in seen:
            seen.add(key)
            yield number, sample


def ask(op: str, number: int, make: Make, subject: Subject) -> Outcome:
    """Run the op on all of them at once, in one tile."""
    definition = CORE[op]
    return ask_sample(definition, _sample(definition, number, make), number, subject)


def _text(op: str, number: int, make: Make) -> str:
    definition = CORE[op]
    return print_module(case_of(definition, _sample(definition, number, make)).module)


def _sample(definition: OpDef, number: int, make: Make) -> Sample:
    template = definition.samples[number]
    slots = [(name, kinds[0]) for name, kinds in sample_types(definition, template).items() if kinds]
    arrays = make(tuple(dtype_of(kind) for _, kind in slots))
    types = {name: _tile(kind, len(array)) for (name, kind), array in zip(slots, arrays, strict=True)}
    values: dict[str, Any] = {name: array for (name, _), array in zip(slots, arrays, strict=True)}
    return Sample(types, template.attributes, values, f"special {template.name}")


def _tile(kind: Type, size: int) -> str:
    return f"tile<{size}x{dtype_of(kind)}>"


def all_combinations(dtypes: tuple[DType, ...]) -> tuple[Array, ...]:
    """Every combination of special values, repeated up to a power of two; three operands take fewer."""
    lists = [_values(dtype, few=len(dtypes) > 2) for dtype in dtypes]
    index = np.array(list(itertools.product(*(range(len(values)) for values in lists))))
    size = 1 << (len(index) - 1).bit_length()
    rows = np.resize(np.arange(len(index)), size)
    return tuple(values[index[rows, slot]] for slot, values in enumerate(lists))


def _values(dtype: DType, *, few: bool) -> Array:
    if dtype.is_bool:
        return np.array([False, True])
    values = special_values(dtype)
    return values[:: max(1, len(values) // _FEW)] if few else values


def random_bits(dtypes: tuple[DType, ...]) -> tuple[Array, ...]:
    """Numbers whose bits are random: every exponent is as likely."""
    generator = np.random.default_rng(20)
    found = []
    for dtype in dtypes:
        size = np.dtype(dtype.numpy).itemsize
        found.append(generator.integers(0, 256, _BITS * size, dtype=np.uint8).view(dtype.numpy))
    return tuple(found)
