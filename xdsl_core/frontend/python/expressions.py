"""Expressions to values: tensors of the running kernel, or plain Python values known when compiling."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from xdsl_core.diagnostics import XdslError
from xdsl_core.frontend.python import branches, compile_time
from xdsl_core.frontend.python.calls import evaluate_call, member_of, spread
from xdsl_core.frontend.python.closures import evaluate_lambda
from xdsl_core.frontend.python.compile_time import holds_tensor, normal
from xdsl_core.frontend.python.dispatch import evaluate
from xdsl_core.frontend.python.frame import Frame
from xdsl_core.ir.types import dtype_of
from xdsl_core.language.context import describe, fail
from xdsl_core.language.semantics import arithmetic
from xdsl_core.language.slices import subscript
from xdsl_core.language.values import Composite, tensor, unwrap

# the ast of an operator -> its sign, its meaning on Python values, and on tensors
BINARY: dict[type[ast.operator], tuple[str, Callable[..., Any], Callable[..., Any] | None]] = {
    ast.Add: ("+", operator.add, arithmetic.add),
    ast.Sub: ("-", operator.sub, arithmetic.sub),
    ast.Mult: ("*", operator.mul, arithmetic.mul),
    ast.Div: ("/", operator.truediv, arithmetic.true_divide),
    ast.FloorDiv: ("//", operator.floordiv, arithmetic.floor_divide),
    ast.Mod: ("%", operator.mod, arithmetic.remainder),
    ast.Pow: ("**", operator.pow, None),
    ast.MatMult: ("@", operator.matmul, None),
    ast.LShift: ("<<", operator.lshift, arithmetic.shift_left),
    ast.RShift: (">>", operator.rshift, arithmetic.shift_right),
    ast.BitAnd: ("&", operator.and_, arithmetic.bit_and),
    ast.BitOr: ("|", operator.or_, arithmetic.bit_or),
    ast.BitXor: ("^", operator.xor, arithmetic.bit_xor),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[..., Any], Callable[..., Any] | None]] = {
    ast.Eq: ("==", operator.eq, arithmetic.equal),
    ast.NotEq: ("!=", operator.ne, arithmetic.not_equal),
    ast.Lt: ("<", operator.lt, arithmetic.less),
    ast.LtE: ("<=", operator.le, arithmetic.less_equal),
    ast.Gt: (">", operator.gt, arithmetic.greater),
    ast.GtE: (">=", operator.ge, arithmetic.greater_equal),
    ast.Is: ("is", compile_time.MEMBERSHIP["is"], None),
    ast.IsNot: ("is not", compile_time.MEMBERSHIP["is not"], None),
    ast.In: ("in", compile_time.MEMBERSHIP["in"], None),
    ast.NotIn: ("not in", compile_time.MEMBERSHIP["not in"], None),
}
UNARY: dict[type[ast.unaryop], tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    ast.USub: ("-", operator.neg, arithmetic.negate),
    ast.UAdd: ("+", operator.pos, lambda context, operand: operand),
    ast.Invert: ("~", operator.invert, arithmetic.invert),
    ast.Not: ("not", operator.not_, arithmetic.logical_not),
}
_INSTEAD = {
    "**": "use tl.math.pow(x, y) for floats, or multiply",
    "@": "use tl.dot(a, b)",
    "in": "compare with each value: (x == 1) | (x == 2)",
    "not in": "compare with each value: (x != 1) & (x != 2)",
}


def _binary(frame: Frame, node: ast.BinOp) -> Any:
    left, right = evaluate(frame, node.left), evaluate(frame, node.right)
    return binary_operation(frame, node.op, left, right)


def binary_operation(frame: Frame, sign: ast.operator, left: Any, right: Any) -> Any:
    """left sign right, on tensors or when compiling."""
    return _operate(frame, *BINARY[type(sign)], left, right)


def _operate(
    frame: Frame,
    sign: str,
    on_values: Callable[..., Any],
    on_tensors: Callable[..., Any] | None,
    left: Any,
    right: Any,
) -> Any:
    if not isinstance(left, tensor | Composite) and not isinstance(right, tensor | Composite):
        return compile_time.run(f"{left!r} {sign} {right!r}", on_values, (left, right))
    for operand in (left, right):
        if not isinstance(operand, tensor | bool | int | float):
            raise fail(
                "X0119",
                f"{sign} does not work on these operands",
                label=f"{_short(left)} {sign} {_short(right)}",
                help="operands are tiles, scalars, pointers and numbers",
            )
    if on_tensors is None:
        raise fail(
            "X0119",
            f"{sign} does not work on tensors",
            label=f"{_short(left)} {sign} {_short(right)}",
            help=_INSTEAD[sign],
        )
    return on_tensors(frame.context, left, right)


def _short(value: Any) -> str:
    if isinstance(value, Composite):
        return str(value)
    return str(value.handle.type) if isinstance(value, tensor) else repr(value)


def _unary(frame: Frame, node: ast.UnaryOp) -> Any:
    sign, on_values, on_tensors = UNARY[type(node.op)]
    operand = evaluate(frame, node.operand)
    if isinstance(operand, tensor):
        return on_tensors(frame.context, operand)
    return compile_time.run(f"{sign} {operand!r}", on_values, (operand,))


def _compare(frame: Frame, node: ast.Compare) -> Any:
    return _combine(frame, ast.And, _comparisons(frame, node))


def _comparisons(frame: Frame, node: ast.Compare) -> Iterator[Any]:
    left = evaluate(frame, node.left)
    for sign, operand in zip(node.ops, node.comparators, strict=True):
        right = evaluate(frame, operand)
        word, on_values, on_tensors = COMPARISONS[type(sign)]
        if isinstance(sign, ast.Is | ast.IsNot):
            yield on_values(left, right)
        elif isinstance(sign, ast.In | ast.NotIn) and holds_tensor((left, right)):
            raise fail("X0119", f"{word} does not work on tensors", help=_INSTEAD[word])
        else:
            yield _operate(frame, word, on_values, on_tensors, left, right)
        left = right


def _bool_op(frame: Frame, node: ast.BoolOp) -> Any:
    return _combine(frame, type(node.op), (evaluate(frame, value) for value in node.values))


def _combine(frame: Frame, kind: type[ast.boolop], values: Iterable[Any]) -> Any:
    """`and` or `or` of values that are evaluated one by one; a compile-time value can end it early."""
    join = arithmetic.logical_and if kind is ast.And else arithmetic.logical_or
    decides = kind is ast.Or
    result: Any = None
    last: Any = None
    for last in values:
        if isinstance(last, tensor):
            result = last if result is None else join(frame.context, result, last)
        elif bool(last) is decides:
            return last
    return last if result is None else result


def _if_expression(frame: Frame, node: ast.IfExp) -> Any:
    condition = evaluate(frame, node.test)
    if isinstance(condition, tensor):
        return branches.choose(frame, node, condition)
    return evaluate(frame, node.body if condition else node.orelse)


def _tuple(frame: Frame, node: ast.Tuple | ast.List) -> tuple[Any, ...]:
    return tuple(_elements(frame, node.elts))


def _elements(frame: Frame, nodes: Iterable[ast.expr]) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node, ast.Starred):
            yield from spread(frame, node)
        else:
            yield evaluate(frame, node)


def _comprehension(frame: Frame, node: ast.ListComp) -> tuple[Any, ...]:
    """A comprehension over a tuple, unrolled when compiling."""
    if len(node.generators) != 1:
        raise frame.fail(
            node, "X0105", "nested comprehensions cannot be used in kernels", help="write two loops"
        )
    loop = node.generators[0]
    source = normal(evaluate(frame, loop.iter))
    if isinstance(source, range):
        source = tuple(source)
    if not isinstance(source, tuple):
        raise frame.fail(
            loop.iter,
            "X0128",
            "a comprehension needs a tuple or a compile-time range",
            label=_short(source),
            help="use a loop over range for values of the running kernel",
        )
    outer = dict(frame.variables)
    found = []
    for value in source:
        _bind(frame, loop.target, value)
        if all(evaluate(frame, condition) for condition in loop.ifs):
            found.append(evaluate(frame, node.elt))
    frame.variables = outer
    return tuple(found)


def _bind(frame: Frame, target: ast.expr, value: Any) -> None:
    if isinstance(target, ast.Name):
        frame.assign(target.id, value, target)
    elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
        for one, part in zip(target.elts, value, strict=True):
            _bind(frame, one, part)
    else:
        raise frame.fail(target, "X0116", "the target does not fit the values", help="name each value once")


def _attribute(frame: Frame, node: ast.Attribute) -> Any:
    value = evaluate(frame, node.value)
    if isinstance(value, tensor | Composite):
        return member_of(frame, node, value, node.attr)
    if node.attr == "value" and isinstance(value, bool | int | float | str | tuple | None.__class__):
        return value
    try:
        found = getattr(value, node.attr)
    except AttributeError:
        raise _no_attribute(frame, node, value) from None
    return unwrap(found) if isinstance(value, ModuleType) else normal(found)


def _no_attribute(frame: Frame, node: ast.Attribute, value: Any) -> XdslError:
    from difflib import get_close_matches

    near = get_close_matches(node.attr, dir(value), n=1)
    what = value.__name__ if isinstance(value, ModuleType) else f"{value!r}"
    help = f"did you mean {near[0]}?" if near else "check the spelling"
    return frame.fail(node, "X0114", f"{what} has no attribute {node.attr}", help=help)


def _subscript(frame: Frame, node: ast.Subscript) -> Any:
    value = evaluate(frame, node.value)
    index = evaluate(frame, node.slice)
    if isinstance(value, tensor):
        return _index(frame, node, value, index if isinstance(index, tuple) else (index,))
    if holds_tensor(index):
        raise frame.fail(
            node,
            "X0117",
            "the index of a tuple must be known when compiling",
            label=_short(index),
            help="use tl.static_range for loops over tuples, or choose with tl.where",
        )
    return compile_time.run("the subscript", operator.getitem, (value, index))


def _index(frame: Frame, node: ast.Subscript, value: tensor, indices: tuple[Any, ...]) -> tensor:
    """A tile with new axes where the index is None, and parts of it where it is a slice or an integer."""
    taken = len(indices) - indices.count(None) - indices.count(Ellipsis)
    rank = len(value.shape)
    if taken > rank or indices.count(Ellipsis) > 1:
        raise frame.fail(
            node,
            "X0117",
            f"{taken} indices for a tile of rank {rank}" if taken > rank else "... stands twice in the index",
            label=describe(value),
            help="write one index for each axis, and None for each new one",
        )
    for index in indices:
        _check_index(frame, node, value, index)
    place = indices.index(Ellipsis) if Ellipsis in indices else len(indices)
    rest = (slice(None),) * (rank - taken)
    return subscript(frame.context, value, (*indices[:place], *rest, *indices[place + 1 :]))


def _check_index(frame: Frame, node: ast.Subscript, value: tensor, index: Any) -> None:
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if all(part is None or (isinstance(part, int) and not isinstance(part, bool)) for part in parts):
            return
        help = "a slice is known when compiling; tl.extract_slice takes offsets of the running kernel"
    else:
        scalar = isinstance(index, tensor) and not index.shape and not dtype_of(index.handle.type).is_float
        if index is None or index is Ellipsis or scalar or type(index) is int:
            return
        help = "load what is needed through pointers, or pick it: tl.sum(tl.where(offsets == i, x, 0))"
    raise frame.fail(
        node,
        "X0117",
        "a tile is indexed with integers, slices, None and ...",
        label=f"{describe(value)}, the index holds {_short(index)}",
        help=help,
    )


def _slice(frame: Frame, node: ast.Slice) -> slice:
    parts = [None if part is None else evaluate(frame, part) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _joined(frame: Frame, node: ast.JoinedStr) -> str:
    return "".join(_piece(frame, value) for value in node.values)


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def _piece(frame: Frame, node: ast.expr) -> str:
    if not isinstance(node, ast.FormattedValue):
        return str(evaluate(frame, node))
    value = evaluate(frame, node.value)
    if holds_tensor(value):
        raise frame.fail(
            node,
            "X0111",
            "an f-string needs compile-time values",
            label=describe(value),
            help='pass it to the function instead: tl.device_print("x", x)',
        )
    if node.conversion >= 0:
        value = _CONVERSIONS[chr(node.conversion)](value)
    layout = "" if node.format_spec is None else _joined(frame, node.format_spec)  # type: ignore[arg-type]
    return str(compile_time.run("the f-string", format, (value, layout)))


def _named(frame: Frame, node: ast.NamedExpr) -> Any:
    from xdsl_core.frontend.python.statements import assign_target

    return assign_target(frame, node.target, evaluate(frame, node.value))


def _starred(frame: Frame, node: ast.Starred) -> Any:
    raise frame.fail(node, "X0105", "* stands alone", help="it spreads tuples in calls and in tuples")


EXPRESSIONS: dict[type[ast.expr], Callable[[Frame, Any], Any]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_expression,
    ast.Call: evaluate_call,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.ListComp: _comprehension,
    ast.JoinedStr: _joined,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Lambda: evaluate_lambda,
}
