"""Printing, assertions and hints."""

from __future__ import annotations

from typing import Any

from xdsl_core import ops
from xdsl_core.language.builtin import Lazy, builtin, run_time_value
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.arithmetic import truth
from xdsl_core.language.shape import Ints
from xdsl_core.language.values import tensor, unwrap


@builtin
def static_print(
    context: Context, *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False
) -> None:
    """Print compile-time values when the kernel is compiled; tensors print as their type."""
    context.write(sep.join(str(value) for value in values) + end)


@builtin
def static_assert(context: Context, cond: Any, msg: Lazy | None = None) -> None:
    """Refuse to compile (X0130) unless a compile-time condition holds."""
    if isinstance(cond, tensor):
        raise run_time_value("tl.static_assert: the condition", cond)
    if not cond:
        text = unwrap(msg()) if msg is not None else None
        raise fail(
            "X0130",
            f"assertion failed: {text}" if text else "assertion failed",
            help="the condition is false for these compile-time values",
        )


@builtin
def device_print(context: Context, prefix: str, *args: tensor, hex: bool = False) -> None:
    """Print values of the running kernel after a prefix that is known when compiling."""
    context.build(ops.Print, args, prefix=prefix, hex=hex)


@builtin
def device_assert(context: Context, cond: tensor, msg: Any = "", mask: tensor | None = None) -> None:
    """Stop with a message where the condition is false and the mask true. Does so in debug mode only."""
    if isinstance(msg, tensor):
        raise run_time_value("tl.device_assert: the message", msg)
    if context.debug:
        context.build(ops.Assert, truth(context, cond), mask, message=str(msg))


@builtin
def debug_barrier(context: Context) -> None:
    """A point all threads of a program wait at. A program is one thread of control here: it does nothing."""


@builtin
def assume(context: Context, cond: Any) -> None:
    """Say that a condition holds. It must be a bool; nothing is made of it yet."""
    if isinstance(cond, tensor):
        truth(context, cond)


def _hint(name: str, doc: str) -> Any:
    def apply(context: Context, input: tensor, values: Ints) -> tensor:
        if len(values) != max(1, len(input.shape)):
            raise fail(
                "X0135",
                f"tl.{name} needs one number for each axis",
                label=f"{describe(input)}, {list(values)}",
                help="write a tuple for tiles of rank 2 or more",
            )
        return input

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return builtin(apply)


multiple_of = _hint(
    "multiple_of",
    "Say that the first value of each contiguous group is a multiple of `values`, axis by axis.",
)
max_contiguous = _hint(
    "max_contiguous", "Say that groups of `values` elements count up by one, axis by axis."
)
max_constancy = _hint("max_constancy", "Say that groups of `values` elements are equal, axis by axis.")
