"""What is computed when compiling: Python's operators and functions on plain values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl_core.diagnostics import XdslError
from xdsl_core.language.context import fail
from xdsl_core.language.values import constexpr, parts_of, tensor

# Python functions that kernels may call; those that take tensors have a form of their own in `calls`.
PYTHON_FUNCTIONS = frozenset(
    (
        *("range", "len", "int", "float", "bool", "str", "repr", "isinstance", "type", "getattr", "hasattr"),
        *("tuple", "list", "slice", "min", "max", "abs", "sum", "any", "all", "zip", "enumerate", "reversed"),
        "print",
    )
)

MEMBERSHIP: dict[str, Callable[[Any, Any], bool]] = {
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    "is": operator.is_,
    "is not": operator.is_not,
}


def holds_tensor(value: Any) -> bool:
    """True where a value, or a part of a tuple, is known only when the kernel runs."""
    if isinstance(value, tensor):
        return True
    parts = value if isinstance(value, list) else parts_of(value)
    return parts is not None and any(map(holds_tensor, parts))


def run(
    what: str, function: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """The result of a Python function on compile-time values. X0110 with Python's words where it raises."""
    try:
        result = function(*args, **(kwargs or {}))
    except XdslError:
        raise
    except Exception as problem:
        text = f"{type(problem).__name__}: {problem}"
        raise fail(
            "X0110", f"{what} fails when compiling: {text}", help="its operands are compile-time values"
        ) from None
    return normal(result)


def normal(value: Any) -> Any:
    """A Python value as variables hold it: no constexpr around it, lists as tuples."""
    if isinstance(value, constexpr):
        return normal(value.value)
    if isinstance(value, list):
        return tuple(map(normal, value))
    return value


def is_instance(value: Any, kinds: Any) -> bool:
    """isinstance as kernels mean it: every compile-time value is a tl.constexpr."""
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    if constexpr in wanted and not isinstance(value, tensor):
        return True
    return bool(run("isinstance(...)", isinstance, (value, kinds)))
