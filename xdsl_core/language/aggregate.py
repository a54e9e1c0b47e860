"""Aggregates: a class whose instances are values of a kernel.

    @tl.aggregate
    class Range:
        start: tl.tensor
        size: tl.constexpr

        @xdsl.jit
        def contains(self, x):
            return (x >= self.start) & (x < self.start + self.size)

`Range(start, size)` makes one in a kernel or helper. Fields are read by name and never assigned to
(`tl.aggregate_replace` makes another); methods are jit functions. Branches and loops carry the tensors in it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl_core.language.builtin import Builtin, ConstexprFunction, builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.values import Composite, tensor, unwrap


class Instance(Composite):
    """An instance of an aggregate; each aggregate is a subclass with the fields as attributes."""

    # the fields in order, and their defaults
    fields: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}

    def parts(self) -> tuple[Any, ...]:
        """The fields in order."""
        return tuple(vars(self)[name] for name in self.fields)

    def with_parts(self, parts: Sequence[Any]) -> Instance:
        """Another instance of the same aggregate."""
        return _filled(type(self), dict(zip(self.fields, parts, strict=True)))

    def attribute(self, name: str) -> Any:
        """A field, or a constant of the class."""
        if name in vars(self):
            return vars(self)[name]
        return unwrap(getattr(type(self), name))

    def method(self, name: str) -> Any:
        """A jit function or compile-time function of the class."""
        found = getattr(type(self), name, None) if name not in self.fields else None
        is_method = isinstance(found, Builtin | ConstexprFunction) or hasattr(found, "dependency_key")
        return found if is_method else None

    def __str__(self) -> str:
        shown = ", ".join(f"{name}: {_shown(vars(self).get(name))}" for name in self.fields)
        return f"{type(self).__name__}({shown})"


def _shown(value: Any) -> str:
    return str(value.handle.type) if isinstance(value, tensor) else str(value)


def _filled(kind: type[Instance], values: Mapping[str, Any]) -> Instance:
    instance = object.__new__(kind)
    vars(instance).update(values)
    return instance


def aggregate(cls: type) -> type[Instance]:
    """Make an aggregate of a class with annotated fields; see the module's text.

    A constructor of its own (`__init__`, decorated with constexpr_function or plain) sets every field.
    Aggregates may inherit from aggregates. TypeError for other bases.
    """
    bases = [base for base in cls.__mro__[1:] if base not in (object, Composite, Instance)]
    for base in bases:
        if not issubclass(base, Instance):
            raise TypeError(f"{cls.__name__} inherits from {base.__name__}, which is no aggregate")
    own = inspect.get_annotations(cls)
    parent: type[Instance] = bases[0] if bases else Instance
    fields = (*parent.fields, *(name for name in own if name not in parent.fields))
    defaults = dict(parent.defaults)
    defaults.update({name: unwrap(vars(cls)[name]) for name in own if name in vars(cls)})
    hidden = {"__dict__", "__weakref__", "__init__"}
    body = {name: value for name, value in vars(cls).items() if name not in hidden}
    body |= {"fields": fields, "defaults": defaults, "constructor": vars(cls).get("__init__")}
    return type(cls.__name__, (parent,), body)


def is_aggregate(value: Any) -> bool:
    """True for the class that `aggregate` makes."""
    return isinstance(value, type) and issubclass(value, Instance) and value is not Instance


def construct(kind: type[Instance], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Instance:
    """`kind(*args, **kwargs)` in a kernel. X0112 where the arguments do not fill the fields."""
    args = [unwrap(value) for value in args]
    kwargs = {name: unwrap(value) for name, value in kwargs.items()}
    constructor: Callable[..., Any] | ConstexprFunction | None = vars(kind).get("constructor")
    if constructor is not None:
        instance = _filled(kind, {})
        plain = constructor.function if isinstance(constructor, ConstexprFunction) else constructor
        plain(instance, *args, **kwargs)
        values = {name: unwrap(value) for name, value in vars(instance).items()}
    else:
        values = _by_name(kind, args, kwargs)
    missing = [name for name in kind.fields if name not in values]
    extra = [name for name in values if name not in kind.fields]
    if missing or extra:
        what = f"no value for {', '.join(missing)}" if missing else f"no field {', '.join(extra)}"
        raise fail("X0112", f"{kind.__name__}: {what}", help=f"its fields are {', '.join(kind.fields)}")
    return _filled(kind, values)


def _by_name(kind: type[Instance], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(zip(kind.fields, args, strict=False))
    twice = sorted(given.keys() & kwargs.keys())
    if len(args) > len(kind.fields) or twice:
        what = f"{twice[0]} is given twice" if twice else f"{len(args)} values"
        raise fail("X0112", f"{kind.__name__}: {what}", help=f"its fields are {', '.join(kind.fields)}")
    return {**kind.defaults, **given, **kwargs}


@builtin
def aggregate_replace(context: Context, instance: Any, **changes: Any) -> Any:
    """A copy of an instance of an aggregate with some fields replaced."""
    if not isinstance(instance, Instance):
        raise fail(
            "X0115",
            "tl.aggregate_replace needs an instance of an aggregate",
            label=describe(instance),
            help="decorate the class with @tl.aggregate",
        )
    values = {name: instance.attribute(name) for name in instance.fields}
    return construct(type(instance), (), values | changes)
