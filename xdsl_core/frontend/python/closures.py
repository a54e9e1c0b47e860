"""Lambdas in kernels: inlined where they are called, with the values that their names had before."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl_core.frontend.python.compile_time import normal
from xdsl_core.frontend.python.dispatch import evaluate
from xdsl_core.frontend.python.frame import Frame
from xdsl_core.language.context import fail


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """The value of a lambda: its text, the function it stands in, and the values of the names there."""

    node: ast.Lambda
    frame: Frame
    variables: Mapping[str, Any]
    defaults: tuple[Any, ...]

    def __str__(self) -> str:
        return ast.unparse(self.node)

    __repr__ = __str__


def evaluate_lambda(frame: Frame, node: ast.Lambda) -> Closure:
    """The value of a lambda. X0105 for parameters with stars."""
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
        raise frame.fail(
            node, "X0105", "a lambda in a kernel names its parameters", help="write lambda a, b: ..."
        )
    defaults = tuple(evaluate(frame, one) for one in node.args.defaults)
    return Closure(node, frame, dict(frame.variables), defaults)


def call_closure(frame: Frame, closure: Closure, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The value of the lambda's expression, built where `frame` is. X0112 where the arguments do not fit."""
    names = [one.arg for one in (*closure.node.args.posonlyargs, *closure.node.args.args)]
    bound = dict(zip(names[len(names) - len(closure.defaults) :], closure.defaults, strict=True))
    bound.update(zip(names, args, strict=False))
    twice = [name for name in kwargs if name in names[: len(args)] or name not in names]
    bound.update(kwargs)
    missing = [name for name in names if name not in bound]
    if len(args) > len(names) or twice or missing:
        raise fail(
            "X0112",
            f"the arguments do not fit {closure}",
            label=f"{len(args)} by position, {', '.join(kwargs) or 'none'} by name",
            help=f"its parameters are {', '.join(names) or 'none'}",
        )
    values = {name: normal(value) for name, value in bound.items()}
    inner = replace(
        closure.frame,
        context=replace(closure.frame.context, builder=frame.context.builder),
        variables={**closure.variables, **values},
        definitions=dict(closure.frame.definitions),
    )
    return evaluate(inner, closure.node.body)
