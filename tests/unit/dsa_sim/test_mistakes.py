"""A deliberately wrong instruction stream for every kind of mistake, and the error each gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.unit.dsa_sim.streams import ADD, caught, run_add, run_core, run_text, without
from xdsl_core.diagnostics import catalogue

ENGINES = ("python", pytest.param("c", marks=pytest.mark.compiler))
pytestmark = pytest.mark.parametrize("engine", ENGINES)


def test_the_right_stream_is_right(engine: str) -> None:
    run, found, expected = run_add(engine=engine)
    assert np.array_equal(found, expected)
    assert run.record.executed > 0


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("MTE2 set_flag V, 0", {"X0914"}),
        ("V wait_flag MTE2, 0", {"X0912"}),
        ("V set_flag MTE3, 0", {"X0914"}),
        ("V set_flag MTE2, 0", {"X0914"}),
        ("MTE3 wait_flag V, 0", {"X0912", "X0913"}),
        ("MTE3 set_flag V, 0", {"X0914"}),
        ("V wait_flag MTE3, 0", {"X0912"}),
        ("MTE2 wait_flag V, 0", {"X0912", "X0915"}),
    ],
)
def test_flag_removed(engine: str, line: str, codes: set[str]) -> None:
    for mode in ("both", "timing", "functional"):
        problem = caught(lambda mode=mode: run_add(without(ADD, line), engine=engine, mode=mode))
        assert problem.code in codes, str(problem)


def test_flag_doubled(engine: str) -> None:
    doubled = ADD.replace("V set_flag MTE3, 0", "V set_flag MTE3, 0\n    V set_flag MTE3, 0")
    problem = caught(lambda: run_add(doubled, engine=engine))
    assert problem.code == "X0915"
    assert "set again before it was waited for" in str(problem)
    assert "once" in str(problem)


def test_race_names_line_instructions_core_and_cycle(engine: str) -> None:
    text = str(caught(lambda: run_add(without(ADD, "V wait_flag MTE2, 0"), engine=engine)))
    assert "race: V reads UB that MTE2 has written" in text
    assert "kernel.py:12:9" in text
    assert "on core[0], cycle" in text
    assert "V add.f32" in text
    assert "MTE2 copy UB[0]" in text
    assert "kernel.py:10:9" in text


@pytest.mark.parametrize(
    ("code", "wrong", "line", "instruction"),
    [
        ("X0911", ("V add.f32 UB[512]", "V add.f32 UB[516]"), 12, "V add.f32"),
        ("X0912", ("    V wait_flag MTE2, 0\n", ""), 12, "V add.f32"),
        ("X0913", ("UB[0] f32<64>, UB[256]", "UB[0] f32<64>, UB[2048]"), 12, "V add.f32"),
        ("X0916", ("S s_add.i64 %za, %z, %o", "S s_add.i64 %za, %z, 3990"), 13, "MTE3 copy"),
        ("X0918", ("V add.f32 UB[512]", "V add.f32 UB[131008]"), 12, "V add.f32"),
        (
            "X0914",
            ("    MTE2 set_flag V, 0\n    V wait_flag MTE2, 0", "    V wait_flag MTE2, 0 @1:12:8"),
            12,
            "MTE2 wait_flag",
        ),
        (
            "X0915",
            ("V set_flag MTE3, 0", "V set_flag MTE3, 0 @1:12:8\nV set_flag MTE3, 0 @1:12:8"),
            12,
            "V set_flag",
        ),
        (
            "X0917",
            ("MTE3 wait_flag V, 0", "MTE3 wait_flag V, 0\nV set_flag MTE3, 1 @1:13:4"),
            13,
            "V set_flag",
        ),
    ],
)
def test_mistakes_name_line_instruction_core_and_cycle(
    engine: str, code: str, wrong: tuple[str, str], line: int, instruction: str
) -> None:
    assert wrong[0] in ADD
    problem = caught(lambda: run_add(ADD.replace(*wrong, 1), n=64, engine=engine))
    assert problem.code == code
    found = str(problem)
    assert re.search(r"on core\[\d\], cycle \d+: " + re.escape(instruction), found)
    assert not line or f"kernel.py:{line}:" in found


def test_buffers_overlapped(engine: str) -> None:
    problem = caught(lambda: run_add(ADD.replace("UB[512]", "UB[224]"), engine=engine))
    assert problem.code == "X0912"
    assert "UB that MTE" in str(problem)


def test_race_on_global_memory_within_a_program(engine: str) -> None:
    a = np.ones(64, np.float32)
    body = """
    MTE2 copy UB[0] f32<64>, GM[%a] f32<64>
    MTE2 set_flag MTE3, 0
    MTE3 wait_flag MTE2, 0
    MTE3 copy GM[%a] f32<64>, UB[0] f32<64>
    MTE2 copy UB[256] f32<64>, GM[%a] f32<64>
    """
    problem = caught(lambda: run_core(body, a, engine=engine))
    assert problem.code == "X0912"
    assert "GM that" in str(problem)
    again = body.replace("MTE2 copy UB[256]", "S program 1\nMTE2 copy UB[256]").replace(
        "MTE2 copy UB[0]", "S program 0\nMTE2 copy UB[0]"
    )
    run_core(again, a, engine=engine)


def test_interleaved_columns_are_no_race(engine: str) -> None:
    """Regions that lie between each other's rows share no byte."""
    body = """
    MTE2 copy UB[0] f32<4, 8; 16, 1>, GM[%a] f32<4, 8>
    V fill UB[32] f32<4, 8; 16, 1>, 1.0
    """
    run_core(body, np.ones(32, np.float32), engine=engine)
    problem = caught(
        lambda: run_core(body.replace("UB[32]", "UB[0]"), np.ones(32, np.float32), engine=engine)
    )
    assert problem.code == "X0912"


@pytest.mark.parametrize("mode", ["both", "timing"])
def test_read_of_unwritten_memory(engine: str, mode: str) -> None:
    problem = caught(
        lambda: run_add(
            ADD.replace(" {fill=0.0}", "").replace("f32<64>, GM", "f32<%m>, GM"), engine=engine, mode=mode
        )
    )
    assert problem.code == "X0913"
    assert "UB[160]" in str(problem)
    assert "V add.f32" in str(problem)


def test_wait_without_set(engine: str) -> None:
    problem = caught(lambda: run_core("V wait_flag MTE2, 3", engine=engine))
    assert problem.code == "X0914"
    assert "V of core[0] waits for flag 3 of MTE2, which nothing sets" in str(problem)


def test_deadlock_names_who_would_set_the_flag(engine: str) -> None:
    body = """
    V wait_flag MTE2, 0
    V set_flag MTE2, 1
    MTE2 wait_flag V, 1
    MTE2 set_flag V, 0
    """
    problem = caught(lambda: run_core(body, engine=engine))
    assert problem.code == "X0914"
    assert "V of core[0] waits for flag 0 of MTE2, set by MTE2 set_flag V, 0" in str(problem)
    assert "MTE2 of core[0] waits for flag 1 of V, set by V set_flag MTE2, 1" in str(problem)


def test_deadlock_through_a_full_queue(engine: str) -> None:
    fills = "\n".join("V fill UB[0] f32<8>, 0.0" for _ in range(20))
    body = f"V wait_flag MTE2, 0\n{fills}\nMTE2 set_flag V, 0"
    problem = caught(lambda: run_core(body, engine=engine))
    assert problem.code == "X0914"
    assert "cannot put an instruction on the full queue of V" in str(problem)
    run_core("V wait_flag MTE2, 0\nV fill UB[0] f32<8>, 0.0\nMTE2 set_flag V, 0", engine=engine)


def test_wait_of_the_scalar_unit_for_nothing(engine: str) -> None:
    problem = caught(lambda: run_core("S wait_flag V, 0", engine=engine))
    assert problem.code == "X0914"
    assert "S of core[0] waits for flag 0 of V" in str(problem)


def test_flag_left_set(engine: str) -> None:
    problem = caught(lambda: run_core("MTE2 set_flag V, 2", engine=engine))
    assert problem.code == "X0917"
    assert "flag 2 from MTE2 to V is still set" in str(problem)


def test_flag_beyond_the_target(engine: str) -> None:
    problem = caught(lambda: run_core("MTE2 set_flag V, 8", engine=engine))
    assert problem.code == "X0905"
    body = "S set.i64 %f, 9\nMTE2 set_flag V, %f"
    problem = caught(lambda: run_core(body, engine=engine))
    assert problem.code == "X0915"
    assert "flag 9 is none of the target's 8" in str(problem)


@pytest.mark.parametrize(
    ("body", "address"),
    [
        ("MTE2 copy UB[40] f32<8>, GM[%a] f32<8>", 40),
        ("MTE2 copy UB[0] f32<2, 8; 12, 1>, GM[%a] f32<2, 8>", 48),
        ("V fill UB[4] f32<8>, 0.0", 4),
    ],
)
def test_misaligned(engine: str, body: str, address: int) -> None:
    problem = caught(lambda: run_core(body, np.ones(64, np.float32), engine=engine))
    assert problem.code == "X0911"
    assert f"UB[{address}]" in str(problem)
    assert "multiples of 32" in str(problem)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "S s_add.i64 %e, %a, 224\nMTE2 copy UB[0] f32<16>, GM[%e] f32<16>",
            "reads 32 bytes behind the end of argument 0",
        ),
        (
            "S s_sub.i64 %e, %a, 32\nMTE2 copy UB[0] f32<16>, GM[%e] f32<16>",
            "reads 32 bytes before the start of argument 0",
        ),
        ("S set.i64 %e, 64\nS load %x, GM[%e] f32<1>", "reads"),
        (
            "V fill UB[0] f32<64>, 0.0\nV set_flag MTE3, 0\nMTE3 wait_flag V, 0\n"
            "S s_add.i64 %e, %a, 4\nMTE3 copy GM[%e] f32<64>, UB[0] f32<64>",
            "writes 4 bytes behind the end",
        ),
        (
            "V fill UB[0] i32<8>, 100\nV set_flag MTE2, 0\nMTE2 wait_flag V, 0\n"
            "MTE2 gather UB[32] f32<8>, %a, UB[0] i32<8> {scale=4}",
            "behind the end",
        ),
    ],
)
def test_outside_global_memory(engine: str, body: str, words: str) -> None:
    problem = caught(lambda: run_core(body, np.ones(64, np.float32), engine=engine))
    assert problem.code == "X0916"
    assert words in str(problem)


def test_read_only_argument(engine: str) -> None:
    a = np.ones(64, np.float32)
    a.flags.writeable = False
    body = "V fill UB[0] f32<64>, 0.0\nV set_flag MTE3, 0\nMTE3 wait_flag V, 0\n"
    body += "MTE3 copy GM[%a] f32<64>, UB[0] f32<64>"
    problem = caught(lambda: run_core(body, a, engine=engine))
    assert problem.code == "X0406"
    assert a.sum() == 64


def test_outside_a_memory_space(engine: str) -> None:
    problem = caught(lambda: run_core("V fill UB[131008] f32<64>, 0.0", engine=engine))
    assert problem.code == "X0918"
    assert "131072 bytes" in str(problem)


@pytest.mark.parametrize(
    "body",
    [
        "MTE2 copy UB[0] f32<8>, GM[%a] f32<16>",
        "MTE2 copy UB[0] f32<16>, GM[%a] f32<8>",
        "V fill UB[0] f32<8>, 0.0\nV add.f32 UB[64] f32<16>, UB[0] f32<8>, 1.0",
        "V fill UB[0] f32<2, 8>, 0.0\nV reduce_sum UB[64] f32<8>, UB[0] f32<2, 8> {axis=1}",
        "V fill UB[0] f32<2, 8>, 0.0\nV cumsum UB[64] f32<8>, UB[0] f32<2, 8> {axis=1}",
    ],
)
def test_extents_that_differ(engine: str, body: str) -> None:
    problem = caught(lambda: run_core(body, np.ones(64, np.float32), engine=engine))
    assert problem.code == "X0905"
    assert "the extents of destination and" in str(problem)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("MTE9 barrier", "no engine MTE9"),
        ("MTE2 copy L0A[0] f16<16, 16>, GM[0] f16<16, 16>", "no data path GM->L0A"),
        ("MTE3 copy UB[0] f16<16>, GM[0] f16<16>", "belongs to engine MTE2"),
        ("MTE2 copy UB[0] f32<16>, GM[0] f16<16>", "does not convert f16->f32"),
        ("V fill L1[0] f32<16>, 0.0", "takes it from UB"),
        ("V fill SBUF[0] f32<16>, 0.0", "no memory SBUF"),
        ("M mmad L0C[0] f32<16, 16>, L0A[0] f64<16, 16>, L0B[0] f64<16, 16>, 0", "does not multiply f64"),
        ("MTE2 fill UB[0] f32<16>, 0.0", "is no vector unit"),
        ("V set_flag MTE9, 0", "no engine MTE9"),
        ("V set_cross AIC, 0", "no kind of core AIC"),
        ("V s_add.i64 %x, 1, 1", "is no scalar unit"),
        ("V fill UB[0] f32<-4>, 0.0", "below 0"),
    ],
)
def test_programs_that_do_not_fit_the_machine(engine: str, line: str, words: str) -> None:
    problem = caught(lambda: run_core(line, engine=engine))
    assert problem.code == "X0905"
    assert words in str(problem)


def test_cores_the_target_does_not_have(engine: str) -> None:
    problem = caught(lambda: run_text("program k target toy core AIV { }", engine=engine))
    assert problem.code == "X0905"
    assert "no cores 'AIV'" in str(problem)


def test_endless_loop_is_stopped(engine: str) -> None:
    body = "S set.i64 %c, 1\nwhile { } %c { S set.i64 %c, 1 }"
    problem = caught(lambda: run_core(body, engine=engine, max_steps=1000))
    assert problem.code == "X0919"


def test_failed_assertion(engine: str) -> None:
    body = "V fill UB[0] i1<8>, 0\nV set_flag S, 0\nS wait_flag V, 0\nS program 0\n"
    body += 'S assert UB[0] i1<8> {message="positive"}'
    problem = caught(lambda: run_core(body, engine=engine))
    assert problem.code == "X0405"
    assert "positive" in str(problem)


def test_every_code_has_an_explanation(engine: str) -> None:
    known = catalogue()
    assert {f"X09{number:02}" for number in (*range(1, 6), *range(11, 20))} <= set(known)
