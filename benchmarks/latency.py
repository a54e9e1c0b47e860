"""Where the time goes before a kernel runs: cold compilation by stage, launches from the cache, the import.

    python -m benchmarks.latency [--quick] [--json FILE] [--profile-lines N]

The C compiler is not part of the compilation measured here. Every compilation runs in a process of its own
that has imported numpy and the kernel's file: once as the first thing, so that what the compiler imports
counts, and once after another kernel was compiled.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import pstats
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import xdsl_core as xdsl
import xdsl_core.language as tl
from benchmarks.harness import wide_console, write_json
from benchmarks.noise import in_prepared_process

ROOT = Path(__file__).resolve().parent.parent
KERNELS = {
    "matmul": "examples/matmul.py:matmul_kernel",
    "flash attention": "examples/flash_attention.py:attention_kernel",
    "fused softmax": "examples/fused_softmax.py:softmax_kernel",
}
OTHER_KERNEL = "examples/vector_add.py:add_kernel"
STAGES = ("frontend", "passes", "codegen")
BACKEND = "cpu_c"
IMPORTS_TOO_MUCH = ("cffi", "jinja2", "torch", "triton", "xdsl_cpu_c")


@dataclass(frozen=True, slots=True)
class Goal:
    """What a number should stay below, in its unit."""

    work: str
    metric: str
    value: float
    unit: str
    limit: float | None = None

    def row(self) -> dict[str, Any]:
        """The number in the form that all benchmarks write; the peer is the limit."""
        ratio = None if self.limit is None else self.limit / self.value
        return {**asdict(self), "peer": "limit", "peer_value": self.limit, "ratio": ratio}


def compile_stages(place: str) -> dict[str, float]:
    """Seconds of each stage of compiling the kernel at FILE:KERNEL for cpu_c, in this process."""
    from xdsl_core.cli.kernels import choose

    chosen = choose(place, None)
    started = time.perf_counter()
    from xdsl_core.cli.stages import build, destination, generate
    from xdsl_core.passes import run_pipeline

    where = destination(BACKEND, {})
    module = build(chosen, where)
    built = time.perf_counter()
    module = run_pipeline(module, where.backend.pipeline(where.target, where.options)).module
    lowered = time.perf_counter()
    generate(module, where)
    generated = time.perf_counter()
    return dict(zip(STAGES, (built - started, lowered - built, generated - lowered), strict=True))


def cold_compilation(name: str, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Median seconds by stage: as the first compilation of a process, and after another kernel's."""
    return _medians(name, (), rounds), _medians(name, (OTHER_KERNEL,), rounds)


def _medians(name: str, before: tuple[str, ...], rounds: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.latency", "--child", *before, KERNELS[name]]
    runs = [
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True) for _ in range(rounds)
    ]
    samples = [json.loads(run.stdout) for run in runs]
    return {stage: statistics.median(sample[stage] for sample in samples) for stage in STAGES}


def child(places: list[str]) -> None:
    """Compiles one kernel after the other and prints the seconds of the last one's stages as JSON."""
    print(json.dumps([compile_stages(place) for place in places][-1]))


def profile(name: str, lines: int) -> str:
    """Where the time of a compilation goes, function by function, once everything is imported."""
    compile_stages(OTHER_KERNEL)
    profiler = cProfile.Profile()
    profiler.runcall(compile_stages, KERNELS[name])
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(lines)
    useful = [line for line in text.getvalue().splitlines() if line.strip()]
    return "\n".join(useful)


@xdsl.jit
def six_arguments_kernel(a, b, c, d, out, n):
    """Adds the first elements of four arrays and a number: hardly any work."""
    tl.store(out, tl.load(a) + tl.load(b) + tl.load(c) + tl.load(d) + n)


def launch_seconds(rounds: int) -> dict[str, float]:
    """Seconds of one launch from the cache, and of a small numpy operation for scale."""
    arrays = [np.full(64, i, np.float32) for i in range(5)]
    kernel = six_arguments_kernel.on(BACKEND)
    launch = kernel[(1,)]
    launch(*arrays, 64)
    assert arrays[4][0] == sum(range(4)) + 64
    calls: dict[str, Callable[[], object]] = {
        "launch, six arguments": lambda: kernel[(1,)](*arrays, 64),
        "launch, grid bound before": lambda: launch(*arrays, 64),
        "numpy.add of 64 elements": lambda: np.add(arrays[0], arrays[1], out=arrays[4]),
    }
    return {name: min(timeit.repeat(call, number=2000, repeat=rounds)) / 2000 for name, call in calls.items()}


def import_seconds(rounds: int) -> tuple[float, list[str]]:
    """Seconds that `import xdsl_core` adds to Python's start, and modules that it should not import."""
    statement = "import xdsl_core, sys; print(*sys.modules)"
    samples = []
    for _ in range(rounds):
        seconds = [_process_seconds(code) for code in ("pass", statement)]
        samples.append(seconds[1] - seconds[0])
    command = [sys.executable, "-c", statement]
    loaded = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    return statistics.median(samples), [name for name in IMPORTS_TOO_MUCH if name in loaded]


def _process_seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> int:
    """Measures, prints and, if asked, writes the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--profile-lines", type=int, default=15, help="functions in each profile; 0 for none")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return 0
    in_prepared_process()

    rounds, goals = (3 if options.quick else 9), []
    for name in KERNELS:
        first, later = cold_compilation(name, rounds)
        for label, stages in (("first in a process", first), ("after another kernel", later)):
            work = f"compile {name}, {label}"
            goals += [Goal(work, stage, seconds * 1e3, "ms") for stage, seconds in stages.items()]
            goals.append(Goal(work, "total", sum(stages.values()) * 1e3, "ms", 150.0))
    for name, seconds in launch_seconds(rounds).items():
        goals.append(
            Goal(name, "host time", seconds * 1e6, "us", 10.0 if name.startswith("launch") else None)
        )
    seconds, unwanted = import_seconds(rounds)
    goals.append(Goal("import xdsl_core", "added to Python's start", seconds * 1e3, "ms", 150.0))
    show(goals)
    if unwanted:
        print(f"import xdsl_core also imports {', '.join(unwanted)}", file=sys.stderr)
    if options.profile_lines:
        for name in KERNELS:
            print(f"\nprofile of compiling {name} (the profiler itself slows it down)")
            print(profile(name, options.profile_lines))
    if options.json:
        write_json([goal.row() for goal in goals], options.json)
    return 1 if unwanted else 0


def show(goals: list[Goal]) -> None:
    """Prints the numbers as a table."""
    table = Table(title=f"latency on {BACKEND}")
    for column in ("work", "what"):
        table.add_column(column)
    for column in ("value", "should be below"):
        table.add_column(column, justify="right")
    last = goals[0].work
    for goal in goals:
        if goal.work != last:
            table.add_section()
        last = goal.work
        limit = "" if goal.limit is None else f"{goal.limit:g} {goal.unit}"
        colour = "yellow" if goal.limit is not None and goal.value > goal.limit else "default"
        table.add_row(goal.work, goal.metric, f"[{colour}]{goal.value:.3g} {goal.unit}[/]", limit)
    wide_console().print(table)


if __name__ == "__main__":
    sys.exit(main())
