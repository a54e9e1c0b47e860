"""Joins the values that a variable, or a function's result, has on two paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.ir import Block, Value
from xdsl_core.ir.types import PointerType, dtype_of, element_of
from xdsl_core.language.context import Context
from xdsl_core.language.semantics.conversion import constant, to_tensor
from xdsl_core.language.values import Composite, parts_of, tensor, with_parts


class Differ(Exception):
    """Two values have no common form: they differ in kind or type."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two paths: the block that ends it."""

    context: Context
    block: Block

    def tensor(self, value: Any) -> tensor:
        """A number as a constant made at the end of the path."""
        if isinstance(value, tensor):
            return value
        with self.context.builder.at(self.block):
            return to_tensor(self.context, value)

    def placeholder(self, like: Any) -> Any:
        """Something of the same form as another value, for a path on which it is never looked at."""
        parts = parts_of(like)
        if parts is not None:
            return with_parts(like, [self.placeholder(part) for part in parts])
        if not isinstance(like, tensor):
            return like
        with self.context.builder.at(self.block):
            element = element_of(like.handle.type)
            if isinstance(element, PointerType):
                null = constant(self.context, 0, dtypes.i64, like.shape)
                return self.context.emit(ops.IntToPointer, null, pointee=element.pointee)
            return constant(self.context, 0, dtype_of(like.handle.type), like.shape)


def same(left: Any, right: Any) -> bool:
    """True where two values are one: the same value of the IR, or equal compile-time values."""
    if isinstance(left, tensor) and isinstance(right, tensor):
        return left.handle is right.handle
    if type(left) is type(right):
        one, two = parts_of(left), parts_of(right)
        if one is not None and two is not None:
            return len(one) == len(two) and all(map(same, one, two))
    if isinstance(left, tensor) or isinstance(right, tensor):
        return False
    return left is right or (type(left) is type(right) and bool(left == right))


def agree(
    left: Any, right: Any, left_side: Side, right_side: Side, *, fixed: bool = False
) -> tuple[Any, Any]:
    """Both values in one form; numbers that differ become constants. Differ where that is impossible.

    `fixed` says that numbers must be equal, as they must in composite values.
    """
    if same(left, right):
        return left, right
    lefts, rights = parts_of(left), parts_of(right)
    if lefts is not None and rights is not None:
        if type(left) is not type(right) or len(lefts) != len(rights):
            raise Differ
        fixed = fixed or isinstance(left, Composite)
        pairs = [
            agree(one, two, left_side, right_side, fixed=fixed)
            for one, two in zip(lefts, rights, strict=True)
        ]
        return with_parts(left, [one for one, _ in pairs]), with_parts(right, [two for _, two in pairs])
    numbers = (tensor, bool, int, float)
    if not isinstance(left, numbers) or not isinstance(right, numbers):
        raise Differ
    if fixed and not (isinstance(left, tensor) and isinstance(right, tensor)):
        raise Differ
    one, two = left_side.tensor(left), right_side.tensor(right)
    if one.handle.type != two.handle.type:
        raise Differ
    return one, two


def flatten(value: Any) -> list[tensor]:
    """The tensors in a value, in order."""
    if isinstance(value, tensor):
        return [value]
    return [inner for part in parts_of(value) or () for inner in flatten(part)]


def rebuild(value: Any, handles: Iterator[Value]) -> Any:
    """The value with its tensors replaced, in order."""
    if isinstance(value, tensor):
        return tensor(next(handles))
    parts = parts_of(value)
    return value if parts is None else with_parts(value, [rebuild(part, handles) for part in parts])


def form(value: Any) -> str:
    """What kind of value it is, for messages."""
    if isinstance(value, tensor):
        return str(value.handle.type)
    if isinstance(value, Composite):
        return str(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(form, value))})"
    return f"the compile-time value {value!r}"
