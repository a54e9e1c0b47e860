"""Builds a Python function to tile IR and runs it with the ops' references."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

import xdsl_core.language as tl
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


def function_from(text: str, **names: Any) -> Callable[..., Any]:
    """The function that a text defines; Python finds its source as if it stood in a file."""
    file = f"<test {hash(text):x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"tl": tl, **names}
    exec(compile(text, file, "exec"), namespace)
    return next(value for value in reversed(namespace.values()) if callable(value))


def evaluate(expression: str, *arrays: np.ndarray, **names: Any) -> np.ndarray:
    """What an expression of the tiles x, y, z (the arrays, of one shape) gives, as a kernel computes it."""
    parameters = "xyz"[: len(arrays)]
    shape = arrays[0].shape
    text = "\n".join(
        (
            f"def kernel({', '.join(f'{name}_pointer' for name in parameters)}, out, STORE: tl.constexpr):",
            f"    places = tl.reshape(tl.arange(0, {arrays[0].size}), {shape})",
            *(f"    {name} = tl.load({name}_pointer + places)" for name in parameters),
            f"    result = {expression}",
            "    report(result)",
            "    if STORE:",
            "        if len(result.shape) == 0:",
            "            tl.store(out, result)",
            "        else:",
            "            tl.store(out + tl.arange(0, result.numel), tl.ravel(result))",
        )
    )
    found: list[tuple[Any, tuple[int, ...]]] = []
    report = tl.builtin(_reporter(found))
    kernel = function_from(text, report=report, **names)
    build(kernel, *arrays, np.zeros(1, np.int8), False)
    dtype, extents = found[0]
    out = np.zeros(extents, dtype.row.numpy)
    run(kernel, *map(np.ascontiguousarray, arrays), out, True)
    return out


def _reporter(found: list[Any]) -> Callable[..., None]:
    def report(context: Any, value: Any) -> None:
        found.append((value.dtype, value.shape))

    return report
