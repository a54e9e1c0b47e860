"""A target as a picture: memories by their distance from device memory, data paths as arrows, units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl_core.target import ComputeUnit, CoreKind, DataPath, MemorySpace, TargetDescription

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, MARGIN, HEAD = 150, 50, 46, 74, 24, 34
_TEMPLATE = Path(__file__).with_name("templates") / "target.svg.j2"


@dataclass(frozen=True, slots=True)
class Box:
    """A memory or a unit: its place, and two lines of text."""

    name: str
    detail: str
    x: float
    y: float
    kind: str

    @property
    def middle(self) -> float:
        return self.x + BOX_WIDTH / 2


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way for data: an SVG path, and a label at a place; dashed from a memory to the unit that uses it."""

    path: str
    label: str = ""
    x: float = 0.0
    y: float = 0.0
    dashed: bool = False


@dataclass(slots=True)
class Panel:
    """A kind of cores: a frame around its boxes."""

    title: str
    x: float
    y: float
    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)


def target_svg(target: TargetDescription) -> str:
    """The picture, as the text of an SVG file."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    device = [space for space in target.memory_spaces if space.owner == "device"]
    panels: list[Panel] = []
    x = float(MARGIN)
    top = MARGIN + HEAD + (BOX_HEIGHT + GAP_Y if device else 0)
    for kind in target.kinds:
        panels.append(_panel(target, kind, x, top))
        x += panels[-1].width + GAP_X
    width = max(x - GAP_X, MARGIN + 2 * BOX_WIDTH) + MARGIN
    boxes = [
        *_row(device, MARGIN, MARGIN + HEAD, width - 2 * MARGIN),
        *(box for p in panels for box in p.boxes),
    ]
    height = max((panel.y + panel.height for panel in panels), default=top) + MARGIN
    clock = f", {target.clock_hz / 1e9:g} GHz" if target.clock_hz else ""
    return template.render(
        title=f"{target.target}  {target.title}",
        facts=f"{target.cores} cores{clock}"
        + (f", DRAM {target.dram_bandwidth / 1e9:.4g} GB/s" if target.dram_bandwidth else "")
        + (f", L2 {target.l2_bandwidth / 1e9:.4g} GB/s" if target.l2_bandwidth else ""),
        width=width, height=height, panels=panels, boxes=boxes, box_width=BOX_WIDTH, box_height=BOX_HEIGHT,
        arrows=[arrow for panel in panels for arrow in _arrows(target, panel, boxes)],
    )  # fmt: skip


def _panel(target: TargetDescription, kind: CoreKind, x: float, y: float) -> Panel:
    """The frame of a kind of cores, with its memories in rows and its units in the last one."""
    spaces = [s for s in target.memory_spaces if s.owner != "device" and s.core in ("", kind.name)]
    units = [unit for unit in target.compute_units if unit.core in ("", kind.name)]
    levels = _levels(target, spaces, kind)
    rows: list[Sequence[MemorySpace | ComputeUnit]] = [
        [space for space in spaces if levels[space.name] == level] for level in sorted(set(levels.values()))
    ]
    rows += [units] if units else []
    widest = max([len(row) for row in rows], default=1)
    inner = widest * BOX_WIDTH + (widest - 1) * GAP_X
    count = f"{kind.count} {kind.name}" + (f", {kind.per_group} in a group" if kind.per_group > 1 else "")
    panel = Panel(count, x, y, inner + 2 * GAP_X, HEAD + len(rows) * (BOX_HEIGHT + GAP_Y))
    for number, row in enumerate(rows):
        place = y + HEAD + number * (BOX_HEIGHT + GAP_Y) + GAP_Y / 4
        panel.boxes += _row(row, x + GAP_X, place, inner)
    return panel


def _levels(target: TargetDescription, spaces: Sequence[MemorySpace], kind: CoreKind) -> dict[str, int]:
    """How many paths from device memory each space is; what nothing reaches is beside the last ones."""
    paths = [path for path in target.data_paths if path.core in ("", kind.name)]
    known = {space.name: 0 for space in target.memory_spaces if space.owner == "device"}
    for level in range(1, len(spaces) + 1):
        found = {p.destination for p in paths if known.get(p.source) == level - 1}
        known |= {name: level for name in found if name not in known}
    last = max(1, *known.values())
    return {space.name: known.get(space.name, last) for space in spaces}


def _row(entries: Sequence[MemorySpace | ComputeUnit], x: float, y: float, width: float) -> list[Box]:
    """Boxes in a row, in the middle of the width."""
    used = len(entries) * BOX_WIDTH + max(len(entries) - 1, 0) * GAP_X
    start = x + (width - used) / 2
    return [_box(entry, start + number * (BOX_WIDTH + GAP_X), y) for number, entry in enumerate(entries)]


def _box(entry: MemorySpace | ComputeUnit, x: float, y: float) -> Box:
    if isinstance(entry, MemorySpace):
        return Box(entry.name, _bytes(entry.capacity), x, y, entry.owner)
    rates = [f"{f.m}x{f.n}x{f.k} {f.dtype}" for f in entry.fractals[:1]]
    step = (
        rates[0] if rates else f"{entry.bytes_per_cycle:g} B a step" if entry.bytes_per_cycle else entry.kind
    )
    return Box(entry.name if entry.count == 1 else f"{entry.count} {entry.name}", step, x, y, "unit")


def _arrows(target: TargetDescription, panel: Panel, boxes: Sequence[Box]) -> Iterator[Arrow]:
    own = {id(box) for box in panel.boxes}
    places = {box.name: box for box in boxes if id(box) in own or box.kind == "device"}
    kind = panel.title.split(",")[0].split(" ", 1)[1]
    paths = [p for p in target.data_paths if p.core in ("", kind)]
    drawn = [p for p in paths if p.source in places and p.destination in places and p.source != p.destination]
    for number, path in enumerate(drawn):
        source, target_box = places[path.source], places[path.destination]
        if abs(source.y - target_box.y) > 1.5 * (BOX_HEIGHT + GAP_Y):
            yield _way_around(path, source, target_box, panel, number)
        else:
            yield _arrow(path, source, target_box, number)
    for unit in target.compute_units:
        name = unit.name if unit.count == 1 else f"{unit.count} {unit.name}"
        for space in dict.fromkeys(unit.operands.values()):
            if name in places and space in places and unit.core in ("", kind):
                yield _wire(places[space], places[name])


def _arrow(path: DataPath, source: Box, target: Box, number: int) -> Arrow:
    """Down the left of the boxes' middles, up their right, and around for boxes of one row."""
    label = f"{path.engine} {path.bytes_per_cycle:g} B/c"
    down, level = target.y > source.y, target.y == source.y
    shift = (-1 if down else 1) * (16 + 10 * (number % 3))
    start_x, end_x = source.middle + shift, target.middle + shift
    start_y = source.y + (BOX_HEIGHT if down or level else 0)
    end_y = target.y + (0 if down else BOX_HEIGHT)
    bend = GAP_Y * 0.55 if level else (end_y - start_y) * 0.5
    text = f"M{start_x:g},{start_y:g} C{start_x:g},{start_y + bend:g} {end_x:g},"
    text += f"{end_y + (bend if level else -bend):g} {end_x:g},{end_y:g}"
    share = 0.36 + 0.14 * (number % 3)
    middle_y = start_y + GAP_Y * 0.24 + 13 * (number % 3) if level else start_y + (end_y - start_y) * share
    return Arrow(text, label, start_x + (end_x - start_x) * share, middle_y)


def _way_around(path: DataPath, source: Box, target: Box, panel: Panel, number: int) -> Arrow:
    """Past the rows between two boxes: up along the right side of the panel, down along its left."""
    up = target.y < source.y
    inner, outer = (source, target) if up else (target, source)
    side = inner.x + BOX_WIDTH if up else inner.x
    lane = panel.x + panel.width - 12 if up else panel.x + 12
    shift = (1 if up else -1) * (16 + 10 * (number % 3))
    level, edge, turn = inner.y + BOX_HEIGHT / 2, outer.y + BOX_HEIGHT, panel.y
    end = outer.middle + shift
    points = [f"{side:g},{level:g}", f"{lane:g},{level:g}", f"{lane:g},{level:g}", f"{lane:g},{level - 24:g}"]
    climb = [f"{lane:g},{turn:g}", f"{lane:g},{turn - 40:g}", f"{end:g},{edge + 44:g}", f"{end:g},{edge:g}"]
    if not up:
        points, climb = climb[::-1], points[::-1]
    text = f"M{points[0]} C{' '.join(points[1:])} L{climb[0]} C{' '.join(climb[1:])}"
    return Arrow(text, f"{path.engine} {path.bytes_per_cycle:g} B/c", lane, (level + turn) / 2)


def _wire(space: Box, unit: Box) -> Arrow:
    bottom = space.y + BOX_HEIGHT
    middle = (bottom + unit.y) / 2
    points = (space.middle, bottom), (space.middle, middle), (unit.middle, middle), (unit.middle, unit.y)
    start, *others = (f"{x:g},{y:g}" for x, y in points)
    return Arrow(f"M{start} C{' '.join(others)}", dashed=True)


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count} B"
