"""The mistakes: what each changes in the module, the launch or the claims, and which cases must notice."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from tests.mutants.backends import Mutant, found
from xdsl_core import dtypes, ops
from xdsl_core.diagnostics import CompilationError, error
from xdsl_core.interp import plugin as reference
from xdsl_core.ir import Builder, Module, Op, Value
from xdsl_core.ir.types import dtype_of
from xdsl_core.target import Capabilities, Denial


def behind(op: Op, change: Callable[[Builder, Value], Value]) -> None:
    """Everybody who used the op's first result uses what `change` makes of it."""
    result, block = op.results[0], op.block
    assert block is not None
    users = [
        (user, i) for user in set(result.users) for i, value in enumerate(user.operands) if value is result
    ]
    place = block.ops.index(op) + 1
    builder = Builder(block, before=block.ops[place] if place < len(block.ops) else None)
    new = change(builder, result)
    for user, index in users:
        user.set_operand(index, new)


def constant(builder: Builder, value: Any, like: Value) -> Value:
    return builder.value(ops.Constant, value=value, type=like.type)


def changed_attribute(name: str, attribute: str, value: Any) -> Callable[[Module], None]:
    def spoil(module: Module) -> None:
        for op in found(module, name):
            op.attributes[attribute] = value

    return spoil


def dropped_operand(name: str, slot: str) -> Callable[[Module], None]:
    def spoil(module: Module) -> None:
        for op in found(module, name):
            op.set_group(slot, [])

    return spoil


def changed_result(
    name: str, admits: Callable[[Op], bool], change: Callable[[Builder, Value], Value]
) -> Callable[[Module], None]:
    def spoil(module: Module) -> None:
        for op in found(module, name):
            if admits(op):
                behind(op, change)

    return spoil


def of_f32(op: Op) -> bool:
    return dtype_of(op.results[0].type) is dtypes.f32


def through_f16(builder: Builder, value: Value) -> Value:
    return builder.value(ops.Cast, builder.value(ops.Cast, value, to=dtypes.f16), to=dtypes.f32)


def cut_last_block(module: Module) -> None:
    for op in found(module, "control.for"):
        builder = Builder(op.block, before=op)
        lower, upper, step = op.operands[:3]
        rest = builder.value(ops.Rem, builder.value(ops.Sub, upper, lower), step)
        op.set_operand(1, builder.value(ops.Sub, upper, rest))


def stride_of_one(module: Module) -> None:
    """A stride that is an argument is taken for 1, as where rows are assumed to be contiguous."""
    for op in found(module, "tile.mul"):
        factor = op.operands[1].defining_op
        if factor is not None and factor.name == "tile.splat" and factor.operands[0].defining_op is None:
            op.set_operand(1, constant(Builder(op.block, before=op), 1, op.operands[1]))


def saturating_sum(builder: Builder, value: Value) -> Value:
    op = value.defining_op
    assert op is not None
    dtype = dtype_of(value.type)
    wide = [builder.value(ops.Cast, operand, to=dtypes.i64) for operand in op.operands]
    total = builder.value(ops.Add, *wide)
    limits = [constant(builder, int(limit), total) for limit in (dtype.lowest, dtype.highest)]
    return builder.value(ops.Cast, builder.value(ops.Clamp, total, *limits), to=dtype)


def transposed_store(module: Module) -> None:
    for op in found(module, "memory.store"):
        value = op.operand("value")
        shape = value.type.shape
        if len(shape) == 2 and shape[0] == shape[1]:
            turned = Builder(op.block, before=op).value(ops.Permute, value, order=(1, 0))
            op.set_group("value", [turned])


def truncated_bf16(module: Module) -> None:
    for op in found(module, "tile.cast"):
        source = op.operands[0]
        if dtype_of(source.type) is dtypes.f32 and dtype_of(op.results[0].type) is dtypes.bf16:
            builder = Builder(op.block, before=op)
            bits = builder.value(ops.Bitcast, source, to=dtypes.u32)
            kept = builder.value(ops.And, bits, constant(builder, 0xFFFF0000, bits))
            op.set_operand(0, builder.value(ops.Bitcast, kept, to=dtypes.f32))


def swapped_comparison(module: Module) -> None:
    """Less than becomes less or equal: every mask lets one lane too many through."""
    for op in found(module, "tile.lt"):
        builder = Builder(op.block, before=op)
        same = builder.value(ops.Le, *op.operands)
        op.results[0].replace_uses_with(same)


def last_of_equals(module: Module) -> None:
    for op in found(module, "tile.argmax"):
        source, builder = op.operands[0], Builder(op.block, before=op)
        if len(source.type.shape) == 1:
            lanes = builder.value(ops.Arange, start=0, end=source.type.shape[0])
            highest = builder.value(ops.ReduceMax, source, axis=0)
            spread = builder.value(ops.Splat, highest, shape=source.type.shape)
            same = builder.value(ops.Eq, source, spread)
            places = builder.value(ops.Select, same, lanes, constant(builder, -1, lanes))
            op.results[1].replace_uses_with(builder.value(ops.ReduceMax, places, axis=0))


def one_program_less(executable: Any, grid: Any, args: Any, options: Any) -> Any:
    if grid[0] == 1:
        return reference.xdsl_launch(executable, grid, args, options)
    return reference.xdsl_launch(executable, (grid[0] - 1, grid[1], grid[2]), args, options)


def programs_twice(executable: Any, grid: Any, args: Any, options: Any) -> Any:
    reference.xdsl_launch(executable, grid, args, options)
    return reference.xdsl_launch(executable, grid, args, options)


def stale_scratch() -> Callable[..., Any]:
    """Every second launch leaves the first bytes of its last argument as the launch before left them."""
    launches = count()

    def launch(executable: Any, grid: Any, args: Any, options: Any) -> Any:
        done = reference.xdsl_launch(executable, grid, args, options)
        last = args[-1]
        if next(launches) % 2 and hasattr(last, "storage_address"):
            np.asarray(last.owner).view(np.uint8).reshape(-1)[:1] ^= 0x40
        return done

    return launch


def refuse_exp(module: Module) -> Any:
    if found(module, "tile.exp"):
        raise CompilationError(error("X0611", "op tile.exp is not supported"))
    return reference.xdsl_codegen(module)


def fail_on_exp(module: Module) -> Any:
    if found(module, "tile.exp"):
        raise NotImplementedError("exp")
    return reference.xdsl_codegen(module)


def without_exp(claims: Capabilities) -> Capabilities:
    return claims.extended(Denial("tile.exp", "the chip has no exponential"))


MUTANTS = {
    "f16_accumulation": Mutant(
        "products are summed in float16", ("op/tile.dot/f32.*", "kernel/matmul/f32.17x31x33"),
        changed_result("tile.dot", of_f32, through_f16),
    ),
    "dropped_tail_of_k": Mutant(
        "a loop drops its last block where it is not whole", ("kernel/matmul/f32.17x31x33",), cut_last_block
    ),
    "load_mask_ignored": Mutant(
        "loads ignore their mask", ("memory/tail/*",), dropped_operand("memory.load", "mask")
    ),
    "store_mask_ignored": Mutant(
        "stores ignore their mask", ("memory/tail/*",), dropped_operand("memory.store", "mask")
    ),
    "stride_ignored": Mutant("strides are taken for 1", ("kernel/axpy/strided",), stride_of_one),
    "nan_eating_max": Mutant(
        "max never keeps a NaN", ("text/max_keeps_nan",),
        changed_attribute("tile.max", "propagate_nan", False),
    ),
    "minus_zero_lost": Mutant(
        "a product is never minus zero", ("text/signs_of_zero",),
        changed_result("tile.mul", of_f32, lambda b, v: b.value(ops.Add, v, constant(b, 0.0, v))),
    ),
    "minus_zero_lost_in_functions": Mutant(
        "tanh is never minus zero", ("special/tile.tanh/values.f32.*",),
        changed_result("tile.tanh", of_f32, lambda b, v: b.value(ops.Add, v, constant(b, 0.0, v))),
    ),
    "saturating_sums": Mutant(
        "sums of 8-bit integers saturate", ("text/wrap_around_i8",),
        changed_result("tile.add", lambda op: dtype_of(op.results[0].type) is dtypes.i8, saturating_sum),
    ),
    "transposed_store": Mutant(
        "square tiles are stored transposed", ("kernel/matmul/f32.32x32x32",), transposed_store
    ),
    "stale_scratch": Mutant(
        "results depend on the launch before", ("steady/twice/*",), launch=stale_scratch()
    ),
    "programs_twice": Mutant(
        "programs race: what one adds is added twice", ("kernel/histogram/n100", "kernel/axpy/*"),
        launch=programs_twice,
    ),
    "off_by_one_grid": Mutant(
        "the last program does not run", ("kernel/add/f32.65",), launch=one_program_less
    ),
    "over_claim": Mutant("claims exp and refuses it", ("op/tile.exp/*",), codegen=refuse_exp),
    "wrong_refusal": Mutant(
        "does not claim exp and fails with another error", ("refusal/tile.exp",),
        capabilities=without_exp, codegen=fail_on_exp,
    ),
    "other_ignored": Mutant(
        "masked lanes of loads are not filled", ("kernel/softmax/3x61", "op/memory.load/f32.*"),
        dropped_operand("memory.load", "other"),
    ),
    "bf16_truncation": Mutant(
        "casts to bfloat16 truncate", ("kernel/to_bfloat16/*",), truncated_bf16
    ),
    "argmax_tie": Mutant(
        "argmax takes the last of equal numbers",
        ("text/argmax_takes_the_first", "kernel/extremes/*"),
        last_of_equals,
    ),
    "inaccurate_exp": Mutant(
        "exp is good to five digits", ("op/tile.exp/f32.*", "special/tile.exp/*"),
        changed_result("tile.exp", of_f32, lambda b, v: b.value(ops.Mul, v, constant(b, 1.00001, v))),
    ),
    "mask_one_too_many": Mutant("less than is less or equal", ("memory/tail/*",), swapped_comparison),
}  # fmt: skip
