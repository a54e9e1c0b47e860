"""Matrix products."""

from __future__ import annotations

from math import prod

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir.types import element_of
from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.conversion import cast, constant
from xdsl_core.language.shape import reshape
from xdsl_core.language.types import dtype
from xdsl_core.language.values import tensor

PRECISIONS = ("ieee", "tf32", "tf32x3")
# dtype of the operands -> dtype of the sum, where the author cannot choose
_SUMS = {
    dtypes.i8: dtypes.i32,
    dtypes.u8: dtypes.i32,
    dtypes.f32: dtypes.f32,
    dtypes.bf16: dtypes.f32,
    dtypes.f64: dtypes.f64,
}


@builtin
def dot(  # noqa: PLR0917 (Triton's signature)
    context: Context,
    input: tensor,
    other: tensor,
    acc: tensor | None = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: dtype | None = None,
) -> tensor:
    """The matrix product of an (M, K) and a (K, N) tile, added to `acc`; more leading axes make a batch.

    Products of int8 are summed in int32, those of float64 in float64, all others in float32. `out_dtype` may
    ask for float16 where the operands are float16 or fp8: the float32 sum is then rounded once.
    `input_precision` is "ieee", "tf32" or "tf32x3" and concerns float32 operands; `max_num_imprecise_acc` is
    accepted and has no effect.
    """
    precision = _precision(input_precision, allow_tf32)
    row = _operand_dtype(input, other)
    result_shape = _shape(input, other, acc)
    result = _result_dtype(row, acc, out_dtype)
    if row is dtypes.f8e4m3b11fnuz:
        input, other = (cast(context, value, dtypes.f16) for value in (input, other))
    total = dtypes.f32 if result is dtypes.f16 else result
    start = constant(context, 0, total, result_shape) if acc is None else cast(context, acc, total)
    batch = result_shape[:-2]
    if len(batch) > 1:
        input, other, start = (
            reshape.implementation(context, value, (prod(batch), *value.shape[-2:]))
            for value in (input, other, start)
        )
    # a precision says something about f32 operands only
    chosen = precision if row is dtypes.f32 else PRECISIONS[0]
    product = context.emit(ops.Dot, input, other, start, precision=chosen)
    if len(batch) > 1:
        product = reshape.implementation(context, product, result_shape)
    return cast(context, product, result)


def _precision(input_precision: str | None, allow_tf32: bool | None) -> str:
    if input_precision is None:
        # Triton allows tf32 only where the hardware has it; a result in full f32 is always allowed
        return PRECISIONS[0]
    if allow_tf32 is not None:
        raise fail(
            "X0138", "tl.dot: input_precision and allow_tf32 exclude each other", help="set one of them"
        )
    if input_precision.lower() not in PRECISIONS:
        choices = ", ".join(map(repr, PRECISIONS))
        raise fail(
            "X0138", f"tl.dot: input_precision {input_precision!r} does not exist", help=f"one of: {choices}"
        )
    return input_precision.lower()


def _operand_dtype(left: tensor, right: tensor) -> DType:
    """The dtype of both operands (of the left one where two fp8 formats meet). X0137 where they differ."""
    rows = [element_of(operand.handle.type) for operand in (left, right)]
    label = f"{describe(left)}, {describe(right)}"
    for row in rows:
        if not isinstance(row, DType) or not (row in _SUMS or (row.is_float and row.bits <= 16)):
            raise fail(
                "X0137",
                "tl.dot takes int8, uint8, fp8, float16, bfloat16, float32 and float64",
                label=label,
                help="cast the operands",
            )
    first, second = rows
    assert isinstance(first, DType)
    assert isinstance(second, DType)
    if first is not second and not (first.is_float and second.is_float and first.bits == second.bits == 8):
        raise fail(
            "X0137",
            f"tl.dot needs operands of one dtype, not {first} and {second}",
            label=label,
            help="cast one of them, for example b.to(a.dtype)",
        )
    return first


def _shape(left: tensor, right: tensor, acc: tensor | None) -> tuple[int, ...]:
    label = f"{describe(left)}, {describe(right)}"
    if len(left.shape) != len(right.shape) or len(left.shape) < 2:
        raise fail(
            "X0137",
            "tl.dot needs two tiles of the same rank, at least 2",
            label=label,
            help="add axes with x[:, None]; a product of vectors is tl.sum(x * y)",
        )
    if left.shape[:-2] != right.shape[:-2]:
        raise fail(
            "X0137", "tl.dot: the batch extents differ", label=label, help="broadcast one operand first"
        )
    if left.shape[-1] != right.shape[-2]:
        hint = "transpose the right one: tl.trans(b)" if left.shape[-1] == right.shape[-1] else ""
        hint = hint or "the left operand is (M, K), the right one (K, N)"
        raise fail(
            "X0137",
            f"tl.dot: the inner extents differ ({left.shape[-1]} and {right.shape[-2]})",
            label=label,
            help=hint,
        )
    shape = (*left.shape[:-1], right.shape[-1])
    if acc is not None and acc.shape != shape:
        raise fail(
            "X0137",
            f"tl.dot: the accumulator must have shape {list(shape)}",
            label=describe(acc),
            help=f"make it with tl.zeros({list(shape)}, ...)",
        )
    return shape


def _result_dtype(row: DType, acc: tensor | None, asked: dtype | None) -> DType:
    """The dtype of the result, which an accumulator must have too. X0137 otherwise."""
    held = None if acc is None else element_of(acc.handle.type)
    result = _SUMS.get(row)
    if result is None:
        wanted = asked.row if asked is not None else held
        result = wanted if isinstance(wanted, DType) else dtypes.f32
        if result not in (dtypes.f32, dtypes.f16):
            raise fail(
                "X0137",
                f"tl.dot of {row} gives float32 or float16, not {result}",
                help="use out_dtype=tl.float32 and cast the result",
            )
    elif asked is not None and asked.row is dtypes.bf16:
        raise fail(
            "X0137",
            f"tl.dot of {row} cannot give bfloat16",
            help="leave out_dtype out and cast the result: .to(tl.bfloat16)",
        )
    if held is not None and held is not result:
        raise fail(
            "X0137",
            f"tl.dot of {row} needs an accumulator of {result}",
            label=f"the accumulator holds {held}",
            help=f"make it with tl.zeros(..., dtype=tl.{result.triton}), or cast it",
        )
    return result
