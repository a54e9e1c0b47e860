"""Commands that other packages add to `xdslc`: entry points in the group `xdsl_core.commands`.

The entry point's name is the command's; it names a function that typer can turn into a command, or a
`typer.Typer`. Nothing is imported before the command is asked for, or help lists it. One that cannot be
loaded says so, in the list and when it is called, and harms no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as command_of

from xdsl_core.diagnostics import BackendError, error

GROUP = "xdsl_core.commands"


def installed_commands() -> Iterable[EntryPoint]:
    """The entry points of all installed distributions that add commands."""
    return entry_points(group=GROUP)


class ExtensibleGroup(TyperGroup):
    """A group of commands that other packages can add to; its own commands win over theirs."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted({entry.name for entry in installed_commands()}.difference(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        entry = next((entry for entry in installed_commands() if entry.name == cmd_name), None)
        return None if entry is None else load(entry)


def load(entry: EntryPoint) -> Any:
    """The command of an entry point, or one that tells why there is none."""
    try:
        found = entry.load()
        command = command_of(found if isinstance(found, typer.Typer) else _application(entry.name, found))
    except (Exception, SystemExit) as cause:
        command = command_of(_application(entry.name, _broken(entry, f"{type(cause).__name__}: {cause}")))
    command.name = entry.name
    return command


def _application(name: str, function: Callable[..., Any]) -> typer.Typer:
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command(name)(function)
    return app


def _broken(entry: EntryPoint, reason: str) -> Callable[[], None]:
    package = entry.dist.name if entry.dist is not None else "an unknown package"

    def tell() -> None:
        text = f"the command {entry.name!r} is installed but cannot be used: {reason}"
        raise BackendError(
            error("X0811", text, note=f"it comes with {package}", help=f"update or remove {package}")
        )

    tell.__doc__ = f"Cannot be used: {reason}"
    return tell
