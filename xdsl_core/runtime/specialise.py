"""From an argument's value to what the kernel is compiled for (Triton's rules of specialisation)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.diagnostics import Diagnostic, error
from xdsl_core.dtypes import DType
from xdsl_core.frontend.specs import ArgumentSpec, Constant, PointerSpec, ScalarSpec
from xdsl_core.language.types import dtype
from xdsl_core.language.values import constexpr, unwrap
from xdsl_core.runtime.composites import composite_spec, parts_of_argument
from xdsl_core.runtime.grid import ArgumentError
from xdsl_core.runtime.pointers import Rejected, adapter_of, named_dtype

_INTEGERS = (dtypes.i32, dtypes.i64, dtypes.u64)


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for an argument that was not given."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class ParameterRule:
    """How arguments of one parameter are treated.

    `dtype` is the annotated scalar type, if any. `specialise` is False where the value 1 and multiples of 16
    must not lead to another compilation, `specialise_alignment` where only the latter must not.
    """

    name: str
    constexpr: bool = False
    dtype: DType | None = None
    specialise: bool = True
    specialise_alignment: bool = True


def spec_of(value: Any, rule: ParameterRule) -> ArgumentSpec:
    """What the kernel is compiled for when `value` is passed; ArgumentError X0503 to X0510."""
    if value is MISSING:
        raise ArgumentError(_missing(rule))
    if rule.constexpr or isinstance(value, constexpr):
        return Constant(_hashable(unwrap(value), rule))
    if rule.dtype is not None and value is not None:
        return _annotated(value, rule, rule.dtype)
    if value is None or isinstance(value, (DType, dtype)) or hasattr(value, "dependency_key"):
        return Constant(value)
    parts = parts_of_argument(value)
    if parts is not None:
        return composite_spec(value, parts, lambda part: spec_of(part, rule), partial(_sized, rule))
    if isinstance(value, (bool, np.bool_)):
        return ScalarSpec(dtypes.i1)
    if isinstance(value, (int, np.integer)):
        return _integer(int(value), rule)
    if isinstance(value, (float, np.floating)):
        return ScalarSpec(dtypes.f32)
    return _pointer(value, rule)


def compile_spec(value: Any, rule: ParameterRule) -> ArgumentSpec:
    """As `spec_of`, but takes stand-ins too: specs, and a dtype for an aligned array of its elements."""
    if isinstance(value, (Constant, PointerSpec, ScalarSpec)):
        return value
    dtype = None if rule.constexpr else dtype_named_by(value)
    if dtype is None:
        return spec_of(value, rule)
    return PointerSpec(dtype, divisible_by_16=True) if rule.dtype is None else ScalarSpec(rule.dtype)


def dtype_named_by(value: Any) -> DType | None:
    """The dtype that an annotation or stand-in means (ours, the language's, numpy's, torch's), or None."""
    if isinstance(value, DType):
        return value
    row = getattr(value, "ir", None)
    if isinstance(row, DType):
        return row
    if isinstance(value, (str, np.dtype)) or type(value).__module__ == "torch":
        return named_dtype(str(value))
    return None


def constant_key(value: Any) -> Hashable:
    """A key equal only for constants that compile alike: 1, 1.0 and True differ, as do 0.0 and -0.0."""
    value = unwrap(value)
    if isinstance(value, float):
        return (float, repr(value))
    if isinstance(value, tuple):
        return (tuple, tuple(constant_key(item) for item in value))
    return (type(value), value)


def _hashable(value: Any, rule: ParameterRule) -> Hashable:
    try:
        hash(value)
    except TypeError:
        shown = f"{value!r:.60}"
        problem = error(
            "X0510",
            f"constexpr argument {rule.name!r} is {shown}, a {type(value).__name__}: it cannot be hashed",
            help="pass a tuple" if isinstance(value, list) else "pass a hashable value",
        )
        raise ArgumentError(problem) from None
    return value  # type: ignore[no-any-return]


def _integer(value: int, rule: ParameterRule) -> ArgumentSpec:
    if value == 1 and rule.specialise:
        return Constant(1)
    dtype = next((dtype for dtype in _INTEGERS if dtype.lowest <= value <= dtype.highest), None)
    if dtype is None:
        raise ArgumentError(_out_of_range(value, rule, "-2**63 to 2**64 - 1"))
    return ScalarSpec(dtype, _divisible(value, rule))


def _sized(rule: ParameterRule, value: int, bits: int) -> ScalarSpec:
    """An extent (32 bits) or a stride (64 bits) of a descriptor."""
    dtype = dtypes.i32 if bits == 32 else dtypes.i64
    if not dtype.lowest <= value <= dtype.highest:
        raise ArgumentError(_out_of_range(value, rule, f"{dtype.lowest} to {dtype.highest} ({dtype})"))
    return ScalarSpec(dtype, _divisible(value, rule))


def _divisible(value: int, rule: ParameterRule) -> bool:
    return rule.specialise and rule.specialise_alignment and value % 16 == 0


def scalar(value: Any, dtype: DType) -> Any:
    """A Python number of a dtype's kind and range for an annotated parameter, or None if `value` is none."""
    if not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        return None
    if dtype.is_float:
        return float(value)
    if isinstance(value, (float, np.floating)):
        return None
    number = int(value)
    return number if dtype.lowest <= number <= dtype.highest else None


def _annotated(value: Any, rule: ParameterRule, dtype: DType) -> ScalarSpec:
    number = scalar(value, dtype)
    if number is not None:
        return ScalarSpec(dtype, dtype.is_integer and _divisible(number, rule))
    if isinstance(value, (int, np.integer)):
        raise ArgumentError(_out_of_range(int(value), rule, f"{dtype.lowest} to {dtype.highest} ({dtype})"))
    shown = f"{value!r:.60}, of type {type(value).__name__}"
    problem = error(
        "X0509" if isinstance(value, (float, np.floating)) else "X0505",
        f"argument {rule.name!r} is {shown}; the parameter is annotated with {dtype}",
        help=f"pass a number of type {dtype}, or change the annotation",
    )
    raise ArgumentError(problem)


def _pointer(value: Any, rule: ParameterRule) -> PointerSpec:
    adapter = adapter_of(type(value))
    if adapter is None:
        raise ArgumentError(no_argument(value, rule.name))
    try:
        pointer = adapter.full(value, rule.name)
    except Rejected as problem:
        raise ArgumentError(problem.explain(rule.name)) from problem
    aligned = rule.specialise and rule.specialise_alignment and pointer.address % 16 == 0
    return PointerSpec(pointer.dtype, aligned)


def _missing(rule: ParameterRule) -> Diagnostic:
    kind = "constexpr argument" if rule.constexpr else "argument"
    return error("X0503", f"{kind} {rule.name!r} is missing", help=f"pass {rule.name}=...")


def _out_of_range(value: int, rule: ParameterRule, bounds: str) -> Diagnostic:
    return error(
        "X0509",
        f"argument {rule.name!r} is {value}",
        requires=f"a number from {bounds}",
        help="annotate the parameter with a wider type"
        if rule.dtype is not None
        else "pass a smaller number",
    )


def no_argument(value: Any, name: str) -> Diagnostic:
    """The diagnostic for a value that is neither an array nor a number."""
    sequence = isinstance(value, (list, tuple, bytearray, bytes, memoryview))
    fix = f"pass numpy.asarray({name})" if sequence else "pass an array or a number"
    return error(
        "X0505",
        f"argument {name!r} is {value!r:.60}, of type {type(value).__name__}",
        requires="an array (numpy, torch on the CPU, DLPack, __array_interface__, data_ptr), a number, None",
        help=fix,
    )
