"""Instruction streams for tests: a sum of two arrays in assembler, and ways to run one."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.diagnostics import XdslError
from xdsl_dsa_sim.isa import parse_program
from xdsl_dsa_sim.machine import find_target
from xdsl_dsa_sim.simulator.simulate import Simulation, simulate

ADD = """
program add target toy
file 1 "kernel.py"
param x ptr<f32>
param y ptr<f32>
param z ptr<f32>
param n i32
core core {
  for %p = %core to %programs step %cores {
    S program %p
    S s_mul.i64 %first, %p, 64
    S s_sub.i64 %left, %n, %first
    S s_min.i64 %m, %left, 64
    S s_mul.i64 %o, %first, 4
    S s_add.i64 %xa, %x, %o
    S s_add.i64 %ya, %y, %o
    S s_add.i64 %za, %z, %o
    MTE2 copy UB[0] f32<64>, GM[%xa] f32<%m> {fill=0.0} @1:10:8
    MTE2 copy UB[256] f32<64>, GM[%ya] f32<%m> {fill=0.0} @1:11:8
    MTE2 set_flag V, 0
    V wait_flag MTE2, 0
    V add.f32 UB[512] f32<64>, UB[0] f32<64>, UB[256] f32<64> @1:12:8
    V set_flag MTE3, 0
    V set_flag MTE2, 0
    MTE3 wait_flag V, 0
    MTE3 copy GM[%za] f32<%m>, UB[512] f32<%m> @1:13:4
    MTE3 set_flag V, 0
    V wait_flag MTE3, 0
    MTE2 wait_flag V, 0
  }
}
"""


def run_text(text: str, *arguments: Any, grid: int = 1, target: str = "toy", **options: Any) -> Simulation:
    """Run assembler text."""
    return simulate(parse_program(text), find_target(target), (grid, 1, 1), arguments, **options)


def run_core(body: str, *arguments: Any, head: str = "", **options: Any) -> Simulation:
    """Run lines of assembler on every core of the toy, with parameters a, b, ... for the arguments."""
    kinds = {
        np.dtype(np.float32): "f32",
        np.dtype(np.int32): "i32",
        np.dtype(np.float16): "f16",
        np.dtype(np.int64): "i64",
    }
    parameters = []
    for name, argument in zip("abcdefgh", arguments, strict=False):
        is_array = isinstance(argument, np.ndarray)
        kind = (
            f"ptr<{kinds[argument.dtype]}>" if is_array else "f32" if isinstance(argument, float) else "i64"
        )
        parameters.append(f"param {name} {kind}")
    text = "\n".join(["program test target toy", head, *parameters, "core core {", body, "}"])
    return run_text(text, *arguments, **options)


def run_add(text: str = ADD, n: int = 1000, **options: Any) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """Run the sum; the run, the result and the expected result."""
    random = np.random.default_rng(0)
    x, y = (random.random(n, np.float32) for _ in range(2))
    z = np.zeros(n, np.float32)
    run = run_text(text, x, y, z, n, grid=-(-n // 64), **options)
    return run, z, x + y


def without(text: str, line: str) -> str:
    """The text with one line left out; it has to be there exactly once."""
    lines = text.splitlines()
    (place,) = [number for number, found in enumerate(lines) if found.strip() == line]
    return "\n".join(lines[:place] + lines[place + 1 :])


def caught(run: Any) -> XdslError:
    """The error a run ends with."""
    try:
        run()
    except XdslError as problem:
        return problem
    raise AssertionError("no error")
