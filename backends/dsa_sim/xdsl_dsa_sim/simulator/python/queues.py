"""Engines: the head of a queue begins, ends, and lets others go on."""

from __future__ import annotations

from xdsl_dsa_sim.simulator.costs import Cost, Traffic, cost_of, head_of
from xdsl_dsa_sim.simulator.geometry import Geometry, overlap
from xdsl_dsa_sim.simulator.image import Action, Item
from xdsl_dsa_sim.simulator.python import flags
from xdsl_dsa_sim.simulator.python.access import (
    Touch,
    check_extents,
    check_order,
    check_places,
    geometries_of,
    touches_of,
)
from xdsl_dsa_sim.simulator.python.state import Core, Engine, Flight, Happening, Pending, Run
from xdsl_dsa_sim.simulator.record import Event
from xdsl_dsa_sim.simulator.sharing import DRAM_POOLS, Flow

_WAITS = (Action.WAIT_FLAG, Action.WAIT_CROSS)
_SETS = (Action.SET_FLAG, Action.SET_CROSS)


def advance(run: Run, core: Core, number: int, now: float) -> None:
    """Begin what can begin at the head of a queue."""
    engine = core.engines[number]
    while engine.queue and engine.flow is None:
        head = engine.queue[0]
        ready = max(head.available, engine.free_at)
        if ready > now:
            run.wake(core, number, ready)
            return
        if not _begin(run, core, number, head, now):
            return
        engine.queue.popleft()
        if core.full_queue == number:
            core.full_queue = -1
            run.wake_scalar(core, now)
    notice_idle(run, core, now)


def notice_idle(run: Run, core: Core, now: float) -> None:
    """Let a scalar unit that waits for its engines go on once they are done."""
    if core.draining and all(engine.idle for engine in core.engines):
        run.wake_scalar(core, now)


def _begin(run: Run, core: Core, number: int, head: Pending, now: float) -> bool:
    """Begin an instruction; False if it has to wait."""
    engine, action = core.engines[number], head.item.action
    if now > engine.free_at:
        engine.stalled = True
    run.learn(core, number, head.known)
    if action is Action.COMPUTE:
        return _start(run, core, number, head, now)
    if action in _WAITS:
        return _wait(run, core, number, head, now)
    flag_cycles = run.setup.image.model.sync.flag if run.setup.timed else 0.0
    if action in _SETS:
        flags.check_number(run, core, head.item, head.values, now)
        known = run.knowledge(core, number)
        if engine.flights:
            engine.flights[-1].flags.append((head.item, head.values, known))
        else:
            flags.send(run, core, head.item, head.values, known, now)
    elif engine.flights:
        _hold(engine, now)
        return False
    else:
        _release(run, core, number, now)
    engine.free_at = now + flag_cycles
    run.record.engines[core.number][number].count += 1
    return True


def _wait(run: Run, core: Core, number: int, head: Pending, now: float) -> bool:
    engine, item = core.engines[number], head.item
    flags.check_number(run, core, item, head.values, now)
    if not flags.take(run, core, number, item, head.values, now):
        if not engine.waiting:
            engine.waiting = True
            engine.blocked_since = now
        return False
    if engine.waiting:
        engine.waiting = False
        waits = run.record.engines[core.number][number].waits
        waits[item.other if item.action is Action.WAIT_FLAG else -1] += now - engine.blocked_since
    engine.free_at = now + (run.setup.image.model.sync.flag if run.setup.timed else 0.0)
    run.record.engines[core.number][number].count += 1
    return True


def _hold(engine: Engine, now: float) -> None:
    """Let the head wait for an instruction before it on the same engine."""
    if not engine.held:
        engine.held = True
        engine.blocked_since = now


def _release(run: Run, core: Core, number: int, now: float) -> None:
    """The head has waited long enough for those before it."""
    engine = core.engines[number]
    if engine.held:
        engine.held = False
        run.record.engines[core.number][number].held += now - engine.blocked_since


def _start(run: Run, core: Core, number: int, head: Pending, now: float) -> bool:
    """Begin to compute or to transfer, after all checks; False if the bytes are still in use on this
    engine.
    """
    engine, item = core.engines[number], head.item
    geometries = geometries_of(item, head.values)
    touches = touches_of(item, geometries, head.values)
    check_extents(core, item, geometries, now)
    check_places(run, core, item, touches, now)
    if any(_needs(touches, flight.touches) for flight in engine.flights):
        _hold(engine, now)
        return False
    _release(run, core, number, now)
    check_order(run, core, item, touches, program=head.program, now=now)
    cost = cost_of(item, geometries, head.values, run.setup.image.model) if run.setup.timed else Cost(0.0)
    flight = Flight(head, touches, now)
    engine.flights.append(flight)
    if cost.traffic is not None:
        _transfer(run, core, number, flight, cost.traffic, now)
        return True
    busy = cost.busy
    if item.starts_sum and run.setup.timed:
        busy += head_of(item.timing, run.setup.image.model, stalled=engine.stalled)
    totals = run.record.items[core.image][item.index]
    if item.path:
        totals.bytes += moved_bytes(item, geometries)
    else:
        totals.work += work_of(item, geometries)
    _finish_at(run, core, number, flight, now + busy, cost.tail)
    run.wake(core, number, engine.free_at)
    return True


def _needs(touches: list[Touch], earlier: list[Touch]) -> bool:
    """Whether an instruction reads what one under way writes; those that only write end in order anyway."""
    return any(
        a.space == b.space and a.reads and b.writes and overlap(a.geometry, b.geometry)
        for a in touches
        for b in earlier
    )


def _transfer(run: Run, core: Core, number: int, flight: Flight, traffic: Traffic, now: float) -> None:
    """Begin a flow to or from global memory."""
    item, model = flight.pending.item, run.setup.image.model.memory
    writes = item.timing.traffic == "write"
    totals = run.record.items[core.image][item.index]
    if item.timing.rule == "indirect":
        moved = traffic.indirect * model.segment
        shared, read, written, missed = 0, 0, 0, False
        if not model.l2_capacity:
            read, written = (0, moved) if writes else (moved, 0)
    else:
        outside = geometries_of(item, flight.pending.values)[0 if writes else 1]
        assert outside is not None
        access = run.l2.transfer(outside, write=writes, bypass=item.timing.bypass, core=core.number, time=now)
        moved, shared = access.moved, access.shared
        read, written, missed = access.read, access.written, access.missed
        totals.bytes += outside.elements * outside.itemsize
    record = run.record
    record.dram_read += read
    record.dram_written += written
    record.l2_moved += moved
    engine = core.engines[number]
    least = max(traffic.floor, moved * traffic.per_byte)
    latency = item.timing.latency + (model.miss_latency if missed else 0.0)
    if moved == 0 or least <= 0.0:
        _finish_at(run, core, number, flight, now + least, latency)
        run.wake(core, number, engine.free_at)
        return
    weight = model.shared_weight.get(core.setup.image.kind.name, 1.0)
    l2 = (moved + shared * (weight - 1.0)) / moved
    use = [0.0] * len(run.pools.capacities)
    use[0], use[1], use[DRAM_POOLS + core.image] = (read + written) / moved, read / moved, l2
    flow = Flow(core.number * run.stride + number, float(moved), moved / least, tuple(use), latency)
    engine.flow = flow
    run.pools.add(flow, now)
    watch_pools(run)


def watch_pools(run: Run) -> None:
    """Let the end of the first flow happen, if nothing changes before."""
    first = run.pools.next_end()
    if first is not None:
        run.push(first[0], Happening.POOL, run.pools.version)


def end_flow(run: Run, version: int, now: float) -> None:
    """A flow is through: its engine is free, its data arrive after the latency."""
    first = run.pools.next_end()
    if version != run.pools.version or first is None:
        return
    flow = first[1]
    run.pools.remove(flow, now)
    core, number = run.cores[flow.owner // run.stride], flow.owner % run.stride
    engine = core.engines[number]
    engine.flow = None
    _finish_at(run, core, number, engine.flights[-1], now, flow.latency)
    run.wake(core, number, now)
    watch_pools(run)


def _finish_at(run: Run, core: Core, number: int, flight: Flight, free: float, tail: float) -> None:
    """The engine is free again at `free`, the instruction done `tail` later but not before those ahead of
    it.
    """
    engine = core.engines[number]
    engine.free_at = flight.free = free
    engine.stalled = False
    begun = max(flight.start, engine.last_end)
    engine.last_end = max(free + tail, engine.last_end)
    item = flight.pending.item
    totals = run.record.engines[core.number][number]
    totals.busy += engine.last_end - begun
    totals.count += 1
    totals.first = flight.start if totals.first < 0 else totals.first
    totals.last = engine.last_end
    by_item = run.record.items[core.image][item.index]
    by_item.count += 1
    by_item.busy += free - flight.start
    run.push(engine.last_end, Happening.COMPLETE, core.number * run.stride + number)


def complete(run: Run, core: Core, number: int, now: float) -> None:
    """An instruction is done: its meaning takes effect, its flags are set, whoever waits for it goes on."""
    engine = core.engines[number]
    flight = engine.flights.popleft()
    head = flight.pending
    if run.setup.functional:
        run.executor(core.number, head.item, head.values, head.program)
    if run.setup.trace:
        run.record.events.append(
            Event(core.number, number, head.item.index, head.program, flight.start, flight.free, now)
        )
    for item, values, known in flight.flags:
        flags.send(run, core, item, values, known, now)
    if engine.held:
        run.wake(core, number, now)
    notice_idle(run, core, now)


def moved_bytes(item: Item, geometries: list[Geometry | None]) -> int:
    """Bytes a transfer takes from its source."""
    source = geometries[1]
    return source.elements * source.itemsize if source is not None else 0


def work_of(item: Item, geometries: list[Geometry | None]) -> int:
    """Products of a matrix instruction, or lanes of a vector instruction."""
    regions = [geometry for geometry in geometries if geometry is not None]
    if item.starts_sum:
        return regions[0].shape[-2] * regions[0].shape[-1] * regions[1].shape[-1]
    lanes = 1
    for extent in regions[-1 if item.shape_rule == "reduce" else 0].shape:
        lanes *= extent
    return lanes
