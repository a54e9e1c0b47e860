"""Matrix products add to the matrix unit's accumulator or to nothing; other sums are the vector unit's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl_core.ir import Block, Builder, Module, Op, Value, dtype_of
from xdsl_core.ops import Add, Constant, Dot, For


@dataclass(frozen=True)
class SeparateAccumulators:
    """Takes out of a product an addend that is not in the matrix unit's accumulator anyway.

        %d = tile.dot %a, %b, %c : tile<64x64xf32>
    ->
        %zero = tile.constant {value = 0.0, type = tile<64x64xf32>}
        %p = tile.dot %a, %b, %zero : tile<64x64xf32>
        %d = tile.add %p, %c : tile<64x64xf32>

    An addend is there if it is zero, another product, or what a loop carries that starts at zero and adds
    nothing but products.
    """

    name: ClassVar[str] = "separate_accumulators"

    def run(self, module: Module) -> None:
        for function in module.functions.values():
            resident = resident_values(list(function.walk()))
            for op in list(function.walk()):
                if op.definition is Dot and not continues(op.operand("accumulator"), resident):
                    _separate(op)


def continues(accumulator: Value, resident: set[Value]) -> bool:
    """Whether a product may add to this tile where it is: it is overwritten, so nothing else may want it."""
    return is_zero(accumulator) or (accumulator in resident and len(accumulator.uses) == 1)


def _separate(op: Op) -> None:
    assert op.block is not None
    builder = Builder(op.block, before=op, location=op.location)
    accumulator = op.operand("accumulator")
    zero = builder.value(Constant, value=_zero(accumulator), type=accumulator.type)
    product = builder.create(Dot, [op.group("lhs"), op.group("rhs"), (zero,)], op.attributes).result
    total = builder.value(Add, product, accumulator)
    op.result.replace_uses_with(total)
    op.erase()


def _zero(value: Value) -> int | float:
    return 0.0 if dtype_of(value.type).is_float else 0


def is_zero(value: Value) -> bool:
    """Whether a tile is known to be zero everywhere."""
    op = value.defining_op
    return op is not None and op.definition is Constant and op.attributes["value"] == 0


def resident_values(ops: list[Op]) -> set[Value]:
    """The tiles that can live in the matrix unit's accumulator from their first product to their last.

    Those are products, zeros that products add to, and what loops carry if all of it is of this kind. Starts
    from all candidates and drops those that meet anything else, until nothing changes.
    """
    candidates: set[Value] = set()
    for op in ops:
        if op.definition is Dot:
            candidates.add(op.result)
        elif op.definition is For:
            first = len(op.operands) - len(op.results)
            for position, result in enumerate(op.results):
                if len(result.type.shape) == 2 and is_accumulated(op, position):
                    candidates |= {result, op.region("body").block.arguments[position + 1]}
                    if is_zero(op.operands[first + position]):
                        candidates.add(op.operands[first + position])
    changed = True
    while changed:
        changed = False
        for op in ops:
            if op.definition is For and _drop_loop(op, candidates):
                changed = True
    zeros = {op.operand("accumulator") for op in ops if op.definition is Dot}
    return candidates | {value for value in zeros if is_zero(value)}


def is_accumulated(loop: Op, position: int) -> bool:
    """Whether what a loop carries at a position is only added to by products: each use inside is one."""
    block: Block = loop.region("body").block
    argument = block.arguments[position + 1]
    yielded = block.ops[-1].operands[position]
    value = yielded
    while value is not argument:
        op = value.defining_op
        if op is None or len(value.uses) != 1:
            return False
        if op.definition is Dot:
            value = op.operand("accumulator")
        elif op.definition is For:
            inner = value.index
            if not is_accumulated(op, inner):
                return False
            value = op.operands[len(op.operands) - len(op.results) + inner]
        else:
            return False
    return len(argument.uses) == 1 and yielded is not argument


def _fits(value: Value, candidates: set[Value]) -> bool:
    return value in candidates or is_zero(value)


def _drop_loop(loop: Op, candidates: set[Value]) -> bool:
    """Drop what a loop carries if it does not start in the accumulator."""
    block = loop.region("body").block
    first = len(loop.operands) - len(loop.results)
    changed = False
    for position, result in enumerate(loop.results):
        argument = block.arguments[position + 1]
        if argument not in candidates and result not in candidates:
            continue
        start = loop.operands[first + position]
        end = block.ops[-1].operands[position]
        if not (_fits(start, candidates) and end in candidates):
            candidates -= {argument, result}
            changed = True
    return changed
