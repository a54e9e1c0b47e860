"""Setting and waiting for flags, within a core and between cores."""

from __future__ import annotations

from xdsl_dsa_sim.simulator.faults import Fault, Kind
from xdsl_dsa_sim.simulator.hazards import Clock
from xdsl_dsa_sim.simulator.image import Action, Item
from xdsl_dsa_sim.simulator.python.state import Core, Flag, FlagKey, Happening, Run, Setting, Values
from xdsl_dsa_sim.simulator.record import Arrow


def send(run: Run, core: Core, item: Item, values: Values, known: Clock, time: float) -> None:
    """Let a flag be set some cycles after `time`."""
    sync, timed = run.setup.image.model.sync, run.setup.timed
    flag = int(values[-1])
    if item.action is Action.SET_FLAG:
        delay = sync.flag if timed else 0.0
        keys: list[FlagKey] = [(core.number, item.engine, item.other, flag)]
    else:
        delay = sync.cross_latency if timed else 0.0
        keys = [(other.number, core.number, flag) for other in _of_kind(run, core, item.other)]
    for key in keys:
        run.settings.append(Setting(key, known, core.number, item.engine, item.index))
        run.push(time + delay, Happening.FLAG, len(run.settings) - 1)


def check_number(run: Run, core: Core, item: Item, values: Values, now: float) -> None:
    """Fault for a flag the target does not have."""
    name = "event_flags" if item.action in (Action.SET_FLAG, Action.WAIT_FLAG) else "cross_flags"
    flag, count = int(values[-1]), run.setup.image.description.limits.get(name, 0)
    if not 0 <= flag < count:
        raise Fault(Kind.FLAG_RANGE, core.number, item.index, now, (flag, count))


def arrive(run: Run, setting: Setting, now: float) -> None:
    """A flag is set: whoever waits for it goes on. Fault if it was set too often."""
    flag = run.flags.setdefault(setting.key, Flag())
    within_core = len(setting.key) == 4
    limit = run.setup.image.description.limits.get("event_count" if within_core else "cross_count", 1)
    flag.count += 1
    if flag.count > limit:
        raise Fault(Kind.FLAG_COUNT, setting.core, setting.item, now, (setting.key[-1], limit))
    flag.sets.append((setting.known, now, setting.core, setting.engine, setting.item))
    core = run.cores[setting.key[0]]
    for number, engine in enumerate(core.engines):
        if engine.waiting:
            run.wake(core, number, now)
    if core.waiting:
        run.wake_scalar(core, now)


def take(run: Run, core: Core, engine: int, item: Item, values: Values, now: float) -> bool:
    """Take the flag (of every core that has to set it) if it is set; whether it was."""
    flag = int(values[-1])
    if item.action is Action.WAIT_FLAG:
        keys: list[FlagKey] = [(core.number, item.other, item.engine, flag)]
    else:
        keys = [(core.number, other.number, flag) for other in _of_kind(run, core, item.other)]
    if any(key not in run.flags or not run.flags[key].count for key in keys):
        return False
    for key in keys:
        state = run.flags[key]
        state.count -= 1
        known, set_at, setter, setting_engine, _ = state.sets.popleft()
        run.learn(core, engine, known)
        if run.setup.trace:
            run.record.arrows.append(Arrow(setter, setting_engine, set_at, core.number, engine, now))
    return True


def _of_kind(run: Run, core: Core, kind: int) -> list[Core]:
    """The cores of a kind in a core's group, without itself."""
    name = run.setup.image.description.kinds[kind].name
    return [
        other
        for other in run.cores
        if other.setup.group == core.setup.group and other.setup.image.kind.name == name and other is not core
    ]
