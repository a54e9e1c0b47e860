"""What the flags of a launch order, by transitive closure over its streams: no vector clocks, no cycles.

The scalar unit of each core is run alone, which gives the instructions of every engine in order; the n-th set
of a flag meets its n-th wait. An instruction follows those before it on its engine, the waits of the scalar
unit before it was issued, and the sets of the flags it waits for; the scalar unit's barrier follows them all.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl_dsa_sim.simulator.console import Console
from xdsl_dsa_sim.simulator.execute import Semantics
from xdsl_dsa_sim.simulator.geometry import Geometry, overlap
from xdsl_dsa_sim.simulator.global_memory import bind
from xdsl_dsa_sim.simulator.image import Action, Code, Image, Item, Slot
from xdsl_dsa_sim.simulator.python.access import geometries_of, touches_of
from xdsl_dsa_sim.simulator.setup import Setup, prepare

SETS = (Action.SET_FLAG, Action.SET_CROSS)
WAITS = (Action.WAIT_FLAG, Action.WAIT_CROSS)
Site = tuple[str, int]
"""An instruction of the program: the kind of core whose code it is in, its index there."""


@dataclass(frozen=True, slots=True)
class Node:
    """One execution of an instruction."""

    core: int
    item: Item
    values: tuple[Any, ...]
    program: int
    site: Site


@dataclass(frozen=True, slots=True)
class Order:
    """A launch: its executions, which follow which in any case, and which because of a flag.

    `needs[n]` are the executions, as bits, that use the same bytes as n and came before it in the right
    stream.
    """

    nodes: Sequence[Node]
    fixed: Sequence[tuple[int, int]]
    flags: Sequence[tuple[int, int]]
    needs: Sequence[int]

    def sites(self) -> set[Site]:
        """The flags' instructions that were executed."""
        return {node.site for node in self.nodes if node.item.action in (*SETS, *WAITS)}

    def missing(self, removed: Collection[Site]) -> bool:
        """Whether two accesses to the same bytes may come in any order once flags are removed."""
        kept = [(a, b) for a, b in self.flags if self.nodes[a].site not in removed]
        before = closure(len(self.nodes), [*self.fixed, *kept])
        return any(need & ~known for need, known in zip(self.needs, before, strict=True))


def order_of(image: Image, grid: tuple[int, int, int], arguments: Sequence[Any]) -> Order:
    """The order of a launch; its flags have to order all accesses to the same bytes."""
    setup = prepare(image, grid, bind(arguments), mode="timing")
    nodes = [node for core in range(len(setup.cores)) for node in _issued(setup, core)]
    fixed, flags = list(_fixed(setup, nodes)), list(_flags(setup, nodes))
    before = closure(len(nodes), [*fixed, *flags])
    return Order(nodes, fixed, flags, _needs(setup, nodes, before))


def pairs(orders: Sequence[Order]) -> list[frozenset[Site]]:
    """Sets and waits that belong together, because a wait took what a set had set, in any of the launches."""
    root: dict[Site, Site] = {}

    def find(site: Site) -> Site:
        while root.setdefault(site, site) != site:
            site = root[site]
        return site

    for order in orders:
        for a, b in order.flags:
            root[find(order.nodes[a].site)] = find(order.nodes[b].site)
    found: dict[Site, set[Site]] = defaultdict(set)
    for site in root:
        found[find(site)].add(site)
    return [frozenset(sites) for sites in found.values()]


def closure(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """For each of `count` nodes all that come before it, as bits; the edges have no cycle."""
    after: dict[int, list[int]] = defaultdict(list)
    left = [0] * count
    for a, b in edges:
        after[a].append(b)
        left[b] += 1
    before, ready, done = [0] * count, deque(n for n in range(count) if not left[n]), 0
    while ready:
        node = ready.popleft()
        done += 1
        for other in after[node]:
            before[other] |= before[node] | 1 << node
            left[other] -= 1
            if not left[other]:
                ready.append(other)
    assert done == count, "the flags wait for each other in a circle"
    return before


def _issued(setup: Setup, number: int) -> Iterator[Node]:
    """What the scalar unit of a core issues and does, in order."""
    core = setup.cores[number]
    image, registers = core.image, list(core.registers)
    semantics, program, place = Semantics(setup, Console((1, 1, 1))), -1, 0

    def value(slot: Slot) -> Any:
        return slot.constant if slot.register < 0 else registers[slot.register] + slot.constant

    while (step := image.steps[place]).code is not Code.END:
        place += 1
        if step.code is Code.ITEM:
            item = image.items[step.item]
            values = tuple(value(slot) for slot in item.slots)
            assert item.action not in (Action.LOAD, Action.BARRIER_CORES), "not followed here"
            if item.action is Action.REGISTER:
                registers[item.register] = semantics(number, item, values, program)
            elif item.action is Action.PROGRAM:
                program = int(values[0])
            else:
                yield Node(number, item, values, program, (image.kind.name, item.index))
        elif step.code is Code.JUMP:
            place = step.target
        elif step.code is Code.BRANCH_ZERO:
            place = place if registers[step.register] else step.target
        else:
            if step.code is Code.LOOP:
                lower, bound, stride = (value(slot) for slot in step.slots)
                registers[step.hidden : step.hidden + 2] = bound, stride
                registers[step.register] = lower
            else:
                registers[step.register] += registers[step.hidden + 1]
            current, bound, stride = registers[step.register], *registers[step.hidden : step.hidden + 2]
            goes_on = current > bound if stride < 0 else current < bound
            if goes_on == (step.code is Code.NEXT):
                place = step.target


def _fixed(setup: Setup, nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    last: dict[tuple[int, int], int] = {}
    for number, node in enumerate(nodes):
        image = setup.cores[node.core].image
        engines = {node.item.engine, image.scalar_engine}
        if node.item.action is Action.BARRIER and node.item.engine == image.scalar_engine:
            engines = set(range(len(image.kind.engines)))
        for engine in engines:
            if (node.core, engine) in last:
                yield last[node.core, engine], number
        last[node.core, node.item.engine] = number


def _flags(setup: Setup, nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Each set with the wait that takes it."""
    sets: dict[Any, list[int]] = defaultdict(list)
    waits: dict[Any, list[int]] = defaultdict(list)
    for number, node in enumerate(nodes):
        item = node.item
        if item.action not in (*SETS, *WAITS):
            continue
        flag = int(node.values[-1])
        if item.action is Action.SET_FLAG:
            sets[node.core, item.engine, item.other, flag].append(number)
        elif item.action is Action.WAIT_FLAG:
            waits[node.core, item.other, item.engine, flag].append(number)
        elif item.action is Action.SET_CROSS:
            for other in _others(setup, node):
                sets[other, node.core, flag].append(number)
        elif item.action is Action.WAIT_CROSS:
            for other in _others(setup, node):
                waits[node.core, other, flag].append(number)
    assert sets.keys() == waits.keys()
    for key, found in sets.items():
        yield from zip(found, waits[key], strict=True)


def _others(setup: Setup, node: Node) -> list[int]:
    """The cores of its group that a flag between cores leads to or comes from."""
    kind, group = setup.image.description.kinds[node.item.other].name, setup.cores[node.core].group
    return [
        number
        for number, core in enumerate(setup.cores)
        if number != node.core and core.group == group and core.image.kind.name == kind
    ]


def _needs(setup: Setup, nodes: Sequence[Node], before: Sequence[int]) -> list[int]:
    """The accesses to the same bytes that come before each execution."""
    spaces: dict[Any, list[tuple[int, Geometry, bool]]] = defaultdict(list)
    needs = [0] * len(nodes)
    base, size = setup.workspace
    meet = cache(overlap)
    for number, node in enumerate(nodes):
        for touch in touches_of(node.item, geometries_of(node.item, node.values), node.values):
            space, core = setup.image.spaces[touch.space], setup.cores[node.core]
            holder: Any = node.core if space.owner == "core" else ("group", core.group)
            if space.owner == "device" and not base <= touch.geometry.low < base + size:
                holder = ("program", core.group, node.program)
            spaces[touch.space, holder].append((number, touch.geometry, touch.writes))
    for uses in spaces.values():
        for place, (one, mine, writes) in enumerate(uses):
            for other, its, also in uses[:place]:
                a, b = nodes[one], nodes[other]
                if (a.core, a.item.engine) == (b.core, b.item.engine) or not (writes or also):
                    continue
                if meet(mine, its):
                    first, second = (other, one) if before[one] >> other & 1 else (one, other)
                    assert before[second] >> first & 1, f"nothing orders {a} and {b}"
                    needs[second] |= 1 << first
    return needs
