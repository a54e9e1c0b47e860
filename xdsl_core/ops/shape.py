"""Ops that move elements to other places of a tile, bits unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import TileType, Type, element_of
from xdsl_core.opdef import (
    ErrorSample,
    Exact,
    Sample,
    attribute,
    constraint,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyValue, tile
from xdsl_core.ops._shared import ONE_OF_EACH

MOVEMENT = (Trait.PURE, Trait.MOVEMENT)
_ELEMENTS = (*ONE_OF_EACH, "ptr<f32>")


def _with(extents: str, **attributes: Any) -> tuple[Sample, ...]:
    """A sample of this shape for each family of elements."""
    return tuple(Sample({"source": f"tile<{extents}x{element}>"}, attributes) for element in _ELEMENTS)


@op("tile.reshape", since="0.1", profile="core", traits=MOVEMENT)
class Reshape:
    """The elements in row-major order under another shape with as many elements."""

    source = operand(tile(AnyValue), doc="the tile")
    shape = attribute(tuple, doc="the new extents, all positive")
    result = result(doc="tile of that shape")
    constraints = (
        constraint(
            "C1",
            "len(shape) >= 1 and all([extent >= 1 for extent in shape])",
            "a tile needs positive extents",
            help="give at least one extent, each 1 or more",
            code="X0207",
        ),
        constraint(
            "C2",
            "product(shape) == product(source.shape)",
            "the shapes hold different numbers of elements",
            help="choose extents whose product is the number of elements of the source",
            code="X0217",
        ),
    )
    samples = (
        *_with("4x6", shape=(3, 8)),
        *(
            Sample({"source": "tile<24xf32>"}, {"shape": shape})
            for shape in ((24,), (1, 24), (2, 3, 4), (24, 1))
        ),
        Sample({"source": "tile<2x3x4xf16>"}, {"shape": (24,)}),
        Sample({"source": "tile<1xi32>"}, {"shape": (1, 1)}),
    )
    error_samples = (
        ErrorSample("C1", {"source": "tile<4x6xf32>"}, {"shape": (0, 24)}),
        ErrorSample("C2", {"source": "tile<4x6xf32>"}, {"shape": (5, 5)}),
    )
    budget = Exact()

    @type_rule
    def _(source: Type, shape: tuple[int, ...]) -> Type:
        return TileType(shape, element_of(source))

    @reference
    def _compute(source: Any, shape: tuple[int, ...]) -> Any:
        return np.reshape(source, shape)


@op("tile.permute", since="0.1", profile="core", traits=MOVEMENT)
class Permute:
    """The tile with its axes in another order: axis i of the result is axis order[i] of the source."""

    source = operand(tile(AnyValue), doc="the tile")
    order = attribute(tuple, doc="each axis of the source once")
    result = result(doc="tile with extents source.shape[order[i]]")
    constraints = (
        constraint(
            "C1",
            "sorted(order) == list(range(len(source.shape)))",
            "the order does not name each axis once",
            help="give every axis from 0 to the rank less 1 exactly once",
            code="X0218",
        ),
    )
    samples = (
        *_with("3x5", order=(1, 0)),
        *(
            Sample({"source": "tile<2x3x4xf32>"}, {"order": order})
            for order in ((2, 0, 1), (0, 2, 1), (0, 1, 2))
        ),
        Sample({"source": "tile<1x7xi32>"}, {"order": (1, 0)}),
        Sample({"source": "tile<7xi32>"}, {"order": (0,)}),
    )
    error_samples = (
        ErrorSample("C1", {"source": "tile<3x5xf32>"}, {"order": (0, 0)}),
        ErrorSample("C1", {"source": "tile<3x5xf32>"}, {"order": (1, 0, 2)}),
    )
    budget = Exact()

    @type_rule
    def _(source: Type, order: tuple[int, ...]) -> Type:
        return TileType(tuple(source.shape[axis] for axis in order), element_of(source))

    @reference
    def _compute(source: Any, order: tuple[int, ...]) -> Any:
        return np.transpose(source, order)


@op("tile.expand_dims", since="0.1", profile="core", traits=MOVEMENT)
class ExpandDims:
    """The tile with an axis of extent 1 more, which comes to stand at `axis`."""

    source = operand(tile(AnyValue), doc="the tile")
    axis = attribute(int, doc="where the new axis stands, from 0 to the source's rank")
    result = result(doc="tile of one rank more")
    constraints = (
        constraint(
            "C1",
            "0 <= axis <= len(source.shape)",
            "there is no such place for an axis",
            help="the new axis can stand at 0 up to the rank of the source",
            code="X0212",
        ),
    )
    samples = (
        *_with("5", axis=1),
        *(Sample({"source": "tile<3x7xf32>"}, {"axis": axis}) for axis in (0, 1, 2)),
        Sample({"source": "tile<1xi32>"}, {"axis": 0}),
    )
    error_samples = (ErrorSample("C1", {"source": "tile<3x7xf32>"}, {"axis": 3}),)
    budget = Exact()

    @type_rule
    def _(source: Type, axis: int) -> Type:
        return TileType((*source.shape[:axis], 1, *source.shape[axis:]), element_of(source))

    @reference
    def _compute(source: Any, axis: int) -> Any:
        return np.expand_dims(source, axis)


@op("tile.broadcast", since="0.1", profile="core", traits=MOVEMENT)
class Broadcast:
    """The tile with axes of extent 1 repeated to a larger extent. The rank stays."""

    source = operand(tile(AnyValue), doc="the tile")
    shape = attribute(
        tuple, doc="the new extents: equal to the source's, or anything positive where that is 1"
    )
    result = result(doc="tile of that shape")
    constraints = (
        constraint(
            "C1",
            "len(shape) == len(source.shape)",
            "broadcasting keeps the rank",
            help="add axes of extent 1 with tile.expand_dims first",
            code="X0219",
        ),
        constraint(
            "C2",
            "all([source.shape[i] in (1, shape[i]) and shape[i] >= 1 for i in range(len(shape))])",
            "only an extent of 1 can be broadcast",
            help="each extent must stay as it is, or grow from 1",
            code="X0219",
        ),
    )
    samples = (
        *_with("3x1", shape=(3, 5)),
        *(Sample({"source": "tile<1x7xf32>"}, {"shape": shape}) for shape in ((4, 7), (1, 7))),
        Sample({"source": "tile<1xi32>"}, {"shape": (48,)}),
        Sample({"source": "tile<2x1x1xf16>"}, {"shape": (2, 3, 5)}),
        Sample({"source": "tile<1x1xi8>"}, {"shape": (3, 2)}),
    )
    error_samples = (
        ErrorSample("C1", {"source": "tile<7xf32>"}, {"shape": (3, 7)}),
        ErrorSample("C2", {"source": "tile<3x7xf32>"}, {"shape": (6, 7)}),
    )
    budget = Exact()

    @type_rule
    def _(source: Type, shape: tuple[int, ...]) -> Type:
        return TileType(shape, element_of(source))

    @reference
    def _compute(source: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(source, shape)
