"""How a function of the language is defined: one decorated Python function.

    @builtin(member=True)
    def cast(context: Context, input: tensor, dtype: dtype, ...) -> tensor:
        '''Docstring.'''

Its parameters after `context` are the signature kernel authors see. The annotation of a parameter, as it is
written, says what an argument is turned into before the implementation runs; `_CONVERTERS` lists the words. A
function that needs no ops of its own is written in the language itself and decorated with `@standard`.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, overload

from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.conversion import to_tensor
from xdsl_core.language.types import dtype
from xdsl_core.language.values import Composite, PropagateNan, tensor, unwrap

Converter: TypeAlias = Callable[[Context, str, str, Any], Any]
# an argument that is evaluated only when it is asked for
Lazy: TypeAlias = Callable[[], Any]


class Builtin:
    """A function of the language that makes ops (or answers at compile time).

    `member` functions are methods of tensors too. Parameters annotated `Lazy` get a function that evaluates
    the argument when called.
    """

    def __init__(self, implementation: Callable[..., Any], *, member: bool = False) -> None:
        self.implementation = implementation
        self.member = member
        self.name = implementation.__name__
        self.__name__ = implementation.__name__
        self.__qualname__ = implementation.__qualname__
        self.__module__ = implementation.__module__
        self.__doc__ = implementation.__doc__

    @cached_property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self.implementation)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    @cached_property
    def converters(self) -> dict[str, Converter]:
        """How the argument of each parameter is prepared."""
        return {
            name: _CONVERTERS[str(parameter.annotation)]
            for name, parameter in self.__signature__.parameters.items()
        }

    @cached_property
    def variadic(self) -> str:
        """The name of the `*` parameter, or the empty string."""
        kinds = self.__signature__.parameters.values()
        return next((one.name for one in kinds if one.kind is inspect.Parameter.VAR_POSITIONAL), "")

    @cached_property
    def keywords(self) -> str:
        """The name of the `**` parameter, or the empty string."""
        kinds = self.__signature__.parameters.values()
        return next((one.name for one in kinds if one.kind is inspect.Parameter.VAR_KEYWORD), "")

    @cached_property
    def lazy(self) -> frozenset[str]:
        """Parameters whose arguments are evaluated only when asked for."""
        parameters = self.__signature__.parameters
        return frozenset(
            name for name, parameter in parameters.items() if str(parameter.annotation).startswith("Lazy")
        )

    def apply(self, context: Context, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a call in a kernel. X0112 where the arguments do not fit the signature."""
        given = bind(self.name, self.__signature__, args, kwargs)
        for name, value in given.items():
            convert = self.converters[name]
            if name == self.keywords:
                given[name] = {key: convert(context, self.name, key, one) for key, one in value.items()}
            elif name == self.variadic:
                given[name] = tuple(convert(context, self.name, name, one) for one in value)
            else:
                given[name] = convert(context, self.name, name, value)
        given |= given.pop(self.keywords, {})
        rest = given.pop(self.variadic, ())
        if not rest:
            return self.implementation(context, **given)
        leading = [given.pop(name) for name in self._before_variadic]
        return self.implementation(context, *leading, *rest, **given)

    @cached_property
    def _before_variadic(self) -> tuple[str, ...]:
        names = tuple(self.__signature__.parameters)
        return names[: names.index(self.variadic)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise fail(
            "X0101",
            f"tl.{self.name} is called outside a kernel",
            help="call it in a function decorated with @xdsl.jit, and launch that with kernel[grid](...)",
        )

    def __repr__(self) -> str:
        return f"<tl.{self.name}{self.__signature__}>"


class Standard:
    """A function written in the language itself; outside kernels it is the Python function."""

    def __init__(self, function: Callable[..., Any], *, member: bool = False) -> None:
        self.function = function
        self.member = member
        self.name = function.__name__
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tl.{self.name}>"


class ConstexprFunction:
    """A Python function that kernels may call with compile-time arguments; the result is compile-time too."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*map(unwrap, args), **{name: unwrap(value) for name, value in kwargs.items()})


@overload
def builtin(function: Callable[..., Any], /) -> Builtin: ...
@overload
def builtin(*, member: bool) -> Callable[[Callable[..., Any]], Builtin]: ...
def builtin(function: Callable[..., Any] | None = None, /, *, member: bool = False) -> Any:
    """Make a function of the language from its implementation; `member` makes it a method of tensors too."""
    if function is not None:
        return Builtin(function)
    return lambda decorated: Builtin(decorated, member=member)


@overload
def standard(function: Callable[..., Any], /) -> Standard: ...
@overload
def standard(*, member: bool) -> Callable[[Callable[..., Any]], Standard]: ...
def standard(function: Callable[..., Any] | None = None, /, *, member: bool = False) -> Any:
    """Mark a function that is written in the language; `member` makes it a method of tensors too."""
    if function is not None:
        return Standard(function)
    return lambda decorated: Standard(decorated, member=member)


def constexpr_function(function: Callable[..., Any]) -> ConstexprFunction:
    """Let kernels call a Python function with compile-time arguments."""
    return ConstexprFunction(function)


def bind(
    name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by parameter, without defaults. X0112 where they do not fit."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as problem:
        known = list(signature.parameters)
        unknown = [keyword for keyword in kwargs if keyword not in known]
        near = difflib.get_close_matches(unknown[0], known, n=1) if unknown else []
        raise fail(
            "X0112",
            f"{name}: {problem}",
            help=f"did you mean {near[0]}=?" if near else f"the signature is {name}{plain(signature)}",
        ) from None


def plain(signature: inspect.Signature) -> str:
    """A signature as kernel authors write it: names and defaults."""
    empty = inspect.Parameter.empty
    bare = [parameter.replace(annotation=empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _as_it_is(context: Context, function: str, parameter: str, value: Any) -> Any:
    return unwrap(value)


def _operand(context: Context, function: str, parameter: str, value: Any) -> Any:
    value = unwrap(value)
    if isinstance(value, tensor | bool | int | float):
        return value
    raise fail(
        "X0115",
        f"tl.{function}: {parameter} must be a tile, a scalar or a number",
        label=f"{parameter} is {describe(value)}",
        help="functions without a return give None; dtypes and strings are no values of a kernel",
    )


def _tensor(context: Context, function: str, parameter: str, value: Any) -> tensor:
    return to_tensor(context, _operand(context, function, parameter, value))


def _pointer(context: Context, function: str, parameter: str, value: Any) -> Any:
    value = unwrap(value)
    return value if isinstance(value, Composite) else _tensor(context, function, parameter, value)


def _optional(convert: Converter) -> Converter:
    def apply(context: Context, function: str, parameter: str, value: Any) -> Any:
        return None if unwrap(value) is None else convert(context, function, parameter, value)

    return apply


def _compile_time(kind: type, words: str) -> Converter:
    """A converter for values that must be known when compiling. X0111 for tensors, X0115 for other kinds."""

    def apply(context: Context, function: str, parameter: str, value: Any) -> Any:
        value = unwrap(value)
        if isinstance(value, tensor):
            raise run_time_value(f"tl.{function}: {parameter}", value)
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        if kind is bool and isinstance(value, int):
            return bool(value)
        if kind is int and isinstance(value, bool):
            return int(value)
        raise fail(
            "X0115",
            f"tl.{function}: {parameter} must be {words}",
            label=f"{parameter} is {value!r}",
            help=f"write {parameter}=... with {words}",
        )

    return apply


def run_time_value(what: str, value: tensor) -> Exception:
    """The error for a tensor where a compile-time value is needed."""
    name = value.handle.name
    return fail(
        "X0111",
        f"{what} must be known when compiling",
        label=f"{describe(value)}, a value of the running kernel",
        help=f"annotate it: {name or 'name'}: tl.constexpr",
    )


def static_ints(function: str, parameter: str, value: Any) -> tuple[int, ...]:
    """A tuple of compile-time integers from a tuple, a list or one integer."""
    value = unwrap(value)
    items = value if isinstance(value, tuple | list) else (value,)
    found = []
    for item in map(unwrap, items):
        if isinstance(item, tensor):
            raise run_time_value(f"tl.{function}: {parameter}", item)
        if not isinstance(item, int):
            raise fail(
                "X0115",
                f"tl.{function}: {parameter} must hold integers",
                label=f"{parameter} holds {item!r}",
                help="use // where / would make a float",
            )
        found.append(int(item))
    return tuple(found)


def _ints(context: Context, function: str, parameter: str, value: Any) -> tuple[int, ...]:
    return static_ints(function, parameter, value)


_INT = _compile_time(int, "an integer")
_BOOL = _compile_time(bool, "True or False")
_STRING = _compile_time(str, "a string")
_DTYPE = _compile_time(dtype, "a dtype such as tl.float32")

# What the annotation of a parameter, as written, asks for.
_CONVERTERS: dict[str, Converter] = {
    "Any": _as_it_is,
    "Lazy | None": _as_it_is,
    "Callable[..., Any]": _as_it_is,
    "Operand": _operand,
    "Operand | None": _optional(_operand),
    "Pointer": _pointer,
    "tensor": _tensor,
    "tensor | None": _optional(_tensor),
    "int": _INT,
    "int | None": _optional(_INT),
    "bool": _BOOL,
    "bool | None": _optional(_BOOL),
    "str": _STRING,
    "str | None": _optional(_STRING),
    "dtype": _DTYPE,
    "dtype | None": _optional(_DTYPE),
    "Ints": _ints,
    "Ints | None": _optional(_ints),
    "PropagateNan": _compile_time(PropagateNan, "tl.PropagateNan.ALL or tl.PropagateNan.NONE"),
}
