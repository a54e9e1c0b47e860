"""The result of a run of the suite, as data: what was asked, of whom, and every verdict."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xdsl_conformance.verdict import Verdict
from xdsl_core.diagnostics import BackendError, error

FORMAT = "xdsl_conformance/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One case in a report. `budget_use` is the largest error in budgets, `source` the kernel's text of what
    is wrong, `seconds` the time it took.
    """

    id: str
    verdict: Verdict
    profile: str
    summary: str = ""
    detail: str = ""
    budget_use: float = 0.0
    seconds: float = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A run: the subject ("acme:x1"), versions, the profile, when (ISO 8601, UTC), and the entries by id."""

    subject: str
    profile: str
    started: str
    seconds: float
    versions: Mapping[str, str]
    command: str
    entries: tuple[Entry, ...]

    @property
    def counts(self) -> Counter[Verdict]:
        return Counter(entry.verdict for entry in self.entries)

    @property
    def bad(self) -> tuple[Entry, ...]:
        """The entries about which something has to be done."""
        return tuple(entry for entry in self.entries if not entry.verdict.is_good)

    @property
    def is_good(self) -> bool:
        """True if at least one case passed and none is bad."""
        return not self.bad and self.counts[Verdict.PASS] > 0

    @property
    def share_passed(self) -> float:
        """The share of passes among the cases that are claimed (0 to 1); 0 if nothing is claimed."""
        silent = (Verdict.NOT_SUPPORTED, Verdict.UNDER_CLAIM)
        claimed = sum(count for verdict, count in self.counts.items() if verdict not in silent)
        return self.counts[Verdict.PASS] / claimed if claimed else 0.0

    def worst_use(self, count: int) -> tuple[Entry, ...]:
        """The passing entries that come nearest to their budget, nearest first."""
        used = [entry for entry in self.entries if entry.verdict is Verdict.PASS and entry.budget_use > 0]
        return tuple(sorted(used, key=lambda entry: -entry.budget_use)[:count])


def to_json(report: Report) -> dict[str, Any]:
    """The report as JSON-able data; data/report.schema.json is its schema."""
    return {
        "format": FORMAT,
        "subject": report.subject,
        "profile": report.profile,
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "command": report.command,
        "versions": dict(report.versions),
        "counts": {verdict.value: report.counts[verdict] for verdict in Verdict if report.counts[verdict]},
        "good": report.is_good,
        "cases": [_entry_to_json(entry) for entry in report.entries],
    }


def _entry_to_json(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": entry.id,
        "verdict": entry.verdict.value,
        "profile": entry.profile,
        "seconds": round(entry.seconds, 4),
    }
    if entry.budget_use:
        # JSON has no infinity: null stands for "not comparable"
        found["budget_use"] = round(entry.budget_use, 6) if math.isfinite(entry.budget_use) else None
    if entry.labels:
        found["labels"] = dict(entry.labels)
    if entry.verdict is not Verdict.PASS:
        found |= {name: text for name in ("summary", "detail", "source") if (text := getattr(entry, name))}
    return found


def read_report(path: Path) -> Report:
    """A report from the file that `--json` wrote; BackendError X0813 if it is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"its format is {data['format']!r}, this is {FORMAT!r}")
        entries = tuple(_entry_from_json(item) for item in data["cases"])
        return Report(
            data["subject"], data["profile"], data["started"], data["seconds"], data["versions"],
            data["command"], entries,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as problem:
        text = f"{path} is no report: {type(problem).__name__}: {problem}"
        hint = "write one with `xdslc conformance BACKEND --json FILE`"
        raise BackendError(error("X0813", text, help=hint)) from problem


def _entry_from_json(item: Mapping[str, Any]) -> Entry:
    use = item.get("budget_use", 0.0)
    texts = {name: item.get(name, "") for name in ("summary", "detail", "source")}
    return Entry(
        item["id"], Verdict(item["verdict"]), item["profile"], seconds=item["seconds"],
        budget_use=math.inf if use is None else use, labels=item.get("labels", {}), **texts,
    )  # fmt: skip


def difference(before: Report, after: Report) -> dict[str, list[str]]:
    """What changed between two reports, each a list of lines: "worse", "better", "other", "new", "gone"."""
    old = {entry.id: entry for entry in before.entries}
    new = {entry.id: entry for entry in after.entries}
    found: dict[str, list[str]] = {"worse": [], "better": [], "other": [], "new": [], "gone": []}
    for name, entry in new.items():
        if name not in old:
            found["new"].append(f"{name}: {entry.verdict.value}")
        elif entry.verdict is not old[name].verdict:
            was = old[name].verdict
            rank = _rank(entry.verdict) - _rank(was)
            kind = "other" if rank == 0 else "better" if rank > 0 else "worse"
            found[kind].append(f"{name}: {was.value} -> {entry.verdict.value}")
    found["gone"] = [f"{name}: {entry.verdict.value}" for name, entry in old.items() if name not in new]
    return found


def _rank(verdict: Verdict) -> int:
    """2 for a pass, 1 for the other verdicts that are good, 0 for bad ones."""
    return 2 if verdict is Verdict.PASS else int(verdict.is_good)
