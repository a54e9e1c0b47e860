"""The loop over events: runs a program to its end."""

from __future__ import annotations

import heapq

from xdsl_dsa_sim.simulator.faults import Fault, Kind, Waiting
from xdsl_dsa_sim.simulator.image import Action, Code
from xdsl_dsa_sim.simulator.python.flags import arrive
from xdsl_dsa_sim.simulator.python.queues import advance, complete, end_flow
from xdsl_dsa_sim.simulator.python.scalar import run_scalar
from xdsl_dsa_sim.simulator.python.state import NEVER, Core, Executor, Happening, Run, begin, value_of
from xdsl_dsa_sim.simulator.record import Record
from xdsl_dsa_sim.simulator.setup import Setup


def run_python(setup: Setup, executor: Executor) -> Record:
    """Run a program; the record of what happened. Raises Fault for a mistake of the program."""
    run = begin(setup, executor)
    for core in run.cores:
        run.wake_scalar(core, 0.0)
    now = 0.0
    while run.events:
        now, _, happening, subject = heapq.heappop(run.events)
        _happen(run, happening, subject, now)
    _require_end(run, now)
    _require_flags_taken(run, now)
    return run.record


def _happen(run: Run, happening: Happening, subject: int, now: float) -> None:
    if happening is Happening.SCALAR:
        core = run.cores[subject]
        if core.wake_at == now:
            core.wake_at = NEVER
            run_scalar(run, core, now)
    elif happening is Happening.ENGINE:
        core, number = run.cores[subject // run.stride], subject % run.stride
        if core.engines[number].wake_at == now:
            core.engines[number].wake_at = NEVER
            advance(run, core, number, now)
    elif happening is Happening.COMPLETE:
        complete(run, run.cores[subject // run.stride], subject % run.stride, now)
    elif happening is Happening.FLAG:
        arrive(run, run.settings[subject], now)
    else:
        end_flow(run, subject, now)


def _require_end(run: Run, now: float) -> None:
    """Fault if a core has not ended, or a queue is not empty: everybody waits."""
    waiting = [item for core in run.cores for item in _waiting(run, core)]
    if waiting:
        first = waiting[0]
        raise Fault(Kind.DEADLOCK, first.core, first.item, now, (), tuple(waiting))


def _waiting(run: Run, core: Core) -> list[Waiting]:
    found = []
    for number, engine in enumerate(core.engines):
        if engine.queue:
            head = engine.queue[0]
            flag = int(head.values[-1]) if head.item.action in (Action.WAIT_FLAG, Action.WAIT_CROSS) else -1
            found.append(Waiting(core.number, number, head.item.index, flag))
    if not core.ended:
        step = core.setup.image.steps[core.step]
        item = core.setup.image.items[step.item] if step.code is Code.ITEM else None
        flag = -1
        if item is not None and item.action in (Action.WAIT_FLAG, Action.WAIT_CROSS):
            flag = int(value_of(core.registers, item.slots[-1]))
        found.append(Waiting(core.number, core.scalar, item.index if item else -1, flag))
    return found


def _require_flags_taken(run: Run, now: float) -> None:
    for key, flag in sorted(run.flags.items(), key=lambda entry: (len(entry[0]) == 3, entry[0])):
        if flag.count:
            _, _, _, engine, item = flag.sets[0]
            crosses = len(key) == 3
            setter = key[1] if crosses else key[0]
            detail = (engine, -1 if crosses else key[2], key[-1], int(crosses))
            raise Fault(Kind.FLAG_LEFT, setter, item, now, detail)
