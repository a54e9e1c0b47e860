"""Builds a Python function to tile IR and runs it with the ops' references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.frontend.python.build import build_module
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.frontend.specs import ArgumentSpec, Constant, PointerSpec, ScalarSpec
from xdsl_core.interp import run as run_module
from xdsl_core.ir import Module
from xdsl_core.language.semantics.promotion import literal_dtype


def spec(value: Any, constexpr: bool) -> ArgumentSpec:
    """What the compiler is told of an argument."""
    if isinstance(value, np.ndarray):
        return PointerSpec(dtypes.from_numpy(value.dtype))
    if isinstance(value, np.generic):
        return ScalarSpec(dtypes.from_numpy(value.dtype))
    if constexpr or not isinstance(value, int | float):
        return Constant(value)
    return ScalarSpec(literal_dtype(value))


def build(function: Callable[..., Any] | JitSource, *args: Any, debug: bool = False, **meta: Any) -> Module:
    """The IR of a kernel for these arguments; keywords and constexpr parameters are compiled in."""
    source = function if isinstance(function, JitSource) else JitSource(function)
    given = {
        parameter.name: spec(value, parameter.is_constexpr)
        for parameter, value in zip(source.parameters, args, strict=False)
    }
    return build_module(
        source, {**given, **{name: Constant(value) for name, value in meta.items()}}, debug=debug
    )


def run(
    function: Callable[..., Any], *args: Any, grid: tuple[int, ...] = (1,), check: bool = False, **meta: Any
) -> None:
    """Run a kernel over a grid; arrays are written in place."""
    module = build(function, *args, **meta)
    parameters = JitSource(function).parameters
    passed = [
        value
        for parameter, value in zip(parameters, args, strict=False)
        if not isinstance(spec(value, parameter.is_constexpr), Constant)
    ]
    run_module(module, grid, passed, check=check)
