"""Reports for people and for other programs: markdown, HTML, JUnit, a badge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from xdsl_conformance.report import Entry, Report
from xdsl_conformance.verdict import Verdict

FAULTS = (Verdict.FAIL, Verdict.OVER_CLAIM, Verdict.WRONG_REFUSAL, Verdict.UNEXPECTED_PASS)
BADGE_COLOURS = ((1.0, "#2da44e"), (0.95, "#9a8700"), (0.0, "#cf222e"))


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of one op and dtype: cases by verdict, the largest share of the budget used."""

    counts: Mapping[Verdict, int]
    budget_use: float

    @property
    def state(self) -> str:
        """ "bad", "good", "part" (some not claimed), "none" (nothing claimed)."""
        if any(not verdict.is_good for verdict in self.counts):
            return "bad"
        passed, others = self.counts.get(Verdict.PASS, 0), sum(self.counts.values())
        return "none" if passed == 0 else "good" if passed == others else "part"

    @property
    def text(self) -> str:
        passed, others = self.counts.get(Verdict.PASS, 0), sum(self.counts.values())
        return "-" if passed == 0 and self.state == "none" else f"{passed}/{others}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Ops by dtypes; a cell is None where no case asks."""

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell | None, ...]]


def matrix(entries: Iterable[Entry]) -> Matrix:
    """The entries that have an op and a dtype, by both; cases of mixed dtypes count under each."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        op, dtype = entry.labels.get("op"), entry.labels.get("dtype")
        if op and dtype:
            for part in dtype.split("-"):
                found.setdefault((op, part), []).append(entry)
    ops = sorted({op for op, _ in found})
    dtypes = tuple(sorted({dtype for _, dtype in found}, key=_by_kind))
    return Matrix(dtypes, {op: tuple(_cell(found.get((op, dtype))) for dtype in dtypes) for op in ops})


def _by_kind(dtype: str) -> tuple[str, int, str]:
    digits = "".join(letter for letter in dtype.partition("e")[0] if letter.isdigit())
    return dtype.rstrip("0123456789")[:1], int(digits or 0), dtype


def _cell(entries: list[Entry] | None) -> Cell | None:
    if not entries:
        return None
    use = max((entry.budget_use for entry in entries if entry.verdict is Verdict.PASS), default=0.0)
    return Cell(Counter(entry.verdict for entry in entries), use)


def kernels(entries: Iterable[Entry]) -> Matrix:
    """The other entries by the first two parts of their ids, in one column."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if not (entry.labels.get("op") and entry.labels.get("dtype")):
            found.setdefault("/".join(entry.id.split("/")[:2]), []).append(entry)
    return Matrix(("cases",), {name: (_cell(group),) for name, group in sorted(found.items())})


def to_markdown(report: Report) -> str:
    """The scoreboard as markdown."""
    return _render("scoreboard.md.j2", report)


def to_html(report: Report) -> str:
    """The scoreboard as one HTML file that needs nothing else."""
    return _render("scoreboard.html.j2", report)


def to_junit(report: Report) -> str:
    """JUnit XML: not_supported and waived are skipped; crash, timeout and suite_error are errors."""
    return _render("junit.xml.j2", report)


def to_badge(report: Report) -> str:
    """An SVG badge: the profile, and the share of passes among what is claimed."""
    share = report.share_passed
    label = f"xdsl-core {report.profile}"
    value = f"{int(share * 1000) / 10:g}% of {_claimed(report)}"
    colour = next(colour for least, colour in BADGE_COLOURS if share >= least)
    # 6.5 px is the mean width of a letter of 11 px Verdana
    widths = [round(6.5 * len(text)) + 12 for text in (label, value)]
    return str(_template("badge.svg.j2").render(label=label, value=value, colour=colour, widths=widths))


def _claimed(report: Report) -> int:
    silent = report.counts[Verdict.NOT_SUPPORTED] + report.counts[Verdict.UNDER_CLAIM]
    return len(report.entries) - silent


def _render(name: str, report: Report) -> str:
    text: str = _template(name).render(
        report=report,
        counts=[(verdict.value, count, verdict.is_good) for verdict, count in sorted(report.counts.items())],
        matrix=matrix(report.entries),
        others=kernels(report.entries),
        worst=report.worst_use(20),
        missing=[entry for entry in report.entries if entry.verdict is Verdict.NOT_SUPPORTED],
        repro=repro,
        verdicts=Verdict,
        faults=FAULTS,
    )
    return text


def repro(report: Report, entry: Entry) -> str:
    """The command that asks one case again, in the open."""
    return f"xdslc conformance {report.subject} --id {entry.id} --repro"


@cache
def _environment() -> jinja2.Environment:
    folder = files("xdsl_conformance") / "templates"
    loader = jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8"))
    found = jinja2.Environment(
        loader=loader,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=lambda name: name is not None and name.endswith((".html.j2", ".xml.j2", ".svg.j2")),
    )
    found.filters["xml"] = _xml_safe
    return found


def _xml_safe(text: str) -> str:
    """The text without control characters, which XML does not allow."""
    return "".join(letter if letter in "\n\t" or ord(letter) >= 32 else "?" for letter in text)


def _template(name: str) -> Any:
    return _environment().get_template(name)
