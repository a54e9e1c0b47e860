"""Random programs on the backend against the reference interpreter; one that differs is shrunk and printed.

A case is a seed: the same program for ever. Programs whose results depend on the order of evaluation, or that
the language leaves undefined, are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl_conformance.case import Case
from xdsl_conformance.random_programs import access, exact
from xdsl_conformance.random_programs.choices import Choices, Recorded, shrink
from xdsl_conformance.subject import Refused, Subject, is_refusal
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core.diagnostics import XdslError
from xdsl_core.interp import run
from xdsl_core.ir import Module, print_module


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of random program: what writes it, its arguments for a seed, how many programs run it, how many
    cases, how many of them in `core`.

    What changes memory in place runs in one program: two would race.
    """

    write: Callable[[Choices], Module]
    arguments: Callable[[int], dict[str, Any]]
    grid: tuple[int, int, int]
    cases: int
    in_core: int


KINDS = {
    "memory": Kind(access.access_program, access.arguments, (1, 1, 1), 80, 20),
    "values": Kind(exact.exact_program, exact.arguments, (exact.PROGRAMS, 1, 1), 80, 20),
}


def random_cases() -> Iterator[Case]:
    """One case a seed."""
    for name, kind in KINDS.items():
        for seed in range(kind.cases):
            yield Case(
                f"random/{name}/{seed}",
                "core" if seed < kind.in_core else "tile",
                f"random program about {name}, seed {seed}",
                partial(ask, name, seed),
                {},
                partial(_text, name, seed),
            )


def _text(name: str, seed: int) -> str:
    return print_module(KINDS[name].write(Recorded(seed=seed)))


def ask(name: str, seed: int, subject: Subject) -> Outcome:
    """Compare; if it differs, look for a smaller program that differs in the same way."""
    kind = KINDS[name]
    choices = Recorded(seed=seed)
    outcome = compare(kind, kind.write(choices), seed, subject)
    if outcome.verdict is not Verdict.FAIL:
        return outcome

    def fails(taken: Sequence[int]) -> bool:
        module = kind.write(Recorded(taken))
        return compare(kind, module, seed, subject).verdict is Verdict.FAIL

    small = kind.write(Recorded(shrink(choices.taken, fails)))
    found = compare(kind, small, seed, subject)
    text = print_module(small)
    return Outcome(
        Verdict.FAIL, f"{found.detail or outcome.detail}\nseed: {seed}, shrunk", extra={"source": text}
    )


def compare(kind: Kind, module: Module, seed: int, subject: Subject) -> Outcome:
    """The verdict on one program."""
    expected, got = kind.arguments(seed), kind.arguments(seed)
    run(module, kind.grid, list(expected.values()))
    try:
        subject.execute(module, kind.grid, got)
    except Refused as refusal:
        return Outcome(Verdict.NOT_SUPPORTED, str(refusal))
    except XdslError as problem:
        return Outcome(Verdict.OVER_CLAIM if is_refusal(problem) else Verdict.FAIL, str(problem))
    changed = access.difference(got, expected)
    return Outcome(Verdict.FAIL if changed else Verdict.PASS, changed)
