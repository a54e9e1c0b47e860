"""A timeline as one HTML file that needs no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xdsl_dsa_sim.isa import print_instruction
from xdsl_dsa_sim.report.summary import summarise
from xdsl_dsa_sim.report.text import summary_text
from xdsl_dsa_sim.simulator.simulate import Simulation

_TEMPLATE = Path(__file__).parent / "timeline.html.j2"
# A page with more slices than this would be slow; the cores that come first are shown.
MOST_EVENTS = 200_000


def timeline_html(run: Simulation) -> str:
    """The page of a run that was made with `trace=True`.

    A row an engine, a bar an execution, an arrow a flag from its set to its wait; hovering shows the
    instruction, its cycles, its flags, and the line of the kernel it comes from. The wheel zooms, dragging
    moves."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    summary = summarise(run)
    # "</" could end the script element; inside a JSON string it may be written "<\/"
    data = json.dumps(_data(run)).replace("</", "<\\/")
    return template.render(
        title=f"{summary.kernel} on {summary.target}", summary=summary_text(summary), data=data
    )


def _data(run: Simulation) -> dict[str, Any]:
    """Rows, bars, flags and texts; bars refer to texts by number so that the page stays small."""
    rows: dict[tuple[int, int], int] = {}
    labels: list[str] = []
    cores: list[int] = []
    bars: list[list[float]] = []
    texts: list[dict[str, str]] = []
    known: dict[tuple[int, int], int] = {}
    for number, core in enumerate(run.setup.cores):
        for engine, name in enumerate(core.image.kind.engines):
            if run.record.engines[number][engine].count:
                rows[number, engine] = len(labels)
                labels.append(f"{core.place.name} {name}")
                cores.append(number)
    events = sorted(run.record.events, key=lambda event: (event.core, event.start))
    for event in events[:MOST_EVENTS]:
        core = run.setup.cores[event.core]
        item = core.image.items[event.item]
        key = (id(core.image), event.item)
        if key not in known:
            known[key] = len(texts)
            texts.append(
                {
                    "name": item.definition.name,
                    "text": print_instruction(item.source),
                    "place": f"{item.location.file}:{item.location.line}" if item.location.line else "",
                    "line": _source_line(item.location.file, item.location.line),
                }
            )
        bar = [rows[event.core, event.engine], event.start, event.free, event.end, known[key], event.program]
        bars.append(bar)
    hidden = max(0, len(events) - MOST_EVENTS)
    hertz = run.image.description.clock_hz or 1.0
    return {
        "rows": labels,
        "cores": cores,
        "arrows": [
            [rows[flag.core, flag.engine], flag.set_at, rows[flag.to_core, flag.to_engine], flag.taken_at]
            for flag in run.record.arrows[:MOST_EVENTS]
            if (flag.core, flag.engine) in rows and (flag.to_core, flag.to_engine) in rows
        ],
        "bars": bars,
        "texts": texts,
        "cycles": run.record.cycles,
        "hertz": hertz,
        "hidden": hidden,
    }


def _source_line(file: str, line: int) -> str:
    """The line of the kernel, if its file can be read."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines() if line else []
    except (OSError, UnicodeDecodeError):
        return ""
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
