"""Simulated times of whole kernels against published measured ones, with signed errors and sources.

python -m benchmarks.dsa_validation [--only ROW] [--json FILE]

Rows C were used to calibrate the descriptions of the machines, rows P were not. docs/dsa_accuracy.md says
what the model has and what it leaves out.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.dsa import attention, matmul, streaming
from benchmarks.dsa.simulated import Simulated
from benchmarks.harness import wide_console, write_json

ADK = "asc-devkit, best-practice samples"
B1, B2, B4 = "ascend910b1", "ascend910b2", "ascend910b4"


@dataclass(frozen=True, slots=True)
class Row:
    """A published measurement: what ran, its value in `unit`, the tolerance, and where it was published.

    `read` takes the same number out of a simulated launch.
    """

    name: str
    work: str
    measured: float
    unit: str
    tolerance: float
    source: str
    run: Callable[[], Simulated]
    read: Callable[[Simulated], float]

    @property
    def is_prediction(self) -> bool:
        """True for a row that played no part in calibration."""
        return self.name.startswith("P")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row and what was simulated."""

    row: Row
    value: float

    @property
    def error(self) -> float:
        """Simulated against measured, signed: 0.1 is 10 % too slow."""
        return self.value / self.row.measured - 1

    @property
    def is_within(self) -> bool:
        return abs(self.error) <= self.row.tolerance


def launch_time(launch: Simulated) -> float:
    """Microseconds of a launch."""
    return launch.microseconds


def core_time(launch: Simulated) -> float:
    """Microseconds on the cores: for a kernel that only reads, the time its transfers take."""
    return launch.core_microseconds


def ratio(engine: str) -> Callable[[Simulated], float]:
    """The busy share of an engine, in percent."""
    return lambda launch: 100 * launch.ratio[engine]


def vector_time(launch: Simulated) -> float:
    """Microseconds in which the vector unit of a core was busy."""
    return launch.busy["AIV.V"]


ADD = partial(streaming.add, B1, cores=48)
SINGLE = partial(ADD, tile_bytes=32768, stages=1)
READ = partial(streaming.read, B1, cores=48, rows=12288)
GEMM = partial(matmul.matmul, B2, block_k=256, stages=2, result=np.float32)
SQUARE = partial(matmul.matmul, B1, size=8192, block_k=256)
ADD_SOURCE, COPY_SOURCE = f"{ADK}: add_high_performance", f"{ADK}: data_copy"
GEMM_SOURCE, ATTENTION_SOURCE = "pto-isa: gemm_performance", "pto-isa: flash_atten"
ADD_ALONE = partial(streaming.add, B1, cores=1, tile_bytes=8192, stages=1)
FACTORS = partial(streaming.read_as_factor, B1, cores=24, rows=12288, columns=12287, tile=(64, 256))
ATTENTION = partial(attention.attention, B2, block=(64, 256))
ROWS: tuple[Row, ...] = (
    Row("C1", "add 8192x8192 f16, 1 core, 8 KiB tiles, one buffer", 6909.6, "us", 0.15,
        ADD_SOURCE, ADD_ALONE, core_time),
    Row("C2", "add 8192x8192 f16, 48 cores, 32 KiB tiles, one buffer", 268.5, "us", 0.10,
        ADD_SOURCE, SINGLE, launch_time),
    Row("C3a", "read 12288x12288 f16 to UB, 128 bytes a transfer", 548.2, "us", 0.10,
        COPY_SOURCE, partial(READ, columns=12288, tile=(1, 64), together=16), core_time),
    Row("C3b", "read 12288x12288 f16 to UB, bursts of 128 bytes", 220.8, "us", 0.10,
        COPY_SOURCE, partial(READ, columns=12288, tile=(64, 64)), core_time),
    Row("C3c", "read 12288x12288 f16 to UB, bursts of 2 KiB", 202.7, "us", 0.10,
        COPY_SOURCE, partial(READ, columns=12288, tile=(64, 1024)), core_time),
    Row("P1a", "add 8192x8192 f16, 48 cores, two buffers", 264.02, "us", 0.10,
        ADD_SOURCE, partial(ADD, tile_bytes=16384, stages=2), launch_time),
    Row("P1b", "the same, inputs pass L2 by", 187.68, "us", 0.10,
        ADD_SOURCE, partial(ADD, tile_bytes=16384, stages=2, cache=".cv"), launch_time),
    Row("P2", "add as C2, time of the vector unit, conflicting banks", 12.845, "us", 0.03,
        ADD_SOURCE, SINGLE, vector_time),
    Row("P3a", "read 12288x12287 f16 to UB, unaligned rows", 259.0, "us", 0.10,
        COPY_SOURCE, partial(READ, columns=12287, tile=(64, 1024)), core_time),
    Row("P3b", "read 12288x12287 f16 to L1 as fractals, 24 cores", 422.5, "us", 0.10,
        COPY_SOURCE, FACTORS, core_time),
    Row("P4a", "matmul 8192^3 f16, 24 cores, 4 steps a load, one part in L1", 5039.9, "us", 0.10,
        f"{ADK}: matmul C4", partial(SQUARE, stages=1), launch_time),
    Row("P4a matrix", "the same, matrix unit busy", 69.4, "%", 0.10,
        f"{ADK}: matmul C4", partial(SQUARE, stages=1), ratio("AIC.M")),
    Row("P4a loads", "the same, loads busy", 90.3, "%", 0.10,
        f"{ADK}: matmul C4", partial(SQUARE, stages=1), ratio("AIC.MTE2")),
    Row("P4b", "the same, two parts in L1", 4012.4, "us", 0.10,
        f"{ADK}: matmul C8", partial(SQUARE, stages=2), launch_time),
    Row("P4b matrix", "the same, matrix unit busy", 86.4, "%", 0.10,
        f"{ADK}: matmul C8", partial(SQUARE, stages=2), ratio("AIC.M")),
    Row("P4b loads", "the same, loads busy", 96.5, "%", 0.10,
        f"{ADK}: matmul C8", partial(SQUARE, stages=2), ratio("AIC.MTE2")),
    Row("P5a", "matmul 3072^3 f16 to f32, 24 cores, 4 steps a load", 206.7, "us", 0.10,
        GEMM_SOURCE, partial(GEMM, size=3072), launch_time),
    Row("P5a matrix", "the same, matrix unit busy", 79.0, "%", 0.10,
        GEMM_SOURCE, partial(GEMM, size=3072), ratio("AIC.M")),
    Row("P5a loads", "the same, loads busy", 90.9, "%", 0.10,
        GEMM_SOURCE, partial(GEMM, size=3072), ratio("AIC.MTE2")),
    Row("P5b", "matmul 6144^3 f16 to f32, 24 cores, 4 steps a load", 1506.0, "us", 0.10,
        GEMM_SOURCE, partial(GEMM, size=6144), launch_time),
    Row("P5b matrix", "the same, matrix unit busy", 86.7, "%", 0.10,
        GEMM_SOURCE, partial(GEMM, size=6144), ratio("AIC.M")),
    Row("P5b loads", "the same, loads busy", 95.2, "%", 0.10,
        GEMM_SOURCE, partial(GEMM, size=6144), ratio("AIC.MTE2")),
    Row("P6a", "attention forward, 1 head, D=128, S=8192 f16", 292.6, "us", 0.15,
        ATTENTION_SOURCE, partial(ATTENTION, length=8192), launch_time),
    Row("P6b", "attention forward, 1 head, D=128, S=32768 f16", 3262.6, "us", 0.15,
        ATTENTION_SOURCE, partial(ATTENTION, length=32768), launch_time),
    Row("P7", "copy of 99.7M f16", 708.6, "us", 0.10,
        "pytorch-tcuscan (arXiv 2505.15112)", partial(streaming.copy, B4, cores=40, elements=99_700_000),
        launch_time),
)  # fmt: skip


def measure(rows: Sequence[Row]) -> list[Outcome]:
    """Simulates the rows; rows of one launch share it."""
    launches: dict[str, Simulated] = {}
    outcomes = []
    for row in rows:
        key = repr(row.run)
        if key not in launches:
            launches[key] = row.run()
        outcomes.append(Outcome(row, row.read(launches[key])))
        print(f"{row.name}: done", file=sys.stderr)
    return outcomes


def geometric_mean(outcomes: Sequence[Outcome]) -> float:
    """Geometric mean of |error|; an error below a tenth of a percent counts as that."""
    return math.exp(sum(math.log(max(abs(outcome.error), 1e-3)) for outcome in outcomes) / len(outcomes))


def main() -> int:
    """Prints the table; the exit status is 1 if a calibrated row is not within its tolerance."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="only rows whose name starts so (repeatable)")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.only or row.name.startswith(tuple(options.only))]
    outcomes = measure(rows)
    table = Table(title="simulated against published measured figures")
    for column in ("row", "work"):
        table.add_column(column)
    for column in ("simulated", "measured", "error", "tolerance"):
        table.add_column(column, justify="right")
    table.add_column("source")
    for outcome in outcomes:
        row, colour = outcome.row, "green" if outcome.is_within else "red"
        table.add_row(
            row.name, row.work, f"{outcome.value:.1f} {row.unit}", f"{row.measured:g} {row.unit}",
            f"[{colour}]{outcome.error:+.1%}[/]", f"{row.tolerance:.0%}", row.source,
        )  # fmt: skip
    wide_console().print(table)
    predictions = [outcome for outcome in outcomes if outcome.row.is_prediction]
    if predictions:
        plain = sum(abs(outcome.error) for outcome in predictions) / len(predictions)
        mean = geometric_mean(predictions)
        print(f"|error| over the {len(predictions)} P rows: geometric mean {mean:.1%}, mean {plain:.1%}")
    if options.json:
        write_json([as_json(outcome) for outcome in outcomes], options.json)
    return 0 if all(outcome.is_within for outcome in outcomes if not outcome.row.is_prediction) else 1


def as_json(outcome: Outcome) -> dict[str, object]:
    """A row in the form that all benchmarks write; the peer is the measurement."""
    row = outcome.row
    return {
        "work": f"{row.name} {row.work}", "metric": "simulated", "value": outcome.value, "unit": row.unit,
        "peer": row.source, "peer_value": row.measured, "ratio": outcome.value / row.measured,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
