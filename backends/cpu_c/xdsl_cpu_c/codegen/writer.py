"""C text under construction: indented lines and names that are used once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from xdsl_cpu_c.codegen.reserved import is_reserved


class Lines:
    """Lines of C at a growing and shrinking indentation."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def add(self, text: str) -> None:
        self.lines.append("    " * self.depth + text if text else "")

    def insert(self, place: int, texts: list[str]) -> None:
        """Put texts before the line that stands at a place."""
        self.lines[place:place] = ["    " * self.depth + text for text in texts]

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
    """Hands out C identifiers near the names of the source, each once until it is given back.

    Names belong to frames, the blocks of C that are open: closing one gives its names back.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._frames: list[list[str]] = [[]]

    def fresh(self, hint: str, *, owner: list[str] | None = None) -> str:
        """A name that is not in use: `hint`, or `hint` with a number; `owner` notes it, else the frame."""
        base = re.sub(r"\W", "_", hint) or "t"
        if base[0].isdigit():
            base = f"t{base}"
        if is_reserved(base):
            base = f"the_{base.strip('_')}"
        name, count = base, 0
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        (self._frames[-1] if owner is None else owner).append(name)
        return name

    def give_back(self, names: list[str]) -> None:
        """Names whose scope has ended may be used again."""
        self._taken.difference_update(names)

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Names made inside end with it."""
        self._frames.append([])
        yield
        self.give_back(self._frames.pop())
