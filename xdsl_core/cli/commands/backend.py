"""`xdslc backend`: starting a backend of one's own, and checking that it keeps the contract."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xdsl_core.backend import default_registry


def new(
    name: Annotated[str, typer.Argument(help="The backend's name, such as acme_npu.")],
    directory: Annotated[
        Path | None, typer.Option("--directory", "-d", help="Where to write it; default: ./NAME.")
    ] = None,
) -> None:
    """Write the repository of a new backend, which works at once, to start from."""
    from xdsl_core.backend.scaffold import write_backend

    folder = Path(name) if directory is None else directory
    written = write_backend(name, folder, taken=default_registry().names())
    for path in written:
        print(path)
    print(f"""
next:
  cd {folder} && pip install -e .[test]
  xdslc conformance {name} --profile smoke
README.md there says what is what.""")


def check(
    names: Annotated[list[str], typer.Argument(help="The backends; default: all.")] = [],  # noqa: B006
) -> None:
    """Check that backends keep the contract of the hooks; whether they are right, `conformance` says."""
    from xdsl_core.backend.testing import main

    raise typer.Exit(1 if main(names) else 0)
