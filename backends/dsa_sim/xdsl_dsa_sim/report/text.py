"""A summary as text for a terminal."""

from __future__ import annotations

from xdsl_dsa_sim.report.bottleneck import bottleneck
from xdsl_dsa_sim.report.summary import Summary


def summary_text(summary: Summary) -> str:
    """Cycles and time, a table of engines, a table of data paths, and the bottleneck."""
    cores = ", ".join(f"{used} of {there} {name}" for name, (used, there) in summary.cores.items())
    lines = [
        f"{summary.kernel} on {summary.target}: {summary.cycles:.0f} cycles, "
        f"{summary.core_seconds * 1e6:.2f} us on the cores, {summary.seconds * 1e6:.2f} us with the launch",
        f"cores: {cores}; {summary.instructions} instructions",
        "",
        f"{'engine':<16}{'busy':>7}{'instructions':>14}  waits",
    ]
    for engine in summary.engines:
        waits = sorted(engine.waits.items(), key=lambda entry: -entry[1])
        text = ", ".join(f"{share:.0%} for {name}" for name, share in waits[:3] if share >= 0.005)
        lines.append(f"{engine.name:<16}{engine.utilisation:>7.1%}{engine.instructions:>14}  {text}".rstrip())
    lines += ["", f"{'data path':<16}{'bytes':>16}{'transfers':>12}{'mean':>12}"]
    for path, part in summary.paths.items():
        lines.append(f"{path:<16}{part.bytes:>16}{part.transfers:>12}{part.mean:>12.0f}")
    lines.append(f"{'DRAM':<16}{summary.dram_read:>16} read{summary.dram_written:>15} written")
    return "\n".join([*lines, "", *notes(summary), "", f"bottleneck: {bottleneck(summary)}"]) + "\n"


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
