"""Statements other than branches and loops."""

from __future__ import annotations

import ast
from typing import Any

from xdsl_core import language
from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.python.branches import guard, run_if
from xdsl_core.frontend.python.compile_time import normal
from xdsl_core.frontend.python.dispatch import Done, Rest, Returned, Statements, evaluate, execute_inside
from xdsl_core.frontend.python.expressions import binary_operation
from xdsl_core.frontend.python.frame import Frame
from xdsl_core.frontend.python.loops import run_for, run_while
from xdsl_core.language.context import describe, fail
from xdsl_core.language.semantics.conversion import to_tensor
from xdsl_core.language.values import StatementScope, constexpr, tensor, with_parts


def assign_target(frame: Frame, target: ast.expr, value: Any) -> Any:
    """Give a name, or each name of a tuple, its value; numbers become values of the running kernel.

    X0116 where the number of values does not fit, X0118 for targets that are no names.
    """
    if isinstance(target, ast.Name):
        value = _at_run_time(frame, target.id, value)
        frame.assign(target.id, value, target)
        return value
    if isinstance(target, ast.Tuple | ast.List):
        values = _unpack(frame, target, value)
        return tuple(assign_target(frame, one, part) for one, part in zip(target.elts, values, strict=True))
    raise _bad_target(frame, target)


_TARGETS: dict[type[ast.expr], tuple[str, str]] = {
    ast.Subscript: (
        "elements cannot be assigned to: tiles and tuples are values",
        "store through pointers with tl.store, or choose with tl.where(offsets == i, new, old)",
    ),
    ast.Attribute: ("attributes cannot be assigned to", "use a variable"),
    ast.Starred: ("* cannot stand on the left", "name each value, or take a slice"),
}


def _bad_target(frame: Frame, target: ast.expr) -> CompilationError:
    message, help = _TARGETS[type(target)]
    return frame.fail(target, "X0118", message, help=help)


def _at_run_time(frame: Frame, name: str, value: Any) -> Any:
    """A value as an ordinary variable holds it: numbers are constants of the running kernel."""
    if name in frame.announced:
        frame.announced.discard(name)
        return _declared(frame, name, value)
    frame.constants.discard(name)
    if isinstance(value, bool | int | float):
        return to_tensor(frame.context, value)
    if isinstance(value, tuple):
        return with_parts(value, [_at_run_time(frame, "", part) for part in value])
    return value


def _declared(frame: Frame, name: str, value: Any) -> Any:
    """A value for a name declared tl.constexpr; one of the running kernel makes it an ordinary variable.

    Triton takes that too; where the name has to be known when compiling, the error comes.
    """
    value = normal(value)
    if isinstance(value, tensor):
        frame.constants.discard(name)
    else:
        frame.constants.add(name)
    return value


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Any) -> tuple[Any, ...]:
    value = normal(value)
    wanted = len(target.elts)
    if not isinstance(value, tuple):
        raise frame.fail(
            target,
            "X0116",
            f"one value cannot be unpacked into {wanted} names",
            label=describe(value),
            help="only tuples can be unpacked",
        )
    for one in target.elts:
        if isinstance(one, ast.Starred):
            raise _bad_target(frame, one)
    if len(value) != wanted:
        raise frame.fail(
            target, "X0116", f"{len(value)} values for {wanted} names", help="name each value once"
        )
    return value


def _assign(frame: Frame, node: ast.Assign, rest: Rest) -> None:
    value = evaluate(frame, node.value)
    for target in node.targets:
        assign_target(frame, target, value)


def _augmented(frame: Frame, node: ast.AugAssign, rest: Rest) -> None:
    if not isinstance(node.target, ast.Name):
        raise _bad_target(frame, node.target)
    load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
    left, right = frame.read(load), evaluate(frame, node.value)
    assign_target(frame, node.target, binary_operation(frame, node.op, left, right))


def _annotated(frame: Frame, node: ast.AnnAssign, rest: Rest) -> None:
    if not isinstance(node.target, ast.Name):
        raise _bad_target(frame, node.target)
    name = node.target.id
    if not _says_constexpr(frame, node.annotation):
        if node.value is not None:
            assign_target(frame, node.target, evaluate(frame, node.value))
        return
    if node.value is None:
        frame.announced.add(name)
        return
    known = frame.variables.get(name)
    if isinstance(known, tensor):
        raise frame.fail(
            node,
            "X0126",
            f"{name} is a value of the running kernel already and cannot become a tl.constexpr",
            label=describe(known),
            help="use another name",
        )
    value = evaluate(frame, node.value)
    frame.assign(name, _declared(frame, name, value), node.target)


def _says_constexpr(frame: Frame, annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.split(".")[-1] == "constexpr"
    return evaluate(frame, annotation) is constexpr


def _expression(frame: Frame, node: ast.Expr, rest: Rest) -> None:
    if not isinstance(node.value, ast.Constant):
        evaluate(frame, node.value)


def _return(frame: Frame, node: ast.Return, rest: Rest) -> Done:
    if frame.loops:
        loop = frame.loops[-1]
        raise frame.fail(
            node,
            "X0107",
            "return inside a loop",
            label=f"the loop starts in line {frame.locate(loop).line}",
            help="keep the result in a variable and return it after the loop",
        )
    return Done(Returned(None if node.value is None else evaluate(frame, node.value)))


def _with(frame: Frame, node: ast.With, rest: Rest) -> Done | None:
    """Statements in a scope of the language: they run where they stand."""
    for item in node.items:
        scope = evaluate(frame, item.context_expr)
        if not isinstance(scope, StatementScope) or item.optional_vars is not None:
            raise frame.fail(
                item.context_expr,
                "X0104",
                "with cannot be used in kernels, but for scopes such as dl.async_task(...)",
                help="write the statements without it",
            )
    outcome = execute_inside(frame, node.body)
    return None if outcome is None else Done(guard(frame, node, outcome, rest))


def _pass(frame: Frame, node: ast.Pass, rest: Rest) -> None:
    """Nothing to do."""


def _assert(frame: Frame, node: ast.Assert, rest: Rest) -> None:
    """A compile-time condition is checked now, another one when the kernel runs in debug mode."""
    condition = evaluate(frame, node.test)
    if isinstance(condition, tensor):
        message = "" if node.msg is None else evaluate(frame, node.msg)
        language.device_assert.apply(frame.context, (condition, message), {})
        return
    if not condition:
        text = "" if node.msg is None else f": {evaluate(frame, node.msg)}"
        raise fail(
            "X0130", f"assertion failed{text}", help="the condition is false for these compile-time values"
        )


def _delete(frame: Frame, node: ast.Delete, rest: Rest) -> None:
    for target in node.targets:
        if not isinstance(target, ast.Name):
            raise frame.fail(target, "X0118", "only variables can be deleted", help="del x")
        if target.id not in frame.variables:
            raise frame.fail(target, "X0103", f"{target.id} is not defined", help="nothing to delete")
        del frame.variables[target.id]


def _leave_loop(frame: Frame, node: ast.Break | ast.Continue, rest: Rest) -> None:
    word = "break" if isinstance(node, ast.Break) else "continue"
    raise frame.fail(
        node,
        "X0106",
        f"{word} cannot be used in kernels",
        help="use a while loop with a flag in its condition"
        if word == "break"
        else "put the rest of the loop's body into an if",
    )


def _function(frame: Frame, node: ast.FunctionDef, rest: Rest) -> None:
    raise frame.fail(
        node,
        "X0108",
        f"{node.name} is defined inside a kernel",
        help="define it at module level with @xdsl.jit and call it by name",
    )


STATEMENTS: Statements = {
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.AnnAssign: _annotated,
    ast.Expr: _expression,
    ast.If: run_if,
    ast.For: run_for,
    ast.While: run_while,
    ast.Return: _return,
    ast.Pass: _pass,
    ast.With: _with,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Break: _leave_loop,
    ast.Continue: _leave_loop,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
}
