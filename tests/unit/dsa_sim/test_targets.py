"""Target files: every one is sound and sourced; files of the user; mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xdsl_core.diagnostics import BackendError
from xdsl_core.target import TargetDescription
from xdsl_core.target.description import to_json
from xdsl_dsa_sim.machine import builtin_targets, find_target, load_targets, machine_model
from xdsl_dsa_sim.machine.targets import DEFAULT

NAMES = {"ascend910b1", "ascend910b2", "ascend910b4", "ascend310p3", "mlu370", "neuroncore_v2", "toy"}


def test_the_promised_targets_exist() -> None:
    assert set(builtin_targets()) == NAMES
    assert next(iter(builtin_targets())) == DEFAULT


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_number_has_a_source(name: str) -> None:
    target = find_target(name)
    numbers = [
        f"{table}.{entry}.{key}"
        for table, entry, values in _tables(target)
        for key, value in values.items()
        if isinstance(value, (int, float))
    ]
    assert len(numbers) > 30
    assert all(target.source_of(path) for path in numbers)


def _tables(target: TargetDescription):  # type: ignore[no-untyped-def]
    for space in target.memory_spaces:
        stated = {key: value for key, value in to_json(space).items() if key in ("capacity", "alignment")}
        yield "memory_spaces", space.name, stated
    for path in target.data_paths:
        stated = {key: value for key, value in to_json(path).items() if key in ("bytes_per_cycle", "latency")}
        yield "data_paths", f"{path.source}->{path.destination}", stated
    for unit in target.compute_units:
        for name, cost in unit.costs.items():
            yield "compute_units", f"{unit.name}.costs.{name}", to_json(cost)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_engines_reach_global_memory_and_back(name: str) -> None:
    target = find_target(name)
    memory = target.space("GLOBAL").name
    assert target.units("scalar")
    for unit in target.units("vector"):
        local = unit.operands["local"]
        assert target.path(memory, local, core=unit.core)
        assert target.path(local, memory, core=unit.core)
    for unit in target.units("matrix"):
        assert set(unit.operands) == {"lhs", "rhs", "accumulator"}
        assert {fractal.dtype for fractal in unit.fractals} >= {"f16"}


def test_what_differs_between_relatives() -> None:
    b1, b2, b4 = (find_target(f"ascend910{name}") for name in ("b1", "b2", "b4"))
    assert (b1.clock_hz, b2.clock_hz, b4.clock_hz) == (1.85e9, 1.80e9, 1.50e9)
    assert [kind.count for kind in b4.kinds] == [20, 40]
    assert [kind.engines for kind in b4.kinds] == [kind.engines for kind in b1.kinds]
    assert machine_model(b4).memory.l2_capacity * 2 == machine_model(b1).memory.l2_capacity
    assert machine_model(b4).vector == machine_model(b1).vector
    assert b2.data_paths == b1.data_paths


def test_peak_rates() -> None:
    """The figures the makers quote, from the parts of the description."""

    def peak(name: str, dtype: str) -> float:
        target = find_target(name)
        (unit,) = target.units("matrix")
        fractal = unit.fractal(dtype)
        assert fractal is not None
        return 2e-12 * fractal.multiply_adds_per_cycle * target.clock_hz * target.kinds[0].count

    assert peak("ascend910b1", "f16") == pytest.approx(363.7, rel=1e-3)
    assert peak("ascend910b2", "i8") == pytest.approx(2 * 353.9, rel=1e-3)
    assert peak("ascend910b1", "f32") == pytest.approx(90.9, rel=1e-3)
    assert peak("ascend310p3", "f16") == pytest.approx(69.5, rel=1e-3)
    assert peak("mlu370", "f16") == pytest.approx(49.2, rel=1e-2)
    assert peak("neuroncore_v2", "bf16") == pytest.approx(2 * 92, rel=1e-2)


def test_a_file_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'extends = "toy"\nname = "mine"\ncores = { value = 3, source = "a dream" }\n'
    text += '[[memory_spaces]]\nname = "UB"\ncapacity = { value = "8 KiB", source = "a dream" }\n'
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert find_target(str(file)).name == "mine"
    monkeypatch.setenv("XDSL_TARGET_PATH", str(tmp_path))
    mine = find_target("mine")
    assert (mine.cores, mine.space("UB").capacity, mine.space("L1").capacity) == (3, 8192, 131072)
    assert set(load_targets()) == NAMES | {"mine"}
    assert set(load_targets("")) == NAMES


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("[vendor.sycn]\nx = 1", "X0903", "did you mean sync?"),
        ("[vendor.sync]\nflags = 1", "X0903", "did you mean flag?"),
        ('[vendor.sync]\nflag = "one"', "X0903", "must be a number"),
        ("[vendor.memory]\nl2_bandwidth = 5", "X0903", "must be a table"),
        ("[vendor.sync]\nflag = -3", "X0903", "must not be negative"),
        ("[vendor.memory]\nline = 0", "X0903", "must be above 0"),
        ('extends = "nothing"', "X0620", "no other file nothing.toml"),
        (
            '[[memory_spaces]]\nname = "X"\nportable = ""\ncapacity = 8\ncore = "AIV"',
            "X0621",
            "no core kind 'AIV'",
        ),
    ],
)
def test_mistakes_in_files(tmp_path: Path, text: str, code: str, words: str) -> None:
    head = "" if text.startswith("extends") else 'extends = "toy"\n'
    file = tmp_path / "mine.toml"
    file.write_text(f'{head}name = "mine"\nsource = "test"\n{text}\n'.replace("extends", "extends", 1))
    with pytest.raises(BackendError) as caught:
        find_target(str(file))
    assert caught.value.code == code
    assert words in str(caught.value)


def test_unknown_targets() -> None:
    with pytest.raises(BackendError, match="no target") as caught:
        find_target("ascend910b3")
    assert caught.value.code == "X0904"
    assert "did you mean ascend910b" in str(caught.value)
    with pytest.raises(BackendError, match="no target file"):
        find_target("nowhere.toml")
    with pytest.raises(BackendError, match="no target file"):
        load_targets("nowhere")
