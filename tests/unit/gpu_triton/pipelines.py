"""Kernels on their way through gpu_triton, without Triton."""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl_core.backend import Source
from xdsl_core.dtypes import DType
from xdsl_core.frontend.python.build import build_module
from xdsl_core.ir import Module, dtype_of, is_pointer, pointee_of
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.opdef.sampling import family, sample_types
from xdsl_core.passes import run_pipeline
from xdsl_core.target import TargetDescription
from xdsl_gpu_triton.codegen.kernel import generate
from xdsl_gpu_triton.describe import targets
from xdsl_gpu_triton.pipeline import triton_pipeline
from xdsl_gpu_triton.plugin import xdsl_templates

TARGETS = {target.name: target for target in targets()}


def lowered(module: Module, target: TargetDescription) -> Module:
    """The module after the backend's passes, verified after each; the given one is not changed."""
    return run_pipeline(module.clone(), triton_pipeline(target), verify="each").module


def source_of(module: Module, target: str = "sm_90") -> Source:
    """The Triton file of a module fresh from the frontend."""
    description = TARGETS[target]
    return generate(lowered(module, description), xdsl_templates(), interpreted=not description.vendor)


def kind_of(definition: OpDef, sample: Sample) -> tuple[object, ...]:
    """What makes a sample unlike others: families of elements, whether they are tiles, attributes."""
    kinds = []
    for types in sample_types(definition, sample).values():
        for type in types:
            element = pointee_of(type) if is_pointer(type) else dtype_of(type)
            kinds.append((family(element), bool(type.shape)))
    marks = [
        family(value) if isinstance(value, DType) else value
        for value in sample.attributes.values()
        if not isinstance(value, tuple | int) or isinstance(value, bool)
    ]
    return (*kinds, *map(str, marks))


@cache
def is_first_of_kind(definition: OpDef, number: int) -> bool:
    """Whether no sample before this one is of its kind."""
    kinds = [kind_of(definition, sample) for sample in definition.samples[: number + 1]]
    return kinds[-1] not in kinds[:-1]


def text_of(kernel: Any, specs: dict[str, Any], target: str = "sm_90") -> str:
    """The Triton file of a kernel for arguments of these kinds."""
    return source_of(build_module(kernel, specs), target).text


def body_of(text: str) -> list[str]:
    """The lines of the kernel's body, without the numbers of lines."""
    lines = text.splitlines()
    start = max(number for number, line in enumerate(lines) if line.startswith("def "))
    return [line.split("  # ")[0][4:] for line in lines[start + 1 :]]
