"""Helpers are built where they are called: their own names, the caller's block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import Parameter as PythonParameter
from typing import Any

from xdsl_core.diagnostics import CompilationError, Location, error
from xdsl_core.frontend.python.compile_time import normal
from xdsl_core.frontend.python.dispatch import Maybe, Outcome, execute
from xdsl_core.frontend.python.frame import Frame, name_values
from xdsl_core.frontend.python.problems import AlreadyReported, Broken, Problems
from xdsl_core.frontend.python.source import MISSING, JitSource
from xdsl_core.ir import Builder
from xdsl_core.language.builtin import bind
from xdsl_core.language.context import Context, Notes, fail

DEEPEST_CALL = 64


def new_frame(
    source: JitSource,
    builder: Builder,
    problems: Problems,
    *,
    debug: bool,
    notes: Notes,
    callers: tuple[Location, ...] = (),
    place: Location | None = None,
    inside: str = "",
) -> Frame:
    """A frame for one run through a function."""
    from xdsl_core.frontend.python.calls import call

    context = Context(
        builder, lambda function, args, kwargs: call(frame, function, args, kwargs), debug, notes=notes
    )
    frame = Frame(source, context, problems, callers, place=place, inside=inside)
    frame.constants = {parameter.name for parameter in source.parameters if parameter.is_constexpr}
    return frame


def inline(
    frame: Frame, source: JitSource, args: Sequence[Any], kwargs: Mapping[str, Any], *, library: bool
) -> Any:
    """The result of a helper, built at the end of the caller's block.

    What happens in a function of the language (`library`) is placed where that is called. X0112 where the
    arguments do not fit, X0141 where helpers call one another without end.
    """
    here = frame.context.builder.location
    callers = (replace(here, callers=()), *frame.callers)
    if len(callers) > DEEPEST_CALL:
        problem = error(
            "X0141",
            f"{source.name} is called {DEEPEST_CALL} calls deep",
            location=replace(here, callers=callers[-1:]),
            help="kernels have no run-time recursion: end it by a compile-time condition, or use a loop",
        )
        raise CompilationError(problem)
    inner = new_frame(
        source,
        frame.context.builder,
        frame.problems,
        debug=frame.context.debug,
        notes=frame.context.notes,
        callers=frame.callers if library else callers,
        place=here if library else frame.place,
        inside=frame.inside or (source.name if library else ""),
    )
    _bind_arguments(inner, args, kwargs)
    return _run(inner)


def _bind_arguments(inner: Frame, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    source = inner.source
    given = bind(source.name, source.signature, args, kwargs)
    for parameter in source.parameters:
        name = parameter.name
        if parameter.kind is PythonParameter.VAR_KEYWORD:
            raise fail(
                "X0112", f"{source.name} takes **{name}", help="helpers name all their keyword parameters"
            )
        variadic = parameter.kind is PythonParameter.VAR_POSITIONAL
        default = () if variadic else parameter.default
        value = normal(given.get(name, default))
        assert value is not MISSING
        inner.variables[name] = value
        name_values(value, name)


def _run(inner: Frame) -> Any:
    value = result_of(inner, execute(inner, inner.source.tree.body))
    if isinstance(value, Broken):
        raise AlreadyReported
    return value


def result_of(frame: Frame, outcome: Outcome) -> Any:
    """What a function returns. X0139 where only some of its paths return a value."""
    if outcome is None:
        return None
    if isinstance(outcome, Maybe) and outcome.value is not None:
        raise frame.fail(
            frame.source.tree,
            "X0139",
            f"{frame.source.name} returns a value on some paths only",
            help="add a return at the end of the function",
        )
    return outcome.value
