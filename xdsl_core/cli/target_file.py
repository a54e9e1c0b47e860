"""The option `--target-file` of commands that take a backend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from xdsl_core.backend.target_file import TARGET_PATH, with_target_file

__all__ = ["TARGET_PATH", "TargetFile", "with_target_file"]

TargetFile = Annotated[
    Path | None, typer.Option("--target-file", help="A target description of your own (TOML), for --backend.")
]
