"""Pieces of Python text with what is needed to combine them: precedence, shape, the variables they read."""

from __future__ import annotations

from dataclasses import dataclass, field

Shape = tuple[int, ...]

# How strongly the outermost operator of a text binds (the Python Language Reference, 6.17).
COMPARE, OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(9)
ANY = -1


@dataclass(frozen=True, slots=True)
class Text:
    """An expression.

    `shape` is the shape Triton gives it, which broadcasts to that of the IR's value. `literal` tells a Python
    number, whose dtype Triton takes from what it is combined with. `reads` are the variables in it.
    """

    text: str
    level: int = ATOM
    shape: Shape = ()
    literal: bool = False
    reads: frozenset[str] = field(default=frozenset())

    def __str__(self) -> str:
        return self.text

    def within(self, level: int) -> str:
        """The text as an operand that must bind at least as strongly as `level`."""
        return self.text if self.level >= level else f"({self.text})"


def join_shapes(shapes: list[Shape]) -> Shape:
    """The shape that shapes of one rank, or scalars, broadcast to."""
    rank = max(map(len, shapes), default=0)
    extents = [1] * rank
    for shape in shapes:
        for axis, extent in enumerate(shape):
            extents[axis] = max(extents[axis], extent)
    return tuple(extents)


def reads_of(parts: list[Text]) -> frozenset[str]:
    """The variables that any of the texts reads."""
    return frozenset().union(*(part.reads for part in parts))


def tuple_text(items: tuple[int, ...]) -> str:
    """A tuple of numbers as Python writes it."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(map(str, items))})"


_UPDATES = (("+", SUM), ("-", SUM), ("*", PRODUCT))


def stored(name: str, text: Text) -> str:
    """The statement that stores a text to a variable, as an update where the text only adds to it."""
    for symbol, level in _UPDATES:
        start = f"{name} {symbol} "
        rest = text.text[len(start) :]
        if text.level == level and text.text.startswith(start) and _is_one_operand(rest):
            return f"{name} {symbol}= {rest}"
    return f"{name} = {text}"


def _is_one_operand(text: str) -> bool:
    """Whether a text has no operator outside parentheses: those have blanks around them."""
    depth = 0
    for character in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == " " and depth == 0:
            return False
    return True
