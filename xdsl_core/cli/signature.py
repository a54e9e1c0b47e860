"""The types of a kernel's arguments as text, for commands that compile without having arguments.

    x: *f32, n: i32, BLOCK=1024

`name: type` is an argument at run time: a dtype (`f32`, `i64`, or Triton's `fp32`), with a star before it for
a pointer. `:16` behind it says that the address, or the number, is a multiple of 16. `name=value` is a value
to compile for: a number, a string, True, False, None, a tuple, or a dtype such as `tl.float16`.
"""

from __future__ import annotations

import ast
import difflib
import linecache
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError, Diagnostic, Location, error
from xdsl_core.dtypes import DType
from xdsl_core.frontend.specs import ArgumentSpec, Constant, PointerSpec, ScalarSpec

_ARGUMENT = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*:\s*(?P<star>\*?)\s*(?P<dtype>\w+)\s*(?::\s*(?P<divisor>\w+))?"
)
_CONSTANT = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.+)", re.DOTALL)
_FILE = "<signature>"
_SYNTAX = 'write name: type for an argument and name=value for a constant: "x: *f32, n: i32, BLOCK=1024"'


def parse_signature(text: str) -> dict[str, ArgumentSpec]:
    """The argument specs by name; CompilationError X0805, which points at each entry that is wrong."""
    specs: dict[str, ArgumentSpec] = {}
    found: list[Diagnostic] = []
    text = " ".join(text.split())
    for column, entry in _entries(text):
        try:
            name, spec = _entry(entry)
            if name in specs:
                raise ValueError(f"{name} is given twice")
            specs[name] = spec
        except ValueError as problem:
            found.append(_problem(text, column, entry, str(problem)))
    if found:
        raise CompilationError(found)
    return specs


def check_names(
    kernel: str, parameters: Sequence[str], defaults: Sequence[str], names: Mapping[str, object]
) -> None:
    """CompilationError X0806 unless `names` are the kernel's parameters; `defaults` may be missing."""
    unknown = [name for name in names if name not in parameters]
    missing = [name for name in parameters if name not in names and name not in defaults]
    found = []
    for name in unknown:
        near = difflib.get_close_matches(name, [*missing, *parameters], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"its parameters are {', '.join(parameters)}"
        found.append(error("X0806", f"{kernel} has no parameter {name!r}", help=hint))
    if missing:
        listed = ", ".join(missing)
        fix = "add each to the signature, as name: type or, for a constexpr parameter, as name=value"
        found.append(error("X0806", f"the signature for {kernel} says nothing of {listed}", help=fix))
    if found:
        raise CompilationError(found)


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """The parts between commas that are in no bracket or string, each with its column."""
    depth, quote, start = 0, "", 0
    for column, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            yield _stripped(text, start, column)
            start = column + 1
    if text[start:].strip():
        yield _stripped(text, start, len(text))


def _stripped(text: str, start: int, end: int) -> tuple[int, str]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), part.strip()


def _entry(entry: str) -> tuple[str, ArgumentSpec]:
    constant = _CONSTANT.fullmatch(entry)
    if constant:
        return constant["name"], Constant(_value(constant["value"].strip()))
    argument = _ARGUMENT.fullmatch(entry)
    if not argument:
        raise ValueError(f"cannot read {entry!r}")
    if argument["divisor"] not in (None, "16"):
        raise ValueError("only :16, a multiple of 16, can be told of an argument")
    kind = PointerSpec if argument["star"] else ScalarSpec
    return argument["name"], kind(_dtype(argument["dtype"]), argument["divisor"] is not None)


def _dtype(name: str) -> DType:
    names = {spelling: row for row in dtypes.ALL for spelling in (row.name, row.mangled, row.triton)}
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3)
        raise ValueError(f"no dtype {name!r}; " + (f"near: {', '.join(near)}" if near else "see xdslc ops"))
    return names[name]


def _value(text: str) -> Hashable:
    if text.startswith("tl."):
        from xdsl_core.language.types import dtype

        row = _dtype(text.removeprefix("tl."))
        return dtype(row.mangled if row.is_float else row.triton)
    try:
        value = ast.literal_eval(text)
        hash(value)
    except (ValueError, SyntaxError, TypeError) as problem:
        raise ValueError(
            f"{text} is no number, string, True, False, None, tuple or dtype (tl.float16)"
        ) from problem
    return value  # type: ignore[no-any-return]


def _problem(text: str, column: int, entry: str, label: str) -> Diagnostic:
    linecache.cache[_FILE] = (len(text), None, [text], _FILE)
    place = Location(_FILE, 1, column, 1, column + max(1, len(entry)))
    return error("X0805", "the signature cannot be read", location=place, label=label, help=_SYNTAX)
