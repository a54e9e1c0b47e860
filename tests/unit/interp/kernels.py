"""Kernels as IR text for the tests of the interpreter."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

import pytest

from xdsl_core.diagnostics import ExecutionError
from xdsl_core.interp import run
from xdsl_core.ir import Module, parse_module, verify
from xdsl_core.ops import CORE


def kernel(parameters: str, body: str) -> Module:
    """A module with one kernel; line 3 of its text is the first line of the body."""
    text = (
        f"module {{\n  func @kernel({parameters}) {{\n{body.strip(chr(10))}\n    control.return\n  }}\n}}\n"
    )
    linecache.cache["kernel.tile"] = (len(text), None, text.splitlines(keepends=True), "kernel.tile")
    module = parse_module(text, CORE, file="kernel.tile")
    assert verify(module) == []
    return module


def refused(
    code: str, module: Module, grid: Sequence[int], arguments: Sequence[Any], *, check: bool = True
) -> str:
    """The rendered error of a run that must fail with this code."""
    with pytest.raises(ExecutionError) as caught:
        run(module, grid, arguments, check=check)
    assert caught.value.code == code
    return str(caught.value)


# copies lanes pid*4 .. pid*4+3 from %x to %out, lanes from %n on being masked off
COPY = """
    %four = tile.constant {type = i32, value = 4} : i32
    %pid = grid.program_id {axis = 0} : i32
    %first = tile.mul %pid, %four : i32
    %start = tile.splat %first {shape = [4]} : tile<4xi32>
    %lane = tile.arange {start = 0, end = 4} : tile<4xi32>
    %i = tile.add %start, %lane : tile<4xi32>
    %bound = tile.splat %n {shape = [4]} : tile<4xi32>
    %mask = tile.lt %i, %bound : tile<4xi1>
    %xs = tile.splat %x {shape = [4]} : tile<4xptr<f32>>
    %from = tile.offset %xs, %i : tile<4xptr<f32>>
    %v = memory.load %from, mask = %mask : tile<4xf32>
    %outs = tile.splat %out {shape = [4]} : tile<4xptr<f32>>
    %to = tile.offset %outs, %i : tile<4xptr<f32>>
"""
COPY_PARAMETERS = "%x: ptr<f32>, %out: ptr<f32>, %n: i32"
