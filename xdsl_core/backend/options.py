"""Launch options: one frozen dataclass per backend, checked by name and type."""

from __future__ import annotations

import difflib
import operator
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, TypeVar

from xdsl_core.diagnostics import BackendError, Diagnostic, error


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options every backend knows; derive to add your own.

    `num_warps`, `num_stages`, `num_ctas` and `maxnreg` are Triton's and mean what they can on a chip
    (nothing, if need be). `debug` turns device-side assertions on and keeps the compiler's line information.
    Fields are bool, int, float, str, Literal, tuples of these, or one of them or None.
    """

    num_warps: int = 4
    num_stages: int = 2
    num_ctas: int = 1
    maxnreg: int | None = None
    debug: bool = False


OptionsType = TypeVar("OptionsType", bound=Options)


def make_options(kind: type[OptionsType], values: Mapping[str, Any], *, backend: str) -> OptionsType:
    """`kind` with `values`; BackendError X0606 for unknown names, X0607 for values of a wrong type."""
    hints = option_types(kind)
    found: list[Diagnostic] = []
    accepted: dict[str, Any] = {}
    for name, value in values.items():
        if name not in hints:
            found.append(unknown_option(name, hints, backend=backend))
            continue
        fits, accepted[name] = _fit(value, hints[name])
        if not fits:
            found.append(_wrong_type(name, value, hints[name], backend))
    if found:
        raise BackendError(found)
    return kind(**accepted)


def _option_types(kind: type[Options]) -> Mapping[str, Any]:
    hints = typing.get_type_hints(kind)
    return {item.name: hints[item.name] for item in fields(kind) if item.init}


# The options of a class: name to type.
option_types: Callable[[Any], Mapping[str, Any]] = cache(_option_types)


def unknown_option(name: str, known: Mapping[str, Any] | list[str], *, backend: str) -> Diagnostic:
    """The diagnostic for an option the backend does not have."""
    near = difflib.get_close_matches(name, list(known), n=1)
    help_ = f"did you mean {near[0]!r}?" if near else f"it knows {', '.join(known)}"
    return error("X0606", f"backend {backend} has no option {name!r}", help=help_)


def _wrong_type(name: str, value: Any, hint: Any, backend: str) -> Diagnostic:
    wanted = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
    return error(
        "X0607",
        f"option {name!r} of backend {backend} is {wanted}, not {value!r}",
        help=f"pass a value of type {wanted}",
    )


def _fit(value: Any, hint: Any) -> tuple[bool, Any]:
    """Whether `value` is of type `hint`, and the value as a plain Python one."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        tried = [_fit(value, choice) for choice in typing.get_args(hint)]
        return next((fit for fit in tried if fit[0]), (False, value))
    if origin is Literal:
        return value in typing.get_args(hint), value
    if origin is tuple:
        return _fit_tuple(value, typing.get_args(hint))
    if hint is type(None):
        return value is None, value
    if hint is Any:
        return True, value
    return _fit_scalar(value, hint)


def _fit_scalar(value: Any, hint: Any) -> tuple[bool, Any]:
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool, value
    if hint is int and hasattr(value, "__index__"):
        return True, operator.index(value)
    if hint is float and isinstance(value, (int, float)):
        return True, float(value)
    return isinstance(hint, type) and hint not in (int, float) and isinstance(value, hint), value


def _fit_tuple(value: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    if not isinstance(value, (tuple, list)):
        return False, value
    repeated = len(arguments) == 2 and arguments[1] is Ellipsis
    hints = (arguments[0],) * len(value) if repeated else arguments
    if len(hints) != len(value):
        return False, value
    fitted = [_fit(item, hint) for item, hint in zip(value, hints, strict=True)]
    return all(fits for fits, _ in fitted), tuple(item for _, item in fitted)
