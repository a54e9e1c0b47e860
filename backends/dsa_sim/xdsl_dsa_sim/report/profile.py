"""The core's Profile of a simulated launch."""

from __future__ import annotations

from xdsl_core.backend import Profile
from xdsl_dsa_sim.report.bottleneck import bottleneck
from xdsl_dsa_sim.report.summary import Summary, summarise
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
    )


def notes(summary: Summary) -> list[str]:
    """What else is worth a line: the roofline, memory peaks, DRAM."""
    found = []
    roof = summary.roofline
    if roof is not None:
        found.append(
            f"roofline ({roof.unit}): {roof.achieved / 1e12:.2f} of {roof.attainable / 1e12:.2f} "
            f"attainable Tops ({roof.share:.0%}) at {roof.intensity:.1f} operations a byte"
        )
    for space, (used, there) in summary.peaks.items():
        found.append(f"{space}: {used} of {there} bytes at most in use ({used / there:.0%})")
    found.append(f"DRAM: {summary.dram_share:.0%} of the bandwidth")
    return found
