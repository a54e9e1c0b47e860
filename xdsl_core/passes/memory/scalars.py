"""Scalar code at an insertion point: arithmetic on i64, index polynomials, single lanes of index tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl_core.analysis.index_analysis import dimension_map
from xdsl_core.analysis.polynomial import Lane, Opaque, Polynomial, Uniform
from xdsl_core.dtypes import DType, i1, i64
from xdsl_core.ir import Builder, Op, ScalarType, Trait, Value, dtype_of
from xdsl_core.ops import (
    Add,
    And,
    Arange,
    Cast,
    Constant,
    Lt,
    Max,
    Min,
    Mul,
    Offset,
    PointerToInt,
    Reshape,
    Select,
    Splat,
)

Lanes = Mapping[int, Value]


@dataclass
class ScalarCode:
    """Makes scalar values with `builder`; `resolve` gives the new scalar for one of the kernel as it was.

    `element` reads one lane of a tile that is no index arithmetic, at lane numbers.
    """

    builder: Builder
    resolve: Callable[[Value], Value]
    element: Callable[[Value, Sequence[Value | None]], Value]
    constants: dict[tuple[int, int], Value] = field(default_factory=dict)

    def number(self, value: int) -> Value:
        """An i64 constant."""
        return self.builder.value(Constant, value=value, type=ScalarType(i64))

    def wide(self, value: Value) -> Value:
        """An integer as i64."""
        if value.type == ScalarType(i64):
            return value
        constant = known(value)
        return self.number(constant) if constant is not None else self.builder.value(Cast, value, to=i64)

    def add(self, left: Value, right: Value) -> Value:
        """The sum of two i64, folded where that is known."""
        a, b = known(left), known(right)
        if a is not None and b is not None:
            return self.number(a + b)
        if a == 0:
            return right
        return left if b == 0 else self.builder.value(Add, left, right)

    def multiply(self, left: Value, right: Value) -> Value:
        """The product of two i64, folded where that is known."""
        a, b = known(left), known(right)
        if a is not None and b is not None:
            return self.number(a * b)
        if a == 1:
            return right
        return left if b == 1 else self.builder.value(Mul, left, right)

    def least(self, values: Sequence[Value]) -> Value:
        """The smallest of several i64."""
        found = values[0]
        for value in values[1:]:
            a, b = known(found), known(value)
            if a is not None and b is not None:
                found = self.number(min(a, b))
            else:
                found = self.builder.value(Min, found, value)
        return found

    def not_negative(self, value: Value) -> Value:
        """The i64, or 0 where it is below that."""
        constant = known(value)
        if constant is not None:
            return self.number(max(0, constant))
        return self.builder.value(Max, value, self.number(0))

    def both(self, values: Sequence[Value]) -> Value | None:
        """The conjunction of conditions; None for none."""
        found: Value | None = None
        for value in values:
            found = value if found is None else self.builder.value(And, found, value)
        return found

    def negative(self, value: Value) -> Value:
        """Whether an i64 is below 0."""
        return self.builder.value(Lt, value, self.number(0))

    def where(self, condition: Value, value: Value, otherwise: int = 0) -> Value:
        """The i64 where the condition holds, else a constant."""
        return self.builder.value(Select, condition, value, self.number(otherwise))

    def pointer(self, base: Value, elements: Value) -> Value:
        """A pointer that many elements further."""
        return base if known(elements) == 0 else self.builder.value(Offset, base, elements)

    def address(self, pointer: Value) -> Value:
        """A pointer as a number of bytes."""
        return self.builder.value(PointerToInt, pointer)

    def polynomial(self, value: Polynomial, lanes: Lanes | None = None) -> Value:
        """The i64 value of an index polynomial; `lanes` gives the lane numbers it depends on."""
        total = self.number(0)
        for monomial, coefficient in value.terms.items():
            term = self.number(coefficient)
            for symbol in monomial:
                term = self.multiply(term, self._symbol(symbol, lanes or {}))
            total = self.add(total, term)
        return total

    def _symbol(self, symbol: Lane | Uniform | Opaque, lanes: Lanes) -> Value:
        if isinstance(symbol, Lane):
            return self.wide(lanes[symbol.dim])
        if isinstance(symbol, Uniform):
            return self.wide(self.resolve(symbol.value))
        places = tuple(None if dim < 0 else lanes[dim] for dim in symbol.dims)
        return self.wide(self.lane(symbol.value, places))

    def lane(self, value: Value, places: Sequence[Value | None]) -> Value:
        """One lane of a tile as a scalar; `places` are its lane numbers, None where the extent is 1."""
        op = value.defining_op
        if op is None or not is_index_code(op):
            return self.element(value, places)
        if op.definition is Splat:
            return self.resolve(op.operands[0])
        if op.definition is Constant:
            return self.builder.value(
                Constant, value=op.attributes["value"], type=ScalarType(dtype_of(op.result.type))
            )
        if op.definition is Arange:
            return self._arange(op, places[0])
        mapping = dimension_map(op)
        if mapping is not None:
            rank = len(op.operands[0].type.shape)
            inner = [places[mapping(dim)] if mapping(dim) >= 0 else None for dim in range(rank)]
            return self.lane(op.operands[0], inner)
        groups = [[self.lane(operand, places) for operand in group] for group in op.groups()]
        return self.builder.create(op.definition, groups, op.attributes).result

    def _arange(self, op: Op, place: Value | None) -> Value:
        dtype = dtype_of(op.result.type)
        start = self.builder.value(Constant, value=op.attributes["start"], type=ScalarType(dtype))
        if place is None:
            return start
        return self.builder.value(Add, self.builder.value(Cast, place, to=dtype), start)


def is_index_code(op: Op) -> bool:
    """Whether one lane of the op's tile can be computed as a scalar from lanes of its operands."""
    if op.definition is Reshape:
        return False
    return op.has(Trait.PURE) and (
        op.has(Trait.ELEMENTWISE) or op.has(Trait.CONSTANT) or op.has(Trait.MOVEMENT)
    )


def known(value: Value) -> int | None:
    """The number of an integer constant, else None."""
    op = value.defining_op
    if op is None or op.definition is not Constant or value.type.shape:
        return None
    dtype: DType = dtype_of(value.type)
    return int(op.attributes["value"]) if dtype.is_integer and dtype is not i1 else None
