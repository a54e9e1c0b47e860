"""One launch on a simulated machine: its time, and how long each engine was busy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl_core.backend import Launch, default_registry, hookimpl


@dataclass(frozen=True, slots=True)
class Simulated:
    """A launch: `microseconds` with what launching costs, `busy` and `ratio` of each engine of a core.

    `busy` is in microseconds, `ratio` the share of the cores' own time; `dram` the bytes that crossed DRAM's
    pins.
    """

    microseconds: float
    core_microseconds: float
    busy: Mapping[str, float]
    ratio: Mapping[str, float]
    dram: int


class _Watch:
    """Keeps the last launch."""

    launch: Launch | None = None

    @hookimpl
    def xdsl_launch_finished(self, launch: Launch) -> None:
        """Remembers what the backend said of the launch."""
        self.launch = launch


def simulate(kernel: Any, target: str, grid: tuple[int, ...], *args: Any, **meta: Any) -> Simulated:
    """Runs a kernel on `dsa_sim:target` in timing mode: arrays stay as they are."""
    watch = _Watch()
    registry = default_registry()
    registry.add_plugin(watch, name="dsa_validation", version="1")
    try:
        kernel.on(f"dsa_sim:{target}")[grid](*args, **meta, mode="timing")
    finally:
        registry.remove_plugin("dsa_validation")
    assert watch.launch is not None
    assert watch.launch.profile is not None
    run, profile = watch.launch.extra["simulation"], watch.launch.profile
    seconds = run.core_seconds
    return Simulated(
        run.seconds * 1e6,
        seconds * 1e6,
        {engine: share * seconds * 1e6 for engine, share in profile.utilisation.items()},
        dict(profile.utilisation),
        profile.bytes_moved["DRAM read"] + profile.bytes_moved["DRAM written"],
    )


def repeated(launch: Callable[[int], Simulated]) -> Simulated:
    """A launch as it is when it is repeated, as the published ones were: the second pass of a kernel.

    The caches then hold what the pass before left, and its writes reach DRAM during this one.
    """
    once, twice = launch(1), launch(2)
    cores = twice.core_microseconds - once.core_microseconds
    busy = {engine: twice.busy[engine] - time for engine, time in once.busy.items()}
    return Simulated(
        once.microseconds - once.core_microseconds + cores,
        cores,
        busy,
        {engine: time / cores for engine, time in busy.items()},
        twice.dram - once.dram,
    )
