"""Target names, descriptions, and their TOML form."""

from __future__ import annotations

from pathlib import Path

import pytest

from xdsl_core.diagnostics import BackendError
from xdsl_core.target import (
    ComputeUnit,
    DataPath,
    Fractal,
    InstructionCost,
    MemorySpace,
    Target,
    TargetDescription,
    load_target,
    parse_target,
    problems,
)

X1 = """
name = "x1"
title = "Acme X1"
source = "data sheet"
cores = 8
clock_hz = { value = 1.2e9, source = "measured" }
dram_bandwidth = 4e11

[limits]
event_flags = 8

[[memory_spaces]]
name = "HBM"
portable = "GLOBAL"
capacity = "8 GiB"
owner = "device"

[[memory_spaces]]
name = "UB"
portable = "VECTOR"
capacity = { value = "192 KiB", source = "white paper, table 3" }
alignment = 32
banks = 48

[[data_paths]]
from = "HBM"
to = "UB"
engine = "DMA"
bytes_per_cycle = 68
latency = 165

[[compute_units]]
name = "VEC"
kind = "vector"
count = 2
bytes_per_cycle = 256
startup = 22
source = "micro-benchmark"
costs.exp = { per_step = 2, startup = 31 }

[[compute_units]]
name = "CUBE"
kind = "matrix"
fractals = [{ dtype = "f16", m = 16, n = 16, k = 16 }, { dtype = "i8", m = 16, n = 16, k = 32 }]
"""


@pytest.mark.parametrize(
    ("text", "target"),
    [("cpu_c", Target("cpu_c")), ("dsa_sim:x1", Target("dsa_sim", "x1")), (" a:b ", Target("a", "b"))],
)
def test_target_is_parsed(text: str, target: Target) -> None:
    assert Target.parse(text) == target
    assert Target.parse(str(target)) == target


@pytest.mark.parametrize("text", ["", ":x", "a:", "a:b:c", "a b", "a: b"])
def test_malformed_target_is_refused(text: str) -> None:
    with pytest.raises(BackendError) as caught:
        Target.parse(text)
    assert caught.value.code == "X0605"


def test_toml_gives_the_description(tmp_path: Path) -> None:
    file = tmp_path / "x1.toml"
    file.write_text(X1)
    target = load_target(file, backend="acme")
    assert str(target.target) == "acme:x1"
    assert target.space("VECTOR") == MemorySpace("UB", "VECTOR", 192 << 10, 32, "core", 48)
    assert target.space("HBM").capacity == 8 << 30
    assert target.path("HBM", "UB") == DataPath("HBM", "UB", "DMA", 68.0, 165)
    assert target.path("UB", "HBM") is None
    (vector,) = target.units("vector")
    assert (vector.count, vector.costs) == (2, {"exp": InstructionCost(2.0, 31)})
    (matrix,) = target.units("matrix")
    assert [f.multiply_adds_per_cycle for f in matrix.fractals] == [4096, 8192]
    assert target.limits == {"event_flags": 8}


def test_every_number_keeps_its_source() -> None:
    target = parse_target(X1, backend="acme")
    assert target.source_of("clock_hz") == "measured"
    assert target.source_of("memory_spaces.UB.capacity") == "white paper, table 3"
    assert target.source_of("compute_units.VEC.costs.exp.startup") == "micro-benchmark"
    assert target.source_of("data_paths.HBM->UB.latency") == "data sheet"


def broken(*changes: tuple[str, str]) -> str:
    text = X1
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("name = ", "X0620", "is not TOML"),
        (broken(("cores", "core")), "X0620", "did you mean 'cores'"),
        (broken(("cores = 8", 'cores = "8"')), "X0620", "cores: expected an integer, got '8'"),
        (broken(('source = "data sheet"\n', "")), "X0620", "cores: no source"),
        (broken(('"8 GiB"', '"8 GB"')), "X0620", "memory_spaces.HBM.capacity: expected bytes, got '8 GB'"),
        (broken(('to = "UB"\n', "")), "X0620", "data_paths.0: to is missing"),
        (broken(('name = "x1"\n', "")), "X0620", "name is missing"),
        (broken(("per_step = 2, ", "")), "X0620", "compute_units.VEC.costs.exp: per_step is missing"),
        (broken(("dram_bandwidth = 4e11", 'dram_bandwidth = "fast"')), "X0620", "expected a number"),
        (broken(("[[data_paths]]", "[data_paths]")), "X0620", "write [[data_paths]]"),
        (broken(('to = "UB"', 'to = "L9"')), "X0621", "no memory space 'L9'"),
        (broken(('portable = "VECTOR"', 'portable = "UB"')), "X0621", "portable name 'UB' is none of"),
        (broken(('owner = "device"', 'owner = "chip"')), "X0621", "owner 'chip'"),
        (broken(('kind = "vector"', 'kind = "simd"')), "X0621", "kind 'simd'"),
        (broken(("bytes_per_cycle = 256\n", "")), "X0621", "a vector unit needs bytes_per_cycle"),
        (broken(("cores = 8", "cores = 0")), "X0621", "cores is 0, it must be above 0"),
        (
            broken(('name = "HBM"', 'name = "UB"'), ('from = "HBM"', 'from = "UB"')),
            "X0621",
            "described twice",
        ),
    ],
)
def test_mistake_in_a_target_file_names_its_place(text: str, code: str, message: str) -> None:
    with pytest.raises(BackendError) as caught:
        parse_target(text, backend="acme", file="x1.toml")
    assert caught.value.code == code
    assert "x1.toml" in str(caught.value)
    assert message in str(caught.value)


def test_all_mistakes_of_a_file_are_shown_together() -> None:
    text = broken(("cores", "core"), ('"8 GiB"', '"much"'))
    with pytest.raises(BackendError) as caught:
        parse_target(text, backend="acme")
    assert len(caught.value.diagnostics) == 2


def test_description_can_be_built_in_python() -> None:
    unit = ComputeUnit("CUBE", "matrix", fractals=(Fractal("f16", 16, 16, 16),))
    target = TargetDescription("acme", "py", compute_units=(unit,), limits={"max_rank": 4})
    assert problems(target) == ()
    assert problems(TargetDescription("acme", "py", compute_units=(ComputeUnit("C", "matrix"),))) == (
        "compute unit C: a matrix unit needs at least one fractal",
    )
    assert len({target}) == 1


def test_unknown_space_lists_those_there_are() -> None:
    with pytest.raises(BackendError, match="no memory space LEFT") as caught:
        parse_target(X1, backend="acme").space("LEFT")
    assert caught.value.code == "X0622"
    assert "UB (VECTOR)" in str(caught.value)


def test_fingerprint_follows_the_numbers_alone() -> None:
    target = parse_target(X1, backend="acme")
    renamed = parse_target(broken(("Acme X1", "X1"), ("data sheet", "hearsay")), backend="acme")
    faster = parse_target(broken(("1.2e9", "1.3e9")), backend="acme")
    assert target.fingerprint() == renamed.fingerprint()
    assert target.fingerprint() != faster.fingerprint()
