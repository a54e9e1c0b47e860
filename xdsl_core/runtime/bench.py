"""How long a call takes: the median over as many calls as fit a time."""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable
from typing import Any


def bench_with(function: Callable[..., Any]) -> Callable[[Callable[[], object]], Any]:
    """A user's benchmark as a function of the call alone; one that takes `quantiles` gets Triton's."""
    takes = inspect.signature(function).parameters
    if "quantiles" in takes or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values()):
        return lambda call: function(call, quantiles=(0.5, 0.2, 0.8))
    return function


def do_bench(fn: Callable[[], object], *, warmup: float = 25.0, rep: float = 100.0) -> float:
    """The median time of `fn()` in milliseconds.

    Calls it for about `warmup` ms without looking, then for about `rep` ms, at least three times and at most
    a thousand.
    """
    started = time.perf_counter()
    fn()
    once = max(time.perf_counter() - started, 1e-7)
    for _ in range(min(1000, int(warmup * 1e-3 / once))):
        fn()
    samples = []
    for _ in range(min(1000, max(3, int(rep * 1e-3 / once)))):
        started = time.perf_counter()
        fn()
        samples.append(time.perf_counter() - started)
    return statistics.median(samples) * 1e3
