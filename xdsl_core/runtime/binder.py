"""The launch path of a kernel as generated Python: Python binds the arguments, one dict finds the code.

The generated function looks at each argument only as far as another compilation could depend on it: an
array's dtype and alignment, an integer's width and divisibility, a constexpr's value. These make the key of
an entry; a known key is launched at once, anything else goes to `table.specialise`, which also raises for
what cannot be an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from xdsl_core.dtypes import DType
from xdsl_core.language.values import constexpr, unwrap
from xdsl_core.runtime.composites import composite_key, parts_of_argument
from xdsl_core.runtime.grid import call_grid
from xdsl_core.runtime.pointers import Adapter, Rejected, adapter_of, address_reader
from xdsl_core.runtime.specialise import MISSING, ParameterRule, constant_key, scalar

# How arrays of a class become address and key.
Quick: TypeAlias = "dict[type, Callable[[Any], tuple[int, object]]]"
# The key of what is no argument: never in a table, so that the launch goes on to the error.
_REJECTED = "rejected"

# Code for one parameter: {p} is its name, {i} its index; _x_v{i} is launched with, _x_k{i} is its part of the
# key. No name of a parameter begins with _x_.
_CONSTEXPR = """
        _x_k{i} = {p} if {p}.__class__ is _x_int else _x_constant({p})"""
_FREE = """
        _x_class = {p}.__class__
        if _x_class is _x_ndarray:
            _x_v{i} = _x_address({p})
            _x_k{i} = {p}.dtype if _x_v{i} & 15 == 0 else ({p}.dtype,)
        elif _x_class is _x_int:
            _x_v{i} = {p}
            _x_k{i} = {integer}
        elif _x_class is _x_float:
            _x_v{i} = {p}
            _x_k{i} = 'float'
        elif _x_class in _x_quick:
            _x_v{i}, _x_k{i} = _x_quick[_x_class]({p})
        else:
            _x_v{i}, _x_k{i} = _x_other({p})"""
_ANNOTATED_INTEGER = """
        if {p}.__class__ is _x_int and {lowest} <= {p} <= {highest}:
            _x_v{i} = {p}
            _x_k{i} = 0 if {p} & 15 else 1
        else:
            _x_v{i}, _x_k{i} = _x_convert{i}({p})"""
_ANNOTATED = """
        _x_v{i}, _x_k{i} = _x_convert{i}({p})"""
_INTEGER = (
    "1 if {p} == 1 else (32 if -2147483648 <= {p} <= 2147483647 else _x_wide({p})) + (0 if {p} & 15 else 1)"
)
_INTEGER_PLAIN = "32 if -2147483648 <= {p} <= 2147483647 else _x_wide({p})"
_LAUNCH = """
def launch(_x_table, _x_grid, /, {signature}*_x_extra, **_x_options):
    try:{parameters}
        _x_key = ({key})
        if _x_extra or _x_options:
            _x_key = _x_extended(_x_key, _x_extra, _x_options)
        for _x_names, _x_name, _x_bound in _x_table.guards:
            if _x_names.get(_x_name) is not _x_bound:
                _x_table.renew()
        _x_entry = _x_table.get(_x_key)
    except _x_Unusable:
        _x_entry = _x_key = None
    if _x_grid.__class__ is _x_tuple and _x_len(_x_grid) == 1 and _x_grid[0].__class__ is _x_int \\
            and 0 < _x_grid[0] <= 2147483647:
        _x_extents = (_x_grid[0], 1, 1)
    else:
        if _x_callable(_x_grid):
            _x_grid = _x_call_grid(_x_grid, {{{meta}**_x_options}})
        _x_extents = _x_table.extents(_x_grid)
        if _x_extents is None:
            return None
    _x_arguments = ({arguments})
    if _x_entry is None:
        _x_entry = _x_table.specialise(_x_key, _x_arguments, _x_extra, _x_options)
        if _x_entry is None:
            return None
    for _x_output in _x_entry.outputs:
        _x_array = _x_arguments[_x_output]
        if _x_array.__class__ is not _x_ndarray or not _x_array.flags.writeable:
            _x_entry.require_writable(_x_array, _x_output)
    if _x_entry.direct is None or _x_entry.watchers:
        return _x_entry.observed(_x_extents, _x_arguments)
    if _x_entry.objects is not None:
        _x_entry.direct(_x_extents, _x_entry.objects(_x_arguments + ({values})))
    elif _x_entry.pick is None:
        _x_entry.direct(_x_extents, ({values}))
    else:
        _x_entry.direct(_x_extents, _x_entry.pick(({values})))
    return _x_entry.kernel
"""


def make_launch(name: str, rules: Sequence[ParameterRule], defaults: Mapping[str, Any]) -> Callable[..., Any]:
    """The launch function of a kernel: `launch(table, grid, *args, **meta)`.

    `rules` are its parameters in order, `defaults` the values of those that have one.
    """
    indexed = list(enumerate(rules))
    text = _LAUNCH.format(
        signature="".join(f"{rule.name}=_x_default{i}, " for i, rule in indexed),
        parameters="".join(_parameter_code(i, rule) for i, rule in indexed),
        key="".join(f"_x_k{i}, " for i, _ in indexed),
        meta="".join(f"'{rule.name}': {rule.name}, " for rule in rules),
        arguments="".join(f"{rule.name}, " for rule in rules),
        values="".join(f"_x_v{i}, " for i, rule in indexed if not rule.constexpr),
    )
    namespace = _shared_names()
    for i, rule in indexed:
        namespace[f"_x_default{i}"] = defaults.get(rule.name, MISSING)
        if rule.dtype is not None:
            namespace[f"_x_convert{i}"] = partial(convert, rule.dtype)
    exec(compile(text, f"<launch of {name}>", "exec"), namespace)
    launch: Callable[..., Any] = namespace["launch"]
    # the name that Python's own errors of a call show
    launch.__qualname__ = name
    return launch


def _parameter_code(index: int, rule: ParameterRule) -> str:
    if rule.constexpr:
        return _CONSTEXPR.format(p=rule.name, i=index)
    if rule.dtype is None:
        plain = not (rule.specialise and rule.specialise_alignment)
        integer = (_INTEGER_PLAIN if plain else _INTEGER).format(p=rule.name)
        if rule.specialise and plain:
            integer = f"1 if {rule.name} == 1 else {integer}"
        return _FREE.format(p=rule.name, i=index, integer=integer)
    low, high = rule.dtype.lowest, rule.dtype.highest
    template = _ANNOTATED_INTEGER if rule.dtype.is_integer and not rule.dtype.is_bool else _ANNOTATED
    return template.format(p=rule.name, i=index, lowest=low, highest=high)


def _shared_names() -> dict[str, Any]:
    quick: Quick = {}
    return {
        "_x_int": int,
        "_x_float": float,
        "_x_tuple": tuple,
        "_x_len": len,
        "_x_callable": callable,
        "_x_Unusable": (TypeError, ValueError, Rejected),
        "_x_ndarray": np.ndarray,
        "_x_address": address_reader(),
        "_x_constant": constant_key,
        "_x_wide": wide_key,
        "_x_quick": quick,
        "_x_other": partial(other, quick=quick),
        "_x_extended": extended_key,
        "_x_call_grid": call_grid,
    }


def wide_key(value: int) -> int:
    """The key of an integer that does not fit 32 bits: signed 64, unsigned 64, or neither."""
    if -(2**63) <= value < 2**63:
        return 64
    return 128 if 0 <= value < 2**64 else 256


def extended_key(key: tuple[Any, ...], extra: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """The key of a launch with options; arguments too many make a key that is in no table."""
    if extra:
        return (_REJECTED,)
    return (key, tuple((name, constant_key(options[name])) for name in sorted(options)))


def other(value: Any, *, quick: Quick | None = None) -> tuple[Any, Any]:
    """Launch value and key of an argument that is no plain int, float or numpy array.

    `quick` learns the way of classes of arrays, so that their next argument comes there directly.
    """
    if value is None or value is MISSING:
        return None, "none" if value is None else _REJECTED
    if isinstance(value, constexpr):
        return None, (constexpr, constant_key(value))
    if isinstance(value, (bool, np.bool_)):
        return bool(value), "bool"
    if isinstance(value, (int, np.integer)):
        number = int(value)
        narrow = 32 if -(2**31) <= number < 2**31 else wide_key(number)
        return number, ("int", number == 1, narrow, number & 15 == 0)
    if isinstance(value, (float, np.floating)):
        return float(value), "float"
    parts = parts_of_argument(value)
    if parts is not None:
        pairs = [other(part) for part in parts]
        return tuple(part for part, _ in pairs), composite_key(value, [key for _, key in pairs])
    adapter = adapter_of(type(value))
    return (None, constant_key(value)) if adapter is None else _array(value, adapter, quick)


def _array(value: Any, adapter: Adapter, quick: Quick | None) -> tuple[Any, Any]:
    try:
        found = adapter.quick(value)
    except Rejected:
        return None, _REJECTED
    if quick is not None:
        quick[type(value)] = adapter.quick
    return found


def convert(dtype: DType, value: Any) -> tuple[Any, Any]:
    """Launch value and key of an argument whose parameter is annotated with a scalar type."""
    value = unwrap(value)
    if value is None or value is MISSING:
        return None, "none" if value is None else _REJECTED
    number = scalar(value, dtype)
    if number is None:
        return None, _REJECTED
    return number, 0 if dtype.is_float or number & 15 else 1
