"""JitSource: the Python function behind a kernel or helper, parsed once, and what it depends on."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from xdsl_core.diagnostics import CompilationError, Location, error
from xdsl_core.language.builtin import ConstexprFunction, Standard
from xdsl_core.language.values import constexpr, unwrap

MISSING = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel or helper. `default` and `annotation` are MISSING where there is none."""

    name: str
    kind: inspect._ParameterKind
    default: Any
    annotation: Any
    is_constexpr: bool
    do_not_specialize: bool


class JitSource:
    """A Python function whose text can become tile IR.

    The text is read when it is first needed (X0109 where Python has none) and parsed once. Names in
    `do_not_specialize` are never compiled in as constants because of their value.
    """

    def __init__(self, function: Callable[..., Any], *, do_not_specialize: Iterable[str | int] = ()) -> None:
        self.function = function
        self.name = function.__name__
        self.file = function.__code__.co_filename
        self.globals = function.__globals__
        self.do_not_specialize = frozenset(do_not_specialize)

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in order."""
        return tuple(
            Parameter(
                name,
                parameter.kind,
                unwrap(parameter.default),
                parameter.annotation,
                says_constexpr(parameter.annotation),
                name in self.do_not_specialize or index in self.do_not_specialize,
            )
            for index, (name, parameter) in enumerate(self.signature.parameters.items())
        )

    @cached_property
    def _text(self) -> tuple[list[str], int]:
        try:
            return inspect.getsourcelines(self.function)
        except (OSError, TypeError):
            raise CompilationError(
                error(
                    "X0109",
                    f"Python has no source text for {self.name}",
                    location=Location(self.file, 0),
                    help="define it in a file; functions typed at a prompt or made by exec have no text",
                )
            ) from None

    @cached_property
    def text(self) -> str:
        """The source of the function, decorators included, without the indentation of its place."""
        return textwrap.dedent("".join(self._text[0]))

    @cached_property
    def first_line(self) -> int:
        """The line of the file that the text starts at, from 1."""
        return max(1, self._text[1])

    @cached_property
    def indent(self) -> int:
        """The columns that `text` lacks at the start of its lines."""
        first = self._text[0][0]
        return len(first) - len(first.lstrip())

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The parsed function."""
        try:
            nodes = ast.parse(self.text).body
        except SyntaxError:
            nodes = []
        if len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef):
            return nodes[0]
        raise CompilationError(
            error(
                "X0109",
                f"the source of {self.name} is not one function definition",
                location=Location(self.file, self.first_line),
                help="define it with `def`; lambdas and async functions are no kernels",
            )
        )

    @cached_property
    def closure(self) -> dict[str, Any]:
        """Names of enclosing functions that the text may use; those not yet set are left out."""
        cells = zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True)
        return dict(cells)

    def look_up(self, name: str) -> Any:
        """The value of a global or of an enclosing function's variable; MISSING where there is none."""
        cell = self.closure.get(name)
        if cell is not None:
            try:
                return cell.cell_contents
            except ValueError:
                return MISSING
        return self.globals.get(name, MISSING)

    def locate(self, node: ast.AST, callers: tuple[Location, ...] = ()) -> Location:
        """Where a node of the tree stands in the file."""
        offset, indent = self.first_line - 1, self.indent
        line: int = node.lineno  # type: ignore[attr-defined]
        return Location(
            self.file,
            line + offset,
            node.col_offset + indent,  # type: ignore[attr-defined]
            node.end_lineno + offset,  # type: ignore[attr-defined]
            node.end_col_offset + indent,  # type: ignore[attr-defined]
            self.name,
            callers,
        )

    def dependency_key(self) -> str:
        """A content hash: this function, the helpers it reaches, and the compile-time globals they read.

        Equal keys mean equal IR for equal arguments. Values are read anew at each call, texts are not.
        """
        from xdsl_core.frontend.python.dependencies import dependency_key

        return dependency_key(self)

    def __repr__(self) -> str:
        return f"<JitSource {self.name} of {self.file}>"


def says_constexpr(annotation: Any) -> bool:
    """True for the annotation tl.constexpr, as an object or as text."""
    if isinstance(annotation, str):
        return annotation.strip("'\"").split(".")[-1] == "constexpr"
    return annotation is constexpr or isinstance(annotation, constexpr)


@lru_cache(maxsize=1024)
def source_behind(function: Standard | ConstexprFunction) -> JitSource:
    """The source of a function of the language written in itself, or of a compile-time function."""
    return JitSource(function.function)


def source_of(value: Any) -> JitSource | None:
    """The source behind something a kernel can call; None where there is none.

    A JitSource, a function of the language written in itself, or any object with a JitSource as `source`.
    """
    if isinstance(value, JitSource):
        return value
    if isinstance(value, Standard):
        return source_behind(value)
    source = getattr(value, "source", None)
    return source if isinstance(source, JitSource) else None
