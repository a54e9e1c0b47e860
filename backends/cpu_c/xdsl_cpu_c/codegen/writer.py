"""C text under construction: indented lines and names that are used once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool_t",
        "main",
        "slots",
        "scratch",
        "program",
        "first_program",
        "last_program",
        "grid",
    ]
)


class Lines:
    """Lines of C at a growing and shrinking indentation."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def add(self, text: str) -> None:
        self.lines.append("    " * self.depth + text if text else "")

    def extend(self, other: Lines) -> None:
        """Append the lines of `other`, indented as here."""
        self.lines += ["    " * self.depth + line if line else "" for line in other.lines]

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """`head {` ... `}` around what is added inside."""
        self.add(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.add(tail)

    @contextmanager
    def rest(self) -> Iterator[None]:
        """The lines after `} else {`, and the brace that ends them."""
        self.depth += 1
        yield
        self.depth -= 1
        self.add("}")

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Names:
    """Hands out C identifiers near the names of the source, each once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        base = re.sub(r"\W", "_", hint) or "t"
        if base[0].isdigit():
            base = f"t{base}"
        if base in _KEYWORDS or re.match(r"[fiu]\d+x?\d*(_|$)", base):
            base += "_"
        count = self._taken.get(base, 0)
        self._taken[base] = count + 1
        if not count:
            return base
        return self.fresh(f"{base}_{count}")
