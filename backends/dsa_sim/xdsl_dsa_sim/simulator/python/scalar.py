"""The scalar unit: runs the code of a core, and puts instructions on the queues of its engines."""

from __future__ import annotations

from xdsl_dsa_sim.simulator.costs import cost_of
from xdsl_dsa_sim.simulator.faults import Fault, Kind
from xdsl_dsa_sim.simulator.image import Action, Code, Item, Step
from xdsl_dsa_sim.simulator.python import flags
from xdsl_dsa_sim.simulator.python.access import check_order, check_places, geometries_of, touches_of
from xdsl_dsa_sim.simulator.python.state import Core, Pending, Run, Values, value_of
from xdsl_dsa_sim.simulator.record import Event

# What the scalar unit does without looking at anything outside it.
_ALONE = frozenset({Action.REGISTER, Action.WORK, Action.PROGRAM, Action.SET_FLAG, Action.SET_CROSS})


def run_scalar(run: Run, core: Core, now: float) -> None:
    """Run code until the scalar unit has to wait, or has to let other events happen first."""
    core.clock = max(core.clock, now)
    image = core.setup.image
    branch = run.setup.image.model.scalar.branch if run.setup.timed else 0.0
    while not core.ended:
        run.steps += 1
        if run.setup.max_steps and run.steps > run.setup.max_steps:
            raise Fault(Kind.LIMIT, core.number, -1, core.clock)
        step = image.steps[core.step]
        if step.code is Code.ITEM:
            if not _item(run, core, image.items[step.item], now):
                return
            core.step += 1
        elif step.code is Code.END:
            core.ended = True
            run.record.core_cycles[core.number] = core.clock
            release_cores(run, core.clock)
        else:
            core.step = _jump(core, step)
            core.clock += branch


def _jump(core: Core, step: Step) -> int:
    """Where a jump leads; loops keep their bound and step in hidden registers."""
    registers = core.registers
    if step.code is Code.JUMP:
        return step.target
    if step.code is Code.BRANCH_ZERO:
        return core.step + 1 if registers[step.register] else step.target
    if step.code is Code.LOOP:
        lower, registers[step.hidden], registers[step.hidden + 1] = (
            value_of(core.registers, slot) for slot in step.slots
        )
        registers[step.register] = lower
        return core.step + 1 if _inside(core, step) else step.target
    registers[step.register] += registers[step.hidden + 1]
    return step.target if _inside(core, step) else core.step + 1


def _inside(core: Core, step: Step) -> bool:
    current, bound, stride = (core.registers[n] for n in (step.register, step.hidden, step.hidden + 1))
    return bool(current > bound if stride < 0 else current < bound)


def _item(run: Run, core: Core, item: Item, now: float) -> bool:
    """One instruction; False if the scalar unit has to stop before it."""
    if item.engine != core.scalar:
        return _enqueue(run, core, item)
    if item.action not in _ALONE and core.clock > now:
        run.wake_scalar(core, core.clock)
        return False
    values = tuple(value_of(core.registers, slot) for slot in item.slots)
    if not _execute(run, core, item, values):
        return False
    cycles = cost_of(item, (), values, run.setup.image.model).busy if run.setup.timed else 0.0
    _account(run, core, item, cycles)
    core.clock += cycles
    return True


def _enqueue(run: Run, core: Core, item: Item) -> bool:
    engine = core.engines[item.engine]
    if len(engine.queue) >= run.depth:
        core.full_queue = item.engine
        return False
    if run.setup.timed:
        core.clock += run.setup.image.model.scalar.issue
    values = tuple(value_of(core.registers, slot) for slot in item.slots)
    known = run.knowledge(core, core.scalar)
    engine.queue.append(Pending(item, values, known, core.clock, core.program))
    if len(engine.queue) == 1 and engine.flow is None:
        run.wake(core, item.engine, max(core.clock, engine.free_at))
    return True


def _execute(run: Run, core: Core, item: Item, values: Values) -> bool:
    """What the scalar unit does itself; False if it has to wait."""
    action = item.action
    if action is Action.REGISTER:
        core.registers[item.register] = run.executor(core.number, item, values, core.program)
    elif action is Action.PROGRAM:
        core.program = int(values[0])
    elif action in (Action.LOAD, Action.STORE, Action.EFFECT):
        _memory(run, core, item, values)
    elif action in (Action.SET_FLAG, Action.SET_CROSS):
        flags.check_number(run, core, item, values, core.clock)
        flags.send(run, core, item, values, run.knowledge(core, core.scalar), core.clock)
    elif action in (Action.WAIT_FLAG, Action.WAIT_CROSS):
        return _wait(run, core, item, values)
    elif action is Action.BARRIER:
        core.draining = not all(engine.idle for engine in core.engines)
        if not core.draining:
            _learn_all(run, core)
        return not core.draining
    elif action is Action.BARRIER_CORES:
        return _barrier_cores(run, core, item)
    return True


def _memory(run: Run, core: Core, item: Item, values: Values) -> None:
    """A load, a store, or something to show; the scalar unit waits until it is done."""
    touches = touches_of(item, geometries_of(item, values), values)
    check_places(run, core, item, touches, core.clock)
    check_order(run, core, item, touches, program=core.program, now=core.clock)
    if run.setup.functional or (item.action is Action.LOAD and item.timing.traffic):
        result = run.executor(core.number, item, values, core.program)
        if item.action is Action.LOAD:
            core.registers[item.register] = result


def _wait(run: Run, core: Core, item: Item, values: Values) -> bool:
    flags.check_number(run, core, item, values, core.clock)
    if not flags.take(run, core, core.scalar, item, values, core.clock):
        if not core.waiting:
            core.waiting = True
            core.blocked_since = core.clock
        return False
    if core.waiting:
        core.waiting = False
        waits = run.record.engines[core.number][core.scalar].waits
        waits[item.other if item.action is Action.WAIT_FLAG else -1] += core.clock - core.blocked_since
    return True


def _learn_all(run: Run, core: Core) -> None:
    """The scalar unit knows what its engines did; they are all done."""
    for number in range(len(core.engines)):
        run.learn(core, core.scalar, run.knowledge(core, number))


def _barrier_cores(run: Run, core: Core, item: Item) -> bool:
    """Wait for own engines, then for the other cores; the last one to come lets all go on."""
    scope = str(item.source.attributes.get("scope", "group"))
    if core.passed_barrier:
        core.passed_barrier = False
        return True
    core.draining = not all(engine.idle for engine in core.engines)
    if not core.draining:
        _learn_all(run, core)
        core.at_barrier = scope
        release_cores(run, core.clock)
    return False


def release_cores(run: Run, now: float) -> None:
    """Let cores go on that stand at a barrier which all others of their scope have reached or that have
    ended.
    """
    for scope in ("group", "device"):
        for members in _scopes(run, scope):
            here = [core for core in members if not core.ended]
            if not here or any(core.at_barrier != scope for core in here):
                continue
            for group in {core.setup.group for core in here}:
                together = [core for core in here if core.setup.group == group]
                clocks = [run.knowledge(core, core.scalar) for core in together]
                for core in together:
                    for clock in clocks:
                        run.learn(core, core.scalar, clock)
            for core in here:
                core.at_barrier = ""
                core.passed_barrier = True
                run.wake_scalar(core, now)


def _scopes(run: Run, scope: str) -> list[list[Core]]:
    if scope == "device":
        return [run.cores]
    groups: dict[int, list[Core]] = {}
    for core in run.cores:
        groups.setdefault(core.setup.group, []).append(core)
    return list(groups.values())


def _account(run: Run, core: Core, item: Item, cycles: float) -> None:
    totals = run.record.engines[core.number][core.scalar]
    totals.busy += cycles
    totals.count += 1
    totals.first = core.clock if totals.first < 0 else totals.first
    totals.last = core.clock + cycles
    by_item = run.record.items[core.image][item.index]
    by_item.count += 1
    by_item.busy += cycles
    if run.setup.trace and item.action not in (Action.REGISTER, Action.PROGRAM):
        run.record.events.append(
            Event(
                core.number,
                core.scalar,
                item.index,
                core.program,
                core.clock,
                core.clock + cycles,
                core.clock + cycles,
            )
        )
