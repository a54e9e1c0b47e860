"""Ratios against peers as a picture: one bar a comparison, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import Result

WIDTH, LEFT, ROW, TOP = 860, 400, 20, 46
SMALLEST, LARGEST = 0.25, 16.0
TICKS = (0.25, 0.5, 1, 2, 4, 8, 16)


def write_svg(results: Sequence[Result], file: Path, *, title: str) -> None:
    """Writes the picture: right of the line at 1 ours is faster. Ratios beyond the axis are cut."""
    import jinja2

    template = Path(__file__).with_name("plot.svg.j2").read_text(encoding="utf-8")
    bars = [
        {
            "label": f"{result.work}  ·  {result.peer}",
            "ratio": result.ratio,
            "y": TOP + ROW * index,
            "x": min(_place(result.ratio), _place(1)),
            "width": abs(_place(result.ratio) - _place(1)),
        }
        for index, result in enumerate(results)
    ]
    text = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(template)
    height = TOP + ROW * len(bars) + 12
    ticks = [{"x": _place(tick), "text": f"{tick:g}x"} for tick in TICKS]
    sizes = {"width": WIDTH, "height": height, "left": LEFT, "top": TOP, "row": ROW}
    file.write_text(text.render(bars=bars, ticks=ticks, title=title, **sizes), encoding="utf-8")


def _place(ratio: float) -> float:
    """Horizontal place of a ratio."""
    cut = min(max(ratio, SMALLEST), LARGEST)
    share = math.log(cut / SMALLEST) / math.log(LARGEST / SMALLEST)
    return round(LEFT + share * (WIDTH - LEFT - 60), 1)
