"""Matrix products that Triton's `tl.dot` does not take become sums of products."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_core import dtypes
from xdsl_core.ir import Builder, Module, Op, TileType, Type, Value, dtype_of
from xdsl_core.ops import Add, BitCast, Broadcast, Cast, Constant, Dot, ExpandDims, Mul, ReduceSum, Xor
from xdsl_core.target import TargetDescription
from xdsl_gpu_triton.errors import not_exact

# The least inner extent that `tl.dot` takes on CUDA, by the bits of an element (min_dot_size in Triton's
# backends/nvidia/compiler.py, the larger of the supported versions).
_LEAST = {8: 32, 16: 16, 32: 16, 64: 16}
# A tile of all products must stay in registers.
_MOST_PRODUCTS = 1 << 16


@dataclass(frozen=True, slots=True)
class LowerProducts:
    """Spells products with an inner extent below Triton's least one as sums, those of u8 as ones of i8.

    Before:
        %3 = tile.dot %0, %1, %2 : tile<16x16xf32>                (16x4 and 4x16)
    After:
        %4 = tile.mul (%0 with an axis after), (%1 with an axis before) : tile<16x4x16xf32>
        %5 = tile.reduce_sum %4 {axis = 1} : tile<16x16xf32>
        %3 = tile.add %5, %2 : tile<16x16xf32>
    """

    vendor: str
    name: str = "lower-products"

    @staticmethod
    def of(target: TargetDescription) -> LowerProducts:
        """The pass for a target."""
        return LowerProducts(str(target.vendor.get("backend", "")))

    def run(self, module: Module) -> None:
        """Change the module in place."""
        for op in list(module.walk()):
            if op.definition is Dot and dtype_of(op.operands[0].type) is dtypes.u8:
                _shift_to_signed(op)
        for op in list(module.walk()):
            if op.definition is Dot and self._is_small(op):
                _as_sum(op)

    def _is_small(self, op: Op) -> bool:
        lhs = op.operands[0].type
        element = dtype_of(lhs)
        assert isinstance(lhs, TileType)
        return self.vendor == "cuda" and lhs.shape[-1] < _LEAST[element.bits]


def _shift_to_signed(op: Op) -> None:
    """Multiplies u8 less 128, which i8 holds: (a + 128)(b + 128) is ab + 128 a + 128 b + 16384."""
    lhs, rhs, accumulator = op.operands
    kind = op.result.type
    assert isinstance(lhs.type, TileType)
    assert isinstance(kind, TileType)
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    rank = len(kind.shape)
    left, right = (_less_128(builder, value) for value in (lhs, rhs))
    sums = [
        _sum_along(builder, left, rank - 1, kind.shape),
        _sum_along(builder, right, rank - 2, kind.shape),
    ]
    total = builder.value(Dot, left, right, accumulator)
    for each in sums:
        total = builder.value(Add, total, builder.value(Mul, each, _number(builder, 128, kind)))
    total = builder.value(Add, total, _number(builder, 16384 * lhs.type.shape[-1], kind))
    total.name = op.result.name
    op.result.replace_uses_with(total)
    op.erase()


def _less_128(builder: Builder, value: Value) -> Value:
    flipped = builder.value(Xor, value, _number(builder, 128, value.type))
    return builder.value(BitCast, flipped, to=dtypes.i8)


def _sum_along(builder: Builder, value: Value, axis: int, shape: tuple[int, ...]) -> Value:
    total = builder.value(ReduceSum, builder.value(Cast, value, to=dtypes.i32), axis=axis)
    return _spread(builder, total, axis, shape)


def _number(builder: Builder, number: int, kind: Type) -> Value:
    assert isinstance(kind, TileType)
    return builder.value(Constant, value=number, type=kind)


def _as_sum(op: Op) -> None:
    lhs, rhs, accumulator = op.operands
    assert isinstance(lhs.type, TileType)
    assert isinstance(rhs.type, TileType)
    shape = (*lhs.type.shape, rhs.type.shape[-1])
    size = 1
    for extent in shape:
        size *= extent
    if size > _MOST_PRODUCTS:
        raise not_exact(
            op,
            f"tl.dot does not take {lhs.type} by {rhs.type}; {size} products are too many for registers",
            "use a larger inner extent, or smaller blocks",
        )
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    wide = dtype_of(op.result.type)
    inner = len(shape) - 2
    left = _spread(builder, _cast(builder, lhs, wide), inner + 1, shape)
    right = _spread(builder, _cast(builder, rhs, wide), inner - 1, shape)
    total = builder.value(ReduceSum, builder.value(Mul, left, right), axis=inner)
    result = builder.value(Add, total, accumulator)
    result.name = op.result.name
    op.result.replace_uses_with(result)
    op.erase()


def _cast(builder: Builder, value: Value, dtype: dtypes.DType) -> Value:
    return value if dtype_of(value.type) is dtype else builder.value(Cast, value, to=dtype)


def _spread(builder: Builder, value: Value, axis: int, shape: tuple[int, ...]) -> Value:
    return builder.value(Broadcast, builder.value(ExpandDims, value, axis=axis), shape=shape)
