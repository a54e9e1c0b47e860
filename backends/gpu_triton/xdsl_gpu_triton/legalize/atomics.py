"""Exchanges of floats, which Triton has for integers of 32 and 64 bits only."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl_core import dtypes
from xdsl_core.ir import Builder, Module, Op, dtype_of
from xdsl_core.ops import AtomicRmw, BitCast, PointerCast
from xdsl_gpu_triton.errors import not_exact


@dataclass(frozen=True, slots=True)
class LowerExchanges:
    """Exchanges the bits of floats. X0732 for updates of narrow integers, which Triton does not have.

    Before:
        %2 = atomic.rmw %p, %1 {kind = "xchg"} : f32
    After:
        %3 = tile.pointer_cast %p {pointee = dtype<i32>} : ptr<i32>
        %4 = tile.bitcast %1 {to = dtype<i32>} : i32
        %5 = atomic.rmw %3, %4 {kind = "xchg"} : i32
        %2 = tile.bitcast %5 {to = dtype<f32>} : f32
    """

    name: str = "lower-exchanges"

    def run(self, module: Module) -> None:
        """Change the module in place."""
        for op in list(module.walk()):
            if op.definition is not AtomicRmw:
                continue
            dtype = dtype_of(op.result.type)
            if dtype.is_integer and dtype.bits < 32:
                raise not_exact(op, f"Triton updates integers of 32 or 64 bits, not {dtype}", "use i32")
            if dtype.is_float and op.attributes["kind"] == "xchg":
                _exchange_bits(op)


def _exchange_bits(op: Op) -> None:
    dtype = dtype_of(op.result.type)
    if dtype.bits < 32:
        raise not_exact(op, f"Triton exchanges 32 or 64 bits, not {dtype.bits}", "use f32 or an integer")
    bits = dtypes.BY_NAME[f"i{dtype.bits}"]
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    pointer = builder.value(PointerCast, op.operand("pointer"), pointee=bits)
    value = builder.value(BitCast, op.operand("value"), to=bits)
    old = builder.value(AtomicRmw, pointer, value, op.optional("mask"), **op.attributes)
    number = builder.value(BitCast, old, to=dtype)
    number.name = op.result.name
    op.result.replace_uses_with(number)
    op.erase()
