"""Index polynomials as C expressions of type int64_t."""

from __future__ import annotations

from collections.abc import Callable

from xdsl_core.analysis.polynomial import Lane, Monomial, Polynomial, Symbol, Uniform
from xdsl_core.ir import ScalarType
from xdsl_cpu_c.codegen.text import grouped, infix


def index_text(value: Polynomial, name: Callable[[Symbol], str]) -> str:
    """C text of a polynomial in 64-bit arithmetic; `name` gives the C text of a symbol.

    Lanes are int64_t. Scalars are cast where C would compute in fewer bits: in products, and at the start of
    a sum. A scalar alone stays as it is.
    """
    ordered = sorted(value.terms.items(), key=lambda term: term[1] < 0)
    if len(ordered) == 1 and ordered[0][1] == 1 and len(ordered[0][0]) == 1:
        return name(ordered[0][0][0])
    text, wide = "", False
    for monomial, coefficient in ordered:
        sign = "-" if coefficient < 0 else "+"
        term = _term(monomial, abs(coefficient), name, widen=not wide)
        text = f"{text} {sign} {term}" if text else (f"-{term}" if coefficient < 0 else term)
        wide = wide or bool(monomial)
    return text or "0"


def _term(monomial: Monomial, coefficient: int, name: Callable[[Symbol], str], *, widen: bool) -> str:
    """A product; a scalar alone is widened only if asked for."""
    wide = any(_is_wide(symbol) for symbol in monomial)
    wide = wide or (len(monomial) == 1 and coefficient == 1 and not widen)
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


def displaced(pointer: str, offset: str) -> str:
    """C text of a pointer that far on; the offset is added as a whole."""
    if offset == "0":
        return pointer
    return infix(pointer, "+", grouped(offset))
