"""Conversions that Triton would round twice, or has no operation for, in steps that are exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import Builder, Module, Op, ScalarType, TileType, Type, Value, dtype_of
from xdsl_core.ops import (
    BitCast,
    Cast,
    Ceil,
    Constant,
    Eq,
    Floor,
    Ge,
    Le,
    Lt,
    Max,
    Min,
    MulHi,
    Select,
    Sub,
    Trunc,
)
from xdsl_core.passes.conversions import is_exact
from xdsl_core.passes.definitions import name_of
from xdsl_gpu_triton.errors import not_exact

_NO_ROUNDING = "Triton's interpreter cuts the bits off instead of rounding to bf16"
# Ops that this pass replaces by others, so that they need no spelling.
TAKEN_APART = frozenset({name_of(Trunc), name_of(MulHi)})


@dataclass(frozen=True, slots=True)
class LowerCasts:
    """Leaves only conversions that Triton does in one rounding; saturation becomes bounds before the cast.

    It also takes apart what Triton lacks and simple ops express: truncation, and the high half of a signed
    product.

    Before:
        %1 = tile.cast %0 {to = dtype<bf16>} : tile<64xbf16>     (of i16)
    After:
        %2 = tile.cast %0 {to = dtype<f32>} : tile<64xf32>
        %1 = tile.cast %2 {to = dtype<bf16>} : tile<64xbf16>
    """

    interpreted: bool = False
    name: str = "lower-casts"

    def run(self, module: Module) -> None:
        """Change the module in place."""
        for op in list(module.walk()):
            if op.definition is Cast:
                if self.interpreted and op.attributes["to"] is dtypes.bf16:
                    raise not_exact(op, _NO_ROUNDING, "store f32, or run the kernel on a compiled target")
                _lower(op)
            elif op.definition is Trunc:
                _truncate(op)
            elif op.definition is MulHi and dtype_of(op.result.type).is_signed:
                _signed_high_half(op)


def is_direct(source: DType, target: DType) -> bool:
    """Whether Triton converts without a stop at f32 in between; fp8 numbers cannot be compared with zero."""
    if target.is_bool:
        return not (source.is_float and source.bits == 8)
    narrow = (dtypes.bf16, *(dtype for dtype in dtypes.ALL if dtype.is_float and dtype.bits == 8))
    if target in narrow:
        return source is dtypes.f32 or (source.is_float and source.bits == 16 and target.bits == 8)
    if source in narrow:
        return target is dtypes.f32
    return True


def is_one_rounding(source: DType, target: DType) -> bool:
    """Whether a conversion by way of f32, where Triton takes it, rounds once."""
    return is_direct(source, target) or is_exact(source, dtypes.f32) or is_exact(dtypes.f32, target)


def _lower(op: Op) -> None:
    value, target = op.operands[0], op.attributes["to"]
    source = dtype_of(value.type)
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    if op.attribute("saturate"):
        _replace(op, _saturated(builder, op, value, source, target))
        return
    if is_direct(source, target):
        _check_rounding(op, source, target)
        return
    if not is_one_rounding(source, target):
        raise not_exact(
            op,
            f"Triton converts {source} to {target} in two roundings",
            "cast to f32 first, if that is meant",
        )
    middle = builder.value(Cast, value, to=dtypes.f32)
    _replace(op, builder.value(Cast, middle, to=target, rounding=op.attribute("rounding")))


def _check_rounding(op: Op, source: DType, target: DType) -> None:
    toward_zero = op.attribute("rounding") == "rtz" and target.is_float
    if toward_zero and source is not dtypes.f32 and not is_exact(source, target):
        raise not_exact(op, "Triton rounds toward zero from f32 only", "cast to f32 first")


def _saturated(builder: Builder, op: Op, value: Value, source: DType, target: DType) -> Value:
    if not target.is_float and not source.is_float:
        return _cast(builder, _bounded(builder, value, source, target), target)
    if target.is_float:
        low, high = float(target.lowest), float(target.highest)
        bounded = value
        if source.is_float and source.highest > target.highest:
            bounded = builder.value(Max, bounded, _constant(builder, low, value.type), propagate_nan=True)
            bounded = builder.value(Min, bounded, _constant(builder, high, value.type), propagate_nan=True)
        elif source.is_float and source.highest == target.highest:
            raise not_exact(op, "saturation of infinities only", "use an ordinary cast and tl.where")
        return builder.value(Cast, bounded, to=target, rounding=op.attribute("rounding"))
    return _float_to_integer(builder, value, source, target)


def _float_to_integer(builder: Builder, value: Value, source: DType, target: DType) -> Value:
    """Clamps after the cast where a bound of the integers is no float of the source."""
    low, high = float(target.lowest), float(target.highest)
    wide = value.type
    zero = _constant(builder, 0.0, wide)
    number = builder.value(Select, builder.value(Eq, value, value), value, zero)
    above = builder.value(Ge, number, _constant(builder, _rounded(high, source), wide))
    below = builder.value(Le, number, _constant(builder, _rounded(low, source), wide))
    inside = builder.value(Select, above, zero, builder.value(Select, below, zero, number))
    result = builder.value(Cast, inside, to=target)
    top = _constant(builder, int(target.highest), result.type)
    bottom = _constant(builder, int(target.lowest), result.type)
    return builder.value(Select, above, top, builder.value(Select, below, bottom, result))


def _rounded(bound: float, dtype: DType) -> float:
    """The bound as a float of a dtype; beyond its range an infinity."""
    with np.errstate(all="ignore"):
        return float(np.asarray(bound).astype(dtype.numpy))


def _bounded(builder: Builder, value: Value, source: DType, target: DType) -> Value:
    if source.is_bool:
        return value
    if target.highest < source.highest:
        value = builder.value(Min, value, _constant(builder, int(target.highest), value.type))
    if target.lowest > source.lowest:
        value = builder.value(Max, value, _constant(builder, int(target.lowest), value.type))
    return value


def _cast(builder: Builder, value: Value, target: DType) -> Value:
    return builder.value(Cast, value, to=target)


def _constant(builder: Builder, number: Any, kind: Type) -> Value:
    assert isinstance(kind, TileType | ScalarType)
    return builder.value(Constant, value=number, type=kind)


def _replace(op: Op, new: Value) -> None:
    new.name = op.result.name
    op.result.replace_uses_with(new)
    op.erase()


def _truncate(op: Op) -> None:
    """Toward zero is up for negative numbers; -0.0 and NaN are not negative and stay what they are."""
    value = op.operands[0]
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    negative = builder.value(Lt, value, _constant(builder, 0.0, value.type))
    up, down = builder.value(Ceil, value), builder.value(Floor, value)
    _replace(op, builder.value(Select, negative, up, down))


def _signed_high_half(op: Op) -> None:
    """The high half of the product of the bits as unsigned numbers, less each factor where the other is
    negative.
    """
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    signed = dtype_of(op.result.type)
    unsigned = dtypes.BY_NAME[f"u{signed.bits}"]
    factors = [builder.value(BitCast, value, to=unsigned) for value in op.operands]
    high = builder.value(BitCast, builder.value(MulHi, *factors), to=signed)
    zero = _constant(builder, 0, op.result.type)
    for value, other in (op.operands, op.operands[::-1]):
        negative = builder.value(Lt, value, zero)
        high = builder.value(Sub, high, builder.value(Select, negative, other, zero))
    _replace(op, high)
