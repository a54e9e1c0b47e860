"""Every flag of compiled kernels: without it a run is refused, or the others are proved to order the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.unit.dsa_sim.order import SETS, WAITS, Order, Site, order_of, pairs
from xdsl_core.backend import default_registry
from xdsl_core.cli.kernels import choose
from xdsl_core.cli.launch_arguments import LaunchArguments, launch_arguments
from xdsl_core.cli.stages import Destination, build, generate, lower
from xdsl_core.diagnostics import XdslError
from xdsl_core.frontend.specs import Constant
from xdsl_core.target import TargetDescription
from xdsl_dsa_sim.isa import (
    If,
    Instruction,
    Loop,
    Program,
    Statement,
    While,
    parse_program,
    print_instruction,
)
from xdsl_dsa_sim.machine import find_target
from xdsl_dsa_sim.simulator.assemble import assemble
from xdsl_dsa_sim.simulator.simulate import simulate

EXAMPLES = Path(__file__).parents[3] / "examples"
MATMUL = (
    "a=MxK, b=KxN, c=MxN, stride_am=K, stride_bk=N, stride_cm=N, grid=cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"
)
# Kernel, constants, and launches that execute every flag: whole and ragged tiles, several programs a core,
# loops of several turns and of none.
STREAMS: Mapping[str, tuple[str, Mapping[str, int], tuple[str, ...]]] = {
    "matmul": (
        "matmul.py:matmul_kernel",
        {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 2},
        (f"M=48, N=48, K=80, {MATMUL}", f"M=96, N=32, K=0, {MATMUL}"),
    ),
    "softmax": (
        "fused_softmax.py:softmax_kernel",
        {"BLOCK": 1024},
        ("out=8x781, x=8x781, out_stride=781, x_stride=781, columns=781, grid=8",),
    ),
    "attention": (
        "flash_attention.py:attention_kernel",
        {"HEAD": 16, "BLOCK_M": 16, "BLOCK_N": 16},
        ("q=56x16, k=56x16, v=56x16, out=56x16, scale=0.125, n=56, grid=cdiv(n, BLOCK_M);1",),
    ),
}
# Refusals that a missing flag may lead to: race, read of what nothing wrote, deadlock, set again, left set.
CODES = {"X0912", "X0913", "X0914", "X0915", "X0917"}


def few_cores() -> TargetDescription:
    """One matrix core and its vector cores of a machine, so that each runs several programs."""
    target = find_target("ascend910b2")
    return replace(target, core_kinds=tuple(replace(kind, count=kind.per_group) for kind in target.kinds))


@dataclass(frozen=True)
class Stream:
    """A compiled kernel, launched in several ways."""

    program: Program
    target: TargetDescription
    launches: tuple[LaunchArguments, ...]

    def arguments(self, launch: LaunchArguments) -> list[Any]:
        return [launch.values[parameter.name] for parameter in self.program.parameters]

    @cached_property
    def orders(self) -> list[Order]:
        image = assemble(self.program, self.target)
        return [order_of(image, _extents(launch), self.arguments(launch)) for launch in self.launches]

    @cached_property
    def pairs(self) -> list[frozenset[Site]]:
        return pairs(self.orders)

    @property
    def sites(self) -> set[Site]:
        return set().union(*(order.sites() for order in self.orders))

    @property
    def all_sites(self) -> set[Site]:
        image = assemble(self.program, self.target)
        return {
            (core.kind.name, item.index)
            for core in image.cores
            for item in core.items
            if item.action in (*SETS, *WAITS)
        }

    def text(self, site: Site) -> str:
        core = next(core for core in assemble(self.program, self.target).cores if core.kind.name == site[0])
        return f"{site[0]}: {print_instruction(core.items[site[1]].source)}"

    def reported(self, removed: Collection[Site]) -> str:
        """The code of the error that the stream without some flags gives; "" if none of its launches does."""
        image = assemble(without(self.program, removed), self.target)
        for launch in self.launches:
            try:
                simulate(image, self.target, _extents(launch), self.arguments(launch), mode="timing")
            except XdslError as problem:
                return problem.code
        return ""


def _extents(launch: LaunchArguments) -> tuple[int, int, int]:
    return (*launch.grid, 1, 1)[:3]  # type: ignore[return-value]


def without(program: Program, removed: Collection[Site]) -> Program:
    """The program without some instructions, which are numbered as in the image."""
    cores = {}
    for kind, body in program.cores.items():
        numbers = iter(range(1 << 30))
        gone = {index for core, index in removed if core == kind}
        cores[kind] = _kept(body, gone, numbers)
    return replace(program, cores=cores)


def _kept(body: tuple[Statement, ...], gone: set[int], numbers: Any) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Instruction):
            if next(numbers) not in gone:
                kept.append(statement)
        elif isinstance(statement, Loop):
            kept.append(replace(statement, body=_kept(statement.body, gone, numbers)))
        elif isinstance(statement, While):
            before = _kept(statement.before, gone, numbers)
            kept.append(replace(statement, before=before, body=_kept(statement.body, gone, numbers)))
        elif isinstance(statement, If):
            then = _kept(statement.then, gone, numbers)
            kept.append(replace(statement, then=then, otherwise=_kept(statement.otherwise, gone, numbers)))
    return tuple(kept)


@cache
def stream(name: str) -> Stream:
    """The stream of an example's kernel."""
    place, constants, launches = STREAMS[name]
    target = few_cores()
    handle = default_registry().get("dsa_sim")
    where = Destination(handle, target, handle.options({}))
    chosen = choose(str(EXAMPLES / place), None)
    chosen.specs.update({key: Constant(value) for key, value in constants.items()})
    module = lower(build(chosen, where), where, text=lambda _: "").run.module
    program = parse_program(generate(module, where).text)
    return Stream(program, target, tuple(launch_arguments([text], chosen.specs) for text in launches))


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("softmax", 1),
        ("matmul", 4),
        pytest.param("matmul", 1, marks=pytest.mark.slow),
        pytest.param("attention", 1, marks=pytest.mark.slow),
    ],
)
def test_flags_of_a_kernel(name: str, every: int) -> None:
    """A set without its wait, and the reverse, are refused; both are needed, or proved to be of no use.

    The proof is a closure over the streams: everything that uses the same bytes is still in order. `every`
    says how many of the flags are tried.
    """
    found = stream(name)
    assert found.reported(()) == ""
    assert found.sites == found.all_sites
    for site in sorted(found.sites)[::every]:
        assert found.reported({site}) in CODES, found.text(site)
    needed, tried = 0, sorted(found.pairs, key=sorted)[::every]
    for pair in tried:
        code = found.reported(pair)
        unordered = any(order.missing(pair) for order in found.orders)
        assert bool(code) == unordered, [found.text(site) for site in pair]
        assert code in {"", "X0912", "X0913"}
        needed += bool(code)
    assert needed >= len(tried) // 2


@pytest.mark.compiler
def test_programs_of_a_group_take_turns_at_its_scratch_memory() -> None:
    """A core that does not wait until its group's scratch memory was read would spoil the next program's."""
    found = stream("matmul")
    kept = {site for site in found.sites if "cross" in found.text(site)}
    back = {site for site in kept if "AIV, 1" in found.text(site) or "AIC, 1" in found.text(site)}
    credits_ = {site for site in kept if any(f"AI{c}, {n}" in found.text(site) for c in "VC" for n in "23")}
    assert back
    assert credits_
    assert found.reported(back | credits_) == "X0912"
