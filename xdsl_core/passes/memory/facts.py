"""What has to be known of a whole kernel before its first op is lowered: which values need which place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl_core.analysis.index_analysis import IndexAnalysis
from xdsl_core.analysis.uniform import fills_with_zero
from xdsl_core.dtypes import DType
from xdsl_core.ir import Function, Op, PointerType, TileType, Trait, Value, dtype_of
from xdsl_core.ops import (
    AtomicCas,
    AtomicRmw,
    Cast,
    Dot,
    For,
    If,
    Load,
    Permute,
    Splat,
    Store,
    While,
)
from xdsl_core.passes.memory.access_plans import CopyPlan, copy_plan, looked_up_values
from xdsl_core.passes.memory.machine import Machine
from xdsl_core.passes.memory.separate_accumulators import continues, is_zero, resident_values


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand of a matrix product: a load that brings it straight to the matrix unit, or None; transposed
    or
    not on the way.
    """

    value: Value
    load: Op | None
    transposed: bool


@dataclass
class Facts:
    """Decisions about one function.

    `plans` tells how loads and stores of tiles reach memory. `held` are the tiles that vector instructions or
    copies need in vector memory, `registers` the scalars that scalar code needs. `products` are the matrix
    products that the matrix unit does, with their factors; `resident` the tiles in its accumulator; `direct`
    the loads that bring factors to it, and `drained` the stores that copy from the accumulator.
    """

    machine: Machine
    analysis: IndexAnalysis
    plans: dict[Op, CopyPlan | None] = field(default_factory=dict)
    held: set[Value] = field(default_factory=set)
    registers: set[Value] = field(default_factory=set)
    products: dict[Op, tuple[Factor, Factor]] = field(default_factory=dict)
    resident: set[Value] = field(default_factory=set)
    direct: dict[Op, list[Op]] = field(default_factory=dict)
    drained: dict[Op, Value] = field(default_factory=dict)
    pending: list[Value] = field(default_factory=list)

    def need(self, values: Iterable[Value]) -> None:
        """These have to be in vector memory (tiles) or may be (scalars)."""
        for value in values:
            if isinstance(value.type, TileType) and value not in self.held:
                self.held.add(value)
                self.pending.append(value)


def facts_of(function: Function, machine: Machine, analysis: IndexAnalysis) -> Facts:
    """Decide for one function."""
    facts = Facts(machine, analysis)
    ops = list(function.walk())
    for op in ops:
        if op.definition in (Load, Store) and op.operand("pointer").type.shape:
            facts.plans[op] = copy_plan(op, analysis)
    _choose_products(facts, ops)
    for op in ops:
        _roots(facts, op)
    while facts.pending:
        _follow(facts, facts.pending.pop())
    _choose_registers(facts, ops)
    return facts


def _choose_products(facts: Facts, ops: list[Op]) -> None:
    matrix = facts.machine.matrix
    if matrix is None:
        return
    dots = [op for op in ops if op.definition is Dot and _suits(facts, op)]
    resident = resident_values([op for op in ops if op.definition is not Dot or op in dots])
    for op in dots:
        if continues(op.operand("accumulator"), resident):
            factors = tuple(_factor(facts, op.operand(name)) for name in ("lhs", "rhs"))
            facts.products[op] = (factors[0], factors[1])
            for factor in factors:
                if factor.load is not None:
                    facts.direct.setdefault(factor.load, []).append(op)
    facts.resident = resident_values([op for op in ops if op.definition is not Dot or op in facts.products])
    for op in ops:
        if op.definition is Store and op in facts.plans:
            source = _accumulated_source(facts, op)
            if source is not None:
                facts.drained[op] = source


def _suits(facts: Facts, op: Op) -> bool:
    """Whether the matrix unit takes the dtypes of a product."""
    matrix = facts.machine.matrix
    assert matrix is not None
    lhs, rhs, total = (dtype_of(op.operand(name).type) for name in ("lhs", "rhs", "accumulator"))
    return lhs is rhs and matrix.fractal(lhs.name) is not None and total.bits == 32 and _rank(op) == 2


def _rank(op: Op) -> int:
    return len(op.operand("lhs").type.shape)


def _factor(facts: Facts, value: Value) -> Factor:
    """The load behind a factor, if the factor is nothing but that load, perhaps transposed."""
    transposed, source = False, value
    op = source.defining_op
    while op is not None and op.definition is Permute and op.attributes["order"] == (1, 0):
        transposed, source = not transposed, op.operands[0]
        op = source.defining_op
    if op is None or op.definition is not Load or not fills_with_zero(op.optional("other")):
        return Factor(value, None, False)
    plan = facts.plans.get(op)
    if plan is None or dtype_of(source.type).is_bool or not (plan.loops in ((), (0,)) or plan.unwrapped):
        return Factor(value, None, False)
    return Factor(value, op, transposed)


def _accumulated_source(facts: Facts, store: Op) -> Value | None:
    """The accumulated tile that a store can take straight from the matrix unit, converted on the way."""
    plan = facts.plans[store]
    if plan is None or plan.loops or plan.unwrapped:
        return None
    value = store.operand("value")
    element = dtype_of(value.type)
    op = value.defining_op
    if op is not None and op.definition is Cast and op.operands[0] in facts.resident:
        if op.attribute("rounding") != "rtne" or op.attribute("saturate"):
            return None
        value = op.operands[0]
    if value not in facts.resident or is_zero(value):
        return None
    drains = _drains(facts.machine, dtype_of(value.type), element)
    return value if drains and _rows_are_aligned(facts.machine, value) else None


def _rows_are_aligned(machine: Machine, value: Value) -> bool:
    """Whether a path can take any row of an accumulated tile: blocks begin rows, else lengths must suit."""
    assert machine.matrix is not None
    if machine.matrix.layouts.get("accumulator"):
        return True
    unit = machine.space(machine.matrix.operands["accumulator"]).alignment
    return value.type.shape[-1] * dtype_of(value.type).bytes % unit == 0


def _drains(machine: Machine, source: DType, element: DType) -> bool:
    """Whether the accumulator's way to global memory is one path that converts like this."""
    assert machine.matrix is not None
    ends = machine.matrix.operands["accumulator"], machine.global_space
    path = machine.target.path(*ends)
    return path is not None and (source is element or f"{source}->{element}" in path.conversions)


def _roots(facts: Facts, op: Op) -> None:
    """Need what effects and matrix products read."""
    if op.definition in (Load, Store):
        if op.definition is Store or op.attributes.get("volatile"):
            _access_needs(facts, op)
        if op in facts.direct:
            _access_needs(facts, op)
        if op.definition is Store and op not in facts.drained:
            facts.need([op.operand("value")])
    elif op.definition in (AtomicRmw, AtomicCas) or op.has(Trait.EFFECT):
        facts.need(op.operands)
    elif op in facts.products:
        facts.need(factor.value for factor in facts.products[op] if factor.load is None)
    elif op.definition not in (For, While, If) and op.results and not op.results[0].type.shape:
        # a scalar made of tiles
        facts.need(op.operands)
    elif op.definition is For:
        facts.need(_carried_by_loop(facts, op))
    elif op.definition in (While, If):
        facts.need([*op.operands, *op.results])
        for region in op.regions:
            facts.need([*region.block.arguments, *region.block.ops[-1].operands])


def _carried_by_loop(facts: Facts, loop: Op) -> list[Value]:
    """The tiles that a loop carries outside of the matrix unit's accumulator."""
    block, found = loop.region("body").block, []
    first = len(loop.operands) - len(loop.results)
    for position, result in enumerate(loop.results):
        argument = block.arguments[position + 1]
        if argument not in facts.resident:
            found += [loop.operands[first + position], argument, block.ops[-1].operands[position], result]
    return found


def _access_needs(facts: Facts, op: Op) -> None:
    """Need what the addresses, mask and fill of a load or store are made of."""
    plan = facts.plans.get(op)
    if plan is None:
        facts.need([op.operand("pointer"), *op.group("mask")])
    else:
        facts.need(looked_up_values(plan))
    if op.definition is Load and op.group("other"):
        facts.need(op.group("other"))


def _follow(facts: Facts, value: Value) -> None:
    """Need what a tile in vector memory is made of."""
    op = value.defining_op
    if op is None or op in facts.products:
        return
    if op.definition is Load:
        _access_needs(facts, op)
    elif op.definition not in (For, While, If):
        facts.need(op.operands)


def _choose_registers(facts: Facts, ops: list[Op]) -> None:
    """Find the scalars that are needed in registers: for addresses, bounds, control."""
    for op in reversed(ops):
        for index, value in enumerate(op.operands):
            if isinstance(value.type, TileType):
                continue
            if not _takes_vector_scalar(facts, op, index):
                facts.registers.add(value)


def _takes_vector_scalar(facts: Facts, op: Op, index: int) -> bool:
    if op.definition is Splat:
        return not isinstance(op.operands[0].type, PointerType)
    if op.definition is Store:
        return op.operands[index] is op.operand("value")
    return (
        op.has(Trait.ELEMENTWISE)
        and not op.has(Trait.POINTER_ARITHMETIC)
        and (
            not any(value in facts.registers for value in op.results)
            and not any(isinstance(value.type, PointerType) for value in (*op.operands, *op.results))
        )
    )
