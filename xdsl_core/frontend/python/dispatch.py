"""Picks the handler of each statement and expression, gives ops their place, and goes on after mistakes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl_core.diagnostics import CompilationError, XdslError, error, is_debugging
from xdsl_core.frontend.python.frame import Frame, stored_names
from xdsl_core.frontend.python.problems import BROKEN, AlreadyReported, TooMany
from xdsl_core.language.values import tensor


@dataclass(frozen=True, slots=True)
class Returned:
    """The function has returned, with this value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Maybe:
    """The function has returned if the flag is true; `value` means something only then."""

    flag: tensor
    value: Any


# How a list of statements ends: it falls through (None), or it returns, always or sometimes.
Outcome = Returned | Maybe | None


@dataclass(frozen=True, slots=True)
class Done:
    """A statement took care of the rest of its list; this is how the list ends."""

    outcome: Outcome


Rest = Sequence[ast.stmt]
Expressions = dict[type[ast.expr], Callable[[Frame, Any], Any]]
Statements = dict[type[ast.stmt], Callable[[Frame, Any, Rest], Done | None]]


@cache
def _handlers() -> tuple[Expressions, Statements]:
    # the handlers use `evaluate` and `execute` themselves, so they are looked up when first needed
    from xdsl_core.frontend.python.expressions import EXPRESSIONS
    from xdsl_core.frontend.python.statements import STATEMENTS

    return EXPRESSIONS, STATEMENTS


def evaluate(frame: Frame, node: ast.expr) -> Any:
    """The value of an expression; ops it needs get its place."""
    kind = type(node)
    if kind is ast.Name:
        return frame.read(node)  # type: ignore[arg-type]
    if kind is ast.Constant:
        return node.value  # type: ignore[attr-defined]
    handler = _handlers()[0].get(kind)
    if handler is None:
        word = _WORDS.get(kind, kind.__name__)
        raise frame.fail(
            node, "X0105", f"{word} cannot be used in kernels", help=_ADVICE.get(kind, _EXPRESSION_HELP)
        )
    builder = frame.context.builder
    outer = builder.location
    builder.location = frame.locate(node)
    try:
        return handler(frame, node)
    except XdslError as problem:
        raise problem.at(builder.location) from None
    finally:
        builder.location = outer


def execute(frame: Frame, statements: Rest) -> Outcome:
    """Run statements in order; how they end."""
    for index, statement in enumerate(statements):
        done = _step(frame, statement, statements[index + 1 :])
        if done is not None:
            return done.outcome
    return None


def execute_inside(frame: Frame, statements: Rest) -> Outcome:
    """Run statements after which those of an enclosing list may follow."""
    frame.continued += 1
    try:
        return execute(frame, statements)
    finally:
        frame.continued -= 1


def _step(frame: Frame, node: ast.stmt, rest: Rest) -> Done | None:
    """Run one statement. A mistake is noted, what depends on it is left out, the next statement follows."""
    builder = frame.context.builder
    outer = builder.location
    builder.location = frame.locate(node)
    try:
        return _handlers()[1].get(type(node), _unsupported)(frame, node, rest)
    except XdslError as problem:
        located = problem.at(builder.location)
        if frame.inside:
            raise frame.in_library(located) from None
        frame.problems.report(located.diagnostics)
    except AlreadyReported:
        pass
    except (TooMany, RecursionError):
        raise
    except Exception as problem:
        if is_debugging():
            raise
        frame.problems.report(_internal(frame, node, problem).diagnostics)
    finally:
        builder.location = outer
    for name in stored_names(frame, node):
        frame.variables[name] = BROKEN
    return Done(Returned(BROKEN)) if isinstance(node, ast.Return) else None


def _internal(frame: Frame, node: ast.stmt, problem: Exception) -> CompilationError:
    return frame.fail(
        node,
        "X0199",
        f"the compiler failed: {type(problem).__name__}: {problem}",
        help="this is a mistake of the compiler; run with XDSL_DEBUG=1 for its traceback, and report it",
    )


def _unsupported(frame: Frame, node: ast.stmt, rest: Rest) -> Done | None:
    word, help = _STATEMENT_WORDS.get(
        type(node), (type(node).__name__, "kernels use assignments, calls, if, for, while")
    )
    raise CompilationError(
        error("X0104", f"{word} cannot be used in kernels", location=frame.locate(node), help=help)
    )


_WORDS: dict[type[ast.expr], str] = {
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.DictComp: "a dict comprehension",
    ast.SetComp: "a set comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
}
_ADVICE: dict[type[ast.expr], str] = {
    ast.Dict: "use separate variables, or a tuple with compile-time indices",
    ast.Set: "use a tuple; `in` works on compile-time tuples",
    ast.GeneratorExp: "use tl.static_range, or a list comprehension over a tuple",
}
_EXPRESSION_HELP = "kernels use arithmetic, comparisons, calls, tuples and conditional expressions"
_STATEMENT_WORDS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.AsyncWith: ("async with", "write the statements without it"),
    ast.AsyncFor: ("async for", "use for"),
    ast.Try: ("try", "a kernel raises no exceptions; use tl.device_assert for checks"),
    ast.Raise: ("raise", "use tl.static_assert when compiling, tl.device_assert when running"),
    ast.Import: ("import", "import at the top of the file; kernels see the file's modules"),
    ast.ImportFrom: ("import", "import at the top of the file; kernels see the file's modules"),
    ast.Global: ("global", "pass values as arguments, return results"),
    ast.Nonlocal: ("nonlocal", "pass values as arguments, return results"),
    ast.ClassDef: ("a class", "define it at module level"),
    ast.Match: ("match", "use if and elif"),
}
