"""The core's Profile of a simulated launch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl_core.backend import Profile
from xdsl_dsa_sim.report.bottleneck import bottleneck
from xdsl_dsa_sim.report.chrome import chrome_trace
from xdsl_dsa_sim.report.html import timeline_html
from xdsl_dsa_sim.report.pipes import pipe_table_csv
from xdsl_dsa_sim.report.summary import summarise
from xdsl_dsa_sim.report.text import notes, summary_text
from xdsl_dsa_sim.simulator.simulate import Simulation


def profile_of(run: Simulation) -> Profile:
    """Cycles, seconds with the cost of launching, utilisation by engine, bytes by path, the bottleneck in
    words."""
    summary = summarise(run)
    moved = {path: part.bytes for path, part in summary.paths.items()}
    moved |= {"DRAM read": summary.dram_read, "DRAM written": summary.dram_written}
    return Profile(
        cycles=round(summary.cycles),
        seconds=summary.seconds,
        utilisation={engine.name: engine.utilisation for engine in summary.engines},
        bytes_moved=moved,
        bottleneck=bottleneck(summary),
        notes=tuple(notes(summary)),
        views=_views(run),
    )


def _views(run: Simulation) -> dict[str, Callable[[], str]]:
    """The texts about a run; those made of events only where the run kept them."""
    views: dict[str, Callable[[], str]] = {
        "summary.txt": lambda: summary_text(summarise(run)),
        "utilisation.csv": partial(pipe_table_csv, run),
    }
    if run.setup.trace:
        views |= {"trace.json": partial(chrome_trace, run), "timeline.html": partial(timeline_html, run)}
    return views
