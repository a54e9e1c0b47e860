"""Accesses of kernels given as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.unit.language.running import build, function_from
from xdsl_core.analysis.access import Access, Irregular, access_of
from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.ir import Module, Op
from xdsl_core.ops import Load, Store
from xdsl_core.passes import canonical_pipeline, run_pipeline

FLOATS = np.zeros(1, np.float32)


def module_of(body: str, parameters: str = "x, n, m", *arguments: Any) -> Module:
    """A kernel with this body, after the canonical passes; `x` is an f32 array, the other parameters i32."""
    text = f"def kernel({parameters}):\n" + "\n".join(f"    {line}" for line in body.strip().splitlines())
    given = arguments or (FLOATS, *(3 for _ in parameters.split(",")[1:]))
    return run_pipeline(build(function_from(text), *given), canonical_pipeline()).module


def memory_ops(module: Module) -> list[Op]:
    return [op for op in module.walk() if op.definition in (Load, Store)]


def accesses(body: str, parameters: str = "x, n, m", *arguments: Any) -> list[Access | Irregular]:
    """How each load and store of a kernel reaches memory, in order."""
    analysis = IndexAnalysis()
    return [access_of(op, analysis) for op in memory_ops(module_of(body, parameters, *arguments))]


def access(body: str, parameters: str = "x, n, m", *arguments: Any) -> Access:
    """The only access of a kernel, which is structured."""
    (found,) = accesses(body, parameters, *arguments)
    assert isinstance(found, Access), found
    return found
