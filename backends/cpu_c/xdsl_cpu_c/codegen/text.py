"""C expressions as text: parentheses where C needs them, and only there."""

from __future__ import annotations

import re

_NAME = r"(\(\w+\))?[\w.]+"  # perhaps with a cast
_ATOM = re.compile(_NAME)
_PRODUCT = re.compile(rf"{_NAME}( \* {_NAME})+")
_SUM = re.compile(rf"{_NAME}( [*+-] {_NAME})+")
_TERMS = re.compile(rf"-?{_NAME}( [*+-] {_NAME})*")
# What may stand without parentheses on the left and on the right of an operator. Sums of floats are not
# regrouped.
_LEFT = {"+": _SUM, "-": _SUM, "*": _PRODUCT}
_RIGHT = {"+": _PRODUCT, "-": _PRODUCT}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def bare(text: str) -> str:
    """The text without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return bare(text[1:-1]) if place == len(text) - 1 else text
    return text


def grouped(text: str) -> str:
    """The text as an operand of any operator."""
    text = bare(text)
    return text if _ATOM.fullmatch(text) or _is_call(text) else f"({text})"


def _is_call(text: str) -> bool:
    """True for a name with one pair of parentheses or brackets behind it."""
    head = re.match(r"\w+([(\[])", text)
    if head is None or text[-1] not in ")]":
        return False
    depth = 0
    for place in range(head.end() - 1, len(text)):
        depth += (text[place] in "([") - (text[place] in ")]")
        if not depth:
            return place == len(text) - 1
    return False


def infix(left: str, operator: str, right: str) -> str:
    """Two operands, each a name or in parentheses, joined by an operator."""
    return f"{_side(left, operator, _LEFT)} {operator} {_side(right, operator, _RIGHT)}"


def _side(text: str, operator: str, allowed: dict[str, re.Pattern[str]]) -> str:
    inner = bare(text)
    pattern = _TERMS if operator in _COMPARISONS else allowed.get(operator)
    return inner if pattern is not None and pattern.fullmatch(inner) else text


def assignment(name: str, text: str) -> str:
    """The statement that gives a variable a value; short where that is the variable and something more."""
    for operator in "+-":
        start = f"{name} {operator} "
        rest = text.removeprefix(start)
        if rest != text and is_term(rest):
            return f"{name} {operator}= {bare(rest)};"
    return f"{name} = {text};"


def is_term(text: str) -> bool:
    """True for what can be added as a whole without more parentheses."""
    return bool(_ATOM.fullmatch(text) or _PRODUCT.fullmatch(text)) or bare(text) != text


def is_number(text: str) -> bool:
    """True for a decimal integer."""
    return bool(re.fullmatch(r"-?\d+", text))


def is_simple(text: str) -> bool:
    """True for a name or a decimal integer: nothing is gained by giving it another name."""
    return text.isidentifier() or is_number(text)
