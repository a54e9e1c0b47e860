"""Flags between engines wherever one touches what another touches, and no more than that takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl_core.ir import Block, Builder, Function, Module, Op, Value
from xdsl_core.ops import If, While
from xdsl_core.ops.task import Barrier, Program, SetCross, SetFlag, WaitCross, WaitFlag
from xdsl_core.passes.memory.footprints import Engine, Footprint, Footprints
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.prepare_for_overlap import is_for_overlap, plain_function
from xdsl_core.passes.memory.share_rows import SHARED
from xdsl_core.target import TargetDescription


@dataclass(frozen=True)
class InsertFlags:
    """Orders engines by flags: set after the op that must come first, waited for before the one that must
    come after.

        buffer.copy %x, %in {engine = "MTE2"}
        buffer.compute [%y], [%x] {operation = "tile.exp", engine = "V"}
    ->
        buffer.copy %x, %in {engine = "MTE2"}
        task.set_flag {source = "MTE2", target = "V", flag = 0}
        task.wait_flag {source = "MTE2", target = "V", flag = 0}
        buffer.compute [%y], [%x] {operation = "tile.exp", engine = "V"}

    Ops of one engine are in order anyway. Between iterations of a loop a flag says that memory is free again:
    it is set once before everything, and taken back at the end. A set always precedes its wait in program
    order, so that nothing can wait for ever. Where a pair of engines has no flag left, a barrier takes its
    place. Memory must have been planned. In a function for arguments that overlap (PrepareForOverlap) each
    parameter may be any other; where that orders nothing more, the function is left out.
    """

    target: TargetDescription = field(repr=False)
    name: ClassVar[str] = "insert_flags"

    def run(self, module: Module) -> None:
        machine = Machine(self.target)
        found = {function: find_syncs(function, machine) for function in module.functions.values()}
        for function in list(found):
            plain = plain_function(function, module)
            if plain is not None and _orders_as_much(found, plain, function):
                del module.functions[function.name]
                continue
            _number(found[function], machine)
            _Writer(function, Footprints(function, machine)).write(found[function])


def _orders_as_much(found: Mapping[Function, list[Sync]], plain: Function, function: Function) -> bool:
    """Whether the function for arguments that overlap is no other than the plain one."""
    ordered = [_order(each, found[each]) for each in (plain, function)]
    return SHARED not in plain.attributes and ordered[0] == ordered[1]


def _order(function: Function, syncs: Sequence[Sync]) -> set[tuple[int, int, Engine, Engine, int]]:
    """What syncs order, in terms that hold for every copy of a function."""
    numbers = {op: number for number, op in enumerate(function.walk())}
    return {(numbers[s.before], numbers[s.after], s.source, s.target, s.distance) for s in syncs}


# No target has this many flags: what needs them becomes a barrier.
_MORE_THAN_THERE_ARE = 1 << 30


@dataclass(eq=False)
class Sync:
    """`target` may start `after` only when `source` is done with `before`; both stand in `block`.

    `distance` is how many iterations later: 0 within one. `parts` flags alternate, chosen by `slot`. `flag`
    is the first of them, -1 for a barrier.
    """

    block: Block
    before: Op
    after: Op
    source: Engine
    target: Engine
    distance: int
    depth: int
    slot: Value | None = None
    parts: int = 1
    flag: int = -1

    @property
    def crosses(self) -> bool:
        """Whether the engines belong to different cores."""
        return self.source.core != self.target.core


@dataclass
class _Known:
    """For each engine, up to which op of the unrolled block every other engine is known to be done."""

    done: dict[Engine, dict[Engine, int]] = field(default_factory=lambda: defaultdict(dict))

    def covers(self, target: Engine, source: Engine, index: int) -> bool:
        return self.done[target].get(source, -1) >= index

    def learn(self, target: Engine, source: Engine, index: int, passed_on: dict[Engine, int]) -> None:
        """`target` waited for `source` at an op, and knows what `source` knew then."""
        mine = self.done[target]
        for engine, done in (*passed_on.items(), (source, index)):
            if engine != target:
                mine[engine] = max(mine.get(engine, -1), done)

    def snapshot(self) -> dict[Engine, dict[Engine, int]]:
        return {engine: dict(done) for engine, done in self.done.items()}


def find_syncs(function: Function, machine: Machine) -> list[Sync]:
    """Everything that has to wait for something, in program order."""
    footprints = Footprints(function, machine, overlapping=is_for_overlap(function))
    found: list[Sync] = []
    _visit(function.block, footprints, found, depth=0, is_program=False)
    return found


def _visit(
    block: Block, footprints: Footprints, found: list[Sync], *, depth: int, is_program: bool
) -> set[tuple[Engine, Engine]]:
    """Syncs of a block and the blocks inside. `is_program` if each time the block runs it is for another
    program. Gives the pairs of engines that are not ordered from one run of a loop to the next.
    """
    unordered: dict[Op, set[tuple[Engine, Engine]]] = {}
    for op in block.ops:
        for region in op.regions:
            programs = is_program if op.definition is If else _runs_programs(region.block)
            left = _visit(region.block, footprints, found, depth=depth + 1, is_program=programs)
            unordered.setdefault(op, set()).update(left)
    syncs = _BlockSyncs(block, footprints, depth, is_program=is_program, unordered=unordered)
    found += syncs.run()
    return syncs.left_to_outside()


def _runs_programs(block: Block) -> bool:
    return any(op.definition is Program for op in block.ops)


class _BlockSyncs:
    """Finds the syncs between the ops of one block, within one run of it and from one run to the next.

    A block inside a loop or branch runs again and again, whatever runs in between. The block is gone through
    as often as runs can be in flight and once more; index n * len + i stands for op i of round n.
    """

    def __init__(
        self,
        block: Block,
        footprints: Footprints,
        depth: int,
        *,
        is_program: bool,
        unordered: Mapping[Op, set[tuple[Engine, Engine]]],
    ) -> None:
        self.block = block
        self.unordered = unordered
        self.footprints = footprints
        self.depth = depth
        self.is_program = is_program
        self.ops = [op for op in block.ops if footprints.of(op)]
        self.engines = {footprint.engine for op in self.ops for footprint in footprints.of(op)}
        self.places = {op: place for place, op in enumerate(self.ops)}
        self.parts = footprints.parts(block)
        self.slot = footprints.slot(block)
        self.syncs: list[Sync] = []
        self.before: dict[Op, list[Sync]] = defaultdict(list)
        self.known = _Known()
        self.through_arguments: set[tuple[Engine, Engine]] = set()
        self.after_op: dict[int, dict[Engine, dict[Engine, int]]] = {}

    def run(self) -> list[Sync]:
        rounds = self.parts + 1 if self.depth else 1
        for number in range(rounds):
            for position in range(len(self.ops)):
                self._visit(number, position)
        return self.syncs

    def left_to_outside(self) -> set[tuple[Engine, Engine]]:
        """The pairs of engines whose order holds within a run of the loop, and not from one run to the next.

        Parts begin anew with each run, so that its first iteration may take the part of the last one before
        it. Flags that belong to parts order these two; what follows from other waits orders iterations that
        are `parts` apart.
        """
        left = {pair for pairs in self.unordered.values() for pair in pairs}
        if self.parts == 1 or self.is_program:
            return left
        rotating = [
            (place, footprint)
            for place, op in enumerate(self.ops)
            for footprint in self.footprints.of(op)
            if any(extent.rotates is self.block for extent in footprint.reads | footprint.writes)
        ]
        for place, source in rotating:
            for position, target in rotating:
                pair = source.engine, target.engine
                if pair in left or not self._needs_flags(*pair) or self._has_flag(pair, place, position):
                    continue
                if source.meets(target, None, ignore_global=True):
                    left.add(pair)
        return left

    def _has_flag(self, pair: tuple[Engine, Engine], place: int, position: int) -> bool:
        """Whether an op waits for one of an earlier iteration by a flag of its part, or for a later one."""
        return any(
            (sync.source, sync.target) == pair
            and self.places[sync.after] <= position
            and (sync.distance == 0 or (sync.distance == self.parts and self.places[sync.before] >= place))
            for sync in self.syncs
        )

    def _visit(self, number: int, position: int) -> None:
        op, index = self.ops[position], number * len(self.ops) + position
        for sync in self.before[op]:
            self._apply(sync, number)
        for footprint in self.footprints.of(op):
            for source, distance, place in self._needed(footprint, number, position):
                # a flag for each part only where the next but `parts` run takes the same part again
                parts = self.parts if distance in (0, self.parts) else 1
                sync = Sync(
                    self.block, self.ops[place], op, source, footprint.engine, distance, self.depth,
                    slot=self.slot if parts > 1 else None, parts=parts,
                )  # fmt: skip
                self.syncs.append(sync)
                self.before[op].append(sync)
                self._apply(sync, number)
        self._inherit_from_scalar_units(op)
        self.after_op[index] = self.known.snapshot()

    def _apply(self, sync: Sync, number: int) -> None:
        start = number - sync.distance
        if start < 0:
            return
        index = start * len(self.ops) + self.places[sync.before]
        passed_on = self.after_op[index].get(sync.source, {})
        self.known.learn(sync.target, sync.source, index, passed_on)

    def _needed(self, target: Footprint, number: int, position: int) -> Iterator[tuple[Engine, int, int]]:
        """(source, distance, place) of each op that must be done and is not known to be, the latest of each
        engine.
        """
        asked: set[Engine] = set()
        for distance in (0, 1, self.parts) if self.parts > 1 else (0, 1):
            if number < distance:
                continue
            last = position - 1 if distance == 0 else len(self.ops) - 1
            first = (number - distance) * len(self.ops)
            left = {engine for engine in self.engines - asked if self._needs_flags(engine, target.engine)}
            for place in range(last, -1, -1):
                if not left:
                    break
                for source in self.footprints.of(self.ops[place]):
                    if source.engine not in left:
                        continue
                    if self.known.covers(target.engine, source.engine, first + place):
                        left.discard(source.engine)
                    elif place == position and self._keeps_own_order(
                        self.ops[place], source.engine, target.engine
                    ):
                        continue
                    elif self._conflict(source, target, distance):
                        left.discard(source.engine)
                        asked.add(source.engine)
                        yield source.engine, distance, place

    def _conflict(self, source: Footprint, target: Footprint, distance: int) -> bool:
        """Whether two footprints meet, `distance` iterations apart.

        Different programs share no memory of arguments on purpose. Yet if one program orders two engines by
        what they do there, its flag has to be taken before the next program sets it again.
        """
        rotating = self.block if distance % self.parts else None
        if not self.is_program:
            return source.meets(target, rotating, ignore_global=False)
        apart = source.meets(target, rotating, ignore_global=True)
        if distance == 0 and not apart and source.meets(target, rotating, ignore_global=False):
            self.through_arguments.add((source.engine, target.engine))
            return True
        if distance and (target.engine, source.engine) in self.through_arguments:
            return source.meets(target, rotating, ignore_global=False)
        return apart

    def _keeps_own_order(self, op: Op, source: Engine, target: Engine) -> bool:
        """Whether flags inside a loop or branch order one run of it after the other.

        What one side of a branch leaves to the other next time does not show inside, nor what the last
        iteration of a loop leaves to the first of the next run. A flag around the op could be set twice ahead
        of its wait, so there engines meet at a barrier.
        """
        if op.definition is not If:
            if (source, target) in self.unordered.get(op, ()):
                self._meet_before(op, source, target)
            return True
        if source.core != target.core:
            return False
        if self._sides_meet(op, source, target):
            self._meet_before(op, source, target)
        return True

    def _meet_before(self, op: Op, source: Engine, target: Engine) -> None:
        """Let engines meet at a barrier before an op with regions."""
        barrier = Sync(self.block, op, op, source, target, 0, self.depth)
        barrier.parts = _MORE_THAN_THERE_ARE
        if not any(sync.before is op and sync.after is op for sync in self.syncs):
            self.syncs.append(barrier)

    def _sides_meet(self, op: Op, source: Engine, target: Engine) -> bool:
        sides = [
            {each.engine: each for inner in region.block.ops for each in self.footprints.of(inner)}
            for region in op.regions
        ]
        pairs = [
            (first.get(source), second.get(target))
            for first in sides
            for second in sides
            if first is not second
        ]
        return any(
            a is not None and b is not None and a.meets(b, None, ignore_global=self.is_program)
            for a, b in pairs
        )

    def _needs_flags(self, source: Engine, target: Engine) -> bool:
        """An engine is in order; what a core's scalar unit did comes before what it hands out later."""
        return source != target and not (source.is_scalar and source.core == target.core)

    def _inherit_from_scalar_units(self, op: Op) -> None:
        """What a scalar unit waited for is done before anything it hands out afterwards."""
        for engine, done in list(self.known.done.items()):
            if engine.is_scalar:
                for other in self.footprints.engines:
                    if other.core == engine.core and other != engine:
                        for source, index in done.items():
                            if source != other:
                                mine = self.known.done[other]
                                mine[source] = max(mine.get(source, -1), index)


def _number(syncs: Sequence[Sync], machine: Machine) -> None:
    """Give syncs their flags, those of inner loops first; the ones for which none is left become barriers.

    Flags between cores count: all syncs of one pair of engines within iterations share one, since they are
    set and waited for in the same order. Those between iterations have one each.
    """
    limits = machine.target.limits
    flags, cross = limits.get("event_flags", 8), limits.get("cross_flags", 8)
    used: dict[tuple[Engine, Engine], int] = defaultdict(int)
    crossing = 0
    shared: dict[tuple[Engine, Engine], int] = {}
    for sync in sorted(syncs, key=lambda each: -each.depth):
        pair = sync.source, sync.target
        if sync.parts >= _MORE_THAN_THERE_ARE:
            continue
        if sync.crosses:
            sync.parts, sync.slot = max(1, sync.distance), None
            if sync.distance == 0 and pair in shared:
                sync.flag = shared[pair]
                continue
            if crossing >= cross:
                continue
            sync.flag = crossing
            crossing += 1
            if sync.distance == 0:
                shared[pair] = sync.flag
        elif used[pair] + sync.parts <= flags:
            sync.flag = used[pair]
            used[pair] += sync.parts


class _Writer:
    """Puts the ops for syncs into a function."""

    def __init__(self, function: Function, footprints: Footprints) -> None:
        self.function = function
        self.footprints = footprints
        self.barriers: set[tuple[int, str]] = set()

    def write(self, syncs: Sequence[Sync]) -> None:
        for sync in syncs:
            if sync.flag < 0:
                self._barrier(sync)
                continue
            if sync.crosses and sync.distance == 0 and self._may_meet_others(sync):
                self._insert(sync.block, sync.after, after=False, sync=sync, sets=True)
            else:
                self._insert(sync.block, sync.before, after=True, sync=sync, sets=True)
            self._insert(sync.block, sync.after, after=False, sync=sync, sets=False)
            if sync.distance:
                self._around(sync)
        for op in list(self.function.walk()):
            if op.definition is While:
                self._drain_while(op)

    def _may_meet_others(self, sync: Sync) -> bool:
        """Whether inner blocks between set and wait may use the flag that the pair of engines shares."""
        first, last = (sync.block.ops.index(op) for op in (sync.before, sync.after))
        return any(op.regions for op in sync.block.ops[first + 1 : last])

    def _barrier(self, sync: Sync) -> None:
        """Wait for all engines: before the later op, or at the end of an iteration."""
        place = sync.after if sync.distance == 0 else sync.block.ops[-1]
        core = "" if sync.crosses else sync.target.core
        if (id(place), core) not in self.barriers:
            self.barriers.add((id(place), core))
            self._wait_for_all(sync.block, place, core)

    def _wait_for_all(self, block: Block, place: Op, core: str) -> None:
        """A barrier of one kind of core, or of all cores of a group where none is named."""
        builder = Builder(block, before=place, location=place.location)
        builder.build(Barrier, core=core, group=not core)

    def _drain_while(self, loop: Op) -> None:
        """Iterations of a loop with a test follow each other whole."""
        cores = {footprint.engine.core for footprint in self.footprints.of(loop)}
        core = cores.pop() if len(cores) == 1 else ""
        for region in loop.regions if cores or core else ():
            block = region.block
            self._wait_for_all(block, block.ops[0], core)

    def _insert(self, block: Block, op: Op, *, after: bool, sync: Sync, sets: bool) -> None:
        place = block.ops[block.ops.index(op) + 1] if after else op
        builder = Builder(block, before=place, location=op.location)
        self._op(builder, sync, sets=sets, part=None)

    def _around(self, sync: Sync) -> None:
        """Set the flag before everything, and take it back at the end."""
        top = self.function.block
        first, last = top.ops[0], top.ops[-1]
        for part in range(sync.distance if sync.crosses else sync.parts):
            self._op(Builder(top, before=first, location=sync.before.location), sync, sets=True, part=part)
            self._op(Builder(top, before=last, location=sync.after.location), sync, sets=False, part=part)

    def _op(self, builder: Builder, sync: Sync, *, sets: bool, part: int | None) -> None:
        if sync.crosses:
            builder.build(
                SetCross if sets else WaitCross,
                source_core=sync.source.core,
                target_core=sync.target.core,
                engine=sync.source.name if sets else sync.target.name,
                flag=sync.flag,
            )
            return
        builder.build(
            SetFlag if sets else WaitFlag,
            sync.slot if part is None else None,
            source=sync.source.name,
            target=sync.target.name,
            flag=sync.flag + (part or 0),
            core=sync.target.core,
        )
