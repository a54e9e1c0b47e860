"""Random kernels about memory: strides, masks, wrapped and looked-up indexes, loops, in-place updates.

Every result is defined and the same in any order of evaluation: floats are only added, multiplied and
compared, stores of one tile never meet, and what a mask leaves undefined is replaced before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_conformance.random_programs.choices import Choices
from xdsl_conformance.random_programs.writer import Writer
from xdsl_core import dtypes, ops
from xdsl_core.ir import BOOL, Block, Builder, Function, Module, PointerType, Region, ScalarType, Type, Value
from xdsl_core.ir.types import dtype_of, tile_or_scalar

Array = Any  # numpy.ndarray
I32, I64 = ScalarType(dtypes.i32), ScalarType(dtypes.i64)

LENGTH = 16384
CENTER = LENGTH // 2
PITCH = 64
ROWS, COLUMNS = (1, 2, 3, 5, 8), (1, 3, 7, 8, 9, 16, 31, 32, 33)
READ_STRIDES = (0, 1, 1, 1, -1, 2, 3)
OUTPUTS = (dtypes.i32, dtypes.f32, dtypes.i1, dtypes.i64, dtypes.f16)
READ_ONLY = {"source": dtypes.f32, "numbers": dtypes.i32, "bytes": dtypes.i8}
UPDATED = {"field": dtypes.f32, "memory": dtypes.i32}
MEMORIES = {**READ_ONLY, **UPDATED}
INTEGER_REDUCTIONS = (
    *(ops.ReduceSum, ops.ReduceProd, ops.ReduceMax, ops.ReduceMin),
    *(ops.ReduceXor, ops.ReduceOr, ops.ReduceAnd),
)


@dataclass(frozen=True)
class Place:
    """A tile of pointers into `memory`; `distinct` if no two lanes are the same. `indexes`: one per
    dimension.
    """

    memory: str
    pointers: Value
    distinct: bool
    indexes: tuple[Value, ...]


class AccessWriter(Writer):
    """Writes ops over tiles of one shape (rows, columns) and what is made from it."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.rows, self.columns = self.pick(ROWS), self.pick(COLUMNS)
        if self.choices.integer(0, 3) == 0:
            self.rows = self.columns = self.pick((2, 8, 9, 16))
        parameters: list[tuple[str, Type]] = [(name, PointerType(dtype)) for name, dtype in MEMORIES.items()]
        parameters += [("order", PointerType(dtypes.i32))]
        parameters += [(f"out_{dtype}", PointerType(dtype)) for dtype in OUTPUTS]
        parameters += [
            ("n", I32),
            ("stride", I32),
            ("pitch", I32),
            ("x", ScalarType(dtypes.f32)),
            ("c", BOOL),
        ]
        self.function = Function("random", parameters)
        self.parameters = {value.name: value for value in self.function.parameters}
        self.builder = Builder(self.function.block)
        self.pool = [self.parameters[name] for name in ("n", "x", "c")]
        self.places: list[Place] = []
        self.written = 0

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        r, c = self.rows, self.columns
        return ((r, c), (r, c), (c,), (r,), (c, r), (r, 1), (1, c), (r * c,))

    def step(self, depth: int) -> None:
        choices: list[Any] = (
            [self.read] * 6 + [self.write] * 4 + [self.arithmetic] * 4 + [self.shape, self.reduction] * 2
        )
        choices += [self.comparison, self.choice, self.conversion, self.fresh]
        if depth == 0:
            choices += [self.product]
        self.write_one_of(choices, depth)

    def fresh(self) -> None:
        self.pool.append(self.constant(tile_or_scalar(self.pick(self.shapes), self.pick(OUTPUTS))))

    def block(self, arguments: list[Value], block: Block, types: list[Type], depth: int) -> list[Value]:
        places = list(self.places)
        values = super().block(arguments, block, types, depth)
        self.places = places
        return values

    def arithmetic(self) -> None:
        value = self.pick(self.pool[-8:])
        dtype = dtype_of(value.type)
        if dtype.is_bool:
            self.make(self.pick((ops.And, ops.Or, ops.Xor)), *self.in_any_order(value))
        elif dtype.is_float:
            if self.choices.integer(0, 3):
                self.make(self.pick((ops.Add, ops.Sub, ops.Mul, ops.Max, ops.Min)), *self.in_any_order(value))
            else:
                self.make(self.pick((ops.Neg, ops.Abs)), value)
        else:
            self.integer_arithmetic(value, dtype)

    def conversion(self) -> None:
        value = self.pick(self.pool[-8:])
        source = dtype_of(value.type)
        targets = [to for to in OUTPUTS if to is not source and (to.is_float or not source.is_float)]
        self.make(ops.Cast, value, to=self.pick(targets or [dtypes.i32]))

    def shape(self) -> None:
        value = self.pick(self.pool[-8:])
        shape = value.type.shape
        if not shape:
            self.make(ops.Splat, value, shape=self.pick(self.shapes))
        elif len(shape) == 1:
            axis = self.pick((0, 1))
            wide = self.make(ops.ExpandDims, value, axis=axis)
            target = {(0, self.columns): (self.rows, self.columns), (1, self.rows): (self.rows, self.columns)}
            if (axis, shape[0]) in target and self.choices.boolean():
                self.make(ops.Broadcast, wide, shape=target[axis, shape[0]])
        elif self.choices.boolean():
            self.make(ops.Permute, value, order=tuple(self.choices.permutation(len(shape))))
        else:
            size = int(np.prod(shape))
            self.make(
                ops.Reshape, value, shape=self.pick([s for s in (*self.shapes, shape) if np.prod(s) == size])
            )

    def reduction(self) -> None:
        value = self.value_of(lambda value: bool(value.type.shape))
        if value is None:
            return
        dtype, axis = dtype_of(value.type), self.choices.integer(0, len(value.type.shape) - 1)
        if dtype.is_bool:
            self.make(self.pick((ops.ReduceXor, ops.ReduceOr, ops.ReduceAnd)), value, axis=axis)
            return
        kind = self.choices.integer(0, 5)
        if kind == 0:
            op = self.builder.build(self.pick((ops.ArgMax, ops.ArgMin)), value, axis=axis)
            self.pool += op.results
        elif kind == 1:
            self.combined(value, axis)
        elif dtype.is_float:
            definition = self.pick((ops.ReduceMax, ops.ReduceMin))
            self.make(definition, value, axis=axis, propagate_nan=self.choices.boolean())
        else:
            self.make(self.pick(INTEGER_REDUCTIONS), value, axis=axis)

    def combined(self, value: Value, axis: int) -> None:
        scalar = tile_or_scalar((), dtype_of(value.type))
        block = Block([scalar, scalar])
        with self.builder.at(block):
            definition = ops.Min if dtype_of(value.type).is_float else ops.Add
            self.builder.build(ops.Yield, [self.builder.value(definition, *block.arguments)])
        self.pool.append(self.builder.build(ops.Reduce, [value], axis=axis, regions=[Region([block])]).result)

    # Indexes and addresses

    def number(self, value: int, type: Type = I32) -> Value:
        return self.builder.value(ops.Constant, value=value, type=type)

    def filled(self, value: Value | int, like: Value) -> Value:
        """A number in every lane of a tile like another one."""
        if isinstance(value, int):
            return self.number(value, like.type)
        return self.builder.value(ops.Splat, value, shape=like.type.shape)

    def index(self, extent: int, *, distinct: bool) -> Value:
        """Lane numbers, shifted, wrapped or looked up; from 0 to about 100."""
        lanes = self.builder.value(ops.Arange, start=0, end=extent)
        kind = self.choices.integer(0, 9)
        if kind == 0:
            return self.builder.value(
                ops.Add, lanes, self.filled(self.pick((1, 3, self.parameters["n"])), lanes)
            )
        if kind == 1 and not distinct:
            start = self.builder.value(ops.Add, lanes, self.filled(self.parameters["n"], lanes))
            return self.builder.value(ops.Rem, start, self.filled(self.pick((1, 5, 32, 64)), lanes))
        if kind == 2 and extent <= PITCH:
            order = self.builder.value(ops.Splat, self.parameters["order"], shape=(extent,))
            return self.builder.value(ops.Load, self.builder.value(ops.Offset, order, lanes))
        if kind == 3 and not distinct:
            return self.builder.value(ops.Div, lanes, self.filled(2, lanes))
        return lanes

    def scaled(self, index: Value, stride: Value | int) -> Value:
        if isinstance(stride, int) and stride == 1 and self.choices.boolean():
            return index
        return self.builder.value(ops.Mul, index, self.filled(stride, index))

    def place(self, memory: str, shape: tuple[int, ...], *, distinct: bool) -> Place:
        """Pointers of a shape: one new place, or one that is there already."""
        known = [
            place
            for place in self.places
            if place.pointers.type.shape == shape and place.memory == memory and place.distinct >= distinct
        ]
        if known and self.choices.integer(0, 2):
            return self.pick(known)
        indexes = [self.index(extent, distinct=distinct) for extent in shape]
        strides = self.strides(shape, distinct=distinct)
        offset = self.scaled(indexes[0], strides[0])
        if len(shape) == 2:
            parts = (
                self.builder.value(ops.ExpandDims, offset, axis=1),
                self.builder.value(ops.ExpandDims, self.scaled(indexes[1], strides[1]), axis=0),
            )
            offset = self.builder.value(
                ops.Add, *(self.builder.value(ops.Broadcast, part, shape=shape) for part in parts)
            )
        if self.choices.integer(0, 3) == 0:
            offset = self.builder.value(ops.Cast, offset, to=dtypes.i64)
        base: Value = self.parameters[memory]
        start = self.number(CENTER + self.pick((0, 0, 0, 1, 5)))
        if self.choices.boolean():
            base = self.builder.value(ops.Offset, base, start)
        else:
            start = self.builder.value(ops.Cast, start, to=dtype_of(offset.type)) if (
                dtype_of(offset.type) is not dtypes.i32
            ) else start  # fmt: skip
            offset = self.builder.value(ops.Add, offset, self.filled(start, offset))
        pointers = self.builder.value(ops.Offset, self.builder.value(ops.Splat, base, shape=shape), offset)
        place = Place(memory, pointers, distinct, tuple(indexes))
        self.places.append(place)
        return place

    def strides(self, shape: tuple[int, ...], *, distinct: bool) -> tuple[Value | int, ...]:
        """Elements from lane to lane in each dimension; such that lanes never meet if they are to be
        distinct.
        """
        stride, pitch = self.parameters["stride"], self.parameters["pitch"]
        if not distinct:
            outer = (self.pick((*READ_STRIDES, stride, PITCH)) for _ in shape[1:])
            return (*outer, self.pick((*READ_STRIDES, stride)))
        if len(shape) == 1:
            return (self.pick((1, 1, -1, 2, pitch)),)
        # an index may be any permutation of the first 64 numbers, or moved by up to 40
        return self.pick(((PITCH, 1), (-PITCH, 1), (pitch, 1), (pitch, -1), (1, PITCH), (1, pitch)))

    def mask(self, place: Place) -> Value | None:
        """A mask over the place: bounds of its indexes, any bools, or none."""
        shape = place.pointers.type.shape
        kind = self.choices.integer(0, 5)
        if kind == 0:
            return self.like(tile_or_scalar(shape, dtypes.i1))
        if kind == 1:
            return None
        found = None
        for dim, index in enumerate(place.indexes):
            if kind in (2, 3) and dim != kind - 2:
                continue
            inside = self.bound(index)
            if len(shape) == 2:
                inside = self.builder.value(ops.ExpandDims, inside, axis=1 - dim)
                inside = self.builder.value(ops.Broadcast, inside, shape=shape)
            found = inside if found is None else self.builder.value(ops.And, found, inside)
        if found is not None and self.choices.integer(0, 4) == 0:
            found = self.builder.value(ops.And, found, self.filled(self.parameters["c"], found))
        return found

    def bound(self, index: Value) -> Value:
        extent = index.type.shape[0]
        limit = self.filled(self.pick((1, extent - 1, extent, extent + 1, 7, self.parameters["n"])), index)
        definition, swap = self.pick(
            (
                (ops.Lt, False),
                (ops.Lt, False),
                (ops.Le, False),
                (ops.Gt, True),
                (ops.Ge, True),
                (ops.Ge, False),
            )
        )
        return self.builder.value(definition, *((limit, index) if swap else (index, limit)))

    # Reads, writes, products

    def read(self) -> None:
        self.pool.append(self.loaded(self.pick(tuple(MEMORIES)), self.pick(self.shapes[:7])))

    def loaded(self, memory: str, shape: tuple[int, ...], *, zeros: bool = False) -> Value:
        place = self.place(memory, shape, distinct=False)
        mask = self.mask(place)
        if mask is None:
            return self.builder.value(ops.Load, place.pointers)
        type = tile_or_scalar(shape, MEMORIES[memory])
        if zeros:
            fill = self.builder.value(ops.Constant, value=0.0 if MEMORIES[memory].is_float else 0, type=type)
            return self.builder.value(ops.Load, place.pointers, mask, fill)
        if self.choices.boolean():
            return self.builder.value(ops.Load, place.pointers, mask, self.like(type))
        found = self.builder.value(ops.Load, place.pointers, mask)
        return self.builder.value(ops.Select, mask, found, self.like(type))

    def write(self) -> None:
        memory = self.pick(tuple(UPDATED))
        candidates = [
            value
            for value in self.pool[-8:]
            if dtype_of(value.type) is UPDATED[memory] and value.type.shape in self.shapes
        ]
        shape = self.pick(candidates).type.shape if candidates else self.pick(self.shapes[:7])
        place = self.place(memory, shape, distinct=True)
        kind = self.choices.integer(0, 4)
        if kind < 2:
            value = self.builder.value(ops.Load, place.pointers)
            if kind == 1 and len(shape) == 2 and shape[0] == shape[1]:
                value = self.builder.value(ops.Permute, value, order=(1, 0))
            one = self.builder.value(
                ops.Constant, value=1.0 if UPDATED[memory].is_float else 1, type=value.type
            )
            value = self.make(ops.Add, value, one)
        elif kind == 2:
            value = self.loaded(memory, shape)
        else:
            value = self.like(tile_or_scalar(shape, UPDATED[memory]))
        self.builder.build(ops.Store, place.pointers, value, self.mask(place))

    def product(self) -> None:
        """A sum of matrix products over a loop, of numbers whose sums are exact."""
        dtype, total = self.pick(((dtypes.f32, dtypes.f32), (dtypes.i8, dtypes.i32)))
        memory = "source" if dtype.is_float else "bytes"
        shape = (self.rows, self.pick((self.rows, self.columns)))
        depth = self.columns
        accumulator = tile_or_scalar(shape, total)
        start = self.builder.value(ops.Constant, value=0.0 if total.is_float else 0, type=accumulator)
        body = Block([I32, accumulator], ["k"])
        places = list(self.places)
        with self.builder.at(body):
            lhs = self.factor(memory, (shape[0], depth))
            rhs = self.factor(memory, (depth, shape[1]))
            self.builder.build(ops.Yield, [self.builder.value(ops.Dot, lhs, rhs, body.arguments[1])])
        self.places = places
        bounds = (self.number(0), self.number(self.pick((0, 1, 2))), self.number(1))
        self.pool.append(self.builder.build(ops.For, *bounds, [start], regions=[Region([body])]).result)

    def factor(self, memory: str, shape: tuple[int, int]) -> Value:
        if self.choices.boolean():
            return self.loaded(memory, shape, zeros=True)
        turned = self.loaded(memory, (shape[1], shape[0]), zeros=True)
        return self.builder.value(ops.Permute, turned, order=(1, 0))


def access_program(choices: Choices, *, longest: int = 10) -> Module:
    """A module with one function `random` that works on MEMORIES and stores some of what it computes."""
    writer = AccessWriter(choices)
    for _ in range(choices.integer(1, longest)):
        writer.step(0)
    for value in writer.pool[-6:]:
        if dtype_of(value.type) in OUTPUTS:
            writer.store(value)
    writer.builder.build(ops.Return)
    module = Module()
    module.add(writer.function)
    return module


def arguments(seed: int, *, overlapping: bool = False) -> dict[str, Any]:
    """Arguments of an access program by parameter; `overlapping`: what is read lies in what is written."""
    generator = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name, dtype in MEMORIES.items():
        found[name] = generator.integers(-4, 5, LENGTH).astype(dtype.numpy)
    if overlapping:
        for read, updated in (("source", "field"), ("numbers", "memory")):
            both = np.concatenate([found[updated], found[read][:3]])
            found[read], found[updated] = both[3:], both[:LENGTH]
    found["order"] = generator.permutation(PITCH).astype(np.int32)
    found |= {f"out_{dtype}": np.zeros(4096, dtype.numpy) for dtype in OUTPUTS}
    n = (7, 0, 1, 40, 31, 8)[seed % 6]
    return {**found, "n": n, "stride": (1, 2, 0, -3)[seed % 4], "pitch": PITCH, "x": 1.5, "c": seed % 5 != 1}


def difference(got: dict[str, Any], expected: dict[str, Any]) -> str:
    """Where two runs differ, in words; empty if nowhere. NaNs are equal, and zeros of both signs."""
    for name, array in expected.items():
        if not isinstance(array, np.ndarray):
            continue
        with np.errstate(all="ignore"):
            nan = (got[name] != got[name]) & (array != array)  # noqa: PLR0124
            equal = (got[name] == array) | nan
        if not equal.all():
            place = int(np.argmin(equal))
            return (
                f"{name}[{place}] is {got[name][place]!r}, not {array[place]!r}; {int((~equal).sum())} wrong"
            )
    return ""
