"""Filled tiles with wishes where they lie, and hints for a compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, fail
from xdsl_core.language.creation import full
from xdsl_core.language.hints import give_hint
from xdsl_core.language.shape import Ints
from xdsl_core.language.types import dtype
from xdsl_core.language.values import Operand, tensor


@dataclass(frozen=True)
class layout:
    """How a tile's elements lie: ND row by row, NZ in fractals."""

    name: str


@dataclass(frozen=True)
class scope:
    """The memory that a tile lies in."""

    name: str


ND, NZ = layout("ND"), layout("NZ")
fragment, UB, L1 = scope("fragment"), scope("UB"), scope("L1")
L0A, L0B, L0C = scope("L0A"), scope("L0B"), scope("L0C")


@builtin
def alloc(
    context: Context, shape: Ints, value: Operand, dtype: dtype, layout: Any = None, scope: Any = None
) -> tensor:
    """A tile filled with a value. `layout` and `scope` are hints: a backend may follow them."""
    made: tensor = full.implementation(context, shape, value, dtype)
    for kind, wish in (("layout", layout), ("scope", scope)):
        if wish is not None:
            give_hint(context, kind, getattr(wish, "name", wish))
    return made


@builtin
def compile_hint(context: Context, ptr: Any, hint_name: str, hint_val: Any = None) -> None:
    """Tell the compiler something about a value: the name of a hint, and its value where it takes one.

    X0162 for hints that nobody knows and values that do not fit; `kernel.hints` says which took effect.
    """
    give_hint(context, hint_name, hint_val)


@builtin
def multibuffer(context: Context, src: tensor, size: int) -> None:
    """Keep `size` copies of a tile, so that the next is filled while this is read. 2 is what there is."""
    if size != 2:
        raise fail(
            "X0162", "dl.multibuffer: there are two buffers", label=f"size is {size}", help="pass size=2"
        )
    give_hint(context, "multi_buffer", size)
