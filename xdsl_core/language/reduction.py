"""Reductions and scans along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.dtypes import DType
from xdsl_core.ir import Block, Region
from xdsl_core.ir.types import Type, dtype_of, element_of, tile_or_scalar
from xdsl_core.language.builtin import Builtin, builtin
from xdsl_core.language.context import Context, describe, fail
from xdsl_core.language.semantics.conversion import cast
from xdsl_core.language.shape import checked_axis, insert_axis, reshape
from xdsl_core.language.types import dtype
from xdsl_core.language.values import tensor


def _row(function: str, source: tensor) -> DType:
    """The dtype of a tile of numbers. X0131 for pointers."""
    element = element_of(source.handle.type)
    if isinstance(element, DType):
        return element
    raise fail(
        "X0131", f"tl.{function} takes numbers", label=describe(source), help="load what they point to"
    )


def _widened(context: Context, function: str, source: tensor, asked: dtype | None) -> tensor:
    """Integers narrower than 32 bits as 32-bit ones of their sign, or anything as the dtype asked for."""
    row = _row(function, source)
    if asked is not None:
        return cast(context, source, asked.row)
    if row.is_integer and row.bits < 32:
        return cast(context, source, dtypes.i32 if row.is_signed else dtypes.u32)
    return source


def _flat(context: Context, source: tensor) -> tensor:
    return reshape.apply(context, (source, (source.numel,)), {})  # type: ignore[no-any-return]


def _along(
    context: Context,
    function: str,
    source: tensor,
    axis: int | None,
    keep_dims: bool,
    make: Callable[..., Any],
) -> Any:
    """The results of `make(source, axis)` with the reduced axes kept as extent 1 where asked for.

    All axes (None) are flattened into one. A scalar has nothing to reduce along.
    """
    rank = len(source.shape)
    if not rank:
        raise fail(
            "X0134", f"tl.{function} needs a tile", label=describe(source), help="a scalar has no axes"
        )
    if axis is None:
        flat = source if rank == 1 else _flat(context, source)
        results, kept = make(flat, 0), [0] * rank
    else:
        place = checked_axis(function, axis, rank)
        results, kept = make(source, place), [place]
    if not keep_dims:
        return results
    return _map(results, lambda result: _with_axes(context, result, kept))


def _map(results: Any, change: Callable[[tensor], tensor]) -> Any:
    return tuple(map(change, results)) if isinstance(results, tuple) else change(results)


def _with_axes(context: Context, result: tensor, axes: Sequence[int]) -> tensor:
    for axis in axes:
        result = insert_axis(context, result, axis)
    return result


@builtin(member=True)
def sum(
    context: Context,
    input: tensor,
    axis: int | None = None,
    keep_dims: bool = False,
    dtype: dtype | None = None,
) -> tensor:
    """The sum along an axis (None: of everything).

    Integers narrower than 32 bits, and bools, are summed as int32 or uint32 unless `dtype` says otherwise.
    """
    wide = _widened(context, "sum", input, dtype)
    return _along(  # type: ignore[no-any-return]
        context, "sum", wide, axis, keep_dims, lambda source, along: _sum(context, source, along)
    )


def _sum(context: Context, source: tensor, axis: int) -> tensor:
    # bools only reach this with dtype=tl.int1: their sum is one bit, which wraps
    definition = ops.ReduceXor if dtype_of(source.handle.type).is_bool else ops.ReduceSum
    return context.emit(definition, source, axis=axis)


def _extremum(name: str, reduction: Any, search: Any, word: str) -> Builtin:
    def apply(
        context: Context,
        input: tensor,
        axis: int | None = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        if return_indices:
            left = return_indices_tie_break_left
            return _search(context, name, search, input, axis, tie_break_left=left, keep_dims=keep_dims)
        row = _row(name, input)
        if row.bits < 32:
            input = cast(context, input, dtypes.f32 if row.is_float else dtypes.i32)
        return _along(
            context,
            name,
            input,
            axis,
            keep_dims,
            lambda source, along: context.emit(reduction, source, axis=along),
        )

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"""The {word} along an axis (None: of everything); NaN only where all are NaN.

    Numbers narrower than 32 bits are compared, and returned, as float32 or int32. With `return_indices` the
    result is the {word} and its index along the axis; of equal ones the first, with
    `return_indices_tie_break_left`.
    """
    return Builtin(apply, member=True)


def _search(
    context: Context,
    function: str,
    definition: Any,
    source: tensor,
    axis: int | None,
    *,
    tie_break_left: bool,
    keep_dims: bool,
) -> Any:
    def make(tile: tensor, along: int) -> tuple[tensor, ...]:
        row = _row(function, tile)
        numbers = cast(context, tile, dtypes.u8) if row.is_bool else tile
        op = context.build(definition, numbers, axis=along, tie_break_left=tie_break_left)
        value, index = map(tensor, op.results)
        return cast(context, value, row), index

    return _along(context, function, source, axis, keep_dims, make)


max = _extremum("max", ops.ReduceMax, ops.ArgMax, "largest element")
min = _extremum("min", ops.ReduceMin, ops.ArgMin, "smallest element")


@builtin(member=True)
def argmax(
    context: Context, input: tensor, axis: int | None, tie_break_left: bool = True, keep_dims: bool = False
) -> tensor:
    """The index (int32) of the largest element along an axis; of equal ones the first."""
    return _search(  # type: ignore[no-any-return]
        context, "argmax", ops.ArgMax, input, axis, tie_break_left=tie_break_left, keep_dims=keep_dims
    )[1]


@builtin(member=True)
def argmin(
    context: Context, input: tensor, axis: int | None, tie_break_left: bool = True, keep_dims: bool = False
) -> tensor:
    """The index (int32) of the smallest element along an axis; of equal ones the first."""
    return _search(  # type: ignore[no-any-return]
        context, "argmin", ops.ArgMin, input, axis, tie_break_left=tie_break_left, keep_dims=keep_dims
    )[1]


def _bits(name: str, definition: Any, word: str) -> Builtin:
    def apply(context: Context, input: tensor, axis: int | None = None, keep_dims: bool = False) -> tensor:
        if _row(name, input).is_float:
            raise fail(
                "X0131", f"tl.{name} takes integers and bools", label=describe(input), help="cast it first"
            )
        return _along(  # type: ignore[no-any-return]
            context,
            name,
            input,
            axis,
            keep_dims,
            lambda source, along: context.emit(definition, source, axis=along),
        )

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"The bitwise {word} of all elements along an axis (None: of everything)."
    return Builtin(apply, member=True)


xor_sum = _bits("xor_sum", ops.ReduceXor, "exclusive or")
reduce_or = _bits("reduce_or", ops.ReduceOr, "or")


def _combine(context: Context, function: str, sources: Sequence[tensor], combine: Any) -> Region:
    """The region that combines two elements: accumulator elements, then next ones."""
    types: list[Type] = [tile_or_scalar((), element_of(source.handle.type)) for source in sources]
    block = Block([*types, *types])
    arguments = [tensor(value) for value in block.arguments]
    with context.builder.at(block):
        results = context.call(combine, arguments, {})
        values = results if isinstance(results, tuple) else (results,)
        _check_combined(function, values, types)
        context.build(ops.Yield, values)
    return Region([block])


def _check_combined(function: str, values: tuple[Any, ...], types: Sequence[Type]) -> None:
    found = [value.handle.type if isinstance(value, tensor) else None for value in values]
    if found != list(types):
        expected = ", ".join(map(str, types))
        raise fail(
            "X0143",
            f"tl.{function}: the combine function must return {expected}",
            label=f"it returns {', '.join(map(describe, values))}",
            help="take a and b of the element type and return one value of it for each input",
        )


def _sources(function: str, input: Any) -> tuple[tensor, ...]:
    sources = input if isinstance(input, tuple) else (input,)
    if not sources or not all(isinstance(source, tensor) and source.shape for source in sources):
        raise fail(
            "X0115",
            f"tl.{function} needs a tile or a tuple of tiles",
            label=f"it got {input!r}",
            help="a scalar has nothing to combine; pass several tiles as (a, b)",
        )
    for source in sources:
        _row(function, source)
    if len({source.shape for source in sources}) > 1:
        raise fail(
            "X0122",
            f"tl.{function}: all tiles must have one shape",
            label=", ".join(map(describe, sources)),
            help="broadcast them first: a, b = tl.broadcast(a, b)",
        )
    return sources


@builtin(member=True)
def reduce(
    context: Context, input: Any, axis: int | None, combine_fn: Callable[..., Any], keep_dims: bool = False
) -> Any:
    """The elements along an axis combined two at a time by a jit function.

    `input` is a tile, or a tuple of tiles of one shape: the function then takes (a1, a2, ..., b1, b2, ...)
    and returns as many values. It should be associative.
    """
    sources = _sources("reduce", input)
    rank = len(sources[0].shape)
    place = 0 if axis is None else checked_axis("reduce", axis, rank)
    if axis is None and rank > 1:
        sources = tuple(_flat(context, source) for source in sources)
    region = _combine(context, "reduce", sources, combine_fn)
    op = context.build(ops.Reduce, sources, axis=place, regions=[region])
    results = tuple(map(tensor, op.results))
    if keep_dims:
        axes = [0] * rank if axis is None else [place]
        results = tuple(_with_axes(context, result, axes) for result in results)
    return results if isinstance(input, tuple) else results[0]


@builtin(member=True)
def associative_scan(
    context: Context, input: Any, axis: int, combine_fn: Callable[..., Any], reverse: bool = False
) -> Any:
    """The elements along an axis combined up to each one by a jit function; from the end with `reverse`."""
    sources = _sources("associative_scan", input)
    place = checked_axis("associative_scan", axis, len(sources[0].shape))
    region = _combine(context, "associative_scan", sources, combine_fn)
    op = context.build(ops.Scan, sources, axis=place, reverse=reverse, regions=[region])
    results = tuple(map(tensor, op.results))
    return results if isinstance(input, tuple) else results[0]


def _running(name: str, definition: Any, word: str) -> Builtin:
    def apply(
        context: Context,
        input: tensor,
        axis: int = 0,
        reverse: bool = False,
        dtype: dtype | None = None,
    ) -> tensor:
        source = _widened(context, name, input, dtype)
        place = checked_axis(name, axis, len(source.shape))
        return context.emit(definition, source, axis=place, reverse=reverse)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"""The {word} of all elements up to each one along an axis; from the end with `reverse`.

    Integers narrower than 32 bits, and bools, become int32 or uint32 unless `dtype` says otherwise.
    """
    return Builtin(apply, member=True)


cumsum = _running("cumsum", ops.CumSum, "sum")
cumprod = _running("cumprod", ops.CumProd, "product")
