"""Splits a kernel into steps: which values get buffers, which roots share a loop nest.

Tile values are evaluated where they are used, inside the loop nests of their consumers ("inline"), unless
that would repeat real work, change the order of memory effects, or cross an op that needs a whole tile. Which
values need a buffer depends on which nests there are, and the other way round: planning repeats until nothing
changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl_core.analysis.access import Irregular
from xdsl_core.analysis.polynomial import Opaque, Uniform
from xdsl_core.ir import Block, Function, Op, TileType, Trait, Value
from xdsl_core.ops import Broadcast, Dot, ExpandDims, Load, Permute, Reshape, Splat, Store
from xdsl_cpu_c.codegen.cost import REPEAT_LIMIT, own_cost
from xdsl_cpu_c.codegen.dot_operands import dot_sources
from xdsl_cpu_c.codegen.memory_order import MemoryOrder
from xdsl_cpu_c.codegen.op_tables import REDUCTIONS
from xdsl_cpu_c.codegen.steps import BlockPlan, BufferStep, Closure, ControlStep, Nest, Root, ScalarStep

_VIEWS = (Splat, Broadcast, ExpandDims, Permute)


def is_tile(value: Value) -> bool:
    """True for values with lanes."""
    return isinstance(value.type, TileType)


def is_unit_reshape(op: Op) -> bool:
    """True for a reshape that only adds or removes dimensions of extent 1."""
    if op.definition is not Reshape:
        return False
    before, after = op.operands[0].type.shape, op.result.type.shape
    return [extent for extent in before if extent > 1] == [extent for extent in after if extent > 1]


def is_inline(op: Op) -> bool:
    """True if the tile result of `op` can be computed lane by lane inside another loop."""
    if len(op.results) != 1 or not is_tile(op.result):
        return False
    if op.definition in _VIEWS or op.definition is Load or is_unit_reshape(op):
        return True
    return op.has(Trait.PURE) and (op.has(Trait.ELEMENTWISE) or op.has(Trait.CONSTANT))


class Planner:
    """Plans one function. `materialised` is the set of inline values that get a buffer."""

    def __init__(self, order: MemoryOrder) -> None:
        self.order = order
        self.analysis = order.analysis
        self.materialised: dict[Value, None] = {}
        self._costs: dict[Value, int] = {}
        self._consumers: dict[Value, dict[int, Block]] = {}
        self._positions: dict[Op, tuple[Block, int]] = {}
        self._forced: set[Value] = set()

    def plan(self, function: Function) -> BlockPlan:
        """The plan of the whole body."""
        self._number(function.block)
        while True:
            self._consumers, self._forced = {}, set()
            plan = self._block(function.block)
            if not self._grow():
                return plan

    def closure_of(self, values: Iterable[Value], root: Value | None = None) -> Closure:
        """What evaluating `values` lane by lane reads; `root` is evaluated even if it has a buffer."""
        closure = Closure()
        pending = [(value, True) for value in values]
        seen: set[tuple[Value, bool]] = set()
        while pending:
            value, straight = pending.pop()
            if (value, straight) in seen or (value, False) in seen:
                continue
            seen.add((value, straight))
            op = value.defining_op
            if not is_tile(value):
                closure.scalars[value] = None
            elif op is None or not is_inline(op) or (value in self.materialised and value is not root):
                closure.add_buffer(value, straight)
            else:
                closure.inline[value] = None
                if op.definition is Load:
                    closure.add_load(op, straight)
                    inputs = self._access_inputs(op)
                else:
                    inputs = [(operand, op.definition is not Permute) for operand in op.operands]
                pending += [(operand, straight and same) for operand, same in inputs]
        return closure

    def access_inputs(self, op: Op) -> list[Value]:
        """The values that the address, the mask and the fill of a load or store need."""
        return [value for value, _ in self._access_inputs(op)]

    def _access_inputs(self, op: Op) -> list[tuple[Value, bool]]:
        """The same values, and whether each is evaluated at the lanes of the access itself."""
        access = self.order.access(op)
        other = op.group("other") if "other" in (slot.name for slot in op.definition.operand_schema) else ()
        mask = op.group("mask")
        if isinstance(access, Irregular):
            return [(value, True) for value in (op.operand("pointer"), *mask, *other)]
        found = [access.base, *other]
        polynomials = [access.offset]
        if access.bounds is None:
            found += mask
        else:
            polynomials += [limit for limits in access.bounds.upper.values() for limit in limits]
            polynomials += access.bounds.negative
            found += access.bounds.conditions
        symbols = [symbol for polynomial in polynomials for symbol in polynomial.symbols()]
        return [(value, True) for value in found] + [
            (symbol.value, _in_order(symbol)) for symbol in symbols if isinstance(symbol, Uniform | Opaque)
        ]

    def force_if_inline(self, value: Value) -> None:
        """Give `value` a buffer unless its defining op gives it one anyway."""
        op = value.defining_op
        if op is not None and is_inline(op) and value not in self.materialised:
            self.force(value)

    def _number(self, block: Block) -> None:
        for index, op in enumerate(block.ops):
            self._positions[op] = block, index
            for region in op.regions:
                for inner in region.blocks:
                    self._number(inner)

    def _block(self, block: Block) -> BlockPlan:
        return _BlockPlanner(self, block).run()

    def consume(self, closure: Closure, consumer: object, block: Block, position: int) -> None:
        """Record that a step evaluates the inline values of `closure`; loads it may not defer get a
        buffer.
        """
        for value in closure.inline:
            self._consumers.setdefault(value, {})[id(consumer)] = block
        for load in closure.loads:
            home, _ = self._positions[load]
            moved = home is not block and (self._is_loop(block, home) or self._written_in(load, home, block))
            here = position if home is block else self._ancestor_position(block, home)
            if moved or self.order.written_between(load, home, here):
                self.force(load.result)

    def force(self, value: Value) -> None:
        """Give an inline value a buffer."""
        self._consumers.setdefault(value, {})
        self._forced.add(value)

    def _grow(self) -> bool:
        """Give a buffer to values that more than one step would compute at real cost. True if any was new.

        Of a value and what is computed from it, only the latter gets one at first: that may be enough.
        """
        wanted = {
            value for value in self._consumers if value not in self.materialised and self._is_wanted(value)
        }
        for value in wanted:
            if not any(result in wanted for user in value.users for result in user.results):
                self.materialised[value] = None
        return bool(wanted)

    def _is_wanted(self, value: Value) -> bool:
        if value in self._forced:
            return True
        home, _ = self._positions[value.owner]  # type: ignore[index]
        consumers = self._consumers[value]
        nested = any(self._is_loop(block, home) for block in consumers.values() if block is not home)
        return (len(consumers) > 1 or nested) and self.cost(value) > REPEAT_LIMIT

    def cost(self, value: Value) -> int:
        """Estimated work of computing one lane of `value` again, in cheap vector instructions."""
        known = self._costs.get(value)
        if known is not None:
            return known
        op = value.defining_op
        if op is None or not is_tile(value) or not is_inline(op) or value in self.materialised:
            return 1
        cost = own_cost(op, self.order)
        if op.definition is not Load:
            cost += sum(self.cost(operand) for operand in op.operands)
        self._costs[value] = cost
        return cost

    def _is_loop(self, block: Block, home: Block) -> bool:
        """True if `block` is inside a loop that `home` is outside of."""
        while block is not home:
            parent = block.region.parent if block.region is not None else None
            if not isinstance(parent, Op) or parent.block is None:
                return False
            if "otherwise" not in parent.definition.region_names:
                return True
            block = parent.block
        return False

    def _written_in(self, load: Op, home: Block, block: Block) -> bool:
        """True if the branch that `block` belongs to may write what `load`, outside of it, reads."""
        parent = self._ancestor(block, home)
        writers = (op for op in parent.walk() if op.has(Trait.WRITES_MEMORY))
        return any(self.order.may_overlap(load, writer) for writer in writers)

    def _ancestor(self, block: Block, home: Block) -> Op:
        while True:
            parent = block.region.parent if block.region is not None else None
            assert isinstance(parent, Op)
            assert parent.block is not None
            if parent.block is home:
                return parent
            block = parent.block

    def _ancestor_position(self, block: Block, home: Block) -> int:
        return self._positions[self._ancestor(block, home)][1]


def _in_order(symbol: Uniform | Opaque) -> bool:
    """True unless looked-up lanes are found at other lanes than they are used at."""
    return isinstance(symbol, Uniform) or all(dim in (-1, own) for own, dim in enumerate(symbol.dims))


class _BlockPlanner:
    """Plans one block: walks its ops in order with at most one nest open."""

    def __init__(self, planner: Planner, block: Block) -> None:
        self.planner = planner
        self.block = block
        self.plan = BlockPlan()
        self.pending: Nest | None = None
        self.pending_scalars: set[Value] = set()

    def run(self) -> BlockPlan:
        for position, op in enumerate(self.block.ops):
            self._visit(op, position)
        self._flush()
        self._find_last_uses()
        return self.plan

    def _visit(self, op: Op, position: int) -> None:
        if op.has(Trait.TERMINATOR):
            self._terminate(op, position)
        elif op.regions and op.has(Trait.CONTROL):
            self._control(op, position)
        elif is_inline(op):
            if op.result in self.planner.materialised:
                self._root(Root("materialise", op, position), op.result.type.shape)
        elif op.definition in REDUCTIONS:
            self._root(Root("reduce", op, position), op.operands[0].type.shape)
        elif op.definition is Store and is_tile(op.operand("value")):
            self._root(Root("store", op, position), op.operand("value").type.shape)
        elif any(is_tile(value) for value in (*op.operands, *op.results)):
            self._buffer_step(op, position)
        else:
            self._scalar(op)

    def _root(self, root: Root, shape: tuple[int, ...]) -> None:
        closure = self._root_closure(root)
        if self.pending is not None and not self._fits(root, shape, closure):
            self._flush()
        if self.pending is None:
            self.pending = Nest(shape)
        self.pending.roots.append(root)
        self.pending.closure.merge(closure)
        self.planner.consume(closure, self.pending, self.block, root.position)
        if root.kind == "store":
            self._check_own_loads(root.op, closure)
        self.pending_scalars.update(value for value in root.op.results if not is_tile(value))

    def _root_closure(self, root: Root) -> Closure:
        op = root.op
        if root.kind == "store":
            return self.planner.closure_of([op.operand("value"), *self.planner.access_inputs(op)])
        if root.kind == "reduce":
            return self.planner.closure_of(op.operands)
        return self.planner.closure_of([op.result], root=op.result)

    def _fits(self, root: Root, shape: tuple[int, ...], closure: Closure) -> bool:
        """True if `root` may run lane by lane with the roots of the open nest."""
        nest = self.pending
        assert nest is not None
        made = {value for other in nest.roots if other.kind == "reduce" for value in other.op.results}
        if shape != nest.shape or made & {*closure.buffers, *closure.scalars}:
            return False
        here = {other.op.result for other in nest.roots if other.kind == "materialise"}
        if any(value in here and not straight for value, straight in closure.buffers.items()):
            return False
        hazard = self.planner.order.hazard
        if any(hazard(load, store, at=at) for load, at in closure.loads.items() for store in nest.stores):
            return False
        if root.kind == "store":
            loads = nest.closure.loads.items()
            return not any(hazard(load, root.op, at=at) for load, at in loads) and not any(
                hazard(store, root.op) for store in nest.stores
            )
        return True

    def _check_own_loads(self, store: Op, closure: Closure) -> None:
        """A store may not overwrite lanes that its own deferred loads have yet to read."""
        for load, straight in closure.loads.items():
            if self.planner.order.hazard(load, store, at=straight):
                self.planner.force(load.result)

    def _buffer_step(self, op: Op, position: int) -> None:
        values: Iterable[Value] = op.operands
        if op.definition is Dot:
            values = dot_sources(op, self.planner)
        self._flush()
        closure = Closure()
        for value in values:
            if is_tile(value) and op.definition is not Dot:
                self.planner.force_if_inline(value)
            closure.merge(self.planner.closure_of([value]))
        step = BufferStep(op, closure)
        self.planner.consume(closure, step, self.block, position)
        self.plan.steps.append(step)

    def _control(self, op: Op, position: int) -> None:
        self._flush()
        plans = tuple(self.planner._block(block) for region in op.regions for block in region.blocks)
        closure = self.planner.closure_of(op.operands)
        for plan in plans:
            read = [step.closure for step in plan.steps if not isinstance(step, ScalarStep)]
            for value in (*(value for other in read for value in other.buffers), *plan.yielded):
                if is_tile(value):
                    closure.add_buffer(value, False)
        self.planner.consume(closure, op, self.block, position)
        self.plan.steps.append(ControlStep(op, plans, closure))

    def _terminate(self, op: Op, position: int) -> None:
        for value in op.operands:
            if is_tile(value):
                self.planner.force_if_inline(value)
        self._flush()
        self.plan.yielded = op.operands

    def _scalar(self, op: Op) -> None:
        effect = op.has(Trait.READS_MEMORY) or op.has(Trait.WRITES_MEMORY) or op.has(Trait.EFFECT)
        if self.pending is not None and (effect or self.pending_scalars & set(op.operands)):
            self._flush()
        self.plan.steps.append(ScalarStep(op))

    def _flush(self) -> None:
        if self.pending is not None:
            self.plan.steps.append(self.pending)
            self.pending = None
            self.pending_scalars = set()

    def _find_last_uses(self) -> None:
        for index, step in enumerate(self.plan.steps):
            if not isinstance(step, ScalarStep):
                for value in step.closure.buffers:
                    self.plan.last_use[value] = index
        for value in self.plan.yielded:
            self.plan.last_use[value] = len(self.plan.steps)
