"""The numbers of a launch: how busy each engine was, what moved where, how near the roofs it came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl_core.dtypes import DType
from xdsl_core.target import ComputeUnit
from xdsl_dsa_sim.isa import Buffer, Region
from xdsl_dsa_sim.simulator.image import CoreImage, Item
from xdsl_dsa_sim.simulator.record import EngineTotals
from xdsl_dsa_sim.simulator.simulate import Simulation


@dataclass(frozen=True, slots=True)
class EngineSummary:
    """An engine of a kind of core, averaged over the cores that ran.

    `utilisation` is its busy share of the launch's cycles. `waits` are shares of the cycles it stood at a
    flag, by the engine that had to set it ("other cores" for flags between cores). `held` is the share it
    waited for an instruction before it."""

    core: str
    engine: str
    utilisation: float
    instructions: int
    waits: Mapping[str, float]
    held: float

    @property
    def name(self) -> str:
        return f"{self.core}.{self.engine}"


@dataclass(frozen=True, slots=True)
class PathSummary:
    """A data path: bytes over all cores, transfers, and the mean bytes of one."""

    bytes: int
    transfers: int

    @property
    def mean(self) -> float:
        return self.bytes / self.transfers if self.transfers else 0.0


@dataclass(frozen=True, slots=True)
class Roofline:
    """Where the launch stands: `work` in operations, `traffic` in bytes of DRAM, `seconds` on the cores.

    `peak` is what the units could do a second, `bandwidth` what DRAM could, in bytes a second. `unit` says
    what counts: "matrix" (a product and a sum are two operations) or "vector" (one for each lane)."""

    unit: str
    work: int
    traffic: int
    seconds: float
    peak: float
    bandwidth: float

    @property
    def intensity(self) -> float:
        """Operations for each byte of DRAM."""
        return self.work / self.traffic if self.traffic else float("inf")

    @property
    def achieved(self) -> float:
        """Operations a second."""
        return self.work / self.seconds if self.seconds else 0.0

    @property
    def attainable(self) -> float:
        """Operations a second that the lower roof allows at this intensity."""
        return min(self.peak, self.intensity * self.bandwidth) if self.bandwidth else self.peak

    @property
    def share(self) -> float:
        """How much of the attainable was reached."""
        return self.achieved / self.attainable if self.attainable else 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything about a launch that fits on a page. Shares are 0 to 1, `peaks` bytes used and there by
    space."""

    kernel: str
    target: str
    cycles: float
    seconds: float
    core_seconds: float
    cores: Mapping[str, tuple[int, int]]
    imbalance: float
    engines: tuple[EngineSummary, ...]
    paths: Mapping[str, PathSummary]
    dram_read: int
    dram_written: int
    dram_share: float
    l2_share: Mapping[str, float]
    peaks: Mapping[str, tuple[int, int]]
    roofline: Roofline | None
    instructions: int

    @property
    def busiest(self) -> EngineSummary | None:
        """The engine with the highest utilisation."""
        return max(self.engines, key=lambda engine: engine.utilisation, default=None)


def summarise(run: Simulation) -> Summary:
    """The summary of a run."""
    record, image = run.record, run.image
    totals = [cycles for cycles in record.core_cycles if cycles > 0]
    mean = sum(totals) / len(totals) if totals else 0.0
    used = {core.kind.name: 0 for core in image.cores}
    for core in run.setup.cores:
        used[core.image.kind.name] += 1
    kinds = {core.kind.name: core.kind for core in image.cores}
    return Summary(
        kernel=image.program.kernel,
        target=image.description.name,
        cycles=record.cycles,
        seconds=run.seconds,
        core_seconds=run.core_seconds,
        cores={name: (count, kinds[name].count) for name, count in used.items()},
        imbalance=record.cycles / mean if mean else 1.0,
        engines=tuple(_engines(run)),
        paths=_paths(run),
        dram_read=record.dram_read,
        dram_written=record.dram_written,
        dram_share=_dram_share(run),
        l2_share=_l2_shares(run),
        peaks=_peaks(run),
        roofline=_roofline(run),
        instructions=record.executed,
    )


def _engines(run: Simulation) -> Iterator[EngineSummary]:
    cycles = run.record.cycles or 1.0
    for image in run.image.cores:
        cores = [n for n, core in enumerate(run.setup.cores) if core.image is image]
        if not cores:
            continue
        for number, engine in enumerate(image.kind.engines):
            parts = [run.record.engines[core][number] for core in cores]
            if any(part.count for part in parts):
                yield _engine(image, engine, parts, cycles)


def _engine(image: CoreImage, engine: str, parts: Sequence[EngineTotals], cycles: float) -> EngineSummary:
    share = 1.0 / (cycles * len(parts))
    names = (*image.kind.engines, "other cores")
    waits = {name: share * sum(part.waits[n] for part in parts) for n, name in enumerate(names)}
    return EngineSummary(
        image.kind.name,
        engine,
        share * sum(part.busy for part in parts),
        sum(part.count for part in parts),
        {name: value for name, value in waits.items() if value > 0},
        share * sum(part.held for part in parts),
    )


def _items(run: Simulation) -> Iterator[tuple[Item, int, int, int]]:
    """Every instruction with how often it ran, the bytes it moved, and its work."""
    for image, totals in zip(run.image.cores, run.record.items, strict=True):
        for item, total in zip(image.items, totals, strict=True):
            yield item, total.count, total.bytes, total.work


def _paths(run: Simulation) -> dict[str, PathSummary]:
    moved: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for item, count, size, _ in _items(run):
        if item.path and count:
            moved[item.path][0] += size
            moved[item.path][1] += count
    return {path: PathSummary(size, count) for path, (size, count) in sorted(moved.items())}


def _dram_share(run: Simulation) -> float:
    """Share of the cores' time in which DRAM moved as much as it can."""
    description, model = run.image.description, run.image.model.memory
    rate = max(description.dram_bandwidth, model.dram_mixed)
    traffic = run.record.dram_read + run.record.dram_written
    return traffic / (rate * run.core_seconds) if rate and run.core_seconds else 0.0


def _l2_shares(run: Simulation) -> dict[str, float]:
    """Share of the L2's bandwidth that each kind of core used."""
    rates = run.image.model.memory.l2_bandwidth
    found = {}
    for image, totals in zip(run.image.cores, run.record.items, strict=True):
        pairs = zip(image.items, totals, strict=True)
        moved = sum(total.bytes for item, total in pairs if item.timing.traffic)
        rate = rates.get(image.kind.name, 0.0)
        if rate and moved and run.core_seconds:
            found[image.kind.name] = moved / (rate * run.core_seconds)
    return found


def _peaks(run: Simulation) -> dict[str, tuple[int, int]]:
    """The most bytes of each on-chip space that were in use at once, and what there is.

    From the lifetimes of the program's buffers where it names them, else the highest byte that was touched.
    """
    found = {}
    for number, space in enumerate(run.image.spaces):
        if space.owner == "device":
            continue
        touched = max((marks[number] for marks in run.record.high_water), default=0)
        buffers = [buffer for buffer in run.image.program.buffers if buffer.space == space.name]
        used = live_peak(buffers) or touched
        if used:
            found[space.name] = (used, space.capacity)
    return found


def live_peak(buffers: Sequence[Buffer]) -> int:
    """The most bytes that buffers hold at once, by their lifetimes, over the kinds of cores."""
    best = 0
    for core in {buffer.core for buffer in buffers}:
        own = [buffer for buffer in buffers if buffer.core == core]
        for first in {buffer.lifetime[0] for buffer in own}:
            alive = (b for b in own if b.lifetime[0] <= first <= b.lifetime[1])
            best = max(best, sum(buffer.bytes * buffer.copies for buffer in alive))
    return best


def _roofline(run: Simulation) -> Roofline | None:
    """The matrix units' roof where there were products, else the vector units'."""
    best: Roofline | None = None
    for kind in ("matrix", "vector"):
        work, units, dtypes = _work(run, kind)
        if work and best is None:
            peak = sum(_peak(run, image, unit, dtypes) for image, unit in units)
            description, memory = run.image.description, run.image.model.memory
            best = Roofline(
                kind,
                work * (2 if kind == "matrix" else 1),
                run.record.dram_read + run.record.dram_written,
                run.core_seconds,
                peak,
                max(description.dram_bandwidth, memory.dram_mixed),
            )
    return best


def _work(run: Simulation, kind: str) -> tuple[int, list[tuple[CoreImage, ComputeUnit]], set[DType]]:
    """Work of a kind of unit, the units that did it, and the dtypes of the operands."""
    work, units, dtypes = 0, [], set()
    for image, totals in zip(run.image.cores, run.record.items, strict=True):
        own = {unit.queue: unit for unit in run.image.description.units(kind, core=image.kind.name)}
        used = set()
        for item, total in zip(image.items, totals, strict=True):
            if item.definition.unit == kind and total.work:
                work += total.work
                used.add(item.source.engine)
                dtypes.add(_operand_dtype(item))
        units += [(image, own[engine]) for engine in sorted(used) if engine in own]
    return work, units, dtypes


def _operand_dtype(item: Item) -> DType:
    regions = [operand for operand in item.source.operands if isinstance(operand, Region)]
    return regions[-1].dtype


def _peak(run: Simulation, image: CoreImage, unit: ComputeUnit, dtypes: set[DType]) -> float:
    """Operations a second of all cores' units of this kind, at the widest dtype that was used."""
    rate = image.kind.count * run.image.description.clock_hz
    if unit.kind == "matrix":
        fractals = [unit.fractal(dtype.name) for dtype in dtypes]
        known = [fractal.multiply_adds_per_cycle for fractal in fractals if fractal is not None]
        return 2 * rate * min(known, default=0.0)
    return rate * unit.bytes_per_cycle / max(dtype.bytes for dtype in dtypes)
