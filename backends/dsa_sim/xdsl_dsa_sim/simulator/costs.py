"""Timing rules: how many cycles an instruction occupies its engine, and what it asks of global memory.

Each function is one rule of the table in `xdsl_dsa_sim.isa.definition`; the C engine has a twin of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from xdsl_dsa_sim.machine import MachineModel
from xdsl_dsa_sim.simulator import conflicts, lanes
from xdsl_dsa_sim.simulator.geometry import Geometry
from xdsl_dsa_sim.simulator.image import Item, RegionImage, Timing


@dataclass(frozen=True, slots=True)
class Traffic:
    """What an instruction asks of global memory: a region of it, or `indirect` single elements.

    It takes at least `floor` cycles and `per_byte` cycles for each byte that crosses the data path.
    """

    floor: float
    per_byte: float
    indirect: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """`busy` cycles on the engine (of `traffic` the rest of the system decides), done `tail` cycles later."""

    busy: float
    tail: float = 0.0
    traffic: Traffic | None = None


Geometries = Sequence[Geometry | None]
Rule = Callable[[Item, Geometries, Sequence[float], MachineModel], Cost]


def cost_of(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    """The cost of an instruction; `geometries` has an entry for every operand, None for those that are
    none.
    """
    return RULES[item.timing.rule](item, geometries, values, model)


def _move(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    timing = item.timing
    destination, source = geometries[0], geometries[1]
    assert destination is not None
    assert source is not None
    elements = destination.elements if item.fills else source.elements
    inside = elements * source.itemsize / timing.rate
    floor = max(timing.issue, timing.row_cycles * source.runs)
    if not timing.traffic:
        return Cost(max(floor, inside), timing.latency)
    floor = max(floor, inside) if item.fills else floor
    outside = source if timing.traffic == "read" else destination
    per_byte = source.itemsize / (outside.itemsize * timing.rate)
    return Cost(0.0, timing.latency, Traffic(floor, per_byte))


def _indirect(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    offsets = next(
        geometry
        for operand, geometry in zip(item.operands, geometries, strict=True)
        if isinstance(operand, RegionImage) and operand.name == "offsets" and geometry is not None
    )
    timing = item.timing
    traffic = Traffic(timing.issue * offsets.elements, 1 / timing.rate, offsets.elements)
    return Cost(0.0, timing.latency, traffic)


def _vector(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    timing = item.timing
    space = lanes.iteration_space(geometries)
    steps, partial = lanes.steps_of(space, timing.rate, model.vector.block)
    extra = conflicts.cycles_per_step(space, steps, timing.rate, model.vector) * steps
    mask = model.vector.mask_cycles if partial else 0.0
    return Cost(timing.per_step * steps + extra + mask, timing.startup)


def _reduction(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    timing = item.timing
    source = geometries[-1]
    assert source is not None
    if not source.elements:
        return Cost(0.0, timing.startup)
    rows, width, along_lanes = lanes.along_axis(source, timing.axis, timing.rate)
    return Cost(rows * width * (timing.per_step if along_lanes else 1.0), timing.startup)


def _scan(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    timing = item.timing
    source = geometries[-1]
    assert source is not None
    if not source.elements:
        return Cost(0.0, timing.startup)
    rows, width, along_lanes = lanes.along_axis(source, timing.axis, timing.rate)
    passes = max(1, math.ceil(math.log2(source.shape[timing.axis]))) if along_lanes else 1
    return Cost(rows * width * timing.per_step * passes, timing.startup * passes)


def _lanes(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    timing = item.timing
    moved = next(geometry for geometry in geometries if geometry is not None)
    steps = math.ceil(moved.elements * moved.itemsize / timing.rate)
    return Cost(timing.per_step * steps, timing.startup)


def _matrix(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    accumulator, lhs = geometries[0], geometries[1]
    assert accumulator is not None
    assert lhs is not None
    (m, n), k = accumulator.shape[-2:], lhs.shape[-1]
    products = 1
    for extent, step in zip((m, n, k), item.timing.fractal, strict=True):
        products *= -(-extent // step)
    return Cost(products / item.timing.rate)


def _scalar(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    return Cost(model.scalar.operation)


def _scalar_memory(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    scalar = model.scalar
    return Cost(scalar.global_memory if item.timing.traffic else scalar.local_memory)


def _cycles(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    return Cost(float(values[0]))


def _flag(item: Item, geometries: Geometries, values: Sequence[float], model: MachineModel) -> Cost:
    return Cost(model.sync.flag)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "move": _move,
        "indirect": _indirect,
        "vector": _vector,
        "reduction": _reduction,
        "scan": _scan,
        "lanes": _lanes,
        "matrix": _matrix,
        "scalar": _scalar,
        "scalar_memory": _scalar_memory,
        "cycles": _cycles,
        "flag": _flag,
    }
)


def head_of(timing: Timing, model: MachineModel, *, stalled: bool) -> float:
    """Cycles before a matrix product begins: longer if the matrix unit had to wait for it."""
    return max(model.matrix.head_isolated, timing.startup) if stalled else timing.startup
