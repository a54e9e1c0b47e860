"""A case: something a backend is asked to do, with a stable id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl_conformance.subject import Subject
from xdsl_conformance.verdict import Outcome

LADDER = ("smoke", "core", "tile", "full")
EXTENSIONS = ("ext-atomics", "ext-fp8", "ext-dsa")
PROFILES = (*LADDER, *EXTENSIONS)


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a backend.

    `id` is stable over releases ("op/tile.add/f32.7"). `profile` is the smallest profile it belongs to:
    smoke < core < tile < full, or an extension of its own. `run` asks it; it may take the process down with
    it. `requires` names what the backend must have (see requirements.py); without it nothing runs. `labels`
    are for matrices in reports: op, dtype. `source` is the text of the kernel for people, made when a report
    needs it.
    """

    id: str
    profile: str
    summary: str
    run: Callable[[Subject], Outcome] = field(repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    source: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    requires: tuple[str, ...] = ()


def in_profile(case: Case, wanted: str) -> bool:
    """True if the case belongs to a profile: the ladder smoke < core < tile < full, or one extension alone.

    `full` takes the extensions along.
    """
    if case.profile in LADDER and wanted in LADDER:
        return LADDER.index(case.profile) <= LADDER.index(wanted)
    return case.profile == wanted or (wanted == "full" and case.profile not in LADDER)
