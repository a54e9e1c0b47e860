"""What a run shows: profile, bottleneck, trace, tables, timeline."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re

import numpy as np
import pytest

from tests.unit.dsa_sim.streams import run_add, run_core
from xdsl_dsa_sim.isa import Buffer
from xdsl_dsa_sim.report import (
    chrome_trace,
    pipe_table,
    pipe_table_csv,
    profile_of,
    summarise,
    summary_text,
    timeline_html,
)
from xdsl_dsa_sim.report.bottleneck import bottleneck
from xdsl_dsa_sim.report.summary import live_peak
from xdsl_dsa_sim.simulator.simulate import Simulation


@pytest.fixture(scope="module")
def run() -> Simulation:
    return run_add(trace=True)[0]


def test_profile(run: Simulation) -> None:
    profile = profile_of(run)
    assert profile.cycles == round(run.cycles) > 0
    assert profile.seconds == pytest.approx(run.cycles / 1e9 + 1e-6)
    assert set(profile.utilisation) == {"core.S", "core.MTE2", "core.V", "core.MTE3"}
    assert all(0 < share <= 1 for share in profile.utilisation.values())
    assert profile.bytes_moved["GM->UB"] == 2 * 1000 * 4
    assert profile.bytes_moved["UB->GM"] == 1000 * 4
    assert profile.bottleneck
    assert any("roofline (vector)" in note for note in profile.notes)


def test_waits_name_who_is_waited_for(run: Simulation) -> None:
    engines = {engine.engine: engine for engine in summarise(run).engines}
    assert set(engines["V"].waits) == {"MTE2", "MTE3"}
    assert set(engines["MTE3"].waits) == {"V"}


def test_summary_text(run: Simulation) -> None:
    text = summary_text(summarise(run))
    assert "core.MTE2" in text
    assert "GM->UB" in text
    assert re.search(r"UB: \d+ of 131072 bytes", text)
    assert "bottleneck: " in text


@pytest.mark.parametrize(
    ("body", "grid", "words"),
    [
        ("S work 100", 1, "Launch: "),
        ("for %i = 0 to 200 step 1 { V exp.f32 UB[32768] f32<4096>, UB[0] f32<4096> }", 2, "core.V is busy"),
        ("S work 100000", 2, "core.S is busy"),
        ("S work 100000", 1, "core.S is busy"),
        (
            "for %i = 0 to 500 step 1 { MTE2 copy UB[0] f32<64>, GM[%a] f32<64> }",
            2,
            "Transfers GM->UB move 256 bytes",
        ),
        (
            "for %i = 0 to 2000 step 1 { MTE2 copy UB[0] f32<8>, GM[%a] f32<8>\n"
            "MTE2 set_flag V, 0\nV wait_flag MTE2, 0\nV fill UB[32768] f32<4096>, 1.0\n"
            "V set_flag MTE2, 0\nMTE2 wait_flag V, 0 }",
            2,
            "Latency: no engine is busy more than",
        ),
    ],
)
def test_bottleneck_in_words(body: str, grid: int, words: str) -> None:
    head = "V fill UB[0] f32<4096>, 1.0\n" if "exp" in body else ""
    run = run_core(head + body, np.ones(64, np.float32), grid=grid, mode="timing")
    assert words in bottleneck(summarise(run))


def test_bottleneck_of_dram() -> None:
    a = np.ones(1 << 18, np.float32)
    body = """
    for %i = 0 to 32 step 1 {
      S s_mul.i64 %o, %i, 16384
      S s_mul.i64 %c, %core, 524288
      S s_add.i64 %at, %a, %o
      S s_add.i64 %at, %at, %c
      MTE2 copy UB[0] f32<4096>, GM[%at] f32<4096>
    }
    """
    summary = summarise(run_core(body, a, grid=2, mode="timing"))
    assert summary.dram_read == a.nbytes
    assert summary.dram_share > 0.8
    assert "DRAM bandwidth" in bottleneck(summary)


def test_trace(run: Simulation) -> None:
    trace = json.loads(chrome_trace(run))
    events = trace["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {names[event["pid"], event["tid"]] for event in slices} >= {"MTE2", "V", "MTE3"}
    assert {event["args"]["name"] for event in events if event["name"] == "process_name"} == {
        "core[0]",
        "core[1]",
    }
    (first,) = [e for e in slices if e["name"] == "add"][:1]
    assert first["args"]["line"] == "kernel.py:12"
    assert max(event["ts"] + event["dur"] for event in slices) * 1e3 <= run.cycles + 1


def test_arrows_lie_in_slices_and_go_forward(run: Simulation) -> None:
    events = json.loads(chrome_trace(run))["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) > 40
    for number, start in starts.items():
        assert start["ts"] <= ends[number]["ts"]
        for event in (start, ends[number]):
            lane = [s for s in slices if (s["pid"], s["tid"]) == (event["pid"], event["tid"])]
            assert any(s["ts"] - 1e-9 <= event["ts"] <= s["ts"] + s["dur"] + 1e-9 for s in lane)


def test_slices_of_an_engine_do_not_overlap(run: Simulation) -> None:
    slices = [event for event in json.loads(chrome_trace(run))["traceEvents"] if event["ph"] == "X"]
    for lane in {(event["pid"], event["tid"]) for event in slices}:
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if (e["pid"], e["tid"]) == lane)
        assert all(before[1] <= after[0] + 1e-9 for before, after in itertools.pairwise(own))


def test_pipe_table(run: Simulation) -> None:
    rows = pipe_table(run)
    assert len(rows) == 2
    assert {"block_id", "sub_block_id", "core_vec_ratio", "core_mte2_time(us)", "core_cube_ratio"} <= set(
        rows[0]
    )
    assert 0 < float(rows[0]["core_mte2_ratio"]) <= 1
    assert float(rows[0]["core_cube_ratio"]) == 0
    read = list(csv.DictReader(io.StringIO(pipe_table_csv(run))))
    assert read == rows


def test_timeline_is_one_file(run: Simulation) -> None:
    page = timeline_html(run)
    assert not re.search(r"(src|href)=|https?://|@import", page)
    data = json.loads(re.search(r'application/json">(.*?)</script>', page, re.S)[1])  # type: ignore[index]
    assert len(data["bars"]) == len(run.record.events)
    assert any(text["place"] == "kernel.py:12" for text in data["texts"])
    assert data["rows"][0].startswith("core[0] ")


def test_peak_of_live_buffers() -> None:
    buffers = (
        Buffer("a", "core", "UB", 0, 100, 2, (0, 4)),
        Buffer("b", "core", "UB", 200, 50, 1, (3, 9)),
        Buffer("c", "core", "UB", 0, 120, 1, (5, 9)),
    )
    assert live_peak(buffers) == 250
