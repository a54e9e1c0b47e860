"""What the backend refuses, with the kernel's line."""

from __future__ import annotations

from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.ir import Op


def no_spelling(op: Op) -> CompilationError:
    """X0731: stock Triton has no operation for an op on these types."""
    types = ", ".join(str(value.type) for value in (*op.operands, *op.results))
    return CompilationError(
        error(
            "X0731",
            f"gpu_triton cannot express {op.name} in Triton",
            location=op.location,
            label=f"of {types}",
            help="cast the operands to another dtype, or run the kernel on another backend",
        )
    )


def not_exact(op: Op, why: str, fix: str) -> CompilationError:
    """X0732: the op could be made to fit Triton's rules, but not with the same results."""
    return CompilationError(
        error(
            "X0732",
            f"gpu_triton cannot bring {op.name} into a form that Triton takes",
            location=op.location,
            label=why,
            help=fix,
        )
    )
