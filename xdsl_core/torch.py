"""Kernels as operators of PyTorch, so that autograd, torch.compile and torch.export work around them.

    import xdsl_core.torch as xt

    @xt.custom_op("shop::scale")
    def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
        out = torch.empty_like(x)
        scale_kernel[(xdsl.cdiv(x.numel(), 1024),)](x, out, x.numel(), factor, BLOCK=1024)
        return out

    @scale.backward
    def _(saved: xt.Saved, grad: torch.Tensor):
        return scale(grad, saved.inputs[1]), None

The function makes its results and launches kernels; torch sees one operator. What torch needs to know of
shapes and dtypes it learns from the same function: with fake tensors a launch runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from xdsl_core.diagnostics import LaunchError, error


@dataclass(frozen=True, slots=True)
class Saved:
    """What a backward function gets of the forward call: its arguments in order, and its results."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]


class CustomOp:
    """An operator made by `custom_op`; calling it calls the operator.

    `definition` is torch's CustomOpDef.
    """

    def __init__(self, definition: Any) -> None:
        self.definition = definition
        self.__doc__ = definition.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.definition(*args, **kwargs)

    def fake(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Say what results look like by another function than the operator's own: `@op.fake`.

        It gets fake tensors, and returns empty ones of the right shapes and dtypes.
        """
        self.definition.register_fake(function)
        return function

    def backward(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Define the gradient: `function(saved, *grads)` returns one gradient for each argument, or None.

        `grads` are those of the results. Kernels that it launches belong into operators of their own, so that
        torch can look into it. LaunchError X0517 where the number of gradients does not fit.
        """
        name = self.definition._qualname

        def keep(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
            outputs = output if isinstance(output, tuple | list) else (output,)
            values = (*inputs, *outputs)
            ctx.places = [place for place, value in enumerate(values) if isinstance(value, torch.Tensor)]
            ctx.save_for_backward(*(values[place] for place in ctx.places))
            ctx.others = [None if isinstance(value, torch.Tensor) else value for value in values]
            ctx.count = len(inputs)

        def apply(ctx: Any, *grads: Any) -> Any:
            values = list(ctx.others)
            for place, value in zip(ctx.places, ctx.saved_tensors, strict=True):
                values[place] = value
            saved = Saved(tuple(values[: ctx.count]), tuple(values[ctx.count :]))
            found = function(saved, *grads)
            gradients = found if isinstance(found, tuple) else (found,)
            if len(gradients) != ctx.count:
                raise LaunchError(
                    error(
                        "X0517",
                        f"the backward function of {name} returns {len(gradients)} gradients",
                        requires=f"one for each of the {ctx.count} arguments, or None",
                        help="return None for arguments that have no gradient",
                    )
                )
            return gradients

        self.definition.register_autograd(apply, setup_context=keep)
        return function

    def __repr__(self) -> str:
        return f"<xdsl_core operator {self.definition._qualname}>"


def custom_op(
    name: str, *, mutates_args: Iterable[str] = (), schema: str | None = None
) -> Callable[[Callable[..., Any]], CustomOp]:
    """Make an operator of a function that launches kernels.

    `name` is "namespace::name". The function's parameters are annotated with torch's types for operators, as
    for torch.library.custom_op, whose `schema` replaces the annotations. `mutates_args` names the arguments
    whose contents it changes; results are new tensors, never arguments.
    """

    def decorate(function: Callable[..., Any]) -> CustomOp:
        options = {} if schema is None else {"schema": schema}
        definition = torch.library.custom_op(name, function, mutates_args=tuple(mutates_args), **options)
        definition.register_fake(function)
        return CustomOp(definition)

    return decorate


__all__ = ["CustomOp", "Saved", "custom_op"]
