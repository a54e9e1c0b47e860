"""C text of the library's definitions: one function or type each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl_cpu_c.vector.elements import Chunk, Vector

OPERANDS = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Definition:
    """A named piece of C (a type or a function); `render` gives its text."""

    name: str
    render: Callable[[], str]


def function(result: str, name: str, parameters: Iterable[str], body: str, *, cold: bool = False) -> str:
    """Text of an always-inlined C function, or of a never-inlined one when `cold`."""
    qualifier = "VECTOR_COLD" if cold else "VECTOR_INLINE"
    lines = "\n".join(
        line if line.startswith("#") or not line else f"    {line}" for line in body.strip("\n").split("\n")
    )
    return f"{qualifier} {result} {name}({', '.join(parameters)}) {{\n{lines}\n}}\n"


def parameters(c: str, arity: int) -> list[str]:
    """Declarations of the operands x, y, z, all of one type."""
    return [f"{c} {operand}" for operand in OPERANDS[:arity]]


def each_chunk(vector: Vector, expression: Callable[[str], str]) -> str:
    """Compound literal of `vector` whose member m is `expression(m)`."""
    return f"({vector.c}){{{', '.join(expression(member) for member in vector.members)}}}"


def member_operands(text: str, member: str, arity: int = 3) -> str:
    """`text` with the operands x, y, z replaced by their chunk `member`."""
    pattern = r"\b(" + "|".join(OPERANDS[:arity]) + r")\b"
    return re.sub(pattern, rf"\1.{member}", text)


def chunkwise(vector: Vector, expression: str, arity: int) -> str:
    """`return` statement that applies `expression` (over x, y, z) to every chunk."""
    return f"return {each_chunk(vector, lambda member: member_operands(expression, member, arity))};"


def variants(cases: Sequence[tuple[str, str]], fallback: str) -> str:
    """Statements chosen by the C preprocessor: the first case whose condition holds, else `fallback`."""
    if not cases:
        return fallback
    lines = []
    for keyword, (condition, body) in zip(["#if", *["#elif"] * (len(cases) - 1)], cases, strict=True):
        lines += [f"{keyword} {condition}", body]
    return "\n".join([*lines, "#else", fallback, "#endif"])


def builtin(name: str, requires: str) -> str:
    """Preprocessor condition: the instruction set is enabled and the compiler has the builtin."""
    return f"defined({requires}) && __has_builtin({name})"


def lane_loop(chunk: Chunk, expression: str) -> str:
    """Statements that compute a chunk lane by lane; `expression` is over x[k], y[k], z[k]."""
    return "\n".join(
        (
            f"{chunk.name} r;",
            f"for (int k = 0; k < {chunk.lanes}; ++k)",
            f"    r[k] = {expression};",
            "return r;",
        )
    )


_NAMES = re.compile(r"\b(cast|bitcast)_([FIUM])_([FIUM])\b|\b([FIUMK])\.(\w+)|\b([FIUM])\b")


def body_for(vector: Vector, text: str) -> str:
    """A function body written once for all vectors, with its names filled in.

    `F` is the vector itself, `I` and `U` the signed and unsigned vectors of equal width, `M` the mask;
    `F.add(x, y)` calls f32x32_add, `K.any(m)` calls maskx32_any, `cast_F_I(x)` calls cast_f32x32_i32x32.
    """
    names = {"F": vector.name, "I": vector.signed.name, "U": vector.unsigned.name, "M": vector.mask.name}
    names["K"] = f"maskx{vector.lanes}"

    def fill(match: re.Match[str]) -> str:
        conversion, source, target, owner, operation, alone = match.groups()
        if conversion:
            return f"{conversion}_{names[source]}_{names[target]}"
        return f"{names[owner]}_{operation}" if owner else names[alone]

    return _NAMES.sub(fill, text.strip("\n"))
