"""Integer polynomials over symbols: what index arithmetic comes to, whatever way it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from xdsl_core import ops
from xdsl_core.ir.core import Value


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """The lane number along dimension `dim` of the tile at hand: 0, 1, ..., extent - 1."""

    dim: int


@dataclass(frozen=True, slots=True, order=True)
class Uniform:
    """A scalar value; the same in every lane. `number` orders symbols reproducibly."""

    number: int
    value: Value = field(compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Opaque:
    """The lanes of a tile that is no polynomial; `dims[k]` is the dimension of the tile at hand that indexes
    its dimension k, or -1 where its extent is 1.
    """

    number: int
    value: Value = field(compare=False)
    dims: tuple[int, ...]


Symbol = Lane | Uniform | Opaque
Monomial = tuple[Symbol, ...]
_KIND = {Lane: 0, Uniform: 1, Opaque: 2}


def _key(symbol: Symbol) -> tuple[int, Symbol]:
    return _KIND[type(symbol)], symbol


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of integer multiples of products of symbols; no term has coefficient 0."""

    terms: Mapping[Monomial, int]

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -coefficient for monomial, coefficient in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, int] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = tuple(sorted((*left, *right), key=_key))
                total = terms.get(monomial, 0) + a * b
                if total:
                    terms[monomial] = total
                else:
                    terms.pop(monomial, None)
        return Polynomial(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    @property
    def constant(self) -> int | None:
        """The number this is, or None if it has symbols."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    def symbols(self) -> Iterator[Symbol]:
        """Every symbol in every term, with repetition."""
        for monomial in self.terms:
            yield from monomial

    def lane_dims(self) -> frozenset[int]:
        """The dimensions along which the value changes."""
        dims: set[int] = set()
        for symbol in self.symbols():
            if isinstance(symbol, Lane):
                dims.add(symbol.dim)
            elif isinstance(symbol, Opaque):
                dims.update(dim for dim in symbol.dims if dim >= 0)
        return frozenset(dims)

    @property
    def is_uniform(self) -> bool:
        return not self.lane_dims()

    def split(self, dim: int) -> tuple[Polynomial, Polynomial] | None:
        """(stride, rest) with self == stride * lane(dim) + rest and neither depending on `dim`; None if not
        linear.
        """
        stride: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        lane = Lane(dim)
        for monomial, coefficient in self.terms.items():
            count = monomial.count(lane)
            if count > 1 or any(isinstance(symbol, Opaque) and dim in symbol.dims for symbol in monomial):
                return None
            if count:
                stride[tuple(symbol for symbol in monomial if symbol != lane)] = coefficient
            else:
                rest[monomial] = coefficient
        return Polynomial(stride), Polynomial(rest)

    def map_dims(self, mapping: Callable[[int], int]) -> Polynomial:
        """The same value seen by a tile whose dimension `mapping(d)` is this one's dimension d.

        A negative target means that the dimension has extent 1 there: its lane number is 0.
        """
        result = ZERO
        for monomial, coefficient in self.terms.items():
            renamed: list[Symbol] = []
            for symbol in monomial:
                if isinstance(symbol, Lane):
                    target = mapping(symbol.dim)
                    if target < 0:
                        break
                    renamed.append(Lane(target))
                elif isinstance(symbol, Opaque):
                    dims = tuple(mapping(dim) if dim >= 0 else -1 for dim in symbol.dims)
                    renamed.append(Opaque(symbol.number, symbol.value, dims))
                else:
                    renamed.append(symbol)
            else:
                result += Polynomial({tuple(sorted(renamed, key=_key)): coefficient})
        return result

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in sorted(self.terms.items(), key=lambda term: term[1] < 0):
            sign, term = "-" if coefficient < 0 else "+", _term_text(monomial, abs(coefficient))
            text = f"{text} {sign} {term}" if text else (f"-{term}" if coefficient < 0 else term)
        return text or "0"


ZERO = Polynomial({})


def number(value: int) -> Polynomial:
    """The constant polynomial `value`."""
    return Polynomial({(): value}) if value else ZERO


def symbol(value: Symbol) -> Polynomial:
    """The polynomial that is one symbol."""
    return Polynomial({(value,): 1})


def _term_text(monomial: Monomial, coefficient: int) -> str:
    factors = [_symbol_text(symbol) for symbol in monomial]
    if coefficient != 1 or not factors:
        factors.insert(0, str(coefficient))
    return "*".join(factors)


def _symbol_text(symbol: Symbol) -> str:
    if isinstance(symbol, Lane):
        return f"lane{symbol.dim}"
    return _value_text(symbol.value) or f"v{symbol.number}"


_OPERATORS: Mapping[object, str] = MappingProxyType(
    {ops.Add: "+", ops.Sub: "-", ops.Mul: "*", ops.Div: "//", ops.Rem: "%"}
)


def _value_text(value: Value) -> str:
    """A value's name, or the arithmetic on named values that it is; empty if it is neither."""
    op = value.defining_op
    if value.name or op is None:
        return value.name
    if op.definition is ops.Constant:
        return str(op.attributes["value"])
    if op.definition is ops.ProgramId:
        return f"program_id({op.attributes['axis']})"
    operator = _OPERATORS.get(op.definition)
    if operator is None:
        return ""
    left, right = map(_value_text, op.operands)
    return f"({left} {operator} {right})" if left and right else ""
