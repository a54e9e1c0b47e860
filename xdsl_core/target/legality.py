"""Says, before anything runs, which ops of a module a backend does not claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl_core.diagnostics import Diagnostic, Location, error
from xdsl_core.ir.types import PointerType, TokenType, element_of

if TYPE_CHECKING:
    from xdsl_core.ir import Module, Type
    from xdsl_core.target.capabilities import Capabilities, Refusal


# Kind of refusal -> error code and what the message says is not claimed.
_WORDS = {
    "op": ("X0611", "op {op}"),
    "dtype": ("X0610", "op {op} for dtype {dtypes}"),
    "limit": ("X0612", "op {op} for this shape"),
}


def check(module: Module, capabilities: Capabilities, *, backend: str) -> list[Diagnostic]:
    """One diagnostic (X0610, X0611 or X0612) for every op of `module` that `capabilities` do not cover.

    Walks ops generically: what is asked is the op's name, the element types of its operands and results, and
    the shapes of its tiles. `backend` is the name the messages use. The same refusal on one line is reported
    once.
    """
    found: dict[tuple[object, ...], Diagnostic] = {}
    for op in module.walk():
        types = [value.type for value in (*op.operands, *op.results)]
        dtypes = tuple(name for type_ in types for name in dtype_names(type_))
        shapes = [shape for type_ in types if (shape := type_.shape)]
        refusal = capabilities.supports(op.name, dtypes, shapes)
        if refusal is not None and (op.location, refusal) not in found:
            found[op.location, refusal] = _diagnostic(refusal, op.location, backend)
    return list(found.values())


def _diagnostic(refusal: Refusal, location: Location, backend: str) -> Diagnostic:
    code, words = _WORDS[refusal.kind]
    subject = words.format(op=refusal.op, dtypes=", ".join(refusal.dtypes))
    fix = refusal.fix or "run this kernel on another backend; `xdslc backends` lists them"
    return error(
        code, f"{backend} does not claim {subject}", location=location, label=refusal.reason, help=fix
    )


def dtype_names(type_: Type) -> Iterator[str]:
    """The name of the dtype a value of this type holds or points to; nothing for a token."""
    if not isinstance(type_, TokenType):
        element = element_of(type_)
        yield (element.pointee if isinstance(element, PointerType) else element).name
