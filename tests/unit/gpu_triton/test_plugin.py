"""The hooks of gpu_triton: availability, targets, claims, options, and launches with stand-ins for a GPU."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.gpu_triton.pipelines import TARGETS
from xdsl_core.backend import Available, Pointer, Unavailable
from xdsl_core.diagnostics import LaunchError
from xdsl_core.dtypes import f32, i32
from xdsl_core.target import problems
from xdsl_gpu_triton import plugin
from xdsl_gpu_triton.claims import capabilities
from xdsl_gpu_triton.execute import merged
from xdsl_gpu_triton.launch import DeviceArray, DeviceKernel
from xdsl_gpu_triton.options import TritonOptions
from xdsl_gpu_triton.versions import DIFFERENCES, Installed, parse_version


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "not installed"),
        (Installed("3.5.1", (3, 5)), "older than 3.6"),
    ],
)
def test_what_is_missing_is_said(found: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "installed_triton", lambda: found)
    answer = plugin.xdsl_availability()
    assert isinstance(answer, Unavailable)
    assert words in answer.reason
    assert answer.fix.startswith("pip install")


def test_version_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "installed_triton", lambda: Installed("3.9.0", (3, 9)))
    assert plugin.xdsl_availability() == Available("triton 3.9.0")


def test_triton_is_not_imported_before_it_is_used() -> None:
    program = (
        "import sys; from xdsl_core.backend import default_registry as r; h = r().get('gpu_triton');"
        "h.availability(); [h.capabilities(t) for t in h.targets()]; print('triton' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_targets_are_sound(target: Any) -> None:
    assert problems(target) == ()


@pytest.mark.parametrize(
    ("target", "dtype", "rate"),
    [("sm_90", "f16", 989.4e12), ("sm_80", "f16", 312e12), ("gfx942", "f16", 1307.4e12)],
)
def test_peak_rates_are_those_of_the_data_sheets(target: str, dtype: str, rate: float) -> None:
    machine = TARGETS[target]
    (unit,) = machine.units("matrix")
    fractal = unit.fractal(dtype)
    assert fractal is not None
    found = 2 * fractal.multiply_adds_per_cycle * unit.count * machine.cores * machine.clock_hz
    assert found == pytest.approx(rate, rel=0.01)


def test_what_the_interpreter_gets_wrong_is_claimed_for_gpus() -> None:
    interpret, gpu = capabilities(TARGETS["interpret"]), capabilities(TARGETS["sm_90"])
    for op, dtype in (("tile.add", "bf16"), ("tile.dot", "f8e5m2"), ("tile.tanh", "f32")):
        refusal = interpret.supports(op, [dtype])
        assert refusal is not None
        assert "interpreter" in refusal.reason
        assert gpu.supports(op, [dtype]) is None


def test_fused_products_are_refused_where_the_interpreter_rounds_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from xdsl_gpu_triton import claims

    for version, refused in (((3, 6), True), ((3, 9), False)):
        monkeypatch.setattr(claims, "installed_triton", lambda v=version: Installed("", v))
        found = capabilities(TARGETS["interpret"]).supports("tile.fma", ["f32"])
        assert (found is not None) is refused


def test_versions() -> None:
    assert parse_version("3.9.0+git1") == (3, 9)
    assert parse_version("unknown") == (0, 0)
    assert all(difference.before for difference in DIFFERENCES.values())


def test_options_of_a_launch_are_those_of_the_vendor() -> None:
    options = TritonOptions(num_warps=8, num_stages=4, num_ctas=2, maxnreg=128, waves_per_eu=2)
    cuda, hip = options.of_launch("cuda"), options.of_launch("hip")
    assert (cuda["num_warps"], cuda["num_stages"], cuda["num_ctas"], cuda["maxnreg"]) == (8, 4, 2, 128)
    assert "maxnreg" not in hip
    assert hip["waves_per_eu"] == 2


class FakeFunction:
    """Stands for a JITFunction: keeps what it is launched with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def __getitem__(self, grid: Any) -> Any:
        return lambda *args, **options: self.calls.append((grid, args, options))


def pointer(owner: Any) -> Pointer:
    return Pointer("x", 4096, f32, 4096, 64, True, owner)


def test_launch_hands_over_arrays_and_options() -> None:
    function, waited = FakeFunction(), []
    kernel = DeviceKernel(function, (f32, f32, i32), "cuda", lambda: waited.append(True))
    tensor = SimpleNamespace(data_ptr=lambda: 4096, dtype="torch.float32")
    foreign = SimpleNamespace(__cuda_array_interface__={"data": (8192, False), "typestr": "<f4"})
    kernel.run((3, 1, 1), (pointer(tensor), pointer(foreign), 7), TritonOptions(num_warps=2))
    ((grid, args, options),) = function.calls
    assert grid == (3, 1, 1)
    assert args[0] is tensor
    assert args[1] == DeviceArray(8192, "float32", foreign)
    assert args[1].data_ptr() == 8192
    assert args[2] == 7
    assert options["num_warps"] == 2
    assert waited == [True]


def test_launch_refuses_host_memory() -> None:
    kernel = DeviceKernel(FakeFunction(), (f32,), "cuda", lambda: None)
    with pytest.raises(LaunchError, match="host memory") as caught:
        kernel.run((1, 1, 1), (pointer(np.zeros(4, np.float32)),), TritonOptions())
    assert caught.value.code == "X0507"


def test_storages_that_overlap_are_copied_as_one() -> None:
    def at(address: int, size: int) -> Pointer:
        return Pointer("x", address, f32, address, size, True, None)

    found = merged([at(100, 50), at(0, 20), at(120, 80)])
    assert [(part.address, part.size) for part in found] == [(0, 20), (100, 100)]
    with pytest.raises(LaunchError, match="size of argument") as caught:
        merged([at(0, -1)])
    assert caught.value.code == "X0734"
