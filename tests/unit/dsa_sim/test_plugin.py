"""The hooks from end to end: a kernel in tile IR becomes a launch with a profile."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.dsa_sim.streams import ADD
from xdsl_core.backend import Executable, Pointer
from xdsl_core.dtypes import f32
from xdsl_dsa_sim import plugin
from xdsl_dsa_sim.executable import Kernel
from xdsl_dsa_sim.machine import find_target
from xdsl_dsa_sim.options import DsaOptions
from xdsl_dsa_sim.report import chrome_trace


def pointer(name: str, array: np.ndarray, *, writable: bool = True) -> Pointer:
    address = array.ctypes.data
    return Pointer(name, address, f32, address, array.nbytes, writable, array)


@pytest.fixture
def launch_arguments() -> tuple[object, ...]:
    x, y = (np.random.default_rng(seed).random(1000, np.float32) for seed in (0, 1))
    z = np.zeros_like(x)
    return pointer("x", x, writable=False), pointer("y", y, writable=False), pointer("z", z), 1000


@pytest.fixture
def executable() -> Executable:
    return Executable(Kernel(ADD, None, find_target("toy"), written=frozenset("z")))


def test_launch_has_values_cycles_and_a_profile(executable, launch_arguments) -> None:  # type: ignore[no-untyped-def]
    launch = plugin.xdsl_launch(executable, (16, 1, 1), launch_arguments, DsaOptions(trace=True))
    x, y, z, _ = launch_arguments
    assert np.array_equal(z.owner, x.owner + y.owner)
    assert launch.profile is not None
    assert launch.profile.cycles == round(launch.extra["cycles"])
    assert "core.V" in launch.profile.utilisation
    assert '"ph": "X"' in chrome_trace(launch.extra["simulation"])


def test_profile_without_values(executable, launch_arguments) -> None:  # type: ignore[no-untyped-def]
    profile = plugin.xdsl_profile(executable, (16, 1, 1), launch_arguments, DsaOptions(mode="timing"))
    assert not launch_arguments[2].owner.any()
    assert profile.cycles
    assert profile.bottleneck


def test_errors_name_the_argument(executable, launch_arguments) -> None:  # type: ignore[no-untyped-def]
    x, y, z, _ = launch_arguments
    with pytest.raises(Exception, match="behind the end of") as caught:
        plugin.xdsl_launch(executable, (20, 1, 1), (x, y, z, 1200), DsaOptions())
    assert "of x" in str(caught.value) or "of y" in str(caught.value)


def test_targets_and_options() -> None:
    assert next(target.name for target in plugin.xdsl_targets()) == "ascend910b2"
    assert plugin.xdsl_backend_info().options is DsaOptions


def test_capabilities_say_what_no_unit_is_made_for() -> None:
    found = plugin.xdsl_capabilities(find_target("ascend910b2"))
    assert found.notes[0].startswith("vector unit: i64, u64, f64 one element at a time")
    assert "f64" in found.notes[1]
    assert "f16" not in found.notes[1].replace("bf16", "")
    assert not plugin.xdsl_capabilities(find_target("toy")).notes[0].startswith("vector")
