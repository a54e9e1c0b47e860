"""A case: something a backend is asked to do, with a stable id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome

PROFILES = ("smoke", "core", "tile", "full", "ext-atomics", "ext-fp8", "ext-dsa")


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a backend.

    `id` is stable over releases ("op/tile.add/f32.7"). `profile` is the smallest profile it belongs to: smoke < core <
    tile < full, or an extension of its own. `run` asks it; it may take the process down with it. `labels` are for
    matrices in reports: op, dtype.
    """

    id: str
    profile: str
    summary: str
    run: Callable[[Subject], Outcome] = field(repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)


def in_profile(case: Case, wanted: str) -> bool:
    """True if the case belongs to a profile: the ladder smoke < core < tile < full, or one extension
    alone.
    """
    ladder = PROFILES[:4]
    if case.profile in ladder and wanted in ladder:
        return ladder.index(case.profile) <= ladder.index(wanted)
    return case.profile == wanted or (wanted == "full" and case.profile not in ladder)
