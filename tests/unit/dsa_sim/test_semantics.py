"""What instructions do to memory."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tests.unit.dsa_sim.streams import run_core
from xdsl_core import dtypes
from xdsl_dsa_sim.isa import Block
from xdsl_dsa_sim.isa.vector import lanewise_instructions
from xdsl_dsa_sim.isa.views import View

LOAD = """
MTE2 copy UB[0] f32<4, 16>, GM[%a] f32<4, 16>
MTE2 set_flag V, 0
V wait_flag MTE2, 0
"""


def store(region: str, *, to: str = "b", engine: str = "V") -> str:
    place = region.partition(" ")[2]
    return f"{engine} set_flag MTE3, 0\nMTE3 wait_flag {engine}, 0\nMTE3 copy GM[%{to}] {place}, {region}"


def run_on_rows(body: str, region: str, out: np.ndarray) -> np.ndarray:
    """Run vector instructions on a 4 x 16 matrix at UB[0], and store a region."""
    run_core(f"{LOAD}{body}\n{store(region)}", ROWS, out)
    return out


ROWS = np.arange(64, dtype=np.float32).reshape(4, 16) - 20.5


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("V add.f32 UB[1024] f32<4, 16>, UB[0] f32<4, 16>, 1.5", ROWS + 1.5),
        ("V max.f32 UB[1024] f32<4, 16>, UB[0] f32<4, 16>, UB[0] f32<16>", np.maximum(ROWS, ROWS[0])),
        ("V sub.f32 UB[1024] f32<4, 16>, UB[0] f32<4, 16>, UB[0] f32<4, 16; 16, 0>", ROWS - ROWS[:, :1]),
        ("V move UB[1024] f32<4, 16>, UB[192] f32<1, 16>", np.broadcast_to(ROWS[3], (4, 16))),
        ("V fill UB[1024] f32<4, 16>, -2.5", np.full((4, 16), -2.5)),
        (
            "V cumsum UB[1024] f32<4, 16>, UB[0] f32<4, 16> {axis=1, reverse=true}",
            np.cumsum(ROWS[:, ::-1], 1)[:, ::-1],
        ),
        (
            "V lt.f32 UB[512] i1<4, 16>, UB[0] f32<4, 16>, 0.0\n"
            "V select.f32 UB[1024] f32<4, 16>, UB[512] i1<4, 16>, 0.0, UB[0] f32<4, 16>",
            np.where(ROWS < 0, 0, ROWS),
        ),
        (
            "V iota UB[512] i32<4, 16>, 3, -2 {axis=1}\nV cast.i32 UB[1024] f32<4, 16>, UB[512] i32<4, 16>",
            np.broadcast_to(3 - 2 * np.arange(16), (4, 16)),
        ),
        (
            "V iota UB[512] i32<4, 16>, 63, -1 {axis=1}\n"
            "V pick UB[1024] f32<4, 16>, UB[0] f32<64>, UB[512] i32<4, 16>",
            np.broadcast_to(ROWS.reshape(-1)[63:47:-1], (4, 16)),
        ),
        (
            "V iota UB[512] i32<16>, 15, -1 {axis=0}\nV fill UB[1024] f32<4, 16>, 0.0\n"
            "V place UB[1024] f32<4, 16>, UB[0] f32<16>, UB[512] i32<16>",
            np.concatenate([ROWS[:1, ::-1], np.zeros((3, 16))]),
        ),
        (
            "V cast.f32 UB[512] bf16<4, 16>, UB[0] f32<4, 16>\n"
            "V cast.bf16 UB[1024] f32<4, 16>, UB[512] bf16<4, 16>",
            ROWS,
        ),
        (
            "V cast.f32 UB[512] f8e5m2<4, 16>, UB[0] f32<4, 16>\n"
            "V cast.f8e5m2 UB[1024] f32<4, 16>, UB[512] f8e5m2<4, 16>",
            ROWS.astype(dtypes.f8e5m2.numpy).astype(np.float32),
        ),
    ],
)
def test_vector(body: str, expected: np.ndarray) -> None:
    assert np.array_equal(run_on_rows(body, "UB[1024] f32<4, 16>", np.zeros((4, 16), np.float32)), expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("V reduce_sum UB[1024] f32<4>, UB[0] f32<4, 16> {axis=1}", ROWS.sum(1)),
        ("V reduce_max UB[1024] f32<4, 1>, UB[0] f32<4, 16> {axis=1}", ROWS.max(1)),
        ("V argmin UB[1024] f32<4>, UB[512] i32<4>, UB[0] f32<4, 16> {axis=1}", ROWS.min(1)),
        (
            "V argmax UB[512] f32<4>, UB[768] i32<4>, UB[0] f32<4, 16> {axis=1}\n"
            "V cast.i32 UB[1024] f32<4>, UB[768] i32<4>",
            np.full(4, 15.0),
        ),
    ],
)
def test_reductions(body: str, expected: np.ndarray) -> None:
    assert np.array_equal(run_on_rows(body, "UB[1024] f32<4>", np.zeros(4, np.float32)), expected)


def test_every_lanewise_op_is_an_instruction() -> None:
    names = {definition.name for definition in lanewise_instructions()}
    assert {"add", "exp", "select", "cast", "fma", "mulhi", "bitcast", "tanh"} <= names
    assert not {"offset", "pointer_cast"} & names


@pytest.mark.parametrize("transposed", [False, True])
def test_blocks_and_back(transposed: bool) -> None:
    """Row-major to blocks and back, with rows that fill no block; the tail is filled."""
    a = np.arange(20 * 24, dtype=np.float16).reshape(20, 24)
    out = np.zeros((24, 20) if transposed else (20, 24), np.float16)
    back = "f16<24, 20; 512, 256; n16x16>" if transposed else "f16<20, 24; 256, 512; z16x16>"
    shape = "24, 20" if transposed else "20, 24"
    body = f"""
    MTE2 copy L1[0] f16<32, 32; 256, 512; z16x16>, GM[%a] f16<20, 24> {{fill=0.0}}
    MTE2 set_flag MTE1, 0
    MTE1 wait_flag MTE2, 0
    MTE1 copy UB[0] f16<{shape}; 32, 1>, L1[0] {back}
    MTE1 set_flag MTE3, 0
    MTE3 wait_flag MTE1, 0
    MTE3 copy GM[%b] f16<{shape}>, UB[0] f16<{shape}; 32, 1>
    """
    run_core(body, a, out)
    assert np.array_equal(out, a.T if transposed else a)


def test_view_of_blocks_in_batches() -> None:
    data = np.zeros(2 * 2 * 512, np.uint8)
    view = View(data, dtypes.f16, (2, 20, 10), (512, 256, 512), Block("z", 16, 16))
    values = np.arange(400, dtype=np.float16).reshape(2, 20, 10)
    view.write(values)
    assert np.array_equal(view.read(), values)
    assert np.array_equal(data.view(np.float16)[:10], values[0, 0])
    assert data.view(np.float16)[16] == values[0, 1, 0]


def test_strides_below_zero() -> None:
    a = np.arange(32, dtype=np.float32)
    out = np.zeros(32, np.float32)
    body = f"""
    S s_add.i64 %last, %a, 124
    S set.i64 %back, -1
    MTE2 copy UB[0] f32<32>, GM[%last] f32<32; %back>
    {store("UB[0] f32<32>", engine="MTE2")}
    """
    run_core(body, a, out)
    assert np.array_equal(out, a[::-1])


def test_gather_and_scatter() -> None:
    a = np.arange(64, dtype=np.float32)
    out = np.zeros(64, np.float32)
    body = """
    V iota UB[0] i32<16>, 60, -4 {axis=0}
    V gt.i32 UB[128] i1<16>, UB[0] i32<16>, 20
    V set_flag MTE2, 0
    MTE2 wait_flag V, 0
    MTE2 gather UB[256] f32<16>, %a, UB[0] i32<16>, UB[128] i1<16>, -1.0 {scale=4}
    MTE2 set_flag MTE3, 0
    MTE3 wait_flag MTE2, 0
    V set_flag MTE3, 0
    MTE3 wait_flag V, 0
    MTE3 scatter.f32 %b, UB[0] i32<16>, UB[256] f32<16> {scale=4}
    """
    run_core(body, a, out)
    expected = np.zeros(64, np.float32)
    expected[::4] = np.where(np.arange(0, 64, 4) > 20, a[::4], -1)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("add", 2, 3 + 4 * 2),
        ("max", 9, 9),
        ("min", -1, -1),
        ("xchg", 7, 7),
        ("or", 12, 15),
        ("xor", 5, 3),
        ("and", 2, 2),
    ],
)
def test_atomics_of_lanes(kind: str, value: int, expected: int) -> None:
    """Four lanes on one element, in order; each gets the old one."""
    a, old = np.full(8, 3, np.int32), np.zeros(8, np.int32)
    body = f"""
    V fill UB[0] i32<4>, 0
    V set_flag MTE3, 0
    MTE3 wait_flag V, 0
    MTE3 atomic.i32 UB[64] i32<4>, %a, UB[0] i32<4>, {value} {{scale=4, kind="{kind}"}}
    MTE3 copy GM[%b] i32<4>, UB[64] i32<4>
    """
    run_core(body, a, old, grid=1)
    assert a.tolist() == [expected] + [3] * 7
    assert old[0] == 3


def test_compare_and_swap_compares_bits() -> None:
    a = np.array([-0.0, 0.0, 1.0, np.nan], np.float32)
    body = """
    V iota UB[0] i32<4>, 0, 1 {axis=0}
    V set_flag MTE3, 0
    MTE3 wait_flag V, 0
    MTE3 atomic.f32 _, %a, UB[0] i32<4>, 5.0, 0.0 {scale=4}
    """
    run_core(body, a)
    assert a[:3].tolist() == [0.0, 5.0, 1.0]
    assert np.signbit(a[0])


def test_copy_that_adds() -> None:
    a, b = np.ones(16, np.float32), np.full(16, 2, np.float32)
    body = (
        "MTE2 copy UB[0] f32<16>, GM[%a] f32<16>\n"
        + store("UB[0] f32<16>", engine="MTE2")
        + ' {atomic="add"}'
    )
    run_core(body, a, b)
    assert (b == 3).all()


def test_copy_of_nothing_fills() -> None:
    a, b = np.ones(16, np.float32), np.full(16, 2, np.float32)
    body = "S set.i64 %m, -3\nMTE2 copy UB[0] f32<16>, GM[%a] f32<%m> {fill=4.0}\n"
    body += f"{store('UB[0] f32<16>', engine='MTE2')}"
    run_core(body, a, b)
    assert (b == 4).all()


def test_scalar_loads_and_stores_steer_the_program() -> None:
    a = np.array([3, 0, 0, 0], np.int32)
    body = """
    S load %n, GM[%a] i32<1>
    S set.i64 %sum, 0
    for %i = 0 to %n step 1 {
      S s_add.i64 %sum, %sum, 10
    }
    S s_add.i64 %to, %a, 4
    S store GM[%to] i32<1>, %sum
    """
    for mode in ("both", "timing"):
        run = run_core(body, a, mode=mode)
        assert run.record.items[0][2].count == 3
    assert a.tolist() == [3, 30, 0, 0]


def test_timing_needs_values_where_on_chip_memory_steers() -> None:
    body = """
    V fill UB[0] i32<8>, 5
    V set_flag S, 0
    S wait_flag V, 0
    S load %n, UB[0] i32<1>
    for %i = 0 to %n step 1 {
      S work 100
    }
    """
    assert run_core(body, mode="timing").record.items[0][-1].count == 5


def test_prints() -> None:
    output = io.StringIO()
    body = """
    V fill UB[0] i32<2>, -1
    V set_flag S, 0
    S wait_flag V, 0
    S program 3
    S print.i32 UB[0] i32<2> {prefix="x"}
    S print.i8 -1 {hex=true}
    S print.f32 0.5
    S print.f32 _ {prefix="end"}
    """
    run_core(body, output=output)
    assert output.getvalue() == "(0, 0, 3) x [-1 -1]\n(0, 0, 3) 0xff\n(0, 0, 3) 0.5\n(0, 0, 3) end\n"


def test_arguments_may_share_memory() -> None:
    a = np.arange(32, dtype=np.float32)
    body = "MTE2 copy UB[0] f32<16>, GM[%a] f32<16>\n" + store("UB[0] f32<16>", engine="MTE2")
    run_core(body, a[:16], a[8:24])
    assert np.array_equal(a, [*range(8), *range(16), *range(24, 32)])
