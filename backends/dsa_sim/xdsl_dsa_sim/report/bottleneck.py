"""What holds a launch up, in words, and what would help.

The order of the questions: is it the launch, too few or unequal cores, an engine that is busy more than 80 %
of the time (the rule of msprof's roofline view), and if none is, which waits dominate."""

from __future__ import annotations

from collections.abc import Callable

from xdsl_dsa_sim.report.summary import EngineSummary, Summary

BUSY = 0.8
_SMALL_TRANSFER = 4096


def bottleneck(summary: Summary) -> str:
    """One or two sentences."""
    for question in _QUESTIONS:
        answer = question(summary)
        if answer:
            return answer
    return _latency(summary)


def _launch(summary: Summary) -> str:
    overhead = summary.seconds - summary.core_seconds
    if summary.seconds and overhead > 0.5 * summary.seconds:
        share = overhead / summary.seconds
        return (
            f"Launch: {share:.0%} of {summary.seconds * 1e6:.1f} us is the cost of launching. "
            "Give a launch more to do, or join kernels."
        )
    return ""


def _few_cores(summary: Summary) -> str:
    idle = [(name, used, there) for name, (used, there) in summary.cores.items() if 2 * used <= there]
    if not idle:
        return ""
    name, used, there = idle[0]
    head = f"Idle cores: {used} of {there} {name} cores work."
    return f"{head} Use smaller tiles, so that the grid has more programs."


def _unequal_cores(summary: Summary) -> str:
    if summary.imbalance <= 1.25:
        return ""
    return (
        f"Imbalance: the slowest core takes {summary.imbalance:.2f} times the mean. "
        "Choose tiles so that the number of programs is a multiple of the cores, or much larger."
    )


def _busy_memory(summary: Summary) -> str:
    if summary.dram_share >= BUSY:
        return (
            f"DRAM bandwidth: {summary.dram_share:.0%} of it is used. Reuse what is "
            "loaded (larger tiles, an order of programs that finds neighbours in L2), "
            "or move less (a narrower dtype)."
        )
    busy = next((kind for kind, share in summary.l2_share.items() if share >= BUSY), "")
    if busy:
        return (
            f"L2 bandwidth: {busy} cores use {summary.l2_share[busy]:.0%} of it. "
            "Use larger tiles, so that each element is loaded less often."
        )
    return ""


def _busy_engine(summary: Summary) -> str:
    busiest = summary.busiest
    if busiest is None or busiest.utilisation < BUSY:
        return ""
    return f"{busiest.name} is busy {busiest.utilisation:.0%} of the time. {_advice(summary, busiest)}"


def _advice(summary: Summary, engine: EngineSummary) -> str:
    if engine.engine in ("M", "PE", "COMPUTE"):
        return "The kernel is bound by computing: this is the roof of this machine."
    if engine.engine in ("V", "DVE", "ACT"):
        return (
            "The vector unit is the limit: fewer passes over a tile, a narrower dtype, "
            "or work for the matrix unit."
        )
    if engine.engine == "S":
        return "The scalar unit issues too much: larger tiles need fewer instructions."
    small = [
        (path, part) for path, part in summary.paths.items() if part.transfers and part.mean < _SMALL_TRANSFER
    ]
    if small:
        path, part = max(small, key=lambda entry: entry[1].transfers)
        return (
            f"Transfers {path} move {part.mean:.0f} bytes on average, and each costs a start-up: "
            "load larger blocks, along the axis that is contiguous."
        )
    return "The data path is the limit: reuse what is loaded, with larger tiles or more of them kept on chip."


_QUESTIONS: tuple[Callable[[Summary], str], ...] = (
    _launch,
    _busy_memory,
    _busy_engine,
    _few_cores,
    _unequal_cores,
)


def _latency(summary: Summary) -> str:
    """No engine is busy: which wait is the longest."""
    busiest = summary.busiest
    if busiest is None:
        return "Nothing was executed."
    head = f"Latency: no engine is busy more than {busiest.utilisation:.0%} ({busiest.name})."
    if not busiest.waits:
        why = "the scalar unit, or too little work for each program"
        return f"{head} Its queue is empty the rest of the time: {why}."
    cause, share = max(busiest.waits.items(), key=lambda entry: entry[1])
    if cause == "other cores":
        return (
            f"{head} It waits {share:.0%} of the time for other cores: give each hand-over more work, "
            "or let more of them be under way (num_stages)."
        )
    return (
        f"{head} It waits {share:.0%} of the time for {cause}: let loads run further ahead "
        "(num_stages), or use tiles that take longer to compute."
    )
