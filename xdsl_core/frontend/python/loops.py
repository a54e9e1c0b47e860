"""`for` and `while`: what a loop carries, and loops that are unrolled when compiling."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl_core import ops
from xdsl_core.diagnostics import Location, error
from xdsl_core.frontend.python.branches import condition_of, guard
from xdsl_core.frontend.python.calls import spread
from xdsl_core.frontend.python.dispatch import Done, Rest, evaluate, execute_inside
from xdsl_core.frontend.python.frame import Frame, name_values, stored_names
from xdsl_core.frontend.python.merging import flatten, form, rebuild, same
from xdsl_core.frontend.python.problems import Broken, Unusable
from xdsl_core.frontend.python.source import MISSING
from xdsl_core.ir import Block, Region, Trait, Value
from xdsl_core.ir.types import Type, dtype_of
from xdsl_core.language import iterators
from xdsl_core.language.builtin import run_time_value
from xdsl_core.language.context import describe
from xdsl_core.language.semantics import arithmetic
from xdsl_core.language.semantics.conversion import cast, is_scalar, to_tensor
from xdsl_core.language.semantics.promotion import promote_integers
from xdsl_core.language.values import tensor, unwrap

MOST_UNROLLED = 10_000


@dataclass(slots=True)
class Carried:
    """Variables that a loop hands from one iteration to the next, with their values before it.

    `fixed` are compile-time variables that the body assigns too, `definitions` says where all got their
    values. `lost` are variables that mean nothing after an iteration, and that no iteration reads before it
    sets them. `unchanged` holds the values before the loop that every iteration hands on as it got them (the
    base of a block pointer that moves): they are read from there.
    """

    values: dict[str, Any]
    fixed: dict[str, Any]
    definitions: dict[str, Location]
    lost: dict[str, Unusable] = field(default_factory=dict)
    unchanged: set[Value] = field(default_factory=set)

    @property
    def tensors(self) -> list[tensor]:
        """What is carried."""
        parts = (one for value in self.values.values() for one in flatten(value))
        return [one for one in parts if one.handle not in self.unchanged]

    @property
    def types(self) -> list[Type]:
        return [one.handle.type for one in self.tensors]

    def bind(self, frame: Frame, handles: Sequence[Value]) -> None:
        """Let the variables stand for other values of the IR."""
        replaced = iter(handles)
        for name, value in self.values.items():
            parts = [one.handle if one.handle in self.unchanged else next(replaced) for one in flatten(value)]
            frame.variables[name] = rebuild(value, iter(parts))
            name_values(frame.variables[name], name)


def run_for(frame: Frame, node: ast.For, rest: Rest) -> Done | None:
    """Build a `for` over range, tl.range or tl.static_range."""
    _no_else(frame, node, node.orelse)
    if not isinstance(node.target, ast.Name):
        raise frame.fail(
            node.target, "X0118", "a loop counts in one variable", help="write for i in range(...)"
        )
    iterator = _iterator(frame, node)
    if isinstance(iterator, iterators.static_range):
        return _unroll(frame, node, node.target, iterator, rest)
    _counted(frame, node, node.target, iterator)
    return None


def _no_else(frame: Frame, node: ast.stmt, orelse: Sequence[ast.stmt]) -> None:
    if orelse:
        raise frame.fail(
            node, "X0144", "loops in kernels have no else", help="put the statements after the loop"
        )


def _iterator(frame: Frame, node: ast.For) -> iterators.range | iterators.static_range:
    """What is iterated over. X0128 for anything but the three ranges."""
    if isinstance(node.iter, ast.Call):
        kind = evaluate(frame, node.iter.func)
        kind = iterators.range if kind is range else kind
        if isinstance(kind, type) and issubclass(kind, iterators.range | iterators.static_range):
            args = [
                value
                for one in node.iter.args
                for value in (spread(frame, one) if isinstance(one, ast.Starred) else (evaluate(frame, one),))
            ]
            options = {str(one.arg): evaluate(frame, one.value) for one in node.iter.keywords}
            try:
                return kind(*args, **options)
            except TypeError as problem:
                text = str(problem).replace("__init__()", "range")
                raise frame.fail(
                    node.iter, "X0112", text, help="range(end), or range(start, end, step)"
                ) from None
    raise frame.fail(
        node.iter,
        "X0128",
        "a for loop counts: it needs range, tl.range or tl.static_range",
        help="to go through a tuple: for i in tl.static_range(len(values)): ... values[i]",
    )


def _unroll(
    frame: Frame, node: ast.For, target: ast.Name, iterator: iterators.static_range, rest: Rest
) -> Done | None:
    """Run the body once for each value when compiling."""
    for bound in iterator.bounds:
        if isinstance(bound, tensor):
            raise run_time_value("a bound of tl.static_range", bound)
    start, end, step = map(unwrap, iterator.bounds)
    if step == 0:
        raise frame.fail(
            node.iter, "X0129", "the step of a loop cannot be 0", help="give a step of 1 or more"
        )
    values = range(start, end, step)
    if len(values) > MOST_UNROLLED:
        raise frame.fail(
            node.iter,
            "X0129",
            f"tl.static_range would be unrolled {len(values)} times",
            help=f"use range for long loops; the limit is {MOST_UNROLLED}",
        )
    for number, value in enumerate(values):
        frame.assign(target.id, value, target)
        outcome = execute_inside(frame, node.body)
        if outcome is not None:
            # the function may have returned: what is left of the loop, and what follows it, are guarded
            left = ast.copy_location(
                ast.For(target, _remaining(node, values[number + 1 :]), node.body, [], None), node
            )
            return Done(guard(frame, node, outcome, [left, *rest]))
    return None


def _remaining(node: ast.For, values: range) -> ast.expr:
    assert isinstance(node.iter, ast.Call)
    bounds: list[ast.expr] = [
        ast.copy_location(ast.Constant(value), node.iter)
        for value in (values.start, values.stop, values.step)
    ]
    return ast.copy_location(ast.Call(node.iter.func, bounds, []), node.iter)


def _counted(frame: Frame, node: ast.For, target: ast.Name, iterator: iterators.range) -> None:
    """A loop of the running kernel."""
    lower, upper, step, downwards = _bounds(frame, node, iterator)
    carried = _carry(frame, node, {target.id})
    block = Block([lower.handle.type, *carried.types])
    outer = dict(frame.variables), dict(frame.definitions)
    with frame.context.builder.at(block):
        counter = tensor(block.arguments[0])
        if downwards:
            done = arithmetic.sub(frame.context, counter, lower)
            counter = arithmetic.sub(frame.context, upper, done)
        frame.assign(target.id, counter, target)
        carried.bind(frame, block.arguments[1:])
        _iterate(frame, node)
        last = _last_values(frame, node, carried, block.arguments[1:])
        _drop_unchanged(carried, last, block)
        frame.context.build(ops.Yield, [one for values in last.values() for one in values])
    inside = frame.definitions
    frame.variables, frame.definitions = outer
    regions = [Region([block])]
    op = frame.context.build(
        ops.For, lower, upper, step, carried.tensors, regions=regions, **_hints(iterator)
    )
    carried.bind(frame, op.results)
    _leave(frame, node, carried, inside)
    problem = error(
        "X0127",
        f"{target.id} has no value after its loop",
        label="it is the variable that the loop counts in",
        help="keep what you need in a variable that has a value before the loop",
    )
    frame.variables[target.id] = Unusable(problem.with_note("note", "the loop", frame.locate(node.target)))


def _hints(iterator: iterators.range) -> dict[str, Any]:
    hints = {name: unwrap(value) for name, value in iterator.hints.items()}
    return {"num_stages": hints.pop("num_stages", None), "hints": hints or None}


def _bounds(frame: Frame, node: ast.For, iterator: iterators.range) -> tuple[tensor, tensor, tensor, bool]:
    """lower, upper, step (positive) of one integer dtype, and whether the loop counts down from upper."""
    start, end, step = map(unwrap, iterator.bounds)
    downwards = not isinstance(step, tensor) and isinstance(step, int) and step < 0
    if downwards:
        start, end, step = end, start, -step
    if not isinstance(step, tensor) and step == 0:
        raise frame.fail(
            node.iter, "X0129", "the step of a loop cannot be 0", help="give a step of 1 or more"
        )
    bounds = [_bound(frame, node, value) for value in (start, end, step)]
    dtype = dtype_of(bounds[0].handle.type)
    for bound in bounds[1:]:
        dtype = promote_integers(dtype, dtype_of(bound.handle.type))
    _positive(frame, node, bounds[2])
    lower, upper, stride = (cast(frame.context, bound, dtype) for bound in bounds)
    return lower, upper, stride, downwards


def _bound(frame: Frame, node: ast.For, value: Any) -> tensor:
    bound = to_tensor(frame.context, value) if isinstance(value, tensor | int) else None
    if bound is None or not is_scalar(bound) or not dtype_of(bound.handle.type).is_integer:
        raise frame.fail(
            node.iter,
            "X0129",
            "the bounds and the step of a loop must be integer scalars",
            label=describe(value),
            help="cast floats with .to(tl.int32); reduce tiles to a scalar first",
        )
    return bound


def _positive(frame: Frame, node: ast.For, step: tensor) -> None:
    """X0129 for a step that is known to be no step forward and was not compile-time."""
    op = step.handle.defining_op
    if op is not None and op.definition is ops.Constant and op.attributes["value"] <= 0:
        raise frame.fail(
            node.iter,
            "X0129",
            "a step that is a value of the running kernel must be positive",
            label=f"it is {op.attributes['value']}",
            help="write the number into the range, or annotate the variable: tl.constexpr",
        )


def _carry(frame: Frame, node: ast.For | ast.While, excluded: set[str]) -> Carried:
    """The variables that a loop assigns and that have a value before it.

    A compile-time number that is no tl.constexpr becomes a value of the running kernel.
    """
    carried = Carried({}, {}, dict(frame.definitions))
    for name in stored_names(frame, node):
        value = frame.variables.get(name, MISSING)
        if name in excluded or value is MISSING or isinstance(value, Broken | Unusable):
            continue
        if isinstance(value, bool | int | float) and name not in frame.constants:
            value = frame.variables[name] = to_tensor(frame.context, value)
            name_values(value, name)
        (carried.values if flatten(value) else carried.fixed)[name] = value
    return carried


def _iterate(frame: Frame, node: ast.For | ast.While) -> None:
    frame.loops.append(node)
    try:
        execute_inside(frame, node.body)
    finally:
        frame.loops.pop()


def _last_values(
    frame: Frame, node: ast.stmt, carried: Carried, *arguments: Sequence[Value]
) -> dict[str, list[tensor]]:
    """What one iteration hands to the next, by variable.

    `arguments` are the values that an iteration starts with, in the block it ends and in others. Reports
    variables that change their type, and compile-time ones that change at all.
    """
    for name, value in carried.fixed.items():
        now = frame.variables.get(name, MISSING)
        if not isinstance(now, Broken) and not same(now, value):
            _report_changed_constant(frame, node, name, carried)
    found: dict[str, list[tensor]] = {}
    given = zip(*arguments, strict=True)
    for name, initial in carried.values.items():
        starts = [next(given) for _ in flatten(initial)]
        own = [tensor(values[0]) for values in starts]
        now = frame.variables[name]
        if isinstance(now, Unusable) and not any(_is_read(value) for values in starts for value in values):
            carried.lost[name], found[name] = now, own
            continue
        if isinstance(now, bool | int | float):
            now = to_tensor(frame.context, now)
        found[name] = flatten(now)
        if not _same_form(now, found[name], initial, own):
            _report_changed_type(frame, node, name, carried, now)
            found[name] = own
    return found


def _same_form(now: Any, found: Sequence[tensor], initial: Any, own: Sequence[tensor]) -> bool:
    """Whether two values differ in nothing but their tensors, which are of the same types."""
    if [one.handle.type for one in found] != [one.handle.type for one in own]:
        return False
    handles = [one.handle for one in own]
    return same(rebuild(now, iter(handles)), rebuild(initial, iter(handles)))


def _is_read(value: Value) -> bool:
    """Whether a block does something with its argument other than handing it on."""
    return any(not (op.has(Trait.TERMINATOR) and op.block is value.owner) for op in value.users)


def _first_definition(frame: Frame, carried: Carried, name: str) -> Location:
    return carried.definitions.get(name) or frame.parameter_location(name)


def _report_changed_type(frame: Frame, node: ast.stmt, name: str, carried: Carried, now: Any) -> None:
    if isinstance(now, Broken):
        return
    initial = carried.values[name]
    where = frame.definitions.get(name) or frame.locate(node)
    if isinstance(now, Unusable):
        problem = error(
            "X0127",
            f"{name} may have no value when this loop comes round again",
            location=frame.locate(node),
            label=now.diagnostic.message,
            help=f"use another name for {name} inside the loop, or give it a value at the end",
        )
        for note in now.diagnostic.notes:
            problem = (
                problem if note.kind == "help" else problem.with_note(note.kind, note.text, note.location)
            )
    else:
        cast_to = repr(flatten(initial)[0].dtype)
        problem = error(
            "X0125",
            f"{name} changes its type in the loop",
            location=where,
            label=f"{name} is {form(now)} here, but {form(initial)} before the loop",
            help=f"start from a value of the type it has here, or cast it: {name} = (...).to({cast_to})",
        )
    first = _first_definition(frame, carried, name)
    frame.problems.report((problem.with_note("note", f"{name} is {form(initial)} here", first),))


def _report_changed_constant(frame: Frame, node: ast.stmt, name: str, carried: Carried) -> None:
    problem = error(
        "X0126",
        f"{name} is compile-time and cannot change in a loop of the running kernel",
        location=frame.definitions.get(name) or frame.locate(node),
        label=f"{name} is {carried.fixed[name]!r} before the loop",
        help="use another name in the loop, or unroll it with tl.static_range",
    )
    first = _first_definition(frame, carried, name)
    frame.problems.report((problem.with_note("note", f"{name} gets its compile-time value here", first),))


def _drop_unchanged(carried: Carried, last: dict[str, list[tensor]], block: Block) -> None:
    """Carry nothing that every iteration hands on as it got it: it is read from before the loop.

    A value that two variables start with is left as it is unless both hand it on.
    """
    first = len(block.arguments) - len(carried.tensors)
    before = [one for value in carried.values.values() for one in flatten(value)]
    after = [one for values in last.values() for one in values]
    arguments = block.arguments[first:]
    handed_on = [one.handle is own for one, own in zip(after, arguments, strict=True)]
    changing = {one.handle for one, same in zip(before, handed_on, strict=True) if not same}
    drop = [same and one.handle not in changing for one, same in zip(before, handed_on, strict=True)]
    outside: dict[Value, tensor] = {}
    for argument, value, dropped in zip(arguments, before, drop, strict=True):
        if dropped:
            argument.replace_uses_with(value.handle)
            outside[argument] = value
    carried.unchanged = {value.handle for value in outside.values()}
    kept = iter(drop)
    for name, values in last.items():
        last[name] = [outside.get(one.handle, one) for one in values if not next(kept)]
    block.arguments[first:] = [one for one in arguments if one not in outside]
    for index, argument in enumerate(block.arguments):
        argument.index = index


def _leave(frame: Frame, node: ast.stmt, carried: Carried, inside: dict[str, Location]) -> None:
    """After the loop: carried variables were last set inside it, and those that began there have no value."""
    for name in carried.values:
        frame.definitions[name] = inside.get(name, frame.locate(node))
    frame.variables.update(carried.lost)
    for name in stored_names(frame, node):
        if name not in frame.variables:
            frame.variables[name] = Unusable(
                error(
                    "X0127",
                    f"{name} may have no value here",
                    label="it gets one in a loop, which may run zero times",
                    help=f"give {name} a value before the loop",
                ).with_note("note", f"{name} gets a value here", inside.get(name))
            )


def run_while(frame: Frame, node: ast.While, rest: Rest) -> None:
    """Build a `while`."""
    _no_else(frame, node, node.orelse)
    carried = _carry(frame, node, set())
    outer = dict(frame.variables), dict(frame.definitions)
    before, after = Block(carried.types), Block(carried.types)
    with frame.context.builder.at(before):
        carried.bind(frame, before.arguments)
        condition = _while_condition(frame, node)
        if condition is None:
            frame.variables, frame.definitions = outer
            return
        frame.context.build(ops.Condition, condition, [tensor(value) for value in before.arguments])
    with frame.context.builder.at(after):
        carried.bind(frame, after.arguments)
        _iterate(frame, node)
        last = _last_values(frame, node, carried, after.arguments, before.arguments)
        frame.context.build(ops.Yield, [one for values in last.values() for one in values])
    inside = frame.definitions
    frame.variables, frame.definitions = outer
    op = frame.context.build(ops.While, carried.tensors, regions=[Region([before]), Region([after])])
    carried.bind(frame, op.results)
    _leave(frame, node, carried, inside)


def _while_condition(frame: Frame, node: ast.While) -> tensor | None:
    """The condition; None where it is false when compiling. X0142 where it is true then."""
    value = evaluate(frame, node.test)
    if isinstance(value, iterators.condition):
        value = unwrap(value.condition)
    if isinstance(value, tensor):
        return condition_of(frame, node.test, value)
    if not value:
        return None
    raise frame.fail(
        node.test,
        "X0142",
        "the condition of this loop is compile-time and true: it would never end",
        help="use a condition of the running kernel, for or tl.static_range; there is no break",
    )
