"""Cycles: the calibration rows that are about one instruction or loop, sharing of bandwidth, and the L2."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.dsa_sim.streams import run_core, run_text
from xdsl_dsa_sim.machine import find_target, machine_model
from xdsl_dsa_sim.simulator.geometry import Geometry
from xdsl_dsa_sim.simulator.l2 import L2
from xdsl_dsa_sim.simulator.sharing import Flow, Pools


def vector_cycles(line: str, head: str = "") -> float:
    """Cycles from the begin of the last vector instruction to its end, on 910B1."""
    text = f"program k target ascend910b1\ncore AIV {{\n{head}\nV barrier\n{line}\n}}"
    run = run_text(text, target="ascend910b1", mode="timing", trace=True)
    last = run.record.events[-1]
    return last.end - last.start


FILL = "V fill UB[0] f32<49088>, 1.0"


@pytest.mark.parametrize(
    ("first", "second", "result", "measured"),
    [
        (0, 0x10100, 0x20000, 88.4),
        (0, 0x4000, 0x10000, 154.2),
        (0, 0x10000, 0x14100, 154.2),
        (0, 0x10100, 0x4000, 88.4),
        (0, 0x10100, 0x4020, 138.8),
        (0, 0x10100, 0x10100, 88.4),
    ],
)
def test_bank_conflicts(first: int, second: int, result: int, measured: float) -> None:
    """Row C4, asc-devkit bank_conflict_ub: Add of 4096 float elements, within 5 %."""
    line = f"V add.f32 UB[{result}] f32<4096>, UB[{first}] f32<4096>, UB[{second}] f32<4096>"
    assert vector_cycles(line, FILL) == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(("stride", "measured"), [(8, 132.6), (64, 88.4)])
def test_bank_conflicts_of_a_repeated_block(stride: int, measured: float) -> None:
    """Row C4: the first source stays on one block of 32 bytes, which moves by one block or by eight."""
    whole = "f32<64, 8, 8>"
    line = f"V add.f32 UB[131072] {whole}, UB[0] f32<64, 8, 8; {stride}, 0, 1>, UB[{0x10100}] {whole}"
    assert vector_cycles(line, FILL) == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(
    ("repeats", "offset", "measured"), [(32, 0, 86.0), (128, 0, 278.5), (127, 256, 149.6)]
)
def test_vector_add_of_half(repeats: int, offset: int, measured: float) -> None:
    """asc-devkit add sample: with conflicts 2 cycles a repeat, without 1, and 22 to start."""
    lanes = repeats * 128
    line = f"V add.f16 UB[131072] f16<{lanes}>, UB[0] f16<{lanes}>, UB[{32768 + offset}] f16<{lanes}>"
    assert vector_cycles(line, FILL.replace("f32<49088>", "f16<98176>")) == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize(("m", "n", "k", "measured"), [(128, 256, 64, 575), (64, 64, 64, 125)])
def test_isolated_matrix_products(m: int, n: int, k: int, measured: float) -> None:
    """Row C5, asc-devkit matmul C1 and C0: matrix-unit cycles a step, within 2 %."""
    text = f"""
    program k target ascend910b1
    param a ptr<f16>
    core AIC {{
      MTE2 copy L1[0] f16<{m}, {k}; 256, {16 * m}; z16x16>, GM[%a] f16<{m}, {k}>
      MTE2 copy L1[65536] f16<{k}, {n}; 256, {16 * k}; z16x16>, GM[%a] f16<{k}, {n}>
      MTE2 set_flag MTE1, 0
      MTE1 wait_flag MTE2, 0
      MTE1 copy L0A[0] f16<{m}, {k}; {16 * k}, 256; z16x16>, L1[0] f16<{m}, {k}; 256, {16 * m}; z16x16>
      MTE1 copy L0B[0] f16<{k}, {n}; {16 * n}, 256; n16x16>, L1[65536] f16<{k}, {n}; 256, {16 * k}; z16x16>
      MTE1 set_flag M, 0
      M wait_flag MTE1, 0
      M mmad L0C[0] f32<{m}, {n}; 256, {16 * m}; z16x16>, L0A[0] f16<{m}, {k}; {16 * k}, 256; z16x16>,
        L0B[0] f16<{k}, {n}; {16 * n}, 256; n16x16>, 0
      M mmad L0C[0] f32<{m}, {n}; 256, {16 * m}; z16x16>, L0A[0] f16<{m}, {k}; {16 * k}, 256; z16x16>,
        L0B[0] f16<{k}, {n}; {16 * n}, 256; n16x16>, 1
    }}
    """
    run = run_text(text, np.zeros((256, 256), np.float16), target="ascend910b1", mode="timing")
    first, second = [total for total in run.record.items[0] if total.work]
    assert first.busy == pytest.approx(measured, rel=0.02)
    assert second.busy == pytest.approx(m * n * k / 4096 + 9)


ADD_ONE_CORE = """
program add target ascend910b1
param x ptr<f16>
param y ptr<f16>
param z ptr<f16>
core AIV {
  V set_flag MTE2, 0
  MTE3 set_flag V, 0
  for %i = 0 to 64 step 1 {
    S s_mul.i64 %o, %i, 8192
    S s_add.i64 %xa, %x, %o
    S s_add.i64 %ya, %y, %o
    S s_add.i64 %za, %z, %o
    MTE2 wait_flag V, 0
    MTE2 copy UB[0] f16<4096>, GM[%xa] f16<4096>
    MTE2 copy UB[8192] f16<4096>, GM[%ya] f16<4096>
    MTE2 set_flag V, 0
    V wait_flag MTE2, 0
    V wait_flag MTE3, 0
    V add.f16 UB[16384] f16<4096>, UB[0] f16<4096>, UB[8192] f16<4096>
    V set_flag MTE2, 0
    V set_flag MTE3, 0
    MTE3 wait_flag V, 0
    MTE3 copy GM[%za] f16<4096>, UB[16384] f16<4096>
    MTE3 set_flag V, 0
  }
  MTE2 wait_flag V, 0
  V wait_flag MTE3, 0
}
"""


def test_add_on_one_core() -> None:
    """Row C1, asc-devkit add_high_performance: 780 cycles an iteration of 8 KiB tiles, within 15 %."""
    x, y, z = (np.zeros(64 * 4096, np.float16) for _ in range(3))
    run = run_text(ADD_ONE_CORE, x, y, z, target="ascend910b1", mode="timing")
    assert run.cycles / 64 == pytest.approx(780, rel=0.15)


def test_independent_vector_instructions_hide_their_start() -> None:
    """Reading what the one before writes exposes its start-up; writing next to it does not."""
    head = "V fill UB[0] f32<64>, 1.0\nV fill UB[256] f32<64>, 1.0\nV barrier\n"
    free = "".join(f"V add.f32 UB[{1024 * n}] f32<64>, UB[0] f32<64>, 1.0\n" for n in range(1, 21))
    chain = "".join(f"V add.f32 UB[0] f32<64>, UB[0] f32<64>, {n}.0\n" for n in range(1, 21))
    one, two = (run_core(head + body, mode="timing").cycles for body in (free, chain))
    assert two - one > 19 * 8


def test_transfers_that_write_the_same_place_overlap() -> None:
    a = np.zeros(64, np.float32)
    body = "MTE2 copy UB[0] f32<64>, GM[%a] f32<64>\n" * 10
    assert run_core(body, a, mode="timing").cycles < 10 * 100


def test_cores_share_bandwidth() -> None:
    """Two cores that load from DRAM at once take as long as one that loads everything."""
    a = np.zeros(1 << 17, np.float32)
    body = """
    for %i = 0 to 16 step 1 {
      S s_mul.i64 %o, %i, 16384
      S s_mul.i64 %c, %core, 262144
      S s_add.i64 %at, %a, %o
      S s_add.i64 %at, %at, %c
      MTE2 copy UB[0] f32<4096>, GM[%at] f32<4096>
    }
    """
    alone, both = (run_core(body, a, grid=grid, mode="timing").cycles for grid in (1, 2))
    floor = 262144 / 32
    assert alone == pytest.approx(floor, rel=0.05)
    assert both == pytest.approx(2 * 262144 / 64, rel=0.05)


def test_max_min_fair_shares() -> None:
    pools = Pools((10.0, 100.0))
    flows = [
        Flow(0, 100.0, 1.0, (1.0, 1.0)),
        Flow(1, 100.0, 8.0, (1.0, 1.0)),
        Flow(2, 100.0, 8.0, (1.0, 1.0)),
    ]
    for flow in flows:
        pools.add(flow, 0.0)
    assert [flow.rate for flow in flows] == pytest.approx([1.0, 4.5, 4.5])
    hit = Flow(3, 100.0, 8.0, (0.0, 1.0))
    pools.add(hit, 1.0)
    assert hit.rate == pytest.approx(8.0)
    assert flows[1].remaining == pytest.approx(95.5)
    pools.remove(flows[2], 2.0)
    assert [flow.rate for flow in flows[:2]] == pytest.approx([1.0, 8.0])
    end, first = pools.next_end() or (0.0, None)
    assert first is flows[1]
    assert end == pytest.approx(2.0 + (100 - 4.5 * 2) / 8.0)


def region(offset: int, run: int) -> Geometry:
    return Geometry(offset, run, (), run, 1, (run,), (1,))


def test_l2_is_write_back_and_forgets_the_oldest() -> None:
    cache = L2(machine_model(find_target("toy")).memory)
    lines = cache.capacity

    def use(line: int, *, write: bool = False, bypass: bool = False) -> tuple[int, int]:
        found = cache.transfer(region(line * 64, 64), write=write, bypass=bypass, core=0, time=0.0)
        return found.read, found.written

    assert use(0, write=True) == (0, 0)
    assert use(1) == (64, 0)
    assert use(1) == (0, 0)
    assert use(5000, bypass=True) == (64, 0)
    assert use(5000) == (64, 0)
    for line in range(2, lines - 1):
        use(line)
    assert use(0) == (0, 0)
    assert use(lines) == (64, 0)
    assert use(1) == (64, 0)
    written = sum(use(line)[1] for line in range(2 * lines, 3 * lines + 1))
    assert written == 64


def test_partial_segments_move_whole_and_do_not_stay() -> None:
    cache = L2(machine_model(find_target("toy")).memory)
    first = cache.transfer(region(8, 20), write=False, bypass=False, core=0, time=0.0)
    assert (first.moved, first.read) == (64, 64)
    again = cache.transfer(region(8, 20), write=False, bypass=False, core=0, time=0.0)
    assert again.read == 64
    assert cache.transfer(region(32, 32), write=False, bypass=False, core=0, time=0.0).moved == 32


def test_lines_that_two_cores_want_cost_more() -> None:
    cache = L2(machine_model(find_target("toy")).memory)
    assert cache.transfer(region(0, 64), write=False, bypass=False, core=0, time=0.0).shared == 0
    assert cache.transfer(region(0, 64), write=False, bypass=False, core=1, time=10.0).shared == 64
    assert cache.transfer(region(0, 64), write=False, bypass=False, core=0, time=5000.0).shared == 0


@pytest.mark.parametrize("dtype", ["f64", "i64"])
def test_what_the_unit_has_no_lanes_for_is_computed_one_element_at_a_time(dtype: str) -> None:
    head = FILL.replace("f32<49088>", f"{dtype}<24544>").replace("1.0", "1")
    sources = f"UB[0] {dtype}<1024>, UB[{0x10100}] {dtype}<1024>"
    # a step of 256 bytes has 32 elements
    assert vector_cycles(f"V add.{dtype} UB[131072] {dtype}<1024>, {sources}", head) == pytest.approx(
        1024 * 4 + 24, rel=0.01
    )
    moved = vector_cycles(f"V move UB[131072] {dtype}<1024>, UB[0] {dtype}<1024>", head)
    assert moved == vector_cycles("V move UB[131072] f32<2048>, UB[0] f32<2048>", FILL)
