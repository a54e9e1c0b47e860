"""Functions that work lane by lane and are no math functions."""

from __future__ import annotations

from xdsl_core import ops
from xdsl_core.ir.types import dtype_of
from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context
from xdsl_core.language.semantics import arithmetic, conversion
from xdsl_core.language.types import dtype
from xdsl_core.language.values import Operand, PropagateNan, tensor


@builtin
def add(context: Context, x: Operand, y: Operand, sanitize_overflow: bool = True) -> tensor:
    """x + y. Integers wrap; `sanitize_overflow` is accepted and has no effect."""
    return arithmetic.add(context, x, y)


@builtin
def sub(context: Context, x: Operand, y: Operand, sanitize_overflow: bool = True) -> tensor:
    """x - y. Integers wrap; `sanitize_overflow` is accepted and has no effect."""
    return arithmetic.sub(context, x, y)


@builtin
def mul(context: Context, x: Operand, y: Operand, sanitize_overflow: bool = True) -> tensor:
    """x * y. Integers wrap; `sanitize_overflow` is accepted and has no effect."""
    return arithmetic.mul(context, x, y)


@builtin(member=True)
def logical_and(context: Context, x: tensor, y: Operand) -> tensor:
    """Both hold, lane by lane."""
    return arithmetic.logical_and(context, x, y)  # type: ignore[no-any-return]


@builtin(member=True)
def logical_or(context: Context, x: tensor, y: Operand) -> tensor:
    """At least one holds, lane by lane."""
    return arithmetic.logical_or(context, x, y)  # type: ignore[no-any-return]


@builtin
def where(context: Context, condition: tensor, x: Operand, y: Operand) -> tensor:
    """x where the condition holds, else y. Both are evaluated: a mask is what keeps loads off memory."""
    return arithmetic.select(context, condition, x, y)


@builtin
def minimum(
    context: Context, x: Operand, y: Operand, propagate_nan: PropagateNan = PropagateNan.NONE
) -> tensor:
    """The smaller of x and y. A number wins over NaN, unless `propagate_nan` is `tl.PropagateNan.ALL`."""
    return arithmetic.extremum(context, ops.Min, x, y, propagate_nan)


@builtin
def maximum(
    context: Context, x: Operand, y: Operand, propagate_nan: PropagateNan = PropagateNan.NONE
) -> tensor:
    """The larger of x and y. A number wins over NaN, unless `propagate_nan` is `tl.PropagateNan.ALL`."""
    return arithmetic.extremum(context, ops.Max, x, y, propagate_nan)


@builtin
def clamp(
    context: Context,
    x: Operand,
    min: Operand,
    max: Operand,
    propagate_nan: PropagateNan = PropagateNan.NONE,
) -> tensor:
    """x limited to min..max. NaN in x becomes min, unless `propagate_nan` is `tl.PropagateNan.ALL`."""
    value, low, high = arithmetic.unify(context, x, min, max)
    if dtype_of(value.handle.type).is_float:
        every = propagate_nan is PropagateNan.ALL
        return context.emit(ops.Clamp, value, low, high, propagate_nan=every)
    raised = arithmetic.extremum(context, ops.Max, value, low, propagate_nan)
    return arithmetic.extremum(context, ops.Min, raised, high, propagate_nan)


@builtin(member=True)
def cast(
    context: Context,
    input: tensor,
    dtype: dtype,
    fp_downcast_rounding: str | None = None,
    bitcast: bool = False,
) -> tensor:
    """The values as another dtype; with `bitcast` the same bits.

    `fp_downcast_rounding` is "rtne" (nearest, ties to even; the default) or "rtz" (toward zero), for casts to
    a narrower float.
    """
    target = conversion.element_type(dtype.scalar)
    if bitcast:
        return conversion.bitcast(context, input, target)
    return conversion.cast(context, input, target, fp_downcast_rounding)


@builtin(member=True)
def to(
    context: Context,
    input: tensor,
    dtype: dtype,
    fp_downcast_rounding: str | None = None,
    bitcast: bool = False,
) -> tensor:
    """The method form of `cast`: `x.to(tl.float16)`."""
    return cast.implementation(  # type: ignore[no-any-return]
        context, input, dtype, fp_downcast_rounding, bitcast
    )
