"""Combine regions for the samples of reductions and scans, and the rules both share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl_core.ir.builder import Builder
from xdsl_core.ir.core import Block, Region
from xdsl_core.ir.types import Type
from xdsl_core.opdef import ErrorSample, constraint
from xdsl_core.opdef.rules import scalars
from xdsl_core.ops._shared import parse_types
from xdsl_core.ops.arithmetic import Add, Div, Mul, Sub
from xdsl_core.ops.control import Yield

COMBINE_CONSTRAINTS = (
    constraint(
        "C1",
        "len(sources) >= 1 and all([source.shape == sources[0].shape for source in sources])",
        "the tiles differ in shape",
        help="give at least one tile, all of one shape",
        code="X0210",
    ),
    constraint(
        "C2",
        "0 <= axis < len(sources[0].shape)",
        "there is no such axis",
        help="axes count from 0 to the rank less 1",
        code="X0212",
    ),
    constraint(
        "C3",
        "takes(combine) == scalars(sources) * 2",
        "the combine function takes other values than two elements of each tile",
        help="it takes the accumulated elements, then the next ones, as scalars",
        code="X0221",
    ),
    constraint(
        "C4",
        "yields(combine) == scalars(sources)",
        "the combine function gives other types than the elements of the tiles",
        help="cast what it returns to the elements' types",
        code="X0221",
    ),
    constraint(
        "C5",
        "pure(combine)",
        "the combine function touches memory or prints",
        help="load before the reduction, store after it",
        code="X0224",
    ),
)


def combining(kind: str, definition: Any = None) -> Callable[[], Region]:
    """Makes a region that combines two elements of tiles of type `kind` by an op; without one it takes the
    next.
    """

    def build() -> Region:
        element = scalars(parse_types(kind))
        block = Block(element * 2, ["accumulated", "next"])
        builder = Builder(block)
        first, second = block.arguments
        builder.build(Yield, second if definition is None else builder.value(definition, first, second))
        return Region([block])

    return build


def welford_combine() -> Region:
    """Merges (mean, sum of squared deviations, count) of two sets (Chan, Golub, LeVeque 1979)."""
    block = Block(parse_types("f32") * 6, ["mean", "m2", "count", "next_mean", "next_m2", "next_count"])
    builder = Builder(block)
    mean, m2, count, next_mean, next_m2, next_count = block.arguments
    total = builder.value(Add, count, next_count)
    delta = builder.value(Sub, next_mean, mean)
    share = builder.value(Div, next_count, total)
    shift = builder.value(Mul, delta, share)
    square = builder.value(Mul, builder.value(Mul, delta, shift), count)
    merged = builder.value(Add, builder.value(Add, m2, next_m2), square)
    builder.build(Yield, (builder.value(Add, mean, shift), merged, total))
    return Region([block])


def _region(takes: tuple[Type, ...], yields: int) -> Callable[[], Region]:
    def build() -> Region:
        block = Block(takes)
        Builder(block).build(Yield, tuple(block.arguments[:yields]))
        return Region([block])

    return build


def _printing_combine() -> Region:
    from xdsl_core.ops.debug import Print

    block = Block(parse_types("f32", "f32"))
    builder = Builder(block)
    builder.build(Print, (block.arguments[0],), prefix="seen")
    builder.build(Yield, block.arguments[0])
    return Region([block])


_TWO_F32 = parse_types("f32", "f32")
COMBINE_ERRORS = (
    ErrorSample(
        "C1",
        {"sources": ("tile<4xf32>", "tile<5xf32>")},
        {"axis": 0},
        {"combine": _region(parse_types("f32", "f32", "f32", "f32"), 2)},
    ),
    ErrorSample("C2", {"sources": ("tile<4xf32>",)}, {"axis": 1}, {"combine": _region(_TWO_F32, 1)}),
    ErrorSample("C3", {"sources": ("tile<4xi32>",)}, {"axis": 0}, {"combine": _region(_TWO_F32, 1)}),
    ErrorSample("C4", {"sources": ("tile<4xf32>",)}, {"axis": 0}, {"combine": _region(_TWO_F32, 2)}),
    ErrorSample("C5", {"sources": ("tile<4xf32>",)}, {"axis": 0}, {"combine": _printing_combine}),
)
