"""Ops of a backend's own, by DLCompiler's names; `tl.custom` is the same door."""

from __future__ import annotations

import enum
from typing import Any

from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context
from xdsl_core.language.custom import custom_op


class CORE(enum.Enum):
    """Which unit an op runs on."""

    CUBE = "CUBE"
    VECTOR = "VECTOR"
    CUBE_OR_VECTOR = "CUBE_OR_VECTOR"
    CUBE_AND_VECTOR = "CUBE_AND_VECTOR"


class PIPE(enum.Enum):
    """Which queue an op is issued to."""

    PIPE_S = "PIPE_S"
    PIPE_V = "PIPE_V"
    PIPE_M = "PIPE_M"
    PIPE_MTE1 = "PIPE_MTE1"
    PIPE_MTE2 = "PIPE_MTE2"
    PIPE_MTE3 = "PIPE_MTE3"
    PIPE_ALL = "PIPE_ALL"
    PIPE_FIX = "PIPE_FIX"


class MODE(enum.Enum):
    """How an op works: on tiles, on threads, or both."""

    SIMD = "SIMD"
    SIMT = "SIMT"
    MIX = "MIX"


def register_custom_op(cls: type) -> type:
    """DLCompiler's declaration of an op: its class says core, pipe and mode.

    The op itself is the backend's: the hook xdsl_register_ops defines it under the name used here. Bitcode
    that a declaration names is for DLCompiler's vendor compiler.
    """
    return cls


@builtin
def custom(context: Context, name: str, *args: Any, out: Any = None) -> Any:
    """The op that the backend registered as `name`, of the operands `args`, and of `out` if it is given."""
    return custom_op(context, name, args if out is None else (*args, out), {})


custom_semantic = custom
