"""What is checked of every access to memory before an instruction begins."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_dsa_sim.simulator.faults import Fault, Kind
from xdsl_dsa_sim.simulator.geometry import Geometry, geometry_of
from xdsl_dsa_sim.simulator.hazards import Use
from xdsl_dsa_sim.simulator.image import Item, RegionImage
from xdsl_dsa_sim.simulator.python.state import Core, Run, Values


@dataclass(frozen=True, slots=True)
class Touch:
    """A region an instruction touches: its place among the operands, where it lies, what happens to it."""

    operand: int
    space: int
    geometry: Geometry
    reads: bool
    writes: bool


def geometries_of(item: Item, values: Values) -> list[Geometry | None]:
    """The geometry of every operand, None for those that are no regions."""
    return [geometry_of(o, values) if isinstance(o, RegionImage) else None for o in item.operands]


def touches_of(item: Item, geometries: list[Geometry | None], values: Values) -> list[Touch]:
    """The regions an instruction touches; those without elements are left out."""
    found = []
    for number, (operand, geometry) in enumerate(zip(item.operands, geometries, strict=True)):
        if geometry is None or not geometry.elements or not isinstance(operand, RegionImage):
            continue
        reads = operand.reads and not (operand.writes and item.starts_sum and not values[-1])
        found.append(Touch(number, operand.space, geometry, reads, operand.writes))
    return found


def check_extents(core: Core, item: Item, geometries: list[Geometry | None], now: float) -> None:
    """Fault where extents of regions do not fit each other."""
    shapes = {n: geometry.shape for n, geometry in enumerate(geometries) if geometry is not None}
    rule = _SHAPE_RULES.get(item.shape_rule)
    if rule is None:
        return
    numbers = [number for number in item.alike if number in shapes]
    wrong = rule(item, [shapes[number] for number in numbers])
    if wrong >= 0:
        raise Fault(Kind.EXTENTS, core.number, item.index, now, (numbers[0], numbers[wrong]))


Shape = tuple[int, ...]


def _copy(item: Item, shapes: list[Shape]) -> int:
    target, source = shapes
    if not item.fills:
        return -1 if target == source else 1
    larger = len(target) == len(source) and all(s <= t for s, t in zip(source, target, strict=True))
    return -1 if larger else 1


def _same(item: Item, shapes: list[Shape]) -> int:
    return next((number for number, shape in enumerate(shapes) if shape != shapes[0]), -1)


def _broadcast(item: Item, shapes: list[Shape]) -> int:
    target = shapes[0]
    for number, shape in enumerate(shapes):
        fits = zip(reversed(shape), reversed(target), strict=False)
        if len(shape) > len(target) or any(extent not in (1, whole) for extent, whole in fits):
            return number
    return -1


def _matrix(item: Item, shapes: list[Shape]) -> int:
    (m, n), (rows, k), (depth, columns) = shapes
    if rows != m:
        return 1
    return -1 if (depth, columns) == (k, n) else 2


def _reduce(item: Item, shapes: list[Shape]) -> int:
    source, axis = shapes[-1], item.timing.axis
    allowed = (source[:axis] + source[axis + 1 :], (*source[:axis], 1, *source[axis + 1 :]))
    wrong = (
        n
        for n, shape in enumerate(shapes[:-1])
        if shape not in allowed and not (shape == (1,) and len(source) == 1)
    )
    return next(wrong, -1)


_SHAPE_RULES = {"copy": _copy, "same": _same, "broadcast": _broadcast, "matrix": _matrix, "reduce": _reduce}


def check_places(run: Run, core: Core, item: Item, touches: list[Touch], now: float) -> None:
    """Fault for a region that is misaligned or lies outside its memory."""
    for touch in touches:
        geometry, space = touch.geometry, run.setup.image.spaces[touch.space]
        if space.owner == "device":
            storage = run.setup.memory.storage_at(geometry.low, geometry.high)
            if storage is None or (touch.writes and not storage.writable):
                detail = (touch.operand, geometry.low, geometry.high, int(touch.writes))
                raise Fault(Kind.OUTSIDE_GLOBAL, core.number, item.index, now, detail)
            continue
        if geometry.low < 0 or geometry.high > space.capacity:
            where = (touch.operand, geometry.low, geometry.high)
            raise Fault(Kind.OUTSIDE_SPACE, core.number, item.index, now, where)
        wrong = misaligned(item, geometry, space.alignment)
        if wrong >= 0:
            where = (touch.operand, wrong, space.alignment)
            raise Fault(Kind.MISALIGNED, core.number, item.index, now, where)


def misaligned(item: Item, geometry: Geometry, alignment: int) -> int:
    """The first address of a region that its memory cannot be addressed with, or -1.

    The scalar unit takes elements anywhere; a transfer needs every run aligned; a unit that computes only the
    first element, as it masks the rest.
    """
    if alignment == 1 or item.definition.unit == "scalar":
        return -1
    if geometry.offset % alignment:
        return geometry.offset
    if item.definition.unit == "path":
        return next((geometry.offset + s for _, s in geometry.dimensions if s % alignment), -1)
    return -1


def check_order(run: Run, core: Core, item: Item, touches: list[Touch], *, program: int, now: float) -> None:
    """Fault for a race or for a read of what nothing wrote; afterwards the accesses are on record."""
    if not touches:
        return
    clock = run.tick(core, item.engine)
    mine = run.group_engine(core, item.engine)
    uses = [Use(touch.geometry, touch.writes, clock[mine], item.index, program) for touch in touches]
    for touch, use in zip(touches, uses, strict=True):
        watched = core.spaces[touch.space]
        race = watched.check(mine, use, clock)
        if race is not None:
            other, other_engine = _owner(run, core, race.engine)
            detail = (touch.operand, other, other_engine, race.use.item, int(race.use.writes))
            raise Fault(Kind.RACE, core.number, item.index, now, detail)
        byte = watched.unwritten(touch.geometry, program) if touch.reads else -1
        if byte >= 0:
            raise Fault(Kind.UNWRITTEN, core.number, item.index, now, (touch.operand, byte))
    known = run.known[core.setup.group]
    for touch, use in zip(touches, uses, strict=True):
        watched = core.spaces[touch.space]
        if touch.writes:
            watched.mark(touch.geometry, program)
        watched.remember(mine, use, known)
        marks = run.record.high_water[core.image]
        marks[touch.space] = max(marks[touch.space], touch.geometry.high)


def _owner(run: Run, core: Core, engine: int) -> tuple[int, int]:
    """The core and the engine there of an index among a group's engines."""
    group = [other for other in run.cores if other.setup.group == core.setup.group]
    owner = max((c for c in group if c.setup.first_engine <= engine), key=lambda c: c.setup.first_engine)
    return owner.number, engine - owner.setup.first_engine
