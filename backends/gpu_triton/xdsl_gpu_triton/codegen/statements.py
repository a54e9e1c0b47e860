"""The statements of a block, and of the control flow in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from xdsl_core import ops
from xdsl_core.diagnostics import UNKNOWN, Location
from xdsl_core.ir import Block, Op, Region, Value, dtype_of
from xdsl_core.passes.definitions import name_of
from xdsl_gpu_triton.codegen.decisions import Decisions
from xdsl_gpu_triton.codegen.expressions import (
    assert_text,
    combined_text,
    exact,
    expression,
    print_texts,
    store_text,
)
from xdsl_gpu_triton.codegen.names import Names
from xdsl_gpu_triton.codegen.spellings import triton_dtype
from xdsl_gpu_triton.codegen.text import Text, stored

# A longer text becomes a variable instead of a part of another text.
_LONGEST_PART = 76
# Hints of loops that `tl.range` takes; others are left out with a note.
_RANGE_HINTS = (
    *("num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer", "flatten", "warp_specialize"),
    "disable_licm",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the kernel's body: its depth below the function, and the kernel's line it comes from."""

    text: str
    depth: int
    location: Location = UNKNOWN


@dataclass(slots=True)
class Writer:
    """What has been written of one function, and what its values are called.

    `functions` collects the combine functions that it needs, shared by all functions of the file.
    """

    decisions: Decisions
    names: Names
    interpreted: bool
    functions: list[Function]
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    values: dict[Value, Text] = field(default_factory=dict)
    variables: dict[Value, str] = field(default_factory=dict)
    # the value that a variable holds until a statement stores the next one to it
    held: dict[Value, Value] = field(default_factory=dict)
    depth: int = 0
    # whether what is written next is computed many times: the condition of a `while`
    repeats: bool = False

    def write(self, text: str, location: Location = UNKNOWN) -> None:
        self.lines.append(Line(text, self.depth, location))

    def find(self, value: Value) -> Text:
        """The text of a value where it is used."""
        known = self.values.get(value)
        if known is not None:
            return known
        op = value.defining_op
        assert op is not None, f"{value} is used before it is made"
        text = self.text_of(op)
        if (
            len(text.text) > _LONGEST_PART
            and not self.repeats
            and len(self.decisions.readers(op.result)) == 1
        ):
            return self.assign(op.result, text, op.location)
        return text

    def text_of(self, op: Op) -> Text:
        return expression(op, self.find, interpreted=self.interpreted)

    def assign(self, value: Value, text: Text, location: Location) -> Text:
        """Stores a text to a variable; returns the variable's text."""
        shared = self.variables.get(value)
        if shared is not None or text.literal:
            text = exact(text, value)
        name = shared or self.names.fresh(value.name or "value")
        self.write(stored(name, text), location)
        return self.bind(value, name, text.shape)

    def bind(self, value: Value, name: str, shape: tuple[int, ...] | None = None) -> Text:
        """Says that a variable holds a value."""
        shape = value.type.shape if shape is None else shape
        text = self.values[value] = Text(name, shape=shape, reads=frozenset({name}))
        return text


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the generated file beside the kernel."""

    name: str
    parameters: tuple[str, ...]
    lines: tuple[Line, ...]


def write_block(writer: Writer, block: Block) -> None:
    """The statements of a block, without its terminator."""
    for op in block.ops:
        if not writer.decisions.is_inline(op):
            _STATEMENTS.get(op.name, _write_result)(writer, op)


def _write_result(writer: Writer, op: Op) -> None:
    text = writer.text_of(op)
    if len(op.results) == 1:
        if op.result.uses:
            writer.assign(op.result, text, op.location)
        else:
            writer.write(text.text, op.location)
        return
    _write_tuple(writer, op, text.text)


def _write_tuple(writer: Writer, op: Op, text: str) -> None:
    names = []
    for value in op.results:
        name = writer.variables.get(value) or writer.names.fresh(value.name or "value")
        writer.bind(value, name)
        names.append(name)
    writer.write(f"{', '.join(names)} = {text}", op.location)


def _write_store(writer: Writer, op: Op) -> None:
    text = store_text(op, writer.find)
    writer.write(text, op.location)


def _write_print(writer: Writer, op: Op) -> None:
    for text in print_texts(op, writer.find):
        writer.write(text, op.location)


def _write_assert(writer: Writer, op: Op) -> None:
    text = assert_text(op, writer.find)
    writer.write(text, op.location)


def _write_nothing(writer: Writer, op: Op) -> None:
    """Terminators: the statement around the block says what becomes of their operands."""


def _write_combined(writer: Writer, op: Op) -> None:
    helper = _combine_function(writer, op.region("combine"), op.results[0].name)
    text = combined_text(op, writer.find, helper)
    if len(op.results) == 1:
        writer.assign(op.result, text, op.location)
    else:
        _write_tuple(writer, op, text.text)


def _combine_function(writer: Writer, region: Region, wanted: str) -> str:
    """A function of the file for the region of a reduction or scan; its name."""
    inner = Writer(Decisions(region), Names(), writer.interpreted, writer.functions)
    block = region.block
    parameters = tuple(inner.names.fresh(value.name or "value") for value in block.arguments)
    for value, name in zip(block.arguments, parameters, strict=True):
        inner.bind(value, name)
    write_block(inner, block)
    given = [exact(inner.find(value), value).text for value in block.ops[-1].operands]
    inner.write(f"return {', '.join(given)}", block.ops[-1].location)
    for known in writer.functions:
        if known.parameters == parameters and known.lines == tuple(inner.lines):
            return known.name
    name = writer.names.fresh(f"combine_{wanted}" if wanted else "combine")
    writer.functions.append(Function(name, parameters, tuple(inner.lines)))
    return name


def _write_for(writer: Writer, op: Op) -> None:
    block = op.region("body").block
    counter, *carried = block.arguments
    yielded = block.ops[-1].operands
    slots = list(zip(op.group("inits"), carried, yielded, op.results, strict=True))
    bounds = _bounds(writer, op)
    variables = [_carried_variable(writer, op, *slot) for slot in slots]
    name = writer.names.fresh(counter.name or "i")
    writer.write(f"for {name} in {bounds}:", op.location)
    writer.bind(counter, name)
    _share(writer, block, carried, yielded, variables)
    _write_body(writer, block, lambda: _hand_over(writer, yielded, variables, op.location))
    for result, variable in zip(op.results, variables, strict=True):
        writer.bind(result, variable)


def _bounds(writer: Writer, op: Op) -> str:
    lower, upper, step = (writer.find(op.operand(name)) for name in ("lower", "upper", "step"))
    if lower.literal and upper.literal and step.literal:
        dtype = dtype_of(op.operand("lower").type)
        if dtype.name != "i32":
            lower = Text(f"tl.full((), {lower}, dtype={triton_dtype(dtype)})")
    words = [lower.text, upper.text]
    if step.text != "1":
        words.append(step.text)
    hints = dict(op.attribute("hints") or {})
    if op.attribute("num_stages"):
        hints["num_stages"] = op.attribute("num_stages")
    known = [f"{name}={hints[name]}" for name in _RANGE_HINTS if name in hints]
    for other in sorted(set(hints) - set(_RANGE_HINTS)):
        writer.notes.append(f"hint {other}={hints[other]} of the loop in line {op.location.line} is left out")
    function = "tl.range" if known else "range"
    return f"{function}({', '.join(words + known)})"


def _carried_variable(
    writer: Writer, loop: Op, init: Value, argument: Value, yielded: Value, result: Value
) -> str:
    """The variable that holds a carried value before, in and after a loop, the initial value in it."""
    shared = writer.variables.get(result)
    text = writer.find(init)
    if shared is None and _init_is_free(writer, loop, init, text, result.index):
        shared = text.text
    if shared is None:
        shared = writer.names.fresh(argument.name or result.name or init.name or "carried")
    if text.text != shared:
        writer.write(f"{shared} = {exact(text, init)}", loop.location)
    writer.bind(argument, shared)
    return shared


def _init_is_free(writer: Writer, loop: Op, init: Value, text: Text, slot: int) -> bool:
    """Whether the loop may go on with the variable of the initial value: nobody else reads it any more."""
    maker, block = init.defining_op, loop.block
    if maker is None or maker.block is not block or writer.decisions.is_inline(maker) or block is None:
        return False
    if text.shape != init.type.shape or init in writer.variables:
        return False
    place = writer.decisions.position(loop, block)
    first = len(loop.operands) - len(loop.results)
    return all(
        writer.decisions.position(reader, block) < place or (reader is loop and index == first + slot)
        for reader, index in writer.decisions.readers(init)
    )


def _share(
    writer: Writer, block: Block, old: Sequence[Value], new: Sequence[Value], variables: Sequence[str]
) -> None:
    """Lets values go into the variable of the one they replace, where nobody reads that any more."""
    for before, after, variable in zip(old, new, variables, strict=True):
        once = sum(value is after for value in new) == 1
        if once and after not in writer.variables and writer.decisions.may_share(before, after, block):
            writer.variables[after] = variable
            writer.held[after] = before


def _write_body(writer: Writer, block: Block, finish: Callable[[], None]) -> None:
    writer.depth += 1
    start = len(writer.lines)
    write_block(writer, block)
    finish()
    if len(writer.lines) == start:
        writer.write("pass")
    writer.depth -= 1


def _hand_over(writer: Writer, values: Sequence[Value], variables: Sequence[str], location: Location) -> None:
    """Stores values to variables at once: no store may change what a later one reads."""
    pending = []
    for value, variable in zip(values, variables, strict=True):
        text = exact(writer.find(value), value)
        if text.text != variable:
            pending.append((variable, text))
    while pending:
        ready = next(
            (i for i, (variable, _) in enumerate(pending) if not _is_read(variable, pending, i)), None
        )
        if ready is None:
            left, right = zip(*((variable, text.text) for variable, text in pending), strict=True)
            writer.write(f"{', '.join(left)} = {', '.join(right)}", location)
            return
        variable, text = pending.pop(ready)
        writer.write(stored(variable, text), location)


def _is_read(variable: str, pending: Sequence[tuple[str, Text]], number: int) -> bool:
    return any(variable in text.reads for i, (_, text) in enumerate(pending) if i != number)


def _write_if(writer: Writer, op: Op) -> None:
    condition = writer.find(op.operand("condition"))
    variables = [
        writer.variables.get(value) or writer.names.fresh(value.name or "chosen") for value in op.results
    ]
    writer.write(f"if {condition}:", op.location)
    for number, region in enumerate(op.regions):
        block = region.block
        given = block.ops[-1].operands
        _share_branch(writer, block, op.results, given, variables)
        start = len(writer.lines)
        if number:
            writer.write("else:", op.location)
        _write_body(writer, block, lambda given=given: _hand_over(writer, given, variables, op.location))  # type: ignore[misc]
        if number and writer.lines[start + 1].text == "pass":
            del writer.lines[start:]
    for result, variable in zip(op.results, variables, strict=True):
        writer.bind(result, variable)


def _share_branch(
    writer: Writer, block: Block, results: Sequence[Value], given: Sequence[Value], variables: Sequence[str]
) -> None:
    for result, value, variable in zip(results, given, variables, strict=True):
        maker = value.defining_op
        if maker is None or maker.block is not block or writer.decisions.is_inline(maker):
            continue
        if value in writer.variables or sum(each is value for each in given) > 1:
            continue
        held = writer.held.get(result)
        if held is None or writer.decisions.may_share(held, value, block):
            writer.variables[value] = variable
            if held is not None:
                writer.held[value] = held


def _write_while(writer: Writer, op: Op) -> None:
    before, after = op.region("before").block, op.region("after").block
    forwarded = before.ops[-1].group("values")
    first = [(init, argument) for init, argument in zip(op.operands, before.arguments, strict=True)]
    variables = []
    for init, argument in first:
        name = writer.names.fresh(argument.name or init.name or "carried")
        writer.write(f"{name} = {exact(writer.find(init), init)}", op.location)
        writer.bind(argument, name)
        variables.append(name)
    simple = all(writer.decisions.is_inline(each) for each in before.ops[:-1]) and all(
        value in before.arguments or not _is_in(value, before) for value in forwarded
    )
    if simple:
        names = [writer.find(value) for value in forwarded]
        writer.repeats = True
        condition, test = writer.find(before.ops[-1].operand("condition")).text, _no_test
        writer.repeats = False
    else:
        condition, names, test = _tested(writer, before, forwarded, op)
        test()
    writer.write(f"while {condition}:", op.location)
    for value, text in zip(after.arguments, names, strict=True):
        writer.values[value] = text
    given = after.ops[-1].operands

    def finish() -> None:
        _hand_over(writer, given, variables, op.location)
        test()

    _write_body(writer, after, finish)
    for result, text in zip(op.results, names, strict=True):
        writer.values[result] = text


def _no_test() -> None:
    """The condition of the loop stands in its first line."""


def _is_in(value: Value, block: Block) -> bool:
    return value.defining_op is not None and value.defining_op.block is block


def _tested(
    writer: Writer, before: Block, forwarded: Sequence[Value], loop: Op
) -> tuple[str, list[Text], Callable[[], None]]:
    """The condition's variable, those of the forwarded values, and what writes the test of a loop anew."""
    condition = before.ops[-1].operand("condition")
    go = writer.names.fresh(condition.name or "proceed")
    names = [writer.names.fresh(value.name or "forwarded") for value in forwarded]
    bound = [
        Text(name, shape=v.type.shape, reads=frozenset({name}))
        for name, v in zip(names, forwarded, strict=True)
    ]

    def test() -> None:
        known = dict(writer.values)
        write_block(writer, before)
        _hand_over(writer, [condition, *forwarded], [go, *names], loop.location)
        # the next time everything is computed anew, into the same variables
        for value, text in writer.values.items():
            if value not in known and _is_in(value, before):
                writer.variables[value] = text.text
        writer.values = known

    return go, bound, test


_ROWS: Sequence[tuple[Any, Callable[[Writer, Op], None]]] = (
    (ops.Store, _write_store),
    (ops.Print, _write_print),
    (ops.Assert, _write_assert),
    (ops.Reduce, _write_combined),
    (ops.Scan, _write_combined),
    (ops.For, _write_for),
    (ops.If, _write_if),
    (ops.While, _write_while),
    (ops.Yield, _write_nothing),
    (ops.Condition, _write_nothing),
    (ops.Return, _write_nothing),
)
_STATEMENTS: Mapping[str, Callable[[Writer, Op], None]] = MappingProxyType(
    {name_of(definition): function for definition, function in _ROWS}
)
