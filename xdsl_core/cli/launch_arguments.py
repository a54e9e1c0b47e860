"""Arguments of a launch as text, for commands that run a kernel without a program around it.

    x=98432, y=98432, out=98432, n=98432, grid=cdiv(n, 1024)

A pointer gets a new array of the given extents (`4096x1024`), a number its value, and `grid` has one to three
extents (`8, 2` as `8;2`). Values are whole-number expressions over what stands before them and over the
constants of the signature; numbers with a point are for parameters that are floats.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.dtypes import DType
from xdsl_core.frontend.specs import ArgumentSpec, Constant, PointerSpec

GRID = "grid"
_SYNTAX = "write NAME=EXTENTxEXTENT for a pointer, NAME=VALUE for a number, grid=EXPRESSION;EXPRESSION"


@dataclass(frozen=True, slots=True)
class LaunchArguments:
    """The grid, and a value for each parameter of the kernel by name."""

    grid: tuple[int, ...]
    values: Mapping[str, Any]


def launch_arguments(
    texts: Sequence[str], specs: Mapping[str, ArgumentSpec], *, seed: int = 0
) -> LaunchArguments:
    """The arguments that `texts` (each `name=value, ...`) give for a kernel with these parameters.

    Arrays hold random numbers: from a normal distribution where the element is a float, else 0 and 1.
    CompilationError X0818 names what is missing, unknown or cannot be read.
    """
    given = _split(texts, specs)
    names = {name: spec.value for name, spec in specs.items() if isinstance(spec, Constant)}
    generator = np.random.default_rng(seed)
    values: dict[str, Any] = dict(names)
    grid: tuple[int, ...] | None = None
    for name, text in given.items():
        if name == GRID:
            grid = tuple(_evaluated(part, names) for part in text.split(";"))
            continue
        spec = specs[name]
        if isinstance(spec, PointerSpec):
            shape = tuple(_evaluated(part, names) for part in text.split("x"))
            values[name] = _array(spec.element, shape, generator)
            names[name] = values[name].size
        else:
            values[name] = names[name] = _evaluated(text, names)
    missing = [name for name in (*specs, GRID) if name not in values and (name != GRID or grid is None)]
    if missing or grid is None:
        raise _problem(f"the launch says nothing of {', '.join(missing)}")
    return LaunchArguments(grid, {name: values[name] for name in specs})


def _split(texts: Sequence[str], specs: Mapping[str, ArgumentSpec]) -> dict[str, str]:
    """The text of each value by name, those of later texts winning; the grid last, for it may use all."""
    found: dict[str, str] = {}
    for text in texts:
        for entry in _entries(text):
            name, equals, value = (part.strip() for part in entry.partition("="))
            if not equals or not value:
                raise _problem(f"cannot read {entry.strip()!r}")
            if name != GRID and name not in specs:
                raise _problem(f"the kernel has no parameter {name!r}; it has {', '.join(specs)}")
            found[name] = value
    return {name: found[name] for name in sorted(found, key=lambda name: name == GRID)}


def _entries(text: str) -> list[str]:
    """The parts between commas outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


def _array(element: DType, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    if any(extent < 0 for extent in shape):
        raise _problem(f"the extents {'x'.join(map(str, shape))} are below zero")
    if element.is_float:
        return generator.standard_normal(shape, np.float32).astype(element.numpy)
    return generator.integers(0, 2, shape, np.int8).astype(element.numpy)


_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
        ast.USub: operator.neg,
        ast.UAdd: operator.pos,
    }
)
_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"cdiv": lambda x, y: -(-x // y), "min": min, "max": max}
)


def _evaluated(text: str, names: Mapping[str, Any]) -> Any:
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, KeyError) as cause:
        raise _problem(f"cannot compute {text.strip()!r}: {cause}") from cause


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value) if isinstance(value, (bool, int, float)):
            return value
        case ast.Name(name) if name in names:
            return names[name]
        case ast.Name(name):
            raise ValueError(f"{name} has no value yet")
        case ast.UnaryOp(op, operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(operand, names))
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, names) for argument in arguments))
    raise ValueError(f"only numbers, names, + - * // % ** and {', '.join(_FUNCTIONS)} can be used")


def _problem(message: str) -> CompilationError:
    return CompilationError(error("X0818", message, help=_SYNTAX))
