"""Case O30: tiles that do not fit are refused before the launch, with who holds what and what would fit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import CompilationError
from xdsl_dsa_sim.isa import Region, parse_program, walk
from xdsl_dsa_sim.machine import find_target


@xdsl.jit
def add_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a + b, mask=i < n)


def launch(target: str, block: int) -> Any:
    x, out = np.ones(block, np.float32), np.zeros(block, np.float32)
    made = add_kernel.on(f"dsa_sim:{target}")[(1,)](x, x.copy(), out, block, B=block)
    np.testing.assert_array_equal(out, 2)
    return made


@pytest.mark.parametrize("target", ["ascend910b2", "toy"])
def test_the_error_lists_buffers_and_a_size_that_fits(target: str) -> None:
    launch(target, 1024)
    with pytest.raises(CompilationError) as caught:
        launch(target, 65536)
    (problem,) = caught.value.diagnostics
    text = str(caught.value)
    available = find_target(target).space("UB").capacity
    assert problem.code == "X0710"
    assert problem.message == f"add_kernel needs 524288 bytes of UB at once, {available} are there"
    lines = Path(__file__).read_text().splitlines()
    first = next(number for number, line in enumerate(lines, 1) if "a = tl.load(x" in line)
    row = re.compile(r"(\w) \(65536 f32\) +(\d+)  262144 +1  +\d+-\d+")
    assert row.findall(text) == [("a", str(first)), ("b", str(first + 1))]
    smaller = re.search(r"with (\d+) instead of 65536 along axis 0", text)
    assert smaller is not None
    launch(target, int(smaller[1]))


def test_the_program_says_how_long_buffers_live() -> None:
    program = parse_program(launch("toy", 16384).asm["asm"])
    (body,) = program.cores.values()
    statements = list(walk(body))
    touched: dict[str, list[int]] = {buffer.name: [] for buffer in program.buffers}
    for number, statement in enumerate(statements):
        for operand in getattr(statement, "operands", ()):
            for buffer in program.buffers:
                if isinstance(operand, Region) and (operand.space, operand.offset) == ("UB", buffer.offset):
                    touched[buffer.name].append(number)
    assert set(touched) == {"a", "b"}
    for buffer in program.buffers:
        first, last = buffer.lifetime
        assert first <= min(touched[buffer.name]) < max(touched[buffer.name]) <= last < len(statements)
    assert len({buffer.lifetime for buffer in program.buffers}) == 2
