"""The state of one function while it is turned into IR."""

from __future__ import annotations

import ast
import builtins
import difflib
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any

from xdsl_core.diagnostics import CompilationError, Location, XdslError, error
from xdsl_core.frontend.python.compile_time import PYTHON_FUNCTIONS
from xdsl_core.frontend.python.problems import AlreadyReported, Broken, Problems, Unusable
from xdsl_core.frontend.python.source import MISSING, JitSource, says_constexpr, source_of
from xdsl_core.language.builtin import Builtin, ConstexprFunction
from xdsl_core.language.context import Context
from xdsl_core.language.types import dtype
from xdsl_core.language.values import constexpr, parts_of, tensor, unwrap


@dataclass(slots=True)
class Frame:
    """One function being built: its names, where its ops go, and where mistakes are collected.

    A variable is a tensor, a tuple, or a plain Python value known when compiling. `constants` are the names
    declared `tl.constexpr`, `definitions` says where a variable got its value, `loops` the loops of the
    running kernel that enclose the current statement, `continued` counts the statement lists around it that
    may go on after it, `callers` the chain of calls that led here (innermost first). In a function of the
    language, `inside` is its name and `place` where it is called.
    """

    source: JitSource
    context: Context
    problems: Problems
    callers: tuple[Location, ...] = ()
    variables: dict[str, Any] = field(default_factory=dict)
    definitions: dict[str, Location] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    announced: set[str] = field(default_factory=set)
    loops: list[ast.stmt] = field(default_factory=list)
    continued: int = 0
    stored: dict[ast.AST, tuple[str, ...]] = field(default_factory=dict)
    locations: dict[ast.AST, Location] = field(default_factory=dict)
    place: Location | None = None
    inside: str = ""

    def locate(self, node: ast.AST) -> Location:
        """Where a node of this function stands; for functions of the language, where they are called."""
        if self.place is not None:
            return self.place
        known = self.locations.get(node)
        if known is None:
            known = self.locations[node] = self.source.locate(node, self.callers)
        return known

    def fail(
        self, node: ast.AST, code: str, message: str, *, label: str = "", help: str = ""
    ) -> CompilationError:
        """The error to raise for a node."""
        return CompilationError(error(code, message, location=self.locate(node), label=label, help=help))

    def in_library(self, problem: XdslError) -> XdslError:
        """The same mistakes, saying which function of the language they are found in."""
        note = f"this is inside tl.{self.inside}"
        known = any(one.text == note for diagnostic in problem.diagnostics for one in diagnostic.notes)
        if known:
            return problem
        return CompilationError(diagnostic.with_note("note", note) for diagnostic in problem.diagnostics)

    def parameter_location(self, name: str) -> Location:
        """Where a parameter stands in the signature; the function where there is no such parameter."""
        arguments = self.source.tree.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return self.locate(next((one for one in parameters if one.arg == name), self.source.tree))

    def assign(self, name: str, value: Any, node: ast.AST) -> None:
        """Give a variable a value, and an unnamed value of the IR the variable's name."""
        self.variables[name] = value
        self.definitions[name] = self.locate(node)
        name_values(value, name)

    def read(self, node: ast.Name) -> Any:
        """The value of a name: a variable, a global that kernels may read, or a Python function."""
        name = node.id
        value = self.variables.get(name, MISSING)
        if value is not MISSING:
            if isinstance(value, Broken):
                raise AlreadyReported
            if isinstance(value, Unusable):
                raise CompilationError(replace(value.diagnostic, location=self.locate(node)))
            return value
        value = self.source.look_up(name)
        if value is not MISSING:
            return self._global(node, value)
        if name in PYTHON_FUNCTIONS:
            return getattr(builtins, name)
        raise self._unknown(node)

    def _unknown(self, node: ast.Name) -> CompilationError:
        known = [*self.variables, *self.source.globals, *PYTHON_FUNCTIONS]
        near = difflib.get_close_matches(node.id, known, n=1)
        help = f"did you mean {near[0]}?" if near else "define it before it is used"
        return self.fail(node, "X0103", f"{node.id} is not defined", help=help)

    def _global(self, node: ast.Name, value: Any) -> Any:
        """A global's value if kernels may read it. X0102 otherwise: it could change unnoticed."""
        if isinstance(value, constexpr):
            return value.value
        if readable(value) or says_constexpr(self.source.globals.get("__annotations__", {}).get(node.id)):
            return unwrap(value)
        if isinstance(value, FunctionType):
            return value
        raise self.fail(
            node,
            "X0102",
            f"{node.id} is an ordinary global",
            label=f"{node.id} is {value!r}" if isinstance(value, int | float | str | tuple) else "",
            help=f"write {node.id} = tl.constexpr(...), or pass it as an argument",
        )


def readable(value: Any) -> bool:
    """True for globals that kernels may read: modules, types, dtypes, helpers, the language, None."""
    kinds = (ModuleType, type, Builtin, ConstexprFunction, dtype)
    return value is None or isinstance(value, kinds) or source_of(value) is not None or callable_of_c(value)


def callable_of_c(value: Any) -> bool:
    """True for functions that Python implements itself, such as math.log2."""
    return isinstance(value, type(len)) or getattr(builtins, getattr(value, "__name__", ""), None) is value


def name_values(value: Any, name: str) -> None:
    """Name the unnamed values of the IR behind a variable."""
    if isinstance(value, tensor):
        if not value.handle.name:
            value.handle.name = name
    else:
        for index, one in enumerate(parts_of(value) or ()):
            name_values(one, f"{name}_{index}")


def _stored(node: ast.AST) -> str:
    """The name that a node gives a value to, or the empty string."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return (node.asname or node.name) if isinstance(node, ast.alias) else ""


def stored_names(frame: Frame, node: ast.AST) -> tuple[str, ...]:
    """The variables that a statement gives values to, nested statements included, in order."""
    known = frame.stored.get(node)
    if known is None:
        names = dict.fromkeys(name for inner in ast.walk(node) if (name := _stored(inner)))
        known = frame.stored[node] = tuple(names)
    return known
