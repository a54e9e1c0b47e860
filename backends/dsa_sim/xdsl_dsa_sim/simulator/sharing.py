"""Bandwidth shared between cores: transfers as flows through pools, each getting its fair share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl_core.target import TargetDescription
from xdsl_dsa_sim.machine.model import MemoryModel

DRAM_POOLS = 2
"""DRAM is two pools: all traffic, and what is read; the pools of L2 come after."""


def dram_rates(description: TargetDescription, memory: MemoryModel) -> tuple[float, float]:
    """Bytes a second of the two pools: reads and writes together are faster than reads alone (ADK)."""
    return max(description.dram_bandwidth, memory.dram_mixed), description.dram_bandwidth


@dataclass(slots=True)
class Flow:
    """A transfer under way.

    `remaining` bytes move at `rate`, at most `limit` bytes a cycle; each byte takes `use` of every pool. The
    last one arrives `latency` cycles after it has left.
    """

    owner: int
    remaining: float
    limit: float
    use: tuple[float, ...]
    latency: float = 0.0
    rate: float = 0.0


@dataclass(slots=True)
class Pools:
    """The pools' capacities in bytes a cycle (infinite where not modelled) and the flows through them."""

    capacities: tuple[float, ...]
    flows: list[Flow] = field(default_factory=list)
    time: float = 0.0
    version: int = 0

    def add(self, flow: Flow, time: float) -> None:
        """Begin a flow."""
        self._advance(time)
        self.flows.append(flow)
        self._share()

    def remove(self, flow: Flow, time: float) -> None:
        """End a flow."""
        self._advance(time)
        self.flows.remove(flow)
        self._share()

    def next_end(self) -> tuple[float, Flow] | None:
        """When the first flow ends if nothing changes, and which (the oldest of several); None without
        flows.
        """
        best: tuple[float, Flow] | None = None
        for flow in self.flows:
            end = self.time + (flow.remaining / flow.rate if flow.remaining > 0 else 0.0)
            if best is None or end < best[0]:
                best = end, flow
        return best

    def _advance(self, time: float) -> None:
        elapsed = time - self.time
        for flow in self.flows:
            flow.remaining = max(0.0, flow.remaining - flow.rate * elapsed)
        self.time = time

    def _share(self) -> None:
        """Fair shares: all rates rise together until a flow is at its limit or a pool is used up."""
        self.version += 1
        demand = [
            sum(flow.limit * flow.use[pool] for flow in self.flows) for pool in range(len(self.capacities))
        ]
        if all(wanted <= there for wanted, there in zip(demand, self.capacities, strict=True)):
            for flow in self.flows:
                flow.rate = flow.limit
            return
        fill(self.flows, self.capacities)


def fill(flows: Sequence[Flow], capacities: Sequence[float]) -> None:
    """Set the rates of flows to their max-min fair shares (progressive filling)."""
    left = list(capacities)
    growing = list(flows)
    level = 0.0
    while growing:
        slopes = [sum(flow.use[pool] for flow in growing) for pool in range(len(left))]
        rise = min(flow.limit for flow in growing) - level
        for pool, slope in enumerate(slopes):
            if slope > 0.0 and left[pool] < rise * slope:
                rise = max(left[pool], 0.0) / slope
        level += rise
        left = [there - rise * slope for there, slope in zip(left, slopes, strict=True)]
        full = [
            slope > 0.0 and there <= 1e-9 * whole
            for there, slope, whole in zip(left, slopes, capacities, strict=True)
        ]
        still = []
        for flow in growing:
            flow.rate = level
            if flow.limit > level and not any(
                full[pool] and flow.use[pool] > 0.0 for pool in range(len(left))
            ):
                still.append(flow)
        if len(still) == len(growing):
            break
        growing = still
