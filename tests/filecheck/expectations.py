"""Kernels with the errors they must give, written on the offending lines.

    @kernel("x: *f32")
    def adds_pointers(x):
        y = x + x  # error: X0119: two pointers

A kernel without such comments must compile.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl_core.cli.signature import parse_signature
from xdsl_core.diagnostics import CompilationError, Diagnostic
from xdsl_core.frontend.python.build import build_module
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.ir.verifier import verify

_EXPECTED = re.compile(r"# error: (?P<code>X\d{4}): (?P<text>.+)$")


class Kernel(JitSource):
    """A kernel of a test file with the kinds of its arguments."""

    def __init__(self, function: Callable[..., Any], signature: str, debug: bool) -> None:
        super().__init__(function)
        self.arguments = parse_signature(signature)
        self.debug = debug


def kernel(signature: str, *, debug: bool = False) -> Callable[[Callable[..., Any]], Kernel]:
    """A kernel to compile with arguments of these kinds."""
    return lambda function: Kernel(function, signature, debug)


def helper(function: Callable[..., Any]) -> JitSource:
    """A function that kernels call."""
    return JitSource(function)


@dataclass(frozen=True, slots=True)
class Expected:
    """An error that a line promises: its code and a part of its text."""

    line: int
    code: str
    text: str

    def met_by(self, diagnostic: Diagnostic) -> bool:
        notes = " ".join(note.text for note in diagnostic.notes)
        words = f"{diagnostic.message} {diagnostic.label} {notes}"
        return (diagnostic.location.line, diagnostic.code) == (self.line, self.code) and self.text in words


def expected(path: Path) -> list[Expected]:
    """The errors that a file promises."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _EXPECTED.search(line)
        if match:
            found.append(Expected(number, match["code"], match["text"].strip()))
    return found


def kernels(path: Path) -> dict[str, Kernel]:
    """The kernels of a file by name."""
    specification = importlib.util.spec_from_file_location(f"filecheck_{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}


def diagnostics(kernel: Kernel) -> tuple[Diagnostic, ...]:
    """What is wrong with a kernel; what compiles must also be right for the verifier."""
    try:
        module = build_module(kernel, kernel.arguments, debug=kernel.debug)
    except CompilationError as problem:
        return problem.diagnostics
    return tuple(verify(module))
