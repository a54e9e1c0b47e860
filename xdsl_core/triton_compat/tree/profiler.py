"""What `triton.profiler` gives: times of named scopes, by the clock; no counters of hardware."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def scopes() -> dict[str, tuple[int, float]]:
    """How often each scope was entered while profiling, and the seconds spent in it."""
    return {}


@cache
def _state() -> dict[str, bool]:
    return {"active": False}


def start(name: str = "proton", **options: Any) -> int:
    """Begin to profile; the options say what a GPU's profiler would record."""
    scopes().clear()
    _state()["active"] = True
    return 0


def activate(session: int | None = None) -> None:
    """Go on."""
    _state()["active"] = True


def deactivate(session: int | None = None, **options: Any) -> None:
    """Pause."""
    _state()["active"] = False


def finalize(session: int | None = None, output_format: str = "") -> None:
    """End; no file is written: `viewer` reads what was measured in this process."""
    _state()["active"] = False


@contextmanager
def scope(name: str, metrics: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Measure what runs inside, under a name."""
    began = time.perf_counter()
    try:
        yield
    finally:
        if _state()["active"]:
            count, seconds = scopes().get(name, (0, 0.0))
            scopes()[name] = (count + 1, seconds + time.perf_counter() - began)


def parse(metrics: list[str], filename: str, *args: Any) -> tuple[dict[str, tuple[int, float]], list[str]]:
    """`viewer.parse`: the scopes of this process."""
    return dict(scopes()), list(metrics)


def print_tree(tree: Mapping[str, tuple[int, float]], metrics: Any = None, *args: Any) -> None:
    """`viewer.print_tree`: milliseconds a scope."""
    for name, (count, seconds) in tree.items():
        print(f"{seconds * 1e3:12.3f} ms  {count:6d} x  {name}")
