"""How fast dsa_sim simulates: instructions a second of both engines, and how time grows with the problem.

    python -m benchmarks.sim_speed [--quick] [--json FILE]

An instruction is one that an engine or the scalar unit of a simulated core executes, scalar arithmetic and
flags too. Times are of the process's CPU, of a run of a program that was compiled and assembled before; the
best of several where a run is short. The kernel is the example's product of float16 matrices.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.harness import wide_console, write_json
from xdsl_core.cli.kernels import choose
from xdsl_core.cli.stages import build, destination, generate, lower
from xdsl_dsa_sim.isa import parse_program
from xdsl_dsa_sim.simulator.assemble import assemble
from xdsl_dsa_sim.simulator.image import Image
from xdsl_dsa_sim.simulator.simulate import simulate

TARGET = "ascend910b2"
KERNEL = Path(__file__).parents[1] / "examples" / "matmul.py"
TILE = (128, 256, 64)
TYPES = (
    "a: *f16, b: *f16, c: *f16, M: i32, N: i32, K: i32, stride_am: i32, stride_ak=1, stride_bk: i32, "
    "stride_bn=1, stride_cm: i32, stride_cn=1, BLOCK_M={}, BLOCK_N={}, BLOCK_K={}, GROUP=8"
)
SHORT = 2.0  # seconds; what takes less is run again


@dataclass(frozen=True, slots=True)
class Goal:
    """What was asked for: at most so many `seconds`, at least so many instructions a second."""

    seconds: float = 0.0
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """An n x n x n product, simulated by an engine in a mode."""

    size: int
    engine: str
    mode: str
    goal: Goal = Goal()

    @property
    def name(self) -> str:
        return f"matmul {self.size}^3 f16"


WORKS = (
    Work(1024, "python", "timing"),
    Work(1024, "c", "timing", Goal(rate=3e5)),
    Work(512, "python", "functional"),
    Work(512, "c", "functional"),
    Work(2048, "c", "timing", Goal(rate=3e5)),
    Work(4096, "c", "timing", Goal(seconds=20.0, rate=3e5)),
    Work(8192, "c", "timing", Goal(rate=3e5)),
    Work(16384, "c", "timing", Goal(rate=3e5)),
)
QUICK = 2048


@dataclass(frozen=True, slots=True)
class Speed:
    """A measured run: executed `instructions`, `seconds` of CPU, and the `cycles` that were simulated."""

    work: Work
    instructions: int
    seconds: float
    cycles: float

    @property
    def rate(self) -> float:
        """Instructions a second."""
        return self.instructions / self.seconds

    @property
    def met(self) -> bool:
        """Whether the goal was met."""
        goal = self.work.goal
        return (not goal.seconds or self.seconds < goal.seconds) and self.rate >= goal.rate


def program() -> Image:
    """The compiled kernel, assembled."""
    chosen = choose(f"{KERNEL}:matmul_kernel", TYPES.format(*TILE))
    where = destination(f"dsa_sim:{TARGET}", {})
    module = lower(build(chosen, where), where, text=lambda _: "").run.module
    return assemble(parse_program(generate(module, where).text), where.target)


def measure(image: Image, work: Work) -> Speed:
    """One work; of runs shorter than SHORT the best of three."""
    grid, arguments = _launch(image, work.size)
    best: Speed | None = None
    for _ in range(3):
        started = time.process_time()
        run = simulate(image, image.description, grid, arguments, mode=work.mode, engine=work.engine)
        seconds = time.process_time() - started
        if best is None or seconds < best.seconds:
            best = Speed(work, run.record.executed, seconds, run.cycles)
        if seconds > SHORT:
            break
    assert best is not None
    return best


def _launch(image: Image, size: int) -> tuple[tuple[int, int, int], list[Any]]:
    """Grid and arguments; the matrices are memory that nobody touched, for timing does not read it."""
    values = dict.fromkeys(("M", "N", "K", "stride_am", "stride_bk", "stride_cm"), size)
    matrices = {name: np.zeros((size, size), np.float16) for name in "abc"}
    rows, columns = (-(-size // tile) for tile in TILE[:2])
    named = {**values, **matrices}
    return (rows * columns, 1, 1), [named[parameter.name] for parameter in image.program.parameters]


def table(speeds: Sequence[Speed]) -> Table:
    """The speeds as a table."""
    made = Table(title=f"simulating {KERNEL.name} on {TARGET}, tiles {'x'.join(map(str, TILE))}")
    for column in ("work", "engine", "mode", "cycles", "instructions", "CPU s", "M instructions/s", "goal"):
        made.add_column(column, justify="left" if column in ("work", "engine", "mode") else "right")
    for speed in speeds:
        cycles = f"{speed.cycles:,.0f}" if speed.work.mode != "functional" else ""
        has_goal = speed.work.goal != Goal()
        made.add_row(
            speed.work.name, speed.work.engine, speed.work.mode, cycles, f"{speed.instructions:,}",
            f"{speed.seconds:.2f}", f"{speed.rate / 1e6:.3f}",
            ("met" if speed.met else "missed") if has_goal else "",
        )  # fmt: skip
    return made


def _objects(speeds: Sequence[Speed]) -> Iterator[dict[str, Any]]:
    for speed in speeds:
        work = f"{speed.work.name}, {speed.work.engine} engine, {speed.work.mode}"
        common = {"work": work, "peer": "", "peer_value": None, "ratio": None}
        yield {**common, "metric": "simulated instructions", "value": speed.rate, "unit": "1/s"}
        yield {**common, "metric": "CPU time", "value": speed.seconds, "unit": "s"}


def main() -> None:
    """Measures, prints the table, and writes JSON if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"only sizes up to {QUICK}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here")
    options = parser.parse_args()
    image = program()
    works = [work for work in WORKS if work.size <= QUICK or not options.quick]
    speeds = [measure(image, work) for work in works]
    wide_console().print(table(speeds))
    if options.json is not None:
        write_json(list(_objects(speeds)), options.json)


if __name__ == "__main__":
    main()
