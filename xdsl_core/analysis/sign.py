"""Which integers are certain not to be negative."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from xdsl_core.analysis.polynomial import Lane, Polynomial, Uniform
from xdsl_core.ir import Block, Op, Value
from xdsl_core.ops import Add, Cast, Constant, Div, For, Max, Min, Mul, NumPrograms, ProgramId, Rem

_Proof = Callable[[Op, frozenset[Value]], bool]


def never_negative(polynomial: Polynomial) -> bool:
    """True if a polynomial of lanes and scalars is certain to be at least 0 in every lane."""
    return all(coefficient >= 0 for coefficient in polynomial.terms.values()) and all(
        isinstance(symbol, Lane) or (isinstance(symbol, Uniform) and _scalar(symbol.value, frozenset()))
        for symbol in polynomial.symbols()
    )


def _scalar(value: Value, assumed: frozenset[Value]) -> bool:
    """Whether a scalar is at least 0 if those in `assumed` are.

    Sums and products of what counts something are taken not to wrap around: an index that does addresses
    nothing a kernel could mean.
    """
    if value in assumed:
        return True
    op = value.defining_op
    if op is None:
        return _carried(value, assumed)
    proof = _PROOFS.get(op.definition)
    return proof is not None and proof(op, assumed)


def _carried(value: Value, assumed: frozenset[Value]) -> bool:
    """A loop's counter that starts at 0 or more, or a carried value that starts so and never gets smaller."""
    block = value.owner
    loop = block.region.parent if isinstance(block, Block) and block.region is not None else None
    if not isinstance(loop, Op) or loop.definition is not For or not isinstance(block, Block):
        return False
    if value.index == 0:
        return _scalar(loop.operand("lower"), assumed)
    position = value.index - 1
    start, last = loop.group("inits")[position], block.ops[-1].operands[position]
    return _scalar(start, assumed) and _scalar(last, assumed | {value})


def _all(op: Op, assumed: frozenset[Value]) -> bool:
    return all(_scalar(operand, assumed) for operand in op.operands)


def _any(op: Op, assumed: frozenset[Value]) -> bool:
    return any(_scalar(operand, assumed) for operand in op.operands)


_PROOFS: Mapping[object, _Proof] = MappingProxyType(
    {
        Constant: lambda op, assumed: op.attributes["value"] >= 0,
        ProgramId: lambda op, assumed: True,
        NumPrograms: lambda op, assumed: True,
        Add: _all,
        Mul: _all,
        Div: _all,
        Rem: lambda op, assumed: _scalar(op.operands[0], assumed),  # the sign of the dividend, as in C
        Min: _all,
        Max: _any,
        Cast: lambda op, assumed: op.attributes["to"].is_integer and _all(op, assumed),
    }
)
