"""Aggregates and named tuples in kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import CompilationError


@tl.aggregate
class Span:
    start: tl.tensor
    size: tl.constexpr = 4
    SCALE = tl.constexpr(3)

    @xdsl.jit
    def lanes(self):
        return self.start + tl.arange(0, self.size)

    @xdsl.jit
    def moved(self, steps=1):
        return tl.aggregate_replace(self, start=self.start + steps * self.size)

    @tl.constexpr_function
    def twice(self):
        return self.size * 2


@tl.aggregate
class Named(Span):
    scale: tl.constexpr

    def __init__(self, start, scale):
        self.start = start
        self.size = 2
        self.scale = scale


class Pair(NamedTuple):
    left: Any
    right: Any


def launched(kernel: Any, *args: Any, n: int = 8) -> list[int]:
    out = np.zeros(n, np.int32)
    kernel.on("reference")[(1,)](out, *args)
    return out.tolist()


@xdsl.jit
def fields_and_methods(out, n):
    span = Span(n)
    tl.store(out + span.lanes(), span.SCALE * span.twice())
    span = span.moved()
    tl.store(out + span.lanes(), tl.full((span.size,), span.start, tl.int32))


def test_fields_and_methods() -> None:
    assert launched(fields_and_methods, 0) == [24, 24, 24, 24, 4, 4, 4, 4]


@xdsl.jit
def carried(out, n):
    span = Span(n * 0, size=2)
    for k in range(n):
        tl.store(out + span.lanes(), tl.full((2,), k + 1, tl.int32))
        if k > 0:
            span = span.moved()
        else:
            span = span.moved(steps=2)


def test_loops_and_branches_carry_the_tensors() -> None:
    assert launched(carried, 3) == [1, 1, 0, 0, 2, 2, 3, 3]


@xdsl.jit
def constructed(out, n):
    span = Named(n, scale=7)
    tl.store(out + span.lanes(), span.scale + tl.arange(0, span.size))


def test_a_constructor_of_its_own_and_inheritance() -> None:
    assert launched(constructed, 3) == [0, 0, 0, 7, 8, 0, 0, 0]


@xdsl.jit
def named(out, n):
    pair = Pair(n, right=n * 2)
    if n > 2:
        pair = Pair(pair.right, pair.left)
    left, right = pair
    tl.store(out, left)
    tl.store(out + 1, right)
    tl.store(out + 2, pair[0])


@pytest.mark.parametrize(("n", "expected"), [(2, [2, 4, 2]), (3, [6, 3, 6])])
def test_named_tuples_of_tensors(n: int, expected: list[int]) -> None:
    assert launched(named, n, n=3) == expected


def test_the_text_of_a_method_is_part_of_the_kernels_key() -> None:
    before = fields_and_methods.dependency_key()
    method, Span.lanes = Span.lanes, Span.moved
    try:
        fields_and_methods.__dict__.pop("_reads", None)
        fields_and_methods.__dict__.pop("_last_key", None)
        assert fields_and_methods.dependency_key() != before
    finally:
        Span.lanes = method
        fields_and_methods.__dict__.pop("_reads", None)
        fields_and_methods.__dict__.pop("_last_key", None)


@xdsl.jit
def wrong(out, n, WHICH: tl.constexpr):
    span = Span(n)
    if WHICH == 0:
        Span(n, 4, 5)
    elif WHICH == 1:
        Span(n, start=n)
    elif WHICH == 2:
        Span()
    elif WHICH == 3:
        Span(n, width=3)
    elif WHICH == 4:
        span.width  # noqa: B018
    elif WHICH == 5:
        tl.aggregate_replace(n, start=n)
    elif WHICH == 6:
        tl.store(out, span)
    else:
        for _ in range(n):
            span = Span(n, size=8)


@pytest.mark.parametrize(
    ("which", "code"),
    [
        (0, "X0112"),
        (1, "X0112"),
        (2, "X0112"),
        (3, "X0112"),
        (4, "X0114"),
        (5, "X0115"),
        (6, "X0115"),
        (7, "X0125"),
    ],
)
def test_mistakes_are_named(which: int, code: str) -> None:
    with pytest.raises(CompilationError, match=code):
        launched(wrong, 2, which)


def test_an_aggregate_inherits_from_aggregates_only() -> None:
    with pytest.raises(TypeError, match="no aggregate"):
        tl.aggregate(type("Wrong", (Pair,), {}))
