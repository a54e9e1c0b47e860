"""All cases of the suite, by id."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from xdsl_conformance.case import Case
from xdsl_conformance.chip_cases import chip_cases
from xdsl_conformance.kernels import kernel_cases
from xdsl_conformance.memory_cases import memory_cases
from xdsl_conformance.op_cases import op_cases
from xdsl_conformance.process_cases import process_cases
from xdsl_conformance.random_cases import random_cases
from xdsl_conformance.refusal_cases import refusal_cases
from xdsl_conformance.shape_cases import shape_cases
from xdsl_conformance.special_cases import special_cases
from xdsl_conformance.steadiness_cases import steadiness_cases
from xdsl_conformance.text_cases import text_cases

SOURCES = (
    op_cases,
    special_cases,
    shape_cases,
    refusal_cases,
    steadiness_cases,
    process_cases,
    memory_cases,
    text_cases,
    random_cases,
    kernel_cases,
    chip_cases,
)


@cache
def catalogue() -> MappingProxyType[str, Case]:
    """Every case; ids are stable over releases and unique."""
    found: dict[str, Case] = {}
    for source in SOURCES:
        for case in source():
            if case.id in found:
                raise ValueError(f"two cases are called {case.id}")
            found[case.id] = case
    return MappingProxyType(found)
