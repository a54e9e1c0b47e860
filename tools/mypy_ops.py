"""A mypy plugin: a class body under `@op(...)` is an OpDef.

mypy ignores what a class decorator returns, so it would take `Dot` for a class. Here OpDef becomes the
metaclass of such a class in mypy's eyes: the name is then of type OpDef, with OpDef's attributes.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import TypeInfo
from mypy.plugin import ClassDefContext, Plugin
from mypy.types import Instance

DECORATOR = "xdsl_core.opdef.definition.op"
DEFINITION = "xdsl_core.opdef.definition.OpDef"


class OpDefinitions(Plugin):
    """Tells mypy what `@op(...)` makes of a class body."""

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        return as_definition if fullname == DECORATOR else None


def as_definition(context: ClassDefContext) -> bool:
    """Makes OpDef the metaclass of the class; False asks mypy to come again once OpDef is known."""
    symbol = context.api.lookup_fully_qualified_or_none(DEFINITION)
    if symbol is None or not isinstance(symbol.node, TypeInfo):
        return False
    context.cls.info.metaclass_type = context.cls.info.declared_metaclass = Instance(symbol.node, [])
    return True


def plugin(version: str) -> type[Plugin]:
    """What mypy calls to load the plugin."""
    return OpDefinitions
