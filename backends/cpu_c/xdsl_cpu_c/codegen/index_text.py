"""Index polynomials as C expressions of type int64_t."""

from __future__ import annotations

from collections.abc import Callable

from xdsl_core.analysis.polynomial import Lane, Monomial, Polynomial, Symbol, Uniform
from xdsl_core.ir import ScalarType


def index_text(value: Polynomial, name: Callable[[Symbol], str]) -> str:
    """C text of a polynomial; `name` gives the C name of a symbol (lanes are int64_t, scalars are cast)."""
    ordered = sorted(value.terms.items(), key=lambda term: term[1] < 0)
    text = ""
    for monomial, coefficient in ordered:
        term = _term(monomial, abs(coefficient), name)
        sign = "-" if coefficient < 0 else "+"
        text = f"{text} {sign} {term}" if text else (f"-{term}" if coefficient < 0 else term)
    return text or "0"


def _term(monomial: Monomial, coefficient: int, name: Callable[[Symbol], str]) -> str:
    wide = any(_is_wide(symbol) for symbol in monomial)
    factors = []
    for symbol in sorted(monomial, key=lambda symbol: not _is_wide(symbol)):
        factors.append(name(symbol) if wide else f"(int64_t){name(symbol)}")
        wide = True
    if coefficient != 1 or not factors:
        factors.append(str(coefficient))
    return " * ".join(factors)


def _is_wide(symbol: Symbol) -> bool:
    """True if the C variable is 64 bits wide already, and so makes the product so."""
    if isinstance(symbol, Lane):
        return True
    type = symbol.value.type
    return isinstance(symbol, Uniform) and isinstance(type, ScalarType) and type.element.bits == 64
