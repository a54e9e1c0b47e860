"""Tiles whose extents are no powers of two are padded, and what the padding holds is kept out of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from xdsl_core import dtypes, ops
from xdsl_core.diagnostics import Location
from xdsl_core.dtypes import DType
from xdsl_core.ir import (
    BOOL,
    Block,
    Builder,
    Function,
    Module,
    Op,
    PointerType,
    Region,
    ScalarType,
    TileType,
    Type,
    Value,
    clone_op,
    dtype_of,
)
from xdsl_core.passes.definitions import name_of
from xdsl_gpu_triton.dialect import Gather
from xdsl_gpu_triton.errors import not_exact

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PadExtents:
    """Rounds every extent up to a power of two.

    Lanes beyond the extent are computed but reach nothing: accesses are masked, reductions and products see
    numbers there that do not change them; a reshape to rows of another length gathers its elements.

    Before:
        %0 = tile.arange {start = 0, end = 48} : tile<48xi32>
        %1 = memory.load (%p + %0) : tile<48xf32>
    After:
        %0 = tile.arange {start = 0, end = 64} : tile<64xi32>
        %2 = tile.lt (tile.arange {start = 0, end = 64}), 48 : tile<64xi1>
        %1 = memory.load (%p + %0), mask = %2 : tile<64xf32>
    """

    name: str = "pad-extents"

    def run(self, module: Module) -> None:
        """Change the module in place."""
        for function in module.functions.values():
            if any(not _is_padded(value.type) for op in function.walk() for value in op.results):
                _spell_ranges_out(function)
                _Padding().run(function)


def padded(shape: Shape) -> Shape:
    """The shape with extents that are powers of two."""
    return tuple(1 << (extent - 1).bit_length() for extent in shape)


def _is_padded(kind: Type) -> bool:
    return not isinstance(kind, TileType) or padded(kind.shape) == kind.shape


def _spell_ranges_out(function: Function) -> None:
    """A range in another shape becomes a sum of ranges along its axes, which padding does not disturb."""
    for op in list(function.walk()):
        source = op.operands[0].defining_op if op.definition is ops.Reshape else None
        if source is None or source.definition is not ops.Arange:
            continue
        assert op.block is not None
        builder = Builder(op.block, before=op, location=op.location)
        shape, start = op.attributes["shape"], source.attributes["start"]
        total = _full(builder, start, TileType(shape, dtypes.i32))
        for axis, extent in enumerate(shape):
            if extent > 1:
                lanes = _along(builder, axis, extent, shape)
                stride = _full(builder, math.prod(shape[axis + 1 :]), lanes.type)
                total = builder.value(ops.Add, total, builder.value(ops.Mul, lanes, stride))
        total.name = op.result.name
        op.result.replace_uses_with(total)
        op.erase()


def _full(builder: Builder, number: Any, kind: Type) -> Value:
    assert isinstance(kind, TileType | ScalarType)
    return builder.value(ops.Constant, value=number, type=kind)


def _along(builder: Builder, axis: int, extent: int, shape: Shape) -> Value:
    """The number of each lane along an axis, in a shape."""
    lanes = builder.value(ops.Arange, start=0, end=extent)
    for other in range(len(shape)):
        if other != axis:
            lanes = builder.value(ops.ExpandDims, lanes, axis=other)
    return lanes if len(shape) == 1 else builder.value(ops.Broadcast, lanes, shape=shape)


@dataclass(slots=True)
class _Padding:
    """The shapes that values had before they were padded."""

    shapes: dict[Value, Shape] = field(default_factory=dict)
    # reshapes between rows of different lengths: the shapes before and after
    moved: dict[Op, tuple[Shape, Shape]] = field(default_factory=dict)

    def run(self, function: Function) -> None:
        listed = list(function.walk())
        for op in listed:
            for value in (
                *op.results,
                *(v for region in op.regions for b in region.blocks for v in b.arguments),
            ):
                if isinstance(value.type, TileType):
                    self.shapes[value] = value.type.shape
        for op in listed:
            _BEFORE.get(op.name, _keep)(self, op)
        for value, shape in self.shapes.items():
            assert isinstance(value.type, TileType)
            value.type = TileType(padded(shape), value.type.element)
        for op in listed:
            _AFTER.get(op.name, _keep)(self, op)

    def shape(self, value: Value) -> Shape:
        return self.shapes.get(value, ())

    def replace(self, old: Value, new: Value) -> None:
        """Puts a value in the place of another one, shape and name included."""
        self.shapes[new] = self.shape(old)
        new.name = old.name
        old.replace_uses_with(new)

    def inside(self, builder: Builder, shape: Shape, axes: Sequence[int] | None = None) -> Value | None:
        """Which lanes of a padded tile are in the tile, looking along `axes`; None if all are."""
        whole, found = padded(shape), None
        for axis in range(len(shape)) if axes is None else axes:
            if whole[axis] != shape[axis]:
                lanes = _along(builder, axis, whole[axis], whole)
                here = builder.value(ops.Lt, lanes, _full(builder, shape[axis], lanes.type))
                found = here if found is None else builder.value(ops.And, found, here)
        return found

    def fill(self, op: Op, index: int, number: Any, axes: Sequence[int]) -> None:
        """Puts a number into the lanes beyond an operand's extents along some axes."""
        value = op.operands[index]
        assert op.block is not None
        builder = Builder(op.block, before=op, location=op.location)
        inside = self.inside(builder, self.shape(value), axes)
        if inside is not None:
            op.set_operand(
                index, builder.value(ops.Select, inside, value, _full(builder, number, value.type))
            )


def _keep(padding: _Padding, op: Op) -> None:
    """Most ops work lane by lane, or carry lanes to where their padding is expected."""


def _pad_type(padding: _Padding, op: Op) -> None:
    kind = op.attributes["type"]
    if isinstance(kind, TileType):
        op.attributes["type"] = TileType(padded(kind.shape), kind.element)


def _pad_range(padding: _Padding, op: Op) -> None:
    start, end = op.attributes["start"], op.attributes["end"]
    op.attributes["end"] = start + padded((end - start,))[0]


def _pad_shape(padding: _Padding, op: Op) -> None:
    op.attributes["shape"] = padded(op.attributes["shape"])


def _pad_reshape(padding: _Padding, op: Op) -> None:
    before, after = padding.shape(op.operands[0]), op.attributes["shape"]
    plain = padded(before) == before and padded(after) == after
    if not plain and [e for e in before if e > 1] != [e for e in after if e > 1]:
        padding.moved[op] = (before, after)
    op.attributes["shape"] = padded(after)


def _gather_reshape(padding: _Padding, op: Op) -> None:
    """Rows of different length do not lie alike once they are padded: elements are picked one by one."""
    if op not in padding.moved:
        return
    before, after = padding.moved[op]
    source, kind = op.operands[0], op.result.type
    assert isinstance(source.type, TileType)
    assert isinstance(kind, TileType)
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    places = _places(builder, before, after)
    element, carrier = source.type.element, _carrier(source.type.element)
    if isinstance(element, PointerType):
        source = builder.value(ops.PointerToInt, source)
    elif carrier is not element:
        source = builder.value(ops.Cast, source, to=carrier)
    flat = builder.value(ops.Reshape, source, shape=(math.prod(padded(before)),))
    index = builder.value(ops.Reshape, places, shape=(math.prod(padded(after)),))
    found = builder.value(ops.Reshape, builder.value(Gather, flat, index), shape=padded(after))
    if isinstance(element, PointerType):
        found = builder.value(ops.IntToPointer, found, pointee=element.pointee)
    elif carrier is not element:
        found = builder.value(ops.Cast, found, to=element)
    padding.replace(op.result, found)
    op.erase()


def _carrier(element: Any) -> Any:
    """The dtype that elements are gathered in."""
    return dtypes.i8 if element is dtypes.i1 else element


def _places(builder: Builder, before: Shape, after: Shape) -> Value:
    """For each lane of the padded `after` the place in the flat padded `before` that holds its element."""
    whole, source = padded(after), padded(before)
    kind = TileType(whole, dtypes.i32)
    rest = _full(builder, 0, kind)
    for axis in range(len(after)):
        stride = _full(builder, math.prod(after[axis + 1 :]), kind)
        lanes = _along(builder, axis, whole[axis], whole)
        rest = builder.value(ops.Add, rest, builder.value(ops.Mul, lanes, stride))
    place = _full(builder, 0, kind)
    for axis in reversed(range(len(before))):
        extent = _full(builder, before[axis], kind)
        stride = _full(builder, math.prod(source[axis + 1 :]), kind)
        lane = builder.value(ops.Rem, rest, extent)
        rest = builder.value(ops.Div, rest, extent)
        place = builder.value(ops.Add, place, builder.value(ops.Mul, lane, stride))
    return place


def _mask_access(padding: _Padding, op: Op) -> None:
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    inside = padding.inside(builder, padding.shape(op.operand("pointer")))
    if inside is None:
        return
    mask = op.optional("mask")
    op.set_group("mask", (inside if mask is None else builder.value(ops.And, mask, inside),))


def _refuse_unmasked(padding: _Padding, op: Op) -> None:
    shape = padding.shape(op.operand("pointer"))
    if padded(shape) != shape:
        raise not_exact(op, "Triton has no mask for it", "use extents that are powers of two")


def _refuse_print(padding: _Padding, op: Op) -> None:
    for value in op.operands:
        if padded(padding.shape(value)) != padding.shape(value):
            raise not_exact(op, "the padding would be printed", "use extents that are powers of two")


def _mask_assertion(padding: _Padding, op: Op) -> None:
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    inside = padding.inside(builder, padding.shape(op.operand("condition")))
    if inside is not None:
        mask = op.optional("mask")
        op.set_group("mask", (inside if mask is None else builder.value(ops.And, mask, inside),))


def _neutral(definition: Any, dtype: DType, *, nan: bool) -> Any:
    """The number that changes no result of a reduction."""
    lowest = -math.inf if dtype.is_float and dtype.bits > 8 else dtype.lowest
    highest = math.inf if dtype.is_float and dtype.bits > 8 else dtype.highest
    # where numbers win over NaN, NaN changes nothing, not even a row of NaN
    if dtype.is_float and not nan and definition in _EXTREMES:
        return math.nan
    ones = -1 if dtype.is_signed else dtype.highest
    found = {
        name_of(ops.ReduceSum): 0,
        name_of(ops.ReduceProd): 1,
        name_of(ops.ReduceMax): lowest,
        name_of(ops.ReduceMin): highest,
        name_of(ops.ArgMax): lowest,
        name_of(ops.ArgMin): highest,
        name_of(ops.ReduceXor): 0,
        name_of(ops.ReduceOr): 0,
        name_of(ops.ReduceAnd): ones,
        name_of(ops.CumSum): 0,
        name_of(ops.CumProd): 1,
    }[name_of(definition)]
    if dtype.is_bool:
        return bool(found)
    return float(found) if dtype.is_float else int(found)


_EXTREMES = (ops.ReduceMax, ops.ReduceMin, ops.ArgMax, ops.ArgMin)


def _fill_reduction(padding: _Padding, op: Op) -> None:
    nan = any(s.name == "propagate_nan" for s in op.definition.attribute_schema) and op.attribute(
        "propagate_nan"
    )
    number = _neutral(op.definition, dtype_of(op.operands[0].type), nan=bool(nan))
    padding.fill(op, 0, number, [op.attributes["axis"]])


def _fill_scan(padding: _Padding, op: Op) -> None:
    """Lanes beyond the end come first when walking backwards, and after all others when not."""
    if op.attribute("reverse"):
        _fill_reduction(padding, op)


def _flag_lanes(padding: _Padding, op: Op) -> None:
    """Has the function of a reduction skip lanes beyond the end: a further source says which they are."""
    sources, axis = op.operands, op.attributes["axis"]
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    inside = padding.inside(builder, padding.shape(sources[0]), [axis])
    if inside is None or (op.definition is ops.Scan and not op.attribute("reverse")):
        return
    combine = _skipping(op.region("combine"), op.location)
    new = builder.build(op.definition, (*sources, inside), regions=(combine,), **op.attributes)
    for old, value in zip(op.results, new.results, strict=False):
        padding.replace(old, value)
    op.erase()


def _skipping(combine: Region, location: Location) -> Region:
    """The combine function for elements with a flag; of an element and one that does not count, the
    element.
    """
    old = combine.block
    count = len(old.arguments) // 2
    kinds = [value.type for value in old.arguments]
    names = [value.name for value in old.arguments]
    block = Block(
        [*kinds[:count], BOOL, *kinds[count:], BOOL],
        [*names[:count], "counts", *names[count:], "next_counts"],
    )
    before, counts = block.arguments[:count], block.arguments[count]
    after, next_counts = block.arguments[count + 1 : -1], block.arguments[-1]
    mapping = dict(zip(old.arguments, (*before, *after), strict=True))
    for op in old.ops[:-1]:
        block.append(clone_op(op, mapping))
    builder = Builder(block, location=location)
    both = builder.value(ops.And, counts, next_counts)
    results = []
    for first, second, value in zip(before, after, old.ops[-1].operands, strict=True):
        one = builder.value(ops.Select, counts, first, second)
        results.append(builder.value(ops.Select, both, mapping.get(value, value), one))
    builder.build(ops.Yield, (*results, builder.value(ops.Or, counts, next_counts)))
    return Region([block])


def _fill_product(padding: _Padding, op: Op) -> None:
    rank = len(padding.shape(op.operands[0]))
    for index, axis in ((0, rank - 1), (1, rank - 2)):
        element = dtype_of(op.operands[index].type)
        padding.fill(op, index, 0.0 if element.is_float else 0, [axis])


def _table(*rows: tuple[Any, Callable[[_Padding, Op], None]]) -> Mapping[str, Callable[[_Padding, Op], None]]:
    return MappingProxyType({name_of(definition): function for definition, function in rows})


# What is done to attributes while values still have the types they had.
_BEFORE = _table(
    (ops.Constant, _pad_type),
    (ops.Arange, _pad_range),
    (ops.Splat, _pad_shape),
    (ops.Broadcast, _pad_shape),
    (ops.Reshape, _pad_reshape),
    (ops.AtomicCas, _refuse_unmasked),
    (ops.Print, _refuse_print),
)
# What is put before ops once all values are padded.
_AFTER = _table(
    (ops.Reshape, _gather_reshape),
    (ops.Load, _mask_access),
    (ops.Store, _mask_access),
    (ops.AtomicRmw, _mask_access),
    (ops.Assert, _mask_assertion),
    (ops.Dot, _fill_product),
    (ops.Reduce, _flag_lanes),
    (ops.Scan, _flag_lanes),
    (ops.CumSum, _fill_scan),
    (ops.CumProd, _fill_scan),
    *(
        (definition, _fill_reduction)
        for definition in (
            *(ops.ReduceSum, ops.ReduceProd, ops.ReduceMax, ops.ReduceMin, ops.ArgMax, ops.ArgMin),
            *(ops.ReduceXor, ops.ReduceOr, ops.ReduceAnd),
        )
    ),
)
