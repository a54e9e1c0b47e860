"""A backend that crashes or hangs costs one case, and errors of a tracked number bound what float32 makes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xdsl_conformance import tracked as tr
from xdsl_conformance import worker
from xdsl_conformance.verdict import Outcome, Verdict


def behave(name: str, pipe: Any) -> None:
    """Stands in for a worker's loop: dies on one id, sleeps on another."""
    while True:
        try:
            case_id = pipe.recv()
        except EOFError:
            return
        if case_id == "dies":
            os.abort()
        if case_id == "hangs":
            time.sleep(60)
        pipe.send(Outcome(Verdict.PASS))


def test_crashes_and_hangs_cost_one_case_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "serve", behave)
    ids = ["one", "dies", "two", "hangs", "three"]
    found = dict(worker.run_cases("any", ids, workers=1, timeout=5.0))
    verdicts = {name: outcome.verdict.value for name, outcome in found.items()}
    good = dict.fromkeys(("one", "two", "three"), "pass")
    assert verdicts == {**good, "dies": "crash", "hangs": "timeout"}
    assert "signal 6" in found["dies"].detail


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "polynomial": lambda one, a, b: (one(a) + b) * b - a,
    "quotient": lambda one, a, b: one(a) / (one(b) * b + np.float32(1.0)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_error_bounds_float32(name: str) -> None:
    make = EXPRESSIONS[name]
    a, b = np.random.default_rng(1).standard_normal((2, 500)).astype(np.float32)
    expected = make(tr.tracked, a, b)
    got = make(lambda array: array, a, b)
    assert got.dtype == np.float32
    errors = np.abs(got - expected.value)
    assert (errors <= expected.error).all()
    assert (expected.error < 1e-4 * (1.0 + np.abs(expected.value))).all()


def test_sums_and_softmax_are_bounded() -> None:
    x = np.random.default_rng(2).standard_normal((20, 50)).astype(np.float32)
    wide = tr.softmax(x)
    narrow = np.exp(x - x.max(1, keepdims=True))
    narrow /= narrow.sum(1, keepdims=True)
    assert (np.abs(narrow - wide.value) <= wide.error).all()
    halves = x.astype(np.float16).astype(np.float32)
    total = tr.tracked(x) @ x.T.astype(np.float64)
    assert (np.abs(x @ x.T - total.value) <= total.error).all()
    assert (np.abs(halves @ halves.T - total.value) > total.error).mean() > 0.5
