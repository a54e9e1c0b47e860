"""Text cases: a `.tile` file with its arguments, and what must come out, or the errors its lines promise.

    // sum of two vectors                 the summary, on the first line
    // profile: core
    // grid: 2
    // x = i32: 1 2 3 4                   an argument: NAME = DTYPE[SIZE]: numbers, repeated to the size
    // n = 3                              a number
    // expect out = i32: 2 4 6 8          an argument afterwards
    module { ...
        %a = tile.add %x, %y : i32 // error: X0202: same type

Arguments are in the order of the kernel's parameters. Errors are those of reading and checking the text, or
of running it (X04xx), which every backend must give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from xdsl_conformance.case import Case
from xdsl_conformance.numerics import Array, distance, worst
from xdsl_conformance.subject import Refused, Subject, is_refusal
from xdsl_conformance.verdict import Outcome, Verdict
from xdsl_core import dtypes
from xdsl_core.diagnostics import Diagnostic, XdslError
from xdsl_core.ir import parse_module, verify
from xdsl_core.opdef import OpSet
from xdsl_core.ops import opset
from xdsl_core.ops.buffer import BUFFER
from xdsl_core.ops.task import TASK

_ARGUMENT = re.compile(r"// (?P<expect>expect )?(?P<name>\w+) = (?P<value>.+)")
_ARRAY = re.compile(r"(?P<dtype>\w+)(?:\[(?P<size>\d+)\])?: (?P<numbers>.+)")
_SETTING = re.compile(r"// (?P<key>profile|grid): (?P<value>.+)")
_ERROR = re.compile(r"// error: (?P<code>X\d{4}): (?P<text>.+)$")


@dataclass(frozen=True, slots=True)
class TextCase:
    """A file, read: arguments and expectations by parameter, and the errors its lines promise."""

    name: str
    text: str
    summary: str
    profile: str
    grid: tuple[int, int, int]
    arguments: dict[str, Any]
    expected: dict[str, Array]
    errors: tuple[tuple[int, str, str], ...]


def text_cases() -> Iterator[Case]:
    """One case a file of data/text."""
    for name, case in sorted(all_files().items()):
        yield Case(f"text/{name}", case.profile, case.summary, partial(ask, name), {}, partial(_source, name))


def _source(name: str) -> str:
    return all_files()[name].text


@cache
def dialects() -> OpSet:
    """The ops of the language, and those that tiles become on chips with memories of their own."""
    found = opset().extend()
    for definition in (*BUFFER, *TASK):
        found.register(definition)
    return found


@cache
def all_files() -> dict[str, TextCase]:
    """The files by name, without the ending."""
    folder = files("xdsl_conformance") / "data" / "text"
    found = {}
    for path in folder.iterdir():
        if path.name.endswith(".tile"):
            name = path.name.removesuffix(".tile")
            found[name] = read(name, path.read_text(encoding="utf-8"))
    return found


def read(name: str, text: str) -> TextCase:
    """A text case from its file's text; ValueError says what is wrong with it."""
    arguments: dict[str, Any] = {}
    expected: dict[str, Array] = {}
    settings = {"profile": "core", "grid": "1"}
    lines = text.splitlines()
    for line in lines[1:]:
        if (setting := _SETTING.fullmatch(line)) is not None:
            settings[setting["key"]] = setting["value"]
        elif (argument := _ARGUMENT.fullmatch(line)) is not None:
            target = expected if argument["expect"] else arguments
            target[argument["name"]] = _value(argument["value"])
    if not lines or not lines[0].startswith("// "):
        raise ValueError(f"{name}: the first line is a comment that says what the case is about")
    errors = tuple(
        (number, found["code"], found["text"])
        for number, line in enumerate(lines, 1)
        if (found := _ERROR.search(line)) is not None
    )
    if not errors and not expected:
        raise ValueError(f"{name}: it expects nothing")
    first, second, third = (*map(int, settings["grid"].split()), 1, 1)[:3]
    return TextCase(
        name, text, lines[0].removeprefix("// "), settings["profile"], (first, second, third), arguments,
        expected, errors,
    )  # fmt: skip


def _value(text: str) -> Any:
    found = _ARRAY.fullmatch(text)
    if found is None:
        return float(text) if re.search(r"[.naf]", text) else int(text, 0)
    dtype = dtypes.BY_NAME[found["dtype"]]
    words = found["numbers"].split()
    numbers = [float(word) if dtype.is_float else int(word, 0) for word in words]
    array = np.array(numbers, np.float64 if dtype.is_float else None).astype(dtype.numpy)
    return np.resize(array, int(found["size"])) if found["size"] else array


def ask(name: str, subject: Subject) -> Outcome:
    """Read, check and run the text; compare exactly, NaN with NaN."""
    case = all_files()[name]
    file = f"{name}.tile"
    try:
        module = parse_module(case.text, dialects(), file=file)
        found = verify(module)
    except XdslError as problem:
        found = list(problem.diagnostics)
    if found:
        return _judge(case, found)
    arguments = {
        key: value.copy() if isinstance(value, np.ndarray) else value for key, value in case.arguments.items()
    }
    try:
        subject.execute(module, case.grid, arguments)
    except Refused as refusal:
        return Outcome(Verdict.NOT_SUPPORTED, str(refusal))
    except XdslError as problem:
        if is_refusal(problem):
            return Outcome(Verdict.OVER_CLAIM, str(problem))
        return _judge(case, list(problem.diagnostics))
    if case.errors:
        return Outcome(Verdict.FAIL, f"no error; expected {case.errors[0][1]} in line {case.errors[0][0]}")
    for key, expected in case.expected.items():
        errors = distance(arguments[key], expected, np.zeros(expected.shape), free_sign=False)
        mismatch = worst(key, errors, arguments[key], expected)
        if mismatch is not None:
            return Outcome(Verdict.FAIL, str(mismatch), mismatch.budgets)
    return Outcome(Verdict.PASS)


def _judge(case: TextCase, found: list[Diagnostic]) -> Outcome:
    """Whether exactly the promised errors were found, each on its line."""
    missing = list(case.errors)
    for diagnostic in found:
        words = " ".join((diagnostic.message, diagnostic.label, *(note.text for note in diagnostic.notes)))
        met = next(
            (
                (line, code, text)
                for line, code, text in missing
                if (line, code) == (diagnostic.location.line, diagnostic.code) and text in words
            ),
            None,
        )
        if met is None:
            return Outcome(Verdict.FAIL, f"unexpected:\n{diagnostic}")
        missing.remove(met)
    if missing:
        line, code, text = missing[0]
        return Outcome(Verdict.FAIL, f"line {line} promises {code}: {text}")
    return Outcome(Verdict.PASS)
