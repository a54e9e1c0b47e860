"""The two event engines do the same: equal values, equal cycles to the last bit, equal mistakes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.unit.dsa_sim.streams import ADD
from xdsl_dsa_sim.isa import Program, parse_program
from xdsl_dsa_sim.machine import find_target
from xdsl_dsa_sim.simulator.assemble import assemble
from xdsl_dsa_sim.simulator.console import Console
from xdsl_dsa_sim.simulator.execute import Semantics
from xdsl_dsa_sim.simulator.faults import Fault, Kind
from xdsl_dsa_sim.simulator.global_memory import bind
from xdsl_dsa_sim.simulator.native.engine import run_native
from xdsl_dsa_sim.simulator.python.engine import run_python
from xdsl_dsa_sim.simulator.record import completed
from xdsl_dsa_sim.simulator.setup import prepare

pytestmark = pytest.mark.compiler


def outcome(
    run: Any, program: Program, target: str, grid: tuple[int, int, int], arguments: Any, mode: str
) -> Any:
    """What an engine makes of a program: its record, or the mistake it found; and what is in memory then."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    setup = prepare(
        assemble(program, find_target(target)), grid, bind(copies), mode=mode, trace=True, max_steps=100_000
    )
    try:
        record = completed(run(setup, Semantics(setup, Console(grid))))
    except Fault as fault:
        return fault.kind, fault.core, fault.item, fault.cycle, fault.detail, fault.waiting
    return record, [a.tobytes() for a in copies if isinstance(a, np.ndarray)]


def assert_agree(program: Program, *arguments: Any, target: str = "toy", grid: int = 1) -> Any:
    for mode in ("both", "timing", "functional"):
        found = outcome(run_native, program, target, (grid, 1, 1), arguments, mode)
        assert found == outcome(run_python, program, target, (grid, 1, 1), arguments, mode), mode
    return found


def test_sum() -> None:
    x, y = (np.random.default_rng(seed).random(1000, np.float32) for seed in (0, 1))
    record, memory = assert_agree(parse_program(ADD), x, y, np.zeros_like(x), 1000, grid=16)
    assert memory[2] == (x + y).tobytes()
    assert record.executed == 16 * 20


MATMUL = """
program matmul target toy
param a ptr<f16>
param b ptr<f16>
param c ptr<f32>
core core {
  for %p = %core to %programs step %cores {
    S program %p
    S s_mul.i64 %row, %p, 2048
    S s_add.i64 %pa, %a, %row
    S s_mul.i64 %row, %p, 2048
    S s_add.i64 %pc, %c, %row
    for %k = 0 to 4 step 1 {
      S s_mul.i64 %left, %k, 32
      S s_add.i64 %left, %left, %pa
      S s_mul.i64 %right, %k, 1024
      S s_add.i64 %right, %right, %b
      S s_ne.i64 %accumulate, %k, 0
      MTE2 copy L1[0] f16<16, 16; 256, 256; z16x16>, GM[%left] f16<16, 16; 64, 1>
      MTE2 copy L1[512] f16<16, 32; 256, 256; z16x16>, GM[%right] f16<16, 32>
      MTE2 set_flag MTE1, 0
      MTE1 wait_flag MTE2, 0
      MTE1 copy L0A[0] f16<16, 16; 256, 256; z16x16>, L1[0] f16<16, 16; 256, 256; z16x16>
      MTE1 copy L0B[0] f16<16, 32; 512, 256; n16x16>, L1[512] f16<16, 32; 256, 256; z16x16>
      MTE1 set_flag M, 0
      M wait_flag MTE1, 0
      M mmad L0C[0] f32<16, 32; 256, 256; z16x16>, L0A[0] f16<16, 16; 256, 256; z16x16>,
        L0B[0] f16<16, 32; 512, 256; n16x16>, %accumulate
      M set_flag MTE1, 1
      MTE1 wait_flag M, 1
      MTE1 set_flag MTE2, 1
      MTE2 wait_flag MTE1, 1
    }
    M set_flag FIX, 0
    FIX wait_flag M, 0
    FIX copy GM[%pc] f32<16, 32>, L0C[0] f32<16, 32; 256, 256; z16x16>
    FIX set_flag M, 0
    M wait_flag FIX, 0
  }
}
"""


def test_matrix_product() -> None:
    random = np.random.default_rng(0)
    a, b = random.random((64, 64)).astype(np.float16), random.random((64, 32)).astype(np.float16)
    _, memory = assert_agree(parse_program(MATMUL), a, b, np.zeros((64, 32), np.float32), grid=4)
    found = np.frombuffer(memory[2], np.float32).reshape(64, 32)
    assert np.allclose(found, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5)


CROSS = """
program through_memory target ascend910b2 workspace 4096
param x ptr<f16>
param z ptr<f32>
core AIC {
  for %p = %group to %programs step %groups {
    S program %p
    MTE2 copy L1[0] f16<16, 16; 256, 256; z16x16>, GM[%x] f16<16, 16>
    MTE2 set_flag MTE1, 0
    MTE1 wait_flag MTE2, 0
    MTE1 copy L0A[0] f16<16, 16; 256, 256; z16x16>, L1[0] f16<16, 16; 256, 256; z16x16>
    MTE1 copy L0B[0] f16<16, 16; 256, 256; n16x16>, L1[0] f16<16, 16; 256, 256; z16x16>
    MTE1 set_flag M, 0
    MTE1 set_flag MTE2, 0
    MTE2 wait_flag MTE1, 0
    M wait_flag MTE1, 0
    M mmad L0C[0] f32<16, 16; 256, 256; z16x16>, L0A[0] f16<16, 16; 256, 256; z16x16>,
      L0B[0] f16<16, 16; 256, 256; n16x16>, 0
    M set_flag FIX, 0
    M set_flag MTE1, 1
    MTE1 wait_flag M, 1
    FIX wait_flag M, 0
    FIX copy GM[%workspace] f32<16, 16>, L0C[0] f32<16, 16; 256, 256; z16x16>
    FIX set_flag M, 1
    M wait_flag FIX, 1
    FIX set_cross AIV, 0
    S wait_cross AIV, 1
  }
}
core AIV {
  for %p = %group to %programs step %groups {
    S program %p
    S s_mul.i64 %half, %subcore, 512
    S s_add.i64 %from, %workspace, %half
    S s_add.i64 %to, %z, %half
    S s_mul.i64 %o, %p, 1024
    S s_add.i64 %to, %to, %o
    MTE2 wait_cross AIC, 0
    MTE2 copy UB[0] f32<8, 16>, GM[%from] f32<8, 16>
    MTE2 set_flag V, 0
    V wait_flag MTE2, 0
    V mul.f32 UB[1024] f32<8, 16>, UB[0] f32<8, 16>, 2.0
    V set_flag MTE3, 0
    MTE3 wait_flag V, 0
    MTE3 copy GM[%to] f32<8, 16>, UB[1024] f32<8, 16>
    MTE3 set_cross AIC, 1
    MTE3 set_flag S, 0
    S wait_flag MTE3, 0
    S barrier
    S work 17
  }
}
"""


def test_two_kinds_of_cores() -> None:
    x = np.random.default_rng(0).random((16, 16)).astype(np.float16)
    program = parse_program(CROSS)
    _, memory = assert_agree(program, x, np.zeros((3, 16, 16), np.float32), target="ascend910b2", grid=3)
    expected = 2 * (x.astype(np.float32) @ x.astype(np.float32))
    assert np.allclose(np.frombuffer(memory[1], np.float32).reshape(3, 16, 16), expected, rtol=1e-5)


@pytest.mark.parametrize("line", [line.strip() for line in CROSS.splitlines() if "_cross" in line])
def test_two_kinds_of_cores_without_a_flag(line: str) -> None:
    x = np.ones((16, 16), np.float16)
    text = CROSS.replace(line, "", 1)
    found = assert_agree(
        parse_program(text), x, np.zeros((30, 16, 16), np.float32), target="ascend910b2", grid=30
    )
    assert not hasattr(found[0], "cycles")


def test_scratch_memory_is_written_again_before_it_was_read() -> None:
    """Programs share nothing but the scratch memory of their group: there a later one may come too soon."""
    x = np.ones((16, 16), np.float16)
    text = "\n".join(
        line
        for line in CROSS.splitlines()
        if "set_cross AIC, 1" not in line and "wait_cross AIV, 1" not in line
    )
    found = assert_agree(
        parse_program(text), x, np.zeros((60, 16, 16), np.float32), target="ascend910b2", grid=60
    )
    assert found[0] is Kind.RACE


@pytest.mark.parametrize("scope", ["group", "device"])
def test_barriers_between_cores(scope: str) -> None:
    text = f"""
    program k target mlu370
    param x ptr<f32>
    core MLUCore {{
      S s_mul.i64 %c, %subcore, 100
      S work %c
      S s_mul.i64 %o, %subcore, 256
      S s_mul.i64 %g, %core, 256
      S s_add.i64 %to, %x, %g
      COMPUTE fill NRAM[0] f32<64>, 1.0
      COMPUTE set_flag MOVE, 0
      MOVE wait_flag COMPUTE, 0
      MOVE copy SRAM[%o] f32<64>, NRAM[0] f32<64>
      S barrier_cores {{scope="{scope}"}}
      S s_add.i64 %n, %subcore, 1
      S s_rem.i64 %n, %n, 4
      S s_mul.i64 %n, %n, 256
      MOVE copy NRAM[256] f32<64>, SRAM[%n] f32<64>
      MOVE set_flag STORE, 0
      STORE wait_flag MOVE, 0
      STORE copy GM[%to] f32<64>, NRAM[256] f32<64>
    }}
    """
    _, memory = assert_agree(parse_program(text), np.zeros(1024, np.float32), target="mlu370", grid=8)
    assert memory[0] == np.ones(1024, np.float32).tobytes()
    broken = "\n".join(line for line in text.splitlines() if "barrier" not in line)
    found = assert_agree(parse_program(broken), np.zeros(1024, np.float32), target="mlu370", grid=8)
    assert not hasattr(found[0], "cycles")


SCALARS = """
core core {
  for %i = -9 to 9 step 4 {
    for %j = 8 to -8 step -3 {
      S set.f32 %f, 2.5
      S s_cast.i32 %g, %i {to=f32}
      S s_add.f32 %f, %f, %g
      S s_exp.f32 %h, %f
      S s_gt.f32 %c, %h, 1.0
      if %c { S s_add.i32 %n, %n, 1 } else { S s_sub.i32 %n, %n, 1 }
      OPERATIONS
    }
  }
  S set.i64 %more, 5
  while { S s_gt.i64 %c, %more, 0 } %c {
    S s_sub.i64 %more, %more, 2
    S work %n
  }
}
"""
_BINARY = (
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "min",
    "max",
    "and",
    "or",
    "xor",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "i32", "u32", "i64", "u64"])
def test_scalar_arithmetic(dtype: str) -> None:
    """Every scalar operation the C engine does itself, against the op's reference; results steer cycles."""
    lines = [f"S set.{dtype} %j{dtype}, %j", f"S s_max.{dtype} %i1, %i, 1"]
    lines += [
        f"S s_{name}.{dtype} %r, %j, {'%i1' if name in ('div', 'rem') else '%i'}\nS s_xor.i64 %n, %n, %r"
        for name in _BINARY
    ]
    lines += [f"S s_{name}.{dtype} %r, %j\nS s_xor.i64 %n, %n, %r" for name in ("not", "neg", "abs")]
    lines += [f"S s_{name}.{dtype} %r, %j, 3\nS s_xor.i64 %n, %n, %r" for name in ("shl", "shr")]
    lines += [f"S s_select.{dtype} %r, %c, %j, %i\nS s_xor.i64 %n, %n, %r"]
    lines += [
        f"S s_cast.{dtype} %r, %j {{to={to}}}\nS s_add.i64 %n, %n, %r"
        for to in ("i8", "u16", "i1", "f32")
        if to != dtype
    ]
    lines += ["S s_and.i64 %n, %n, 1023"]
    text = "program k target toy\n" + SCALARS.replace(
        "OPERATIONS", "\n".join(lines).replace("S s_add.i64 %n, %n, %r", "")
    )
    record, _ = assert_agree(parse_program(text))
    assert record.executed > 500


def _random_body(choose: random.Random, depth: int = 0) -> list[str]:
    """Lines that are well formed and mostly wrong."""
    engines = ("MTE2", "V", "MTE3")
    lines = []
    for _ in range(choose.randint(1, 8)):
        kind = choose.randrange(12)
        place, other = (32 * choose.randrange(24) for _ in range(2))
        lanes = choose.choice((8, 24, 64, 100))
        if kind < 2:
            rows = choose.choice(("", f"{choose.randint(1, 3)}, "))
            lines.append(f"MTE2 copy UB[{place}] f32<{rows}{lanes}>, GM[%x] f32<{rows}{lanes}>")
        elif kind < 4:
            lines.append(f"V fill UB[{place}] f32<{lanes}>, 1.5")
        elif kind < 6:
            name = choose.choice(("add", "mul", "exp"))
            more = f", UB[{other}] f32<{lanes}>" if name != "exp" else ""
            lines.append(f"V {name}.f32 UB[{place}] f32<{lanes}>, UB[{other}] f32<{lanes}>{more}")
        elif kind < 7:
            lines.append(f"V reduce_sum UB[{place}] f32<8>, UB[{other}] f32<8, 32; 40, 1> {{axis=1}}")
        elif kind < 8:
            lines.append(f"MTE3 copy GM[%y] f32<{lanes}>, UB[{place}] f32<{lanes}>")
        elif kind < 11:
            one, two = choose.sample(engines, 2)
            flag = choose.randrange(2)
            lines += [f"{one} set_flag {two}, {flag}", f"{two} wait_flag {one}, {flag}"][
                : choose.choice((1, 2, 2, 2, 2, 2))
            ]
        elif depth < 2:
            bound = choose.choice(("2", "%n"))
            lines += [f"for %i{depth} = 0 to {bound} step 1 {{", *_random_body(choose, depth + 1), "}"]
        else:
            lines.append(choose.choice(("V barrier", "S barrier", "MTE2 barrier", "S work 7")))
    return lines


@pytest.mark.parametrize("block", range(6))
def test_random_streams(block: int) -> None:
    """Streams of random lines: most have a mistake, and both engines find the same one at the same cycle."""
    endings = set()
    for seed in range(40 * block, 40 * block + 40):
        choose = random.Random(seed)
        body = "\n".join(_random_body(choose))
        head = "program k target toy\nparam x ptr<f32>\nparam y ptr<f32>\nparam n i32\n"
        setup = "V fill UB[0] f32<1024>, 0.0\nV set_flag MTE2, 7\nMTE2 wait_flag V, 7\n"
        setup += "V set_flag MTE3, 7\nMTE3 wait_flag V, 7\n"
        program = parse_program(f"{head}core core {{\n{setup if seed % 4 else ''}{body}\n}}")
        found = assert_agree(program, np.ones(400, np.float32), np.zeros(400, np.float32), 2, grid=2)
        endings.add(found[0] if not hasattr(found[0], "cycles") else "ended")
    assert len(endings) > 2
