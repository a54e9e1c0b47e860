"""Where random programs take their choices from, and how a list of choices is made smaller.

A program is a function of the numbers chosen on the way. A failing one is shrunk by leaving numbers out and
making them smaller, and writing the program anew: every attempt is a valid program again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np


class Choices(Protocol):
    """A source of choices; 0 and False are the simplest ones."""

    def integer(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        ...

    def boolean(self) -> bool: ...

    def permutation(self, count: int) -> tuple[int, ...]:
        """The numbers below `count` in some order."""
        ...


class Recorded:
    """Choices that repeat given numbers, then go on with random ones, or with zeros; `taken` is what was
    chosen.
    """

    def __init__(self, given: Sequence[int] = (), *, seed: int | None = None) -> None:
        self._given = list(given)
        self._generator = None if seed is None else np.random.default_rng(seed)
        self.taken: list[int] = []

    def integer(self, low: int, high: int) -> int:
        span = high - low
        if len(self.taken) < len(self._given):
            number = min(self._given[len(self.taken)], span)
        elif self._generator is not None:
            number = int(self._generator.integers(0, span, endpoint=True))
        else:
            number = 0
        self.taken.append(number)
        return low + number

    def boolean(self) -> bool:
        return self.integer(0, 1) == 1

    def permutation(self, count: int) -> tuple[int, ...]:
        left = list(range(count))
        return tuple(left.pop(self.integer(0, len(left) - 1)) for _ in range(count))


def shrink(
    taken: Sequence[int], fails: Callable[[Sequence[int]], bool], *, attempts: int = 200
) -> Sequence[int]:
    """A shorter list of choices that still fails; at most `attempts` programs are tried."""
    best = list(taken)
    size = max(1, len(best) // 2)
    while size >= 1 and attempts > 0:
        start, smaller = 0, False
        while start < len(best) and attempts > 0:
            for candidate in _candidates(best, start, size):
                attempts -= 1
                if candidate != best and fails(candidate):
                    best, smaller = candidate, True
                    break
            else:
                start += size
        if not smaller:
            size //= 2
    return best


def _candidates(best: list[int], start: int, size: int) -> list[list[int]]:
    """Without the numbers from `start` on, and with them all zero."""
    return [
        best[:start] + best[start + size :],
        best[:start] + [0] * len(best[start : start + size]) + best[start + size :],
    ]
