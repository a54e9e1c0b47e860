"""The door to a backend's own ops, which its hook xdsl_register_ops defines."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, fail
from xdsl_core.language.semantics.conversion import to_tensor
from xdsl_core.language.values import tensor, unwrap


def custom_op(context: Context, name: str, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """A new op of the backend: its result, a tuple of several, or None. X0164 where it has no op `name`."""
    definition = context.notes.operations.get(name)
    if definition is None:
        near = difflib.get_close_matches(name, context.notes.operations, n=1)
        known = ", ".join(sorted(context.notes.operations)) or "none"
        raise fail(
            "X0164",
            f"the backend has no op {name!r}",
            help=f"did you mean {near[0]!r}?" if near else f"its own ops are: {known}",
            note="a backend defines ops in its hook xdsl_register_ops; launch on one that has this op",
        )
    given = [to_tensor(context, unwrap(one)) for one in operands]
    op = context.build(definition, *given, **{key: unwrap(value) for key, value in attributes.items()})
    results = tuple(map(tensor, op.results))
    if not results:
        return None
    return results[0] if len(results) == 1 else results


@builtin
def custom(context: Context, name: str, *args: Any, **attributes: Any) -> Any:
    """The op that the backend registered as `name`, with operands in its order and attributes by name.

    A kernel that uses it compiles for backends that have the op. The definition says the types and checks
    them, as for any op.
    """
    return custom_op(context, name, args, attributes)
