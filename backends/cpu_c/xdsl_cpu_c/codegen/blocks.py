"""Blocks of a plan in C: steps in order, buffers taken and given back, loops and branches."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl_core import ops
from xdsl_core.ir import Block, Op, TileType, Value, dtype_of
from xdsl_cpu_c.codegen.buffer_ops import write_buffer_op
from xdsl_cpu_c.codegen.context import Buffer, Context, scalar_c_type, source_comment
from xdsl_cpu_c.codegen.roots import copy_buffer, new_buffer, write_nest, write_value
from xdsl_cpu_c.codegen.scalars import write_scalar
from xdsl_cpu_c.codegen.steps import BlockPlan, BufferStep, ControlStep, Nest, ScalarStep, Step
from xdsl_cpu_c.codegen.text import assignment, bare, grouped


@dataclass(frozen=True, slots=True)
class Wish:
    """A buffer in which a value should be made; only once nothing reads `holder`, whose buffer it is, any
    more.
    """

    buffer: Buffer
    holder: Value | None


@dataclass(slots=True)
class BlockWriter:
    """Writes one block; `owned` are the buffers that end with it."""

    context: Context
    plan: BlockPlan
    wishes: dict[Value, Wish]
    owned: dict[Value, Buffer] = field(default_factory=dict)
    index: int = 0

    def write(self) -> None:
        """Write all steps, then give the block's own buffers back."""
        last: list[str] = []
        lines = self.context.lines
        for index, step in enumerate(self.plan.steps):
            self.index = index
            start = len(lines.lines)
            self._step(step)
            self.context.give_back()
            self._release(index)
            comments = _comments(step, self.context.file)
            if len(lines.lines) > start and comments != last:
                lines.insert(start, comments)
                last = comments

    def close(self) -> None:
        """Give back what the block still owns, once its yielded values have been taken."""
        for value in list(self.owned):
            self._give_back(value)

    def _step(self, step: Step) -> None:
        if isinstance(step, ScalarStep):
            write_scalar(self.context, step.op)
        elif isinstance(step, Nest):
            write_nest(self.context, step, self._target)
        elif isinstance(step, BufferStep):
            write_buffer_op(self.context, step.op, self._target)
        else:
            _CONTROL[step.op.definition](self, step)

    def _target(self, value: Value, busy: set[str] | None) -> Buffer:
        """The buffer to make `value` in: the one wished for if that is safe by now, an operand's if this is
        its last use, else a fresh one.
        """
        wish = self.wishes.get(value)
        if wish is not None and self._granted(wish, busy) and not self._still_read(value, wish.buffer):
            return wish.buffer
        taken = self._dying_operand(value)
        if taken is not None and busy is not None and self.owned[taken].name not in busy:
            self.owned[value] = self.owned.pop(taken)
            return self.owned[value]
        buffer = new_buffer(self.context, value)
        self.owned[value] = buffer
        return buffer

    def _granted(self, wish: Wish, busy: set[str] | None) -> bool:
        if wish.holder is None:
            return True
        last = self.plan.last_use.get(wish.holder, -1)
        return last < self.index or (last == self.index and busy is not None and wish.buffer.name not in busy)

    def _still_read(self, value: Value, buffer: Buffer) -> bool:
        """True if an operand of the op that makes `value` lives in `buffer` and is read again later."""
        op = value.defining_op
        operands = op.operands if op is not None else ()
        held = (operand for operand in operands if self.context.buffers.get(operand) == buffer)
        return any(self.plan.last_use.get(operand, -1) > self.index for operand in held)

    def _dying_operand(self, value: Value) -> Value | None:
        """An accumulator that is read here for the last time: the result can stay where it is."""
        op = value.defining_op
        if op is None or op.definition is not ops.Dot:
            return None
        accumulator = op.operand("accumulator")
        dies = self.plan.last_use.get(accumulator, -1) <= self.index
        return accumulator if dies and accumulator in self.owned else None

    def ends_here(self, value: Value) -> bool:
        """True if the block owns the value's buffer and this step is the last to read it."""
        return value in self.owned and self.plan.last_use.get(value, -1) <= self.index

    def _release(self, index: int) -> None:
        for value in list(self.owned):
            if self.plan.last_use.get(value, index) <= index:
                self._give_back(value)

    def _give_back(self, value: Value) -> None:
        buffer = self.owned.pop(value)
        self.context.release(buffer)

    def alias(self, value: Value, source: Value) -> None:
        """Let `value` share the buffer of `source`, which then lives as long as the kernel."""
        self.owned.pop(source, None)
        self.context.buffers[value] = self.context.buffers[source]


def _comments(step: Step, file: str) -> list[str]:
    """The kernel's lines that a step comes from."""
    found = [root.op for root in step.roots] if isinstance(step, Nest) else [step.op]
    return [text for text in dict.fromkeys(source_comment(op, file) for op in found) if text]


def write_block(context: Context, plan: BlockPlan, wishes: dict[Value, Wish]) -> BlockWriter:
    """Write a block whose yielded values are wished into certain buffers; the caller closes the writer."""
    for value, wish in list(wishes.items()):
        op = value.defining_op
        while op is not None and op.definition is ops.Dot:
            wishes.setdefault(op.operand("accumulator"), wish)
            op = op.operand("accumulator").defining_op
    writer = BlockWriter(context, plan, wishes)
    writer.write()
    return writer


def place(context: Context, value: Value, buffer: Buffer) -> None:
    """Bring a tile into a buffer: copied from its own, or evaluated there."""
    held = context.buffers.get(value)
    if held is not None:
        copy_buffer(context, buffer, held)
    else:
        write_value(context, value, buffer, context.planner.closure_of([value], root=value))


def declare(context: Context, value: Value, text: str) -> str:
    """A C variable that may change, for a scalar that a loop or a branch assigns."""
    name = context.names.fresh(value.name or "carried")
    c_type = scalar_c_type(value.type)
    space = "" if c_type.endswith("*") else " "
    context.lines.add(f"{c_type}{space}{name}{' = ' + bare(text) if text else ''};")
    return name


def assign(context: Context, pairs: list[tuple[Value, str]]) -> None:
    """Assign scalars to variables at once: through temporaries where one reads what another wrote before."""
    changes = [(context.scalar(value), name, value) for value, name in pairs if context.scalar(value) != name]
    written: set[str] = set()
    statements = []
    for text, name, value in changes:
        fresh = ""
        if written & set(re.findall(r"\w+", text)):
            c_type, fresh = scalar_c_type(value.type), context.names.fresh(f"next_{name}")
            head = c_type if c_type.endswith("*") else f"const {c_type} "
            context.lines.add(f"{head}{fresh} = {bare(text)};")
        statements.append(assignment(name, fresh or bare(text)))
        written.add(name)
    for statement in statements:
        context.lines.add(statement)


def move(context: Context, pairs: list[tuple[Value, Buffer]]) -> None:
    """Copy tiles to where a loop carries them, at once: through a copy where one reads what another
    writes.
    """
    moves = [(context.buffers[value], buffer) for value, buffer in pairs]
    moves = [(source, target) for source, target in moves if source.name != target.name]
    written = {target.name for _, target in moves}
    copies = []
    for position, (source, target) in enumerate(moves):
        if source.name in written:
            spare = context.allocate(source.shape, source.element, "spare")
            copy_buffer(context, spare, source)
            copies.append(spare)
            moves[position] = spare, target
    for source, target in moves:
        copy_buffer(context, target, source)
    for spare in copies:
        context.release(spare)


def _split(values: list[tuple[Value, Value]]) -> tuple[list[tuple[Value, Value]], list[tuple[Value, Value]]]:
    tiles = [pair for pair in values if isinstance(pair[1].type, TileType)]
    return tiles, [pair for pair in values if not isinstance(pair[1].type, TileType)]


def _is_read_inside(step: ControlStep, value: Value) -> bool:
    """True if the loop's own code reads the tile, in whatever iteration."""
    for plan in step.regions:
        inner = (part for part in plan.steps if not isinstance(part, ScalarStep))
        if value in plan.yielded or any(value in part.closure.buffers for part in inner):
            return True
    return False


def _carry_in(writer: BlockWriter, step: ControlStep, arguments: list[Value]) -> None:
    """Variables and buffers of what a loop carries, holding the initial values.

    A buffer that nothing reads any more, in the loop or after it, is taken over.
    """
    context, inits = writer.context, step.op.group("inits")
    tiles, scalars = _split(list(zip(inits, arguments, strict=True)))
    for init, argument in tiles:
        if writer.ends_here(init) and inits.count(init) == 1 and not _is_read_inside(step, init):
            context.buffers[argument] = writer.owned.pop(init)
            continue
        buffer = new_buffer(context, argument)
        place(context, init, buffer)
        context.buffers[argument] = buffer
    for init, argument in scalars:
        context.scalars[argument] = declare(context, argument, context.scalar(init))


def _carry_over(context: Context, yielded: tuple[Value, ...], arguments: list[Value]) -> None:
    """At the end of an iteration: what was yielded becomes what is carried."""
    tiles, scalars = _split(list(zip(yielded, arguments, strict=True)))
    move(context, [(value, context.buffers[argument]) for value, argument in tiles])
    assign(context, [(value, context.scalars[argument]) for value, argument in scalars])


def _publish(writer: BlockWriter, results: tuple[Value, ...], arguments: list[Value]) -> None:
    """After a loop the results are what it carried last."""
    context = writer.context
    for value, argument in zip(results, arguments, strict=True):
        if isinstance(value.type, TileType):
            context.buffers[value] = writer.owned[value] = context.buffers[argument]
        else:
            context.scalars[value] = context.scalars[argument]


def _wishes(
    context: Context, yielded: tuple[Value, ...], arguments: list[Value], block: Block
) -> dict[Value, Wish]:
    """Yielded tiles should be made where they are carried, each in one place."""
    wishes: dict[Value, Wish] = {}
    for value, argument in zip(yielded, arguments, strict=True):
        op = value.defining_op
        if isinstance(value.type, TileType) and op is not None and op.block is block:
            wishes.setdefault(value, Wish(context.buffers[argument], argument))
    return wishes


def _write_for(writer: BlockWriter, step: ControlStep) -> None:
    context, op = writer.context, step.op
    block = op.region("body").block
    induction, *carried = block.arguments
    _carry_in(writer, step, carried)
    with context.names.frame(), context.scope(_for_head(context, op, induction)):
        if scalar_c_type(induction.type) != _counter_type(op):
            _narrow_counter(context, induction)
        plan = step.regions[0]
        body = write_block(context, plan, _wishes(context, plan.yielded, carried, block))
        _carry_over(context, plan.yielded, carried)
        body.close()
    _publish(writer, op.results, carried)


def _counter_type(op: Op) -> str:
    """C type of the variable that counts: wider than the induction variable where the last step could
    overflow it.
    """
    c_type = scalar_c_type(op.operand("lower").type)
    element = dtype_of(op.operand("lower").type)
    upper, step = (_constant(op.operand(name)) for name in ("upper", "step"))
    if step == 1 or (step is not None and upper is not None and upper + step <= element.highest):
        return c_type
    return "uint64_t" if c_type == "uint64_t" else "int64_t"


def _constant(value: Value) -> int | None:
    op = value.defining_op
    return op.attributes["value"] if op is not None and op.definition is ops.Constant else None


def _for_head(context: Context, op: Op, induction: Value) -> str:
    """The head of a loop, whose variable is then known as the induction variable."""
    lower, upper, step = (bare(context.scalar(op.operand(name))) for name in ("lower", "upper", "step"))
    c_type, hint = _counter_type(op), induction.name or "k"
    same = c_type == scalar_c_type(induction.type)
    name = context.scalars[induction] = context.names.fresh(hint if same else f"wide_{hint}")
    advance = f"++{name}" if _constant(op.operand("step")) == 1 else f"{name} += {step}"
    return f"for ({c_type} {name} = {lower}; {name} < {upper}; {advance})"


def _narrow_counter(context: Context, induction: Value) -> None:
    c_type, counter = scalar_c_type(induction.type), context.scalars[induction]
    name = context.scalars[induction] = context.names.fresh(induction.name or "k")
    context.lines.add(f"const {c_type} {name} = ({c_type}){counter};")


def _write_if(writer: BlockWriter, step: ControlStep) -> None:
    context, op = writer.context, step.op
    for value in op.results:
        if isinstance(value.type, TileType):
            context.buffers[value] = writer.owned[value] = new_buffer(context, value)
        else:
            context.scalars[value] = declare(context, value, "")
    heads = (f"if ({bare(context.scalar(op.operand('condition')))})", "else")
    for head, region, plan in zip(heads, op.regions, step.regions, strict=True):
        if head == "else" and not plan.steps and not plan.yielded:
            continue
        with context.scope(head):
            wishes = {
                value: Wish(context.buffers[result], None)
                for value, result in zip(plan.yielded, op.results, strict=True)
                if isinstance(value.type, TileType) and value.owner in region.block.ops
            }
            branch = write_block(context, plan, wishes)
            tiles, scalars = _split(list(zip(plan.yielded, op.results, strict=True)))
            for value, result in tiles:
                place(context, value, context.buffers[result])
            assign(context, [(value, context.scalars[result]) for value, result in scalars])
            branch.close()


def _write_while(writer: BlockWriter, step: ControlStep) -> None:
    context, op = writer.context, step.op
    before, after = (op.region(name).block for name in ("before", "after"))
    carried = before.arguments
    _carry_in(writer, step, carried)
    forwarded = after.arguments
    for value in forwarded:
        if isinstance(value.type, TileType):
            context.buffers[value] = new_buffer(context, value)
        else:
            context.scalars[value] = declare(context, value, "")
    with context.scope("for (;;)"):
        plan = step.regions[0]
        condition, *values = plan.yielded
        test = write_block(context, plan, {})
        tiles, scalars = _split(list(zip(values, forwarded, strict=True)))
        for value, argument in tiles:
            place(context, value, context.buffers[argument])
        assign(context, [(value, context.scalars[argument]) for value, argument in scalars])
        test.close()
        context.lines.add(f"if (!{grouped(context.scalar(condition))})")
        context.lines.add("    break;")
        plan = step.regions[1]
        body = write_block(context, plan, {})
        _carry_over(context, plan.yielded, carried)
        body.close()
    for value in carried:
        if isinstance(value.type, TileType):
            context.release(context.buffers[value])
    _publish(writer, op.results, forwarded)


_CONTROL: dict[object, Callable[[BlockWriter, ControlStep], None]] = {
    ops.For: _write_for,
    ops.If: _write_if,
    ops.While: _write_while,
}
