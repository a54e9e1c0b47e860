"""Transposing a square of vectors by shuffles of two: within 128 bits, where they are quick, then across."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Row `to` becomes lanes `indices` of rows `a` and `b` side by side."""

    to: int
    a: int
    b: int
    indices: tuple[int, ...]


Stage = tuple[Shuffle, ...]


def transpose_stages(lanes: int, element_bytes: int) -> tuple[Stage, ...]:
    """Stages that transpose `lanes` rows of `lanes` elements; a stage's shuffles read the rows before it."""
    return (
        *_within_groups(lanes, min(16 // element_bytes, lanes)),
        *_across_groups(lanes, 16 // element_bytes),
    )


def _within_groups(lanes: int, group: int) -> Iterator[Stage]:
    """Transpose the squares of `group` rows and columns: interleave rows by 1 lane, then by 2."""
    if group == 2:
        yield tuple(
            shuffle for i in range(0, lanes, 2) for shuffle in _interleave(i, i + 1, (i, i + 1), 1, lanes, 2)
        )
    if group == 4:
        yield tuple(
            shuffle for i in range(0, lanes, 2) for shuffle in _interleave(i, i + 1, (i, i + 1), 1, lanes, 4)
        )
        yield tuple(
            shuffle
            for i in range(0, lanes, 4)
            for low, to in ((i, i), (i + 1, i + 2))
            for shuffle in _interleave(low, low + 2, (to, to + 1), 2, lanes, 4)
        )


def _interleave(a: int, b: int, to: tuple[int, int], size: int, lanes: int, group: int) -> Iterator[Shuffle]:
    """Low and high half of every group of rows a and b, in alternating runs of `size` lanes."""
    half = group // 2
    for row, start in zip(to, (0, half), strict=True):
        indices: list[int] = []
        for first in range(0, lanes, group):
            for run in range(0, half, size):
                lane = first + start + run
                indices += [*range(lane, lane + size), *range(lanes + lane, lanes + lane + size)]
        yield Shuffle(row, a, b, tuple(indices))


def _across_groups(lanes: int, group: int) -> Iterator[Stage]:
    """Exchange whole groups of lanes between rows that far apart."""
    distance = group
    while distance < lanes:
        low = tuple(j if not j & distance else lanes + j - distance for j in range(lanes))
        high = tuple(j + distance if not j & distance else lanes + j for j in range(lanes))
        pairs = [(i, i + distance) for i in range(lanes) if not i & distance]
        yield tuple(shuffle for a, b in pairs for shuffle in (Shuffle(a, a, b, low), Shuffle(b, a, b, high)))
        distance *= 2
