"""The backend's own ops: what Triton has and the language does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.ir import Trait, Type, with_element
from xdsl_core.ir.types import element_of
from xdsl_core.opdef import (
    Exact,
    Sample,
    op,
    operand,
    reference,
    result,
    type_rule,
)
from xdsl_core.opdef.patterns import AnyNumber, TypePattern, tile

_INDEX = TypePattern("i32", (dtypes.i32,))


@op("triton.gather", since="0.1", profile="full", traits=(Trait.PURE,))
class Gather:
    """The elements of a tile of rank 1 at the places that an index names, as `tl.gather` along axis 0.

    An index outside the tile gives an undefined element, and is not tested.
    """

    source = operand(tile(AnyNumber), rank=(1,), doc="where elements are taken from")
    index = operand(tile(_INDEX), rank=(1,), doc="the place of each element of the result")
    result = result(doc="tile of the shape of the index with elements of the source")
    samples = tuple(
        Sample({"source": f"tile<8x{element}>", "index": "tile<4xi32>"}, values={"index": [7, 0, 3, 3]})
        for element in ("f32", "f64", "f16", "f8e5m2", "i32", "u8", "i1")
    )
    budget = Exact()

    @type_rule
    def _(source: Type, index: Type) -> Type:
        return with_element(index, element_of(source))

    @reference
    def _compute(source: Any, index: Any) -> Any:
        return np.take(source, index)
