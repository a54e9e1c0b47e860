"""Integer values as polynomials of lane numbers and scalars: the first half of access analysis."""

from __future__ import annotations

from collections.abc import Callable

from xdsl_core.analysis.polynomial import Lane, Opaque, Polynomial, Uniform, number, symbol
from xdsl_core.ir import Op, PointerType, TileType, Value, is_pointer
from xdsl_core.ir.types import TokenType
from xdsl_core.ops import (
    Add,
    Arange,
    Broadcast,
    Cast,
    Constant,
    ExpandDims,
    Mul,
    Neg,
    Offset,
    Permute,
    Splat,
    Sub,
)

_INDEX_ELEMENTS = ("i32", "i64")


class IndexAnalysis:
    """Polynomials of the integer values of a function, made on demand and remembered.

    Tile arithmetic on i32 and i64 is followed; scalars are symbols (their own arithmetic, wrap-around
    included, is done by scalar code). The tile arithmetic itself is taken as exact: an index that wraps
    around 2**31 lanes away from its scalar part addresses nothing a kernel could mean.
    """

    def __init__(self) -> None:
        self._known: dict[Value, Polynomial] = {}
        self._numbers: dict[Value, int] = {}

    def of(self, value: Value) -> Polynomial:
        """The polynomial of an integer scalar or tile, in terms of the tile's own dimensions."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._make(value)
        return found

    def pointer(self, value: Value) -> tuple[Value, Polynomial] | None:
        """(base, offset in elements) of a pointer or tile of pointers; None if its lanes have no common
        base.
        """
        op = value.defining_op
        if not isinstance(value.type, TileType):
            return value, number(0)
        if op is None:
            return None
        if op.definition is Offset:
            inner = self.pointer(op.operand("pointer"))
            return None if inner is None else (inner[0], inner[1] + self.of(op.operand("offset")))
        if op.definition in REMAPS:
            inner = self.pointer(op.operands[0])
            return None if inner is None else (inner[0], inner[1].map_dims(REMAPS[op.definition](op)))
        if op.definition is Splat:
            return op.operands[0], number(0)
        return None

    def symbol_of(self, value: Value) -> Polynomial:
        """The polynomial that treats `value` as a symbol of its own."""
        order = self._numbers.setdefault(value, len(self._numbers))
        if isinstance(value.type, TileType):
            dims = tuple(dim if extent > 1 else -1 for dim, extent in enumerate(value.type.shape))
            return symbol(Opaque(order, value, dims))
        return symbol(Uniform(order, value))

    def _make(self, value: Value) -> Polynomial:
        op = value.defining_op
        if op is None or not _is_index(value):
            return self.symbol_of(value)
        if not isinstance(value.type, TileType):
            return self._scalar(op, value)
        rule = _RULES.get(op.definition)
        if rule is not None:
            return rule(self, op)
        if op.definition in REMAPS:
            return self.of(op.operands[0]).map_dims(REMAPS[op.definition](op))
        return self.symbol_of(value)

    def _scalar(self, op: Op, value: Value) -> Polynomial:
        if op.definition is Constant:
            return number(int(op.attributes["value"]))
        if op.definition is Cast and _is_index(op.operands[0]):
            widened = op.attributes["to"].bits >= _bits(op.operands[0])
            return self.of(op.operands[0]) if widened else self.symbol_of(value)
        return self.symbol_of(value)


def _is_index(value: Value) -> bool:
    type = value.type
    return not isinstance(type, TokenType | PointerType) and str(type.element) in _INDEX_ELEMENTS


def _bits(value: Value) -> int:
    type = value.type
    assert not isinstance(type, TokenType | PointerType)
    assert not isinstance(type.element, PointerType)
    return type.element.bits


def _cast(analysis: IndexAnalysis, op: Op) -> Polynomial:
    source = op.operands[0]
    if _is_index(source) and op.attributes["to"].bits >= _bits(source):
        return analysis.of(source)
    return analysis.symbol_of(op.result)


def _constant(analysis: IndexAnalysis, op: Op) -> Polynomial:
    return number(int(op.attributes["value"]))


def _arange(analysis: IndexAnalysis, op: Op) -> Polynomial:
    extent = op.attributes["end"] - op.attributes["start"]
    lanes = symbol(Lane(0)) if extent > 1 else number(0)
    return lanes + number(op.attributes["start"])


_RULES: dict[object, Callable[[IndexAnalysis, Op], Polynomial]] = {
    Add: lambda analysis, op: analysis.of(op.operands[0]) + analysis.of(op.operands[1]),
    Sub: lambda analysis, op: analysis.of(op.operands[0]) - analysis.of(op.operands[1]),
    Mul: lambda analysis, op: analysis.of(op.operands[0]) * analysis.of(op.operands[1]),
    Neg: lambda analysis, op: -analysis.of(op.operands[0]),
    Splat: lambda analysis, op: analysis.of(op.operands[0]),
    Cast: _cast,
    Constant: _constant,
    Arange: _arange,
}


def _expand_dims(op: Op) -> Callable[[int], int]:
    axis = op.attributes["axis"]
    return lambda dim: dim + 1 if dim >= axis else dim


def _permute(op: Op) -> Callable[[int], int]:
    order = op.attributes["order"]
    return lambda dim: int(order.index(dim))


def _broadcast(op: Op) -> Callable[[int], int]:
    source = op.operands[0].type.shape
    return lambda dim: dim if source[dim] > 1 else -1


REMAPS: dict[object, Callable[[Op], Callable[[int], int]]] = {
    ExpandDims: _expand_dims,
    Permute: _permute,
    Broadcast: _broadcast,
}


def dimension_map(op: Op) -> Callable[[int], int] | None:
    """For a shape op that renames dimensions: source dimension -> result dimension; None for other ops."""
    make = REMAPS.get(op.definition)
    return None if make is None else make(op)


def is_pointer_value(value: Value) -> bool:
    """True for pointers and tiles of pointers."""
    return is_pointer(value.type)
