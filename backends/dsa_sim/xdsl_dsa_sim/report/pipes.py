"""How busy the pipes of every core were, with the column names of msprof's PipeUtilization.csv.

The names are those of the page "PipeUtilization" of the MindStudio operator tools, so that a table of the
simulator can be compared with one of a board. Engines that msprof does not know have their own names in the
same form."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from types import MappingProxyType

from xdsl_dsa_sim.simulator.setup import CoreSetup
from xdsl_dsa_sim.simulator.simulate import Simulation

_PIPES: Mapping[str, str] = MappingProxyType({"M": "cube", "V": "vec", "S": "scalar", "FIX": "fixpipe"})
MISSING = "NA"


def pipe_table(run: Simulation) -> list[dict[str, str]]:
    """One row a core; columns of other kinds of cores hold NA."""
    hertz = run.image.description.clock_hz or 1.0
    kinds = {core.kind.name: core.kind for core in run.image.cores}
    names = ["block_id", "sub_block_id"]
    for kind in kinds.values():
        names += [f"{kind.name.lower()}_time(us)", f"{kind.name.lower()}_total_cycles"]
        names += [
            _column(kind.name, engine, part) for engine in kind.engines for part in ("time(us)", "ratio")
        ]
    rows = []
    for number, core in enumerate(run.setup.cores):
        row = dict.fromkeys(names, MISSING)
        row |= _row(run, number, core, hertz)
        rows.append(row)
    return rows


def _row(run: Simulation, number: int, core: CoreSetup, hertz: float) -> dict[str, str]:
    kind = core.image.kind
    cycles = run.record.core_cycles[number]
    row = {
        "block_id": str(core.group),
        "sub_block_id": f"{kind.name.lower()}{core.place.index % kind.per_group}",
        f"{kind.name.lower()}_time(us)": f"{cycles / hertz * 1e6:.3f}",
        f"{kind.name.lower()}_total_cycles": f"{cycles:.0f}",
    }
    for engine, totals in zip(kind.engines, run.record.engines[number], strict=True):
        row[_column(kind.name, engine, "time(us)")] = f"{totals.busy / hertz * 1e6:.3f}"
        row[_column(kind.name, engine, "ratio")] = f"{totals.busy / cycles if cycles else 0.0:.3f}"
    return row


def _column(kind: str, engine: str, part: str) -> str:
    return f"{kind.lower()}_{_PIPES.get(engine, engine.lower())}_{part}"


def pipe_table_csv(run: Simulation) -> str:
    """The table as CSV."""
    rows = pipe_table(run)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
