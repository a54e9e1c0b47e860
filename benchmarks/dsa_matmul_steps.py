"""What each step brings to a 6144^3 product of float16 on ascend910b2: buffers, longer loads, program order.

python -m benchmarks.dsa_matmul_steps [--size N] [--json FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.table import Table

from benchmarks.dsa.matmul import matmul
from benchmarks.harness import wide_console, write_json

TARGET = "ascend910b2"
# (step, K elements a load brings, parts of the buffers, rows and columns of the grid of cores)
STEPS = (
    ("one part in L1, a step of K = 64 a load, cores in one column", 64, 1, 24, 1),
    ("two parts: loads run ahead of the matrix unit", 64, 2, 24, 1),
    ("four steps a load: K = 256", 256, 2, 24, 1),
    ("cores as 4 x 6 instead of one column", 256, 2, 4, 6),
)


def main() -> int:
    """Prints a row a step: time, how busy the matrix unit and the loads were, DRAM traffic."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=6144, help="extent of the three dimensions")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    table = Table(title=f"{options.size}^3 float16, tiles 128x256, on {TARGET}")
    table.add_column("step")
    for column in ("time", "matrix unit", "loads", "DRAM"):
        table.add_column(column, justify="right")
    rows = []
    for step, block_k, parts, down, across in STEPS:
        found = matmul(TARGET, size=options.size, block_k=block_k, stages=parts, rows=down, columns=across)
        table.add_row(
            step, f"{found.microseconds:.0f} us", f"{found.ratio['AIC.M']:.1%}",
            f"{found.ratio['AIC.MTE2']:.1%}", f"{found.dram / 1e6:.0f} MB",
        )  # fmt: skip
        rows.append(
            {"work": step, "metric": "matrix unit busy", "value": found.ratio["AIC.M"], "unit": "share",
             "peer": "goal", "peer_value": 0.8, "ratio": found.ratio["AIC.M"] / 0.8}
        )  # fmt: skip
    wide_console().print(table)
    if options.json:
        write_json(rows, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
