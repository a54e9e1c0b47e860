"""Random kernels on cpu_c give what the reference interpreter gives, to the last bit.

Several programs make one example: they are compiled together, which takes little longer than one. Sums of
products are left unfused (the test workshop does not optimise), so that equal means equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.programs import access_programs
from tests.unit.cpu_c.kernels import Workshop, source_of
from xdsl_conformance.random_programs.access import arguments, difference
from xdsl_core import interp
from xdsl_core.backend.toolchain import find_compiler
from xdsl_core.ir import Module, print_module
from xdsl_cpu_c.runtime import load_runtime

pytestmark = pytest.mark.compiler

BOUNDED = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
)
TOGETHER = st.lists(access_programs(), min_size=4, max_size=8)
GRID = (1, 1, 1)  # programs of one launch would race for the memory that they update


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    folder = tmp_path_factory.mktemp("programs")
    compiler = find_compiler(cache_dir=folder)
    return Workshop(folder, compiler, load_runtime(folder, compiler))


def compare(module: Module, launch: Callable[..., Any], seed: int, *, overlapping: bool) -> None:
    expected, got = (arguments(seed, overlapping=overlapping) for _ in range(2))
    interp.run(module, GRID, list(expected.values()), check=True)
    launch(GRID, tuple(got.values()))
    found = difference(got, expected)
    assert not found, f"{found} (seed {seed}, overlapping: {overlapping})\n{print_module(module)}"


def check(workshop: Workshop, modules: list[Module], seed: int) -> None:
    """Both variants on arguments that lie apart, and the careful one on those that overlap."""
    for module, launchers in zip(modules, workshop.launchers(list(map(source_of, modules))), strict=True):
        for launch in launchers:
            compare(module, launch, seed, overlapping=False)
        compare(module, launchers[-1], seed, overlapping=True)


def test_random_programs(workshop: Workshop) -> None:
    @settings(BOUNDED, max_examples=20)
    @given(TOGETHER, st.integers(0, 23))
    def agree(modules: list[Module], seed: int) -> None:
        check(workshop, modules, seed)

    agree()


@pytest.mark.slow
def test_many_random_programs(workshop: Workshop) -> None:
    @settings(BOUNDED, max_examples=80)
    @given(TOGETHER, st.integers(0, 23))
    def agree(modules: list[Module], seed: int) -> None:
        check(workshop, modules, seed)

    agree()
