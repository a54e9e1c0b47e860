"""`xdslc build`: a kernel as a library for programs that run without Python."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from xdsl_core.cli.commands.kernel import Backend, Place, Signature
from xdsl_core.cli.kernels import choose
from xdsl_core.cli.stages import build as build_module
from xdsl_core.cli.stages import destination, generate, lower, options_from
from xdsl_core.cli.target_file import TargetFile, with_target_file
from xdsl_core.diagnostics import CompilationError, error

# C17's keywords, then those of C23, and the entry point's name
_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
alignas alignof bool constexpr false nullptr static_assert thread_local true typeof main
"""


def build(
    place: Place,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write the files to.")],
    signature: Signature = None,
    backend: Backend = "",
    target_file: TargetFile = None,
    option: Annotated[list[str] | None, typer.Option("--option", help="A launch option, name=value.")] = None,
    name: Annotated[str, typer.Option(help="The function's name; without it the kernel's.")] = "",
) -> None:
    """Write a kernel as a library: lib<name>.so and .a, a header that documents it, an example in C."""
    where = destination(with_target_file(backend, target_file), options_from(option or []))
    chosen = choose(place, signature)
    name = name or chosen.kernel.name
    if not (name.isidentifier() and name.isascii()) or name in _KEYWORDS.split():
        hint = "give another one: --name row_softmax"
        raise CompilationError(error("X0817", f"{name!r} cannot name a function in C", help=hint))
    source = generate(lower(build_module(chosen, where), where, text=lambda _: "").run.module, where)
    where.backend.require_available()
    with tempfile.TemporaryDirectory(prefix="xdslc-") as folder:
        library = where.backend.build_library(source, where.target, where.options, name, Path(folder))
        output.mkdir(parents=True, exist_ok=True)
        for file in library.files:
            (output / file).write_bytes(library.read(file))
            typer.echo(f"wrote {output / file}", err=True)
