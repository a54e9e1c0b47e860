"""What the expressions of constraints and budgets may call, besides the names of the op's parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import CodeType, MappingProxyType
from typing import Any

from xdsl_core.ir.core import Region
from xdsl_core.ir.traits import Trait
from xdsl_core.ir.types import PointerType, Type, element_of, tile_or_scalar

_EFFECTS = frozenset({Trait.READS_MEMORY, Trait.WRITES_MEMORY, Trait.ATOMIC, Trait.EFFECT})


def yields(region: Region) -> tuple[Type, ...]:
    """The types of the values that a region hands over at its end."""
    terminator = region.blocks[0].terminator if region.blocks else None
    return tuple(value.type for value in terminator.group("values")) if terminator is not None else ()


def takes(region: Region) -> tuple[Type, ...]:
    """The types of the arguments of a region."""
    return tuple(value.type for value in region.blocks[0].arguments) if region.blocks else ()


def ends_in(region: Region, name: str) -> bool:
    """Whether the last op of a region is the terminator called `name`."""
    terminator = region.blocks[0].terminator if region.blocks else None
    return terminator is not None and terminator.name == name


def pure(region: Region) -> bool:
    """Whether nothing in a region touches memory or the outside."""
    return all(not op.definition.traits & _EFFECTS for op in region.walk())


def scalars(types: Iterable[Type]) -> tuple[Type, ...]:
    """The scalar types of the elements of tiles."""
    return tuple(tile_or_scalar((), element_of(type)) for type in types)


def product(extents: Iterable[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(extents)


def constant_kind(type: Type) -> str:
    """The name of the Python type of a constant's value: bool, int or float; "none" for pointers."""
    element = element_of(type)
    if isinstance(element, PointerType):
        return "none"
    return {"bool": "bool", "float": "float"}.get(element.kind, "int")


def kind_of(value: object) -> str:
    """The name of the Python type of an attribute's value."""
    return type(value).__name__


_BUILTINS = (len, all, any, sorted, range, max, min, abs, tuple, list)
_OWN = (yields, takes, ends_in, pure, scalars, product, constant_kind, kind_of)
HELPERS: Mapping[str, Any] = MappingProxyType(
    {function.__name__: function for function in (*_BUILTINS, *_OWN)}
)


def evaluate(expression: str | CodeType, names: Mapping[str, Any]) -> Any:
    """The value of a constraint's or budget's expression, `names` being what `OpDef.namespace` gives."""
    return eval(expression, {"__builtins__": {}, **HELPERS, **names})
