"""Running a program on a simulated machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from xdsl_core.backend import Argument, Grid
from xdsl_core.target import TargetDescription
from xdsl_dsa_sim.isa import Program
from xdsl_dsa_sim.simulator.assemble import assemble
from xdsl_dsa_sim.simulator.console import Console
from xdsl_dsa_sim.simulator.execute import Semantics
from xdsl_dsa_sim.simulator.faults import Fault, error_of
from xdsl_dsa_sim.simulator.global_memory import bind
from xdsl_dsa_sim.simulator.image import Image
from xdsl_dsa_sim.simulator.native import library
from xdsl_dsa_sim.simulator.native.engine import run_native
from xdsl_dsa_sim.simulator.python.engine import run_python
from xdsl_dsa_sim.simulator.record import Record, completed
from xdsl_dsa_sim.simulator.setup import Setup, prepare

# A kernel that executes more steps than this is taken to run forever.
MAX_STEPS = 20_000_000_000
ENGINES = ("auto", "c", "python")


@dataclass(frozen=True, slots=True)
class Simulation:
    """A run that has ended: what it began with, and its record."""

    setup: Setup
    record: Record

    @property
    def image(self) -> Image:
        return self.setup.image

    @property
    def cycles(self) -> float:
        """Cycles of the core that took longest."""
        return self.record.cycles

    @property
    def core_seconds(self) -> float:
        """Time of the core that took longest."""
        return self.record.cycles / (self.image.description.clock_hz or 1.0)

    @property
    def seconds(self) -> float:
        """Time of the launch, with what launching costs."""
        launch = self.image.description.launch_overhead
        return self.core_seconds + launch + len(self.setup.cores) * self.image.model.launch.per_core


def simulate(
    program: Program | Image,
    description: TargetDescription,
    grid: Grid,
    arguments: Sequence[Argument | Any],
    *,
    mode: str = "both",
    engine: str = "auto",
    trace: bool = False,
    max_steps: int = MAX_STEPS,
    output: TextIO | None = None,
) -> Simulation:
    """Run a program for every program of the grid; results are in the arguments' own memory.

    `mode` "timing" leaves values out, "functional" time. `engine` is "python", "c", or "auto": C where a C
    compiler is found. `trace` keeps every event. Raises CompilationError X0905 for what does not fit the
    target, ExecutionError X0911 to X0919 for what the program does wrong.
    """
    image = program if isinstance(program, Image) else assemble(program, description)
    memory = bind(arguments)
    setup = prepare(image, grid, memory, mode=mode, trace=trace, max_steps=max_steps)
    semantics = Semantics(setup, Console(grid, output))
    try:
        record = completed(_engine(engine)(setup, semantics))
    except Fault as fault:
        raise error_of(fault, image, setup.places, memory) from None
    return Simulation(setup, record)


def _engine(name: str) -> Callable[[Setup, Semantics], Record]:
    if name not in ENGINES:
        raise ValueError(f"engine is {name!r}, none of {', '.join(ENGINES)}")
    return run_native if name == "c" or (name == "auto" and library.is_available()) else run_python
