"""The entry point of `xdslc`: the list of commands, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from xdsl_core import __version__
from xdsl_core.cli.commands import backend, backends, cache, doctor, kernel, library, reference, run, simulate
from xdsl_core.cli.extensions import ExtensibleGroup
from xdsl_core.diagnostics import XdslError, is_debugging


def application() -> typer.Typer:
    """The command line as typer sees it."""
    app = typer.Typer(
        name="xdslc",
        cls=ExtensibleGroup,
        help="One kernel language, one tile IR, many chips.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_global_options)
    app.command()(backends.backends)
    making = typer.Typer(help="Start a backend, or check one.", no_args_is_help=True)
    making.command("new")(backend.new)
    making.command("check")(backend.check)
    app.add_typer(making, name="backend")
    targets = typer.Typer(help="List the targets of all backends, or show one.", invoke_without_command=True)
    targets.callback()(backends.targets)
    targets.command("show")(backends.show_target)
    app.add_typer(targets, name="targets")
    app.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": False})(run.run)
    app.command("sim")(simulate.sim)
    app.command("ir")(kernel.ir)
    app.command("compile")(kernel.compile)
    app.command("build")(library.build)
    app.command("explain-access")(kernel.explain_access)
    app.command("ops")(reference.ops)
    app.command("explain")(reference.explain)
    app.command("doctor")(doctor.doctor)
    caches = typer.Typer(help="Show or empty the cache of compiled kernels.", invoke_without_command=True)
    caches.callback()(cache.show)
    caches.command("clear")(cache.clear)
    app.add_typer(caches, name="cache")
    return app


def _version(wanted: bool) -> None:
    if wanted:
        print(f"xdslc {__version__}")
        raise typer.Exit


def _global_options(
    version: bool = typer.Option(
        False, "--version", help="Print the version and stop.", callback=_version, is_eager=True
    ),
) -> None:
    """One kernel language, one tile IR, many chips."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command and leaves with its status; an error of ours is printed without a Python traceback."""
    try:
        application()(args=None if arguments is None else list(arguments), prog_name="xdslc")
    except XdslError as problem:
        if is_debugging():
            raise
        print(problem, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # the reader of our output has seen enough (`xdslc ir ... | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
