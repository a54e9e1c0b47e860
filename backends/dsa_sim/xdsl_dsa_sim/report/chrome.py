"""A trace in the format of Chrome and Perfetto: a process a core, a thread an engine, arrows for flags.

The format is described in "Trace Event Format" (Google, 2016): complete events "X", metadata "M", flows "s"
and "f"."""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from xdsl_dsa_sim.isa import print_instruction
from xdsl_dsa_sim.simulator.record import Arrow, Event
from xdsl_dsa_sim.simulator.simulate import Simulation


def chrome_trace(run: Simulation) -> str:
    """The trace of a run that was made with `trace=True`, as JSON; times are in microseconds."""
    scale = 1e6 / (run.image.description.clock_hz or 1.0)
    events = [*_names(run), *_slices(run, scale), *_flows(run, scale)]
    other = {
        "kernel": run.image.program.kernel,
        "target": run.image.description.name,
        "cycles": run.record.cycles,
    }
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": other})


def _names(run: Simulation) -> Iterator[dict[str, Any]]:
    for number, core in enumerate(run.setup.cores):
        yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": core.place.name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": number, "args": {"sort_index": number}}
        for index, engine in enumerate(core.image.kind.engines):
            yield {"ph": "M", "name": "thread_name", "pid": number, "tid": index, "args": {"name": engine}}
            order = {"sort_index": index}
            yield {"ph": "M", "name": "thread_sort_index", "pid": number, "tid": index, "args": order}


def _slices(run: Simulation, scale: float) -> Iterator[dict[str, Any]]:
    """One slice an execution, as long as it occupied its engine."""
    for event in run.record.events:
        core = run.setup.cores[event.core]
        item = core.image.items[event.item]
        arguments = {"instruction": print_instruction(item.source), "program": event.program}
        arguments["done"] = f"{event.end:.0f} cycles"
        if item.location.line:
            arguments["line"] = f"{item.location.file}:{item.location.line}"
        yield {
            "ph": "X",
            "name": item.definition.name,
            "cat": core.image.kind.engines[event.engine],
            "pid": event.core,
            "tid": event.engine,
            "ts": event.start * scale,
            "dur": (event.free - event.start) * scale,
            "args": arguments,
        }


def _flows(run: Simulation, scale: float) -> Iterator[dict[str, Any]]:
    """An arrow a flag: from what was done before it was set to what began after it was taken."""
    lanes: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in run.record.events:
        lanes[event.core, event.engine].append(event)
    for events in lanes.values():
        events.sort(key=lambda event: event.start)
    for number, arrow in enumerate(run.record.arrows):
        ends = _ends(arrow, lanes)
        if ends is None:
            continue
        before, after = ends
        common = {"name": "flag", "cat": "flag", "id": number}
        middle = (before.start + before.free) / 2
        yield {**common, "ph": "s", "pid": arrow.core, "tid": arrow.engine, "ts": middle * scale}
        begin = {"ph": "f", "bp": "e", "pid": arrow.to_core, "tid": arrow.to_engine}
        yield {**common, **begin, "ts": after.start * scale}


def _ends(arrow: Arrow, lanes: dict[tuple[int, int], list[Event]]) -> tuple[Event, Event] | None:
    """The last execution of the setting engine before the flag was set, the first of the other one after."""
    sources = lanes.get((arrow.core, arrow.engine), [])
    targets = lanes.get((arrow.to_core, arrow.to_engine), [])
    before = bisect.bisect_right(sources, arrow.set_at, key=lambda event: event.end) - 1
    after = bisect.bisect_left(targets, arrow.taken_at, key=lambda event: event.start)
    if before < 0 or after >= len(targets):
        return None
    return sources[before], targets[after]
