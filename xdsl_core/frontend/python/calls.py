"""Calls: functions of the language, helpers (inlined), and Python functions on compile-time values."""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from types import FunctionType
from typing import Any

from xdsl_core import language, ops
from xdsl_core.frontend.python import compile_time
from xdsl_core.frontend.python.closures import Closure, call_closure
from xdsl_core.frontend.python.compile_time import holds_tensor, normal
from xdsl_core.frontend.python.dispatch import evaluate
from xdsl_core.frontend.python.frame import Frame, callable_of_c
from xdsl_core.frontend.python.functions import inline
from xdsl_core.frontend.python.source import source_of
from xdsl_core.language.aggregate import construct, is_aggregate
from xdsl_core.language.builtin import Builtin, ConstexprFunction, Standard, bind
from xdsl_core.language.context import describe, fail
from xdsl_core.language.semantics.arithmetic import extremum
from xdsl_core.language.types import dtype
from xdsl_core.language.values import Composite, PropagateNan, constexpr, tensor


@dataclass(frozen=True, slots=True)
class Member:
    """A method of a tensor or a composite: a function that takes it first."""

    function: Any
    owner: tensor | Composite


def evaluate_call(frame: Frame, node: ast.Call) -> Any:
    """The value of a call."""
    function = evaluate(frame, node.func)
    if isinstance(function, Builtin) and function.lazy:
        return function.apply(frame.context, *_lazy_arguments(frame, node, function))
    args: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            args.extend(spread(frame, argument))
        else:
            args.append(evaluate(frame, argument))
    return call(frame, function, args, _keywords(frame, node))


def _keywords(frame: Frame, node: ast.Call) -> dict[str, Any]:
    found = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise frame.fail(node, "X0105", "** cannot be used in kernels", help="write the keywords out")
        found[keyword.arg] = evaluate(frame, keyword.value)
    return found


def _lazy_arguments(frame: Frame, node: ast.Call, function: Builtin) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of which those of lazy parameters are functions that evaluate them."""
    names = list(inspect.signature(function).parameters)

    def prepare(name: str, argument: ast.expr) -> Any:
        return (lambda: evaluate(frame, argument)) if name in function.lazy else evaluate(frame, argument)

    args = [prepare(name, argument) for name, argument in zip(names, node.args, strict=False)]
    args += [evaluate(frame, argument) for argument in node.args[len(names) :]]
    return args, {one.arg: prepare(one.arg, one.value) for one in node.keywords if one.arg is not None}


def spread(frame: Frame, node: ast.Starred) -> tuple[Any, ...]:
    """The elements behind `*values`. X0115 where they are no tuple."""
    value = normal(evaluate(frame, node.value))
    if isinstance(value, tuple):
        return value
    raise frame.fail(
        node, "X0115", "only tuples can be spread with *", label=describe(value), help="pass the value itself"
    )


def call(frame: Frame, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of calling something a kernel can name."""
    if isinstance(function, Member):
        function, args = function.function, [function.owner, *args]
        if isinstance(function, ConstexprFunction):
            # it may ask the tensors among the fields for their types
            return compile_time.run(f"{function.__name__}(...)", function, args, kwargs)
    if isinstance(function, Builtin):
        return function.apply(frame.context, args, kwargs)
    if isinstance(function, Closure):
        return call_closure(frame, function, args, kwargs)
    source = source_of(function)
    if source is not None:
        return inline(frame, source, args, kwargs, library=isinstance(function, Standard))
    if isinstance(function, type) and (is_aggregate(function) or hasattr(function, "_fields")):
        return _instance(function, args, kwargs)
    special = _special().get(function) if callable_of_c(function) else None
    if special is not None:
        return special.call(frame, args, kwargs)
    if not any(map(holds_tensor, (*args, *kwargs.values()))):
        return _call_python(function, args, kwargs)
    raise _not_callable(function, (*args, *kwargs.values()))


def _instance(kind: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A named tuple or an instance of an aggregate, of tensors and compile-time values."""
    make = partial(construct, kind, args, kwargs) if is_aggregate(kind) else partial(kind, *args, **kwargs)
    return compile_time.run(f"{kind.__name__}(...)", make)


def _call_python(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call on compile-time values. X0113 for Python functions that are not meant for kernels."""
    if isinstance(function, FunctionType):
        raise _not_callable(function, ())
    if isinstance(function, constexpr) or function is constexpr:
        return normal(constexpr(*args))
    if not callable(function):
        raise fail(
            "X0113", f"{function!r} cannot be called", help="call functions of tl, or helpers with @xdsl.jit"
        )
    name = getattr(function, "__name__", repr(function))
    return compile_time.run(f"{name}(...)", function, args, kwargs)


def _not_callable(function: Any, values: Sequence[Any]) -> Exception:
    name = getattr(function, "__name__", repr(function))
    if isinstance(function, FunctionType):
        return fail(
            "X0113",
            f"{name} is an ordinary Python function",
            help="decorate it with @xdsl.jit, or @tl.constexpr_function if it computes when compiling",
        )
    label = ", ".join(describe(value) for value in values if isinstance(value, tensor))
    if isinstance(function, ConstexprFunction) or callable(function):
        instead = name if name in vars(language) else ""
        return fail(
            "X0111",
            f"{name} needs compile-time values",
            label=label,
            help=f"use tl.{instead}, which works on tensors"
            if instead
            else "annotate its arguments: tl.constexpr",
        )
    return fail("X0113", f"{name} cannot be called", help="call functions of tl, or helpers with @xdsl.jit")


@cache
def _members() -> dict[str, Any]:
    """The functions of the language that are methods of tensors."""
    return {
        name: value
        for name, value in vars(language).items()
        if isinstance(value, Builtin | Standard) and value.member
    }


def _composite_member(frame: Frame, value: Composite, name: str) -> Any:
    function = value.method(name)
    if function is not None:
        return Member(function, value)
    try:
        return normal(value.attribute(name))
    except AttributeError:
        raise fail(
            "X0114", f"there is no attribute {name}", label=describe(value), help="check the spelling"
        ) from None


def member_of(frame: Frame, node: ast.AST | None, value: tensor | Composite, name: str) -> Any:
    """An attribute or a method of a value. X0114, at the node if there is one, where there is none."""
    if isinstance(value, Composite):
        return _composite_member(frame, value, name)
    if name in _ATTRIBUTES:
        return _ATTRIBUTES[name](frame, value)
    function = _members().get(name)
    if function is not None:
        return Member(function, value)
    near = difflib.get_close_matches(name, [*_ATTRIBUTES, *_members()], n=1)
    help = (
        f"did you mean {near[0]}?"
        if near
        else "they have dtype, shape, T and methods such as to, sum, reshape"
    )
    problem = fail("X0114", f"tensors have no attribute {name}", label=describe(value), help=help)
    raise problem if node is None else problem.at(frame.locate(node))


_ATTRIBUTES: dict[str, Callable[[Frame, tensor], Any]] = {
    "dtype": lambda frame, value: value.dtype,
    "shape": lambda frame, value: value.shape,
    "type": lambda frame, value: value.type,
    "numel": lambda frame, value: value.numel,
    "T": lambda frame, value: language.trans.apply(frame.context, (value,), {}),
}


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function of Python with a meaning of its own on tensors."""

    name: str
    apply: Callable[..., Any]

    def call(self, frame: Frame, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a call. X0112 where the arguments do not fit."""
        bind(self.name, _signature(self.apply), args, kwargs)
        return self.apply(frame, *args, **kwargs)


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function without its first parameter."""
    signature = inspect.signature(function)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _length(frame: Frame, obj: Any, /) -> Any:
    if isinstance(obj, tensor):
        if not obj.shape:
            raise fail(
                "X0115", "a scalar has no length", label=describe(obj), help="tuples and tiles have one"
            )
        return obj.shape[0]
    return compile_time.run("len(...)", len, (obj,))


def _extreme(definition: Any, function: Any) -> Callable[..., Any]:
    def apply(frame: Frame, *values: Any) -> Any:
        if not any(map(holds_tensor, values)):
            return compile_time.run(f"{function.__name__}(...)", function, values)
        for value in values:
            if not isinstance(value, tensor | bool | int | float):
                raise fail(
                    "X0115",
                    f"{function.__name__}() of tensors takes tiles, scalars and numbers",
                    label=f"it got {value!r}",
                    help="use tl.max and tl.min along an axis of a tile",
                )
        none = PropagateNan.NONE
        return reduce(lambda left, right: extremum(frame.context, definition, left, right, none), values)

    return apply


def _magnitude(frame: Frame, x: Any, /) -> Any:
    if isinstance(x, tensor):
        return language.abs.apply(frame.context, (x,), {})
    return compile_time.run("abs(...)", builtins.abs, (x,))


def _conversion(kind: type, target: dtype) -> Callable[..., Any]:
    def apply(frame: Frame, *values: Any) -> Any:
        if values and isinstance(values[0], tensor):
            raise fail(
                "X0111",
                f"{kind.__name__}() needs a compile-time value",
                label=describe(values[0]),
                help=f"cast it: x.to({target!r})",
            )
        return compile_time.run(f"{kind.__name__}(...)", kind, values)

    return apply


def _print(frame: Frame, *values: Any, **options: Any) -> Any:
    return language.device_print.apply(frame.context, values, options)


def _get_attribute(frame: Frame, obj: Any, name: Any, *default: Any) -> Any:
    if not isinstance(obj, tensor):
        return compile_time.run("getattr(...)", getattr, (obj, name, *default))
    if default and not _has_attribute(frame, obj, name):
        return default[0]
    return member_of(frame, None, obj, str(name))


def _has_attribute(frame: Frame, obj: Any, name: Any, /) -> bool:
    if isinstance(obj, tensor):
        return name in _ATTRIBUTES or name in _members()
    return bool(compile_time.run("hasattr(...)", hasattr, (obj, name)))


def _is_instance(frame: Frame, obj: Any, kinds: Any, /) -> bool:
    return compile_time.is_instance(obj, kinds)


def _type(frame: Frame, obj: Any, /) -> type:
    return tensor if isinstance(obj, tensor) else type(obj)


def _as_tuple(frame: Frame, *values: Any) -> Any:
    return compile_time.run("tuple(...)", tuple, values)


@cache
def _special() -> dict[Any, PythonFunction]:
    """The functions of Python that are more than computations on compile-time values."""
    meanings: dict[Any, Callable[..., Any]] = {
        builtins.len: _length,
        builtins.min: _extreme(ops.Min, builtins.min),
        builtins.max: _extreme(ops.Max, builtins.max),
        builtins.abs: _magnitude,
        builtins.int: _conversion(int, dtype("int32")),
        builtins.float: _conversion(float, dtype("fp32")),
        builtins.bool: _conversion(bool, dtype("int1")),
        builtins.print: _print,
        builtins.isinstance: _is_instance,
        builtins.getattr: _get_attribute,
        builtins.hasattr: _has_attribute,
        builtins.tuple: _as_tuple,
        builtins.list: _as_tuple,
        builtins.type: _type,
    }
    return {function: PythonFunction(function.__name__, apply) for function, apply in meanings.items()}
