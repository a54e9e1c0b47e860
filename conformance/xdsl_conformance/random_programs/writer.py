"""Random valid programs with a run-time meaning: values of every shape and dtype, control flow, memory.

Values that the language leaves undefined (division by zero, shifts out of range, floats out of an integer's
range, masked-off lanes) are not produced, so two programs that mean the same give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xdsl_conformance.random_programs.choices import Choices
from xdsl_core import dtypes
from xdsl_core.dtypes import DType
from xdsl_core.ir import BOOL, Block, Builder, Function, Module, PointerType, Region, ScalarType, Type, Value
from xdsl_core.ir.types import dtype_of, tile_or_scalar
from xdsl_core.ops import (
    Abs,
    Add,
    And,
    Arange,
    Broadcast,
    Cast,
    Condition,
    Constant,
    Div,
    Eq,
    Exp2,
    ExpandDims,
    For,
    Ge,
    Gt,
    If,
    Le,
    Load,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Neg,
    Not,
    Offset,
    Or,
    Permute,
    ProgramId,
    Reduce,
    ReduceMax,
    ReduceSum,
    Rem,
    Reshape,
    Return,
    Select,
    Shl,
    Shr,
    Splat,
    Sqrt,
    Store,
    Sub,
    While,
    Xor,
    Yield,
)

I32 = ScalarType(dtypes.i32)
ELEMENTS = (dtypes.i32, dtypes.f32, dtypes.i1, dtypes.u8, dtypes.i64, dtypes.f16)
SHAPES: tuple[tuple[int, ...], ...] = ((), (4,), (1,), (2, 4), (4, 1), (1, 4), (8,), (4, 2), (2, 1, 4))
SPECIAL = {
    "float": (0.0, -0.0, 1.0, -1.0, 0.1, 0.5, float("inf"), float("-inf"), float("nan"), 3.5),
    "int": (0, 1, -1, 2, 7, "lowest", "highest"),
    "uint": (0, 1, 2, 7, "highest"),
    "bool": (True, False),
}
LENGTH = 64
OUTPUT = 4096
INTEGER_OPS = (Add, Sub, Mul, And, Or, Xor, Min, Max)
FLOAT_OPS = (Add, Sub, Mul, Div, Min, Max)
COMPARISONS = (Eq, Ne, Lt, Le, Gt, Ge)


class Writer:
    """Writes random ops; `pool` holds the values that may be used at the point reached.

    `room` is how many elements of each output it may write.
    """

    room = OUTPUT

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        elements = [dtypes.i32, dtypes.f32, *ELEMENTS]
        names = ["ints", "floats", *(f"out_{element}" for element in ELEMENTS)]
        parameters: list[tuple[str, Type]] = [
            (name, PointerType(element)) for name, element in zip(names, elements, strict=True)
        ]
        parameters += [
            ("memory", PointerType(dtypes.i32)),
            ("n", I32),
            ("x", ScalarType(dtypes.f32)),
            ("c", BOOL),
        ]
        self.function = Function("random", parameters)
        self.parameters = {value.name: value for value in self.function.parameters}
        self.builder = Builder(self.function.block)
        self.pool = [self.parameters[name] for name in ("n", "x", "c")]
        self.pool += [self.load("ints", dtypes.i32), self.load("floats", dtypes.f32)]
        self.written = 0

    def pick(self, values: Any) -> Any:
        found = list(values)
        return found[self.choices.integer(0, len(found) - 1)]

    def value_of(self, accept: Callable[[Value], bool]) -> Value | None:
        found = [value for value in self.pool if accept(value)]
        return self.pick(found[-12:]) if found else None

    def make(self, definition: Any, *operands: Any, **attributes: Any) -> Value:
        value = self.builder.value(definition, *operands, **attributes)
        value.name = self.pick(("", "a", "b"))
        self.pool.append(value)
        return value

    def constant(self, type: Type) -> Value:
        dtype = dtype_of(type)
        number = self.pick(SPECIAL[dtype.kind])
        if isinstance(number, str):
            number = getattr(dtype, number)
        return self.builder.value(Constant, value=number, type=type)

    def like(self, type: Type) -> Value:
        """A value of a type: one that is there, or a constant."""
        found = [value for value in self.pool if value.type == type]
        if found and self.choices.integer(0, 3):
            return self.pick(found[-12:])
        return self.constant(type)

    def lanes(self, count: int) -> Value:
        return self.builder.value(Arange, start=0, end=count)

    def load(self, name: str, dtype: DType) -> Value:
        pointers = self.builder.value(Splat, self.parameters[name], shape=(4,))
        return self.builder.value(Load, self.builder.value(Offset, pointers, self.lanes(4)))

    def step(self, depth: int) -> None:
        choices: list[Any] = (
            [self.arithmetic] * 6 + [self.shape] * 4 + [self.conversion, self.comparison, self.choice] * 2
        )
        choices += [self.fresh, self.reduction, self.memory, self.memory, self.memory]
        self.write_one_of(choices, depth)

    def write_one_of(self, choices: list[Any], depth: int) -> None:
        """Write one of the choices, or control flow as long as it is not nested too deeply."""
        control = (self.branch, self.loop, self.while_loop)
        chosen = self.pick([*choices, *control] if depth < 2 else choices)
        if chosen in control:
            chosen(depth + 1)
        else:
            chosen()

    def fresh(self) -> None:
        shape, element = self.pick(SHAPES), self.pick(ELEMENTS)
        self.pool.append(self.constant(tile_or_scalar(shape, element)))
        if self.choices.boolean():
            self.make(Arange, start=0, end=self.pick((1, 4, 8)))
        else:
            self.make(ProgramId, axis=0)

    def arithmetic(self) -> None:
        value = self.pick(self.pool[-12:])
        dtype = dtype_of(value.type)
        if dtype.is_bool:
            if self.choices.boolean():
                self.make(self.pick((And, Or, Xor)), *self.in_any_order(value))
            else:
                self.make(Not, value)
        elif dtype.is_float:
            if self.choices.integer(0, 3):
                self.make(self.pick(FLOAT_OPS), *self.in_any_order(value))
                self.settle_zero()
            else:
                self.make(self.pick((Neg, Abs, Sqrt, Exp2)), value)
        else:
            self.integer_arithmetic(value, dtype)

    def integer_arithmetic(self, value: Value, dtype: DType) -> None:
        kind = self.choices.integer(0, 5)
        if kind == 0:
            self.make(self.pick((Neg, Abs, Not)), value)
        elif kind == 1:
            number = self.pick((0, 1, dtype.bits - 1))
            count = self.builder.value(Constant, value=number, type=value.type)
            self.make(self.pick((Shl, Shr)), value, count)
        elif kind == 2:
            divisor = self.builder.value(Constant, value=self.pick((1, 2, 3, 7)), type=value.type)
            self.make(self.pick((Div, Rem)), value, divisor)
        else:
            self.make(self.pick(INTEGER_OPS), *self.in_any_order(value))

    def in_any_order(self, value: Value) -> tuple[Value, Value]:
        other = self.like(value.type)
        return self.pick(((value, other), (other, value), (value, value)))

    def comparison(self) -> None:
        value = self.pick(self.pool[-12:])
        self.make(self.pick(COMPARISONS), *self.in_any_order(value))

    def choice(self) -> None:
        value = self.pick(self.pool[-12:])
        condition = self.like(tile_or_scalar(value.type.shape, dtypes.i1))
        self.make(Select, condition, *self.in_any_order(value))

    def conversion(self) -> None:
        value = self.pick(self.pool[-12:])
        source = dtype_of(value.type)
        targets = [
            target for target in ELEMENTS if target is not source and (target.is_float or not source.is_float)
        ]
        if targets:
            self.make(Cast, value, to=self.pick(targets))

    def shape(self) -> None:
        value = self.pick(self.pool[-12:])
        shape = value.type.shape
        if not shape:
            self.make(Splat, value, shape=self.pick(SHAPES[1:]))
            return
        kind = self.choices.integer(0, 3)
        if kind == 0 and len(shape) == 1:
            self.make(ExpandDims, value, axis=self.pick((0, 1)))
        elif kind == 1:
            self.make(Broadcast, value, shape=tuple(4 if extent == 1 else extent for extent in shape))
        elif kind == 2:
            order = self.choices.permutation(len(shape))
            self.make(Permute, value, order=tuple(order))
        else:
            size = int(np.prod(shape))
            same_size = [other for other in SHAPES if other and int(np.prod(other)) == size]
            self.make(Reshape, value, shape=self.pick([shape, *same_size]))

    def reduction(self) -> None:
        value = self.value_of(lambda value: bool(value.type.shape) and not dtype_of(value.type).is_bool)
        if value is None:
            return
        axis = self.choices.integer(0, len(value.type.shape) - 1)
        definition = self.pick((ReduceSum, ReduceMax, Reduce))
        if definition is not Reduce:
            self.make(definition, value, axis=axis)
            self.settle_zero()
            return
        scalar = tile_or_scalar((), dtype_of(value.type))
        block = Block([scalar, scalar])
        with self.builder.at(block):
            self.builder.build(Yield, [self.builder.value(self.pick((Add, Min)), *block.arguments)])
        op = self.builder.build(Reduce, [value], axis=axis, regions=[Region([block])])
        self.pool.append(op.result)
        self.settle_zero()

    def settle_zero(self) -> None:
        """Makes a zero that was just computed a positive one: min and max may give either."""
        value = self.pool[-1]
        if dtype_of(value.type).is_float:
            self.pool.pop()
            zero = self.builder.value(Constant, value=0.0, type=value.type)
            self.make(Add, value, zero)

    def memory(self) -> None:
        """A masked load from, or store to, memory that the program also reads elsewhere."""
        pointers = self.builder.value(Splat, self.parameters["memory"], shape=(4,))
        offsets = self.builder.value(Offset, pointers, self.lanes(4))
        mask = self.like(tile_or_scalar((4,), dtypes.i1))
        value = self.like(tile_or_scalar((4,), dtypes.i32))
        if self.choices.boolean():
            self.make(Load, offsets, mask, value)
        else:
            self.builder.build(Store, offsets, value, mask)

    def block(self, arguments: list[Value], block: Block, types: list[Type], depth: int) -> list[Value]:
        """Fill a block with random ops; gives values of the types."""
        outer = list(self.pool)
        self.pool += arguments
        with self.builder.at(block):
            for _ in range(self.choices.integer(0, 4)):
                self.step(depth)
            values = [self.like(type) for type in types]
        self.pool = outer
        return values

    def carried(self) -> list[Value]:
        return [self.pick(self.pool[-12:]) for _ in range(self.choices.integer(0, 2))]

    def branch(self, depth: int) -> None:
        condition = self.like(BOOL)
        types = [value.type for value in self.carried()]
        regions = []
        for _ in range(2):
            block = Block()
            values = self.block([], block, types, depth)
            Builder(block).build(Yield, values)
            regions.append(Region([block]))
        self.pool += self.builder.build(If, condition, regions=regions).results

    def loop(self, depth: int) -> None:
        def number(value: int) -> Value:
            return self.builder.value(Constant, value=value, type=I32)

        lower = number(self.pick((0, 1)))
        upper = self.parameters["n"] if self.choices.boolean() else number(self.pick((0, 1, 2, 3)))
        step = number(self.pick((1, 2)))
        inits = self.carried()
        types = [value.type for value in inits]
        block = Block([I32, *types], ["i"])
        values = self.block(list(block.arguments), block, types, depth)
        kept = [
            self.pick((value, argument)) for value, argument in zip(values, block.arguments[1:], strict=True)
        ]
        Builder(block).build(Yield, kept)
        op = self.builder.build(For, lower, upper, step, inits, regions=[Region([block])])
        self.pool += op.results

    def while_loop(self, depth: int) -> None:
        """Counts from 0 to a limit, carrying other values along."""
        zero, limit = (
            self.builder.value(Constant, value=value, type=I32) for value in (0, self.pick((0, 1, 2)))
        )
        inits = [zero, *self.carried()]
        types = [value.type for value in inits]
        before, after = Block(types), Block(types)
        builder = Builder(before)
        builder.build(Condition, builder.value(Lt, before.arguments[0], limit), list(before.arguments))
        values = self.block(list(after.arguments), after, types[1:], depth)
        builder = Builder(after)
        one = builder.value(Constant, value=1, type=I32)
        builder.build(Yield, [builder.value(Add, after.arguments[0], one), *values])
        op = self.builder.build(While, inits, regions=[Region([before]), Region([after])])
        self.pool += op.results

    def store(self, value: Value) -> None:
        """Make a value visible: store it to the output of its element type."""
        pointer = self.parameters[f"out_{dtype_of(value.type)}"]
        size = int(np.prod(value.type.shape))
        if self.written + size > self.room:
            return
        base = self.builder.value(Constant, value=self.written, type=I32)
        place = self.builder.value(Offset, pointer, base)
        self.written += size
        if value.type.shape:
            value = self.builder.value(Reshape, value, shape=(size,))
            place = self.builder.value(
                Offset, self.builder.value(Splat, place, shape=(size,)), self.lanes(size)
            )
        self.builder.build(Store, place, value)


def program(choices: Choices, *, longest: int = 18) -> Module:
    """A module with one function `random` that stores some of the values it computes."""
    return finished(Writer(choices), choices.integer(min(8, longest), longest))


def finished(writer: Writer, steps: int) -> Module:
    """The module of a writer after so many steps, with stores of some of its last values."""
    for _ in range(steps):
        writer.step(0)
    for value in writer.pool[-10:]:
        if writer.choices.integer(0, 3):
            writer.store(value)
    writer.builder.build(Return)
    module = Module()
    module.add(writer.function)
    return module


def arguments(seed: int) -> dict[str, Any]:
    """Arguments of a program by parameter: special numbers and random ones."""
    generator = np.random.default_rng(seed)
    ints = generator.integers(-10, 10, LENGTH, dtype=np.int32)
    ints[:4] = (0, -(2**31), 2**31 - 1, -1)
    floats = generator.standard_normal(LENGTH).astype(np.float32)
    floats[:4] = (np.nan, -0.0, np.inf, 1e-40) if seed % 2 else (0.0, -1.5, 3e38, 1.0)
    outputs = {f"out_{element}": np.zeros(OUTPUT, element.numpy) for element in ELEMENTS}
    memory = np.arange(LENGTH, dtype=np.int32)
    numbers = {"n": seed % 4, "x": float(floats[1]), "c": bool(seed % 3)}
    return {"ints": ints, "floats": floats, **outputs, "memory": memory, **numbers}
