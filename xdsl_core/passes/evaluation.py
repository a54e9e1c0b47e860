"""Values that are known when compiling, computed by the references of the ops themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_core.dtypes import DType
from xdsl_core.ir.core import Op, Value
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import ScalarType, TileType, Type
from xdsl_core.opdef import OpDef
from xdsl_core.ops.creation import Constant
from xdsl_core.ops.numerics import round_to
from xdsl_core.passes.definitions import is_a

Array = Any  # numpy.ndarray
Number = bool | int | float


class Evaluator:
    """Remembers the known values of one function.

    A known value is an array in the reference's terms (floats as float64); a 0-d array stands for a tile
    with that number in every lane. Tiles of more than `largest` lanes are known only if they are such.
    """

    def __init__(self, *, largest: int = 4096) -> None:
        self.largest = largest
        self.known: dict[Value, Array] = {}

    def array(self, value: Value) -> Array | None:
        """What is known of a value, or None."""
        found = self.known.get(value)
        if found is None:
            op = value.defining_op
            if op is not None and not op.operands and Trait.CONSTANT in op.definition.traits:
                self.evaluate(op)
                found = self.known.get(value)
        return found

    def number(self, value: Value) -> Number | None:
        """The number that a scalar is, or that every lane of a tile is; None if not known."""
        array = self.array(value)
        return None if array is None or array.ndim else array.item()

    def evaluate(self, op: Op) -> bool:
        """Compute the results of a pure op from known operands; False if it cannot be done or is too long."""
        definition = op.definition
        if not isinstance(definition, OpDef) or not _can_run(op, definition):
            return False
        if is_a(op, Constant):
            self.known[op.results[0]] = _rounded(np.asarray(op.attributes["value"]), op.results[0].type)
            return True
        arrays: list[Array] = [self.array(value) for value in op.operands]
        if any(array is None for array in arrays):
            return False
        uniform = all(array.ndim == 0 for array in arrays)
        if uniform and Trait.MOVEMENT in definition.traits and len(op.results) == 1:
            self.known[op.results[0]] = arrays[0]
            return True
        if not (uniform and Trait.ELEMENTWISE in definition.traits):
            if any(_lanes(value.type) > self.largest for value in (*op.operands, *op.results)):
                return False
            arrays = [
                np.broadcast_to(array, value.type.shape)
                for array, value in zip(arrays, op.operands, strict=True)
            ]
        return self._run(op, definition, arrays)

    def _run(self, op: Op, definition: OpDef, arrays: list[Array]) -> bool:
        groups, start = [], 0
        for count in op.segments:
            groups.append(arrays[start : start + count])
            start += count
        try:
            with np.errstate(all="ignore"):
                outcome = definition.call_meaning(None, op, groups)
        except ArithmeticError:  # whatever is undefined stays for run time
            return False
        for value, array in zip(op.results, outcome, strict=True):
            rounded = _rounded(np.asarray(array), value.type)
            self.known[value] = rounded if rounded.ndim == 0 else _collapsed(rounded)
        return True


def _can_run(op: Op, definition: OpDef) -> bool:
    """Whether the reference needs nothing but operands and attributes, and gives numbers."""
    return (
        Trait.PURE in definition.traits
        and not op.regions
        and "machine" not in definition.meaning_parameters
        and all(isinstance(value.type, ScalarType | TileType) for value in op.results)
        and all(isinstance(value.type.element, DType) for value in op.results)  # type: ignore[union-attr]
    )


def _lanes(type: Type) -> int:
    return type.size if isinstance(type, TileType) else 1


def _rounded(array: Array, type: Type) -> Array:
    """An outcome of a reference as the value it stands for: rounded to the dtype of the result."""
    element = type.element  # type: ignore[union-attr]
    assert isinstance(element, DType)
    if element.is_float:
        return np.asarray(round_to(element, array.astype(np.float64)))
    return array.astype(element.numpy)


def _collapsed(array: Array) -> Array:
    """A 0-d array if all lanes hold the same bits; the array otherwise."""
    flat = np.ascontiguousarray(array).reshape(-1)
    bits = flat.view(np.int64) if flat.dtype.kind == "f" else flat
    return flat[0:1].reshape(()) if (bits == bits[0]).all() else array
