"""Addresses for buffers, and the error when they do not fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.ir import Function, Module, dtype_of
from xdsl_core.passes.memory.liveness import Lifetime, lifetimes
from xdsl_core.passes.memory.prepare_for_overlap import is_for_overlap
from xdsl_core.target import MemorySpace, TargetDescription

# Parts of scratch in global memory start where transfers are fastest on all known targets.
_SCRATCH_ALIGNMENT = 512


@dataclass(frozen=True)
class PlanMemory:
    """Gives every allocation its offset in its space.

        %x = buffer.allocate {type = buffer<1024xf32, UB>}
        %y = buffer.allocate {type = buffer<1024xf32, UB>}
    ->
        %x = buffer.allocate {type = buffer<1024xf32, UB>, offset = 0}
        %y = buffer.allocate {type = buffer<1024xf32, UB>, offset = 4096}

    Buffers that are never alive together share bytes, but only in a space that cannot hold all of them side
    by side: sharing makes engines wait for each other, the less the longer bytes rest between two buffers.
    CompilationError X0710 lists who holds what where they
    do not fit.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "plan_memory"

    def run(self, module: Module) -> None:
        for function in list(module.functions.values()):
            if is_for_overlap(function) and not fits(function, self.target):
                # its tiles are larger than those of the function whose cores share rows
                del module.functions[function.name]
                continue
            plan = plan_function(function, self.target)
            for lifetime, offset in plan.items():
                lifetime.op.attributes["offset"] = offset


def plan_function(function: Function, target: TargetDescription) -> dict[Lifetime, int]:
    """The offset of every allocation that is used; CompilationError X0710 if they do not fit."""
    spaces: dict[str, list[Lifetime]] = defaultdict(list)
    for lifetime in lifetimes(function):
        spaces[lifetime.type.space].append(lifetime)
    plan: dict[Lifetime, int] = {}
    for name, alive in spaces.items():
        space = target.space(name)
        found = _place(alive, space)
        if found is None:
            raise _too_much(function, alive, space)
        plan.update(found)
    return plan


def fits(function: Function, target: TargetDescription) -> bool:
    """Whether the allocations of a function fit."""
    try:
        plan_function(function, target)
    except CompilationError:
        return False
    return True


def alignment_of(space: MemorySpace) -> int:
    """What the offsets of buffers in a space are multiples of."""
    return space.alignment if space.owner != "device" else max(space.alignment, _SCRATCH_ALIGNMENT)


def aligned(size: int, space: MemorySpace) -> int:
    """A size rounded up to the space's alignment."""
    unit = alignment_of(space)
    return -(-size // unit) * unit


def bytes_in(lifetime: Lifetime, space: MemorySpace) -> int:
    """Bytes of all parts of an allocation."""
    return aligned(lifetime.part_bytes, space) * int(lifetime.op.attribute("copies"))


def _place(alive: Sequence[Lifetime], space: MemorySpace) -> dict[Lifetime, int] | None:
    side_by_side, position = {}, 0
    for lifetime in alive:
        side_by_side[lifetime] = position
        position += bytes_in(lifetime, space)
    if position <= space.capacity:
        return side_by_side
    order = sorted(alive, key=lambda each: (-bytes_in(each, space), each.first))
    return _far_apart(order, space) or _close_together(order, space)


def _far_apart(order: Sequence[Lifetime], space: MemorySpace) -> dict[Lifetime, int] | None:
    """A plan in which buffers that share bytes are alive at times as far apart as can be; None if that leaves
    gaps that would be needed.
    """
    placed: dict[Lifetime, int] = {}
    for lifetime in order:
        size = bytes_in(lifetime, space)
        places = {0, *(offset + bytes_in(other, space) for other, offset in placed.items())}
        rested = {
            place: _rest(lifetime, place, size, placed, space)
            for place in sorted(places)
            if place + size <= space.capacity
        }
        best = max(rested, key=lambda place: rested[place], default=None)
        if best is None or rested[best] < 0:
            return None
        placed[lifetime] = best
    return placed


def _rest(
    lifetime: Lifetime, place: int, size: int, placed: dict[Lifetime, int], space: MemorySpace
) -> float:
    """How long the bytes at a place are unused before and after a buffer is alive there; below 0 if they are
    taken.
    """
    there = [
        other
        for other, offset in placed.items()
        if offset < place + size and place < offset + bytes_in(other, space)
    ]
    if any(other.meets(lifetime) for other in there):
        return -1.0
    return min((max(lifetime.first - o.last, o.first - lifetime.last) for o in there), default=float("inf"))


def _close_together(order: Sequence[Lifetime], space: MemorySpace) -> dict[Lifetime, int] | None:
    """A plan that takes the lowest bytes that are free; None if it goes beyond the space."""
    shared: dict[Lifetime, int] = {}
    for lifetime in order:
        shared[lifetime] = _first_fit(lifetime, shared, space)
    end = max((offset + bytes_in(each, space) for each, offset in shared.items()), default=0)
    return shared if end <= space.capacity else None


def _first_fit(lifetime: Lifetime, placed: dict[Lifetime, int], space: MemorySpace) -> int:
    """The lowest offset at which nothing else is while this is alive."""
    size = bytes_in(lifetime, space)
    taken = sorted(
        (offset, offset + bytes_in(other, space)) for other, offset in placed.items() if other.meets(lifetime)
    )
    position = 0
    for start, end in taken:
        if start - position >= size:
            return position
        position = max(position, end)
    return position


def _too_much(function: Function, alive: Sequence[Lifetime], space: MemorySpace) -> CompilationError:
    """The error with a table of the buffers that are alive where most bytes are needed."""
    worst = max(
        (lifetime.first for lifetime in alive),
        key=lambda position: sum(bytes_in(x, space) for x in alive if x.first <= position <= x.last),
    )
    held = [lifetime for lifetime in alive if lifetime.first <= worst <= lifetime.last]
    held.sort(key=lambda lifetime: -bytes_in(lifetime, space))
    needed = sum(bytes_in(lifetime, space) for lifetime in held)
    largest = held[0]
    return CompilationError(
        error(
            "X0710",
            f"{function.name} needs {needed} bytes of {space.name} at once, {space.capacity} are there",
            location=largest.op.location,
            label=f"{bytes_in(largest, space)} bytes for {_name(largest)}",
            note="buffers alive here:\n" + "\n".join(_table(held, space)),
            help=_suggestion(held, needed, space),
        )
    )


def _name(lifetime: Lifetime) -> str:
    shape = "x".join(map(str, lifetime.type.shape))
    return f"{lifetime.op.result.name or 'a temporary'} ({shape} {dtype_of(lifetime.type)})"


def _table(held: Sequence[Lifetime], space: MemorySpace) -> list[str]:
    """Rows of the capacity table: name, line, bytes, lifetime, copies."""
    rows = [("buffer", "line", "bytes", "copies", "alive")]
    for lifetime in held:
        copies = int(lifetime.op.attribute("copies"))
        line = str(lifetime.op.location.line) if lifetime.op.location.line else "-"
        size = str(bytes_in(lifetime, space))
        rows.append((_name(lifetime), line, size, str(copies), f"{lifetime.first}-{lifetime.last}"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]


def _suggestion(held: Sequence[Lifetime], needed: int, space: MemorySpace) -> str:
    """A tile that would fit: the largest extent of the largest buffer, halved often enough."""
    shape = held[0].type.shape
    axis = max(range(len(shape)), key=lambda dim: shape[dim])
    factor = 1
    while needed > space.capacity * factor and factor < shape[axis]:
        factor *= 2
    smaller = max(1, shape[axis] // factor)
    return f"make the tile smaller: with {smaller} instead of {shape[axis]} along axis {axis} it would fit"
