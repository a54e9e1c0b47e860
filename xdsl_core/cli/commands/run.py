"""`xdslc run`: a script, unchanged, on another backend."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from xdsl_core.backend import default_registry
from xdsl_core.cli.target_file import TargetFile, with_target_file
from xdsl_core.diagnostics import CompilationError, error


def run(
    context: typer.Context,
    script: Annotated[str, typer.Argument(help="The Python file; what follows are its own arguments.")],
    backend: Annotated[
        str, typer.Option("--backend", "-b", help="backend:target; the default is XDSL_BACKEND's.")
    ] = "",
    target_file: TargetFile = None,
    as_triton: Annotated[
        bool, typer.Option("--as-triton", help="Answer the script's `import triton` with this package.")
    ] = False,
    triton: Annotated[
        bool, typer.Option("--triton", help="Run the script's kernels through stock Triton's frontend.")
    ] = False,
    device: Annotated[
        str, typer.Option(help="What a Triton script is told it runs on: cuda, cuda:90, cpu.")
    ] = "cuda",
    benchmarks: Annotated[bool, typer.Option(help="Whether perf reports of a Triton script measure.")] = True,
) -> None:
    """Run a Python script whose kernels go to a backend."""
    if not Path(script).is_file():
        raise CompilationError(error("X0801", f"there is no file {script}", help="name a Python file"))
    backend = with_target_file(backend, target_file)
    if backend:
        handle, _ = default_registry().resolve(backend)
        handle.require_available()
        os.environ["XDSL_BACKEND"] = backend
    if as_triton:
        from xdsl_core.triton_compat import activate

        activate(benchmarks=benchmarks, device=device)
    if triton:
        from xdsl_core.triton_plugin import activate as activate_plugin

        activate_plugin()
    sys.argv = [script, *context.args]
    sys.path.insert(0, str(Path(script).resolve().parent))
    runpy.run_path(script, run_name="__main__")
