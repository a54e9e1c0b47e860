"""Tasks of the matrix and the vector units, the flags between them, and loops over sub-blocks.

On the backends here a program's statements take effect in their order: a task runs where it stands. That is
what flags ask for wherever each is set before it is waited for; where it is not, the tasks need to run at the
same time, and X0163 says so.
"""

from __future__ import annotations

from typing import Any

from xdsl_core.language import iterators
from xdsl_core.language.builtin import builtin
from xdsl_core.language.context import Context, fail
from xdsl_core.language.values import StatementScope

EVENTS = 16


class async_task(StatementScope):
    """`with dl.async_task(scope=dl.async_task.cube):` statements for the matrix (or vector) unit."""

    cube = "cube"
    vector = "vector"

    def __init__(self, scope: Any) -> None:
        if scope not in (self.cube, self.vector):
            raise ValueError(f"the scope of a task is async_task.cube or async_task.vector, not {scope!r}")
        self.scope = scope


class SyncFlag:
    """The directions of a flag: from the matrix to the vector unit, and back."""

    C2V = "cube_to_vector"
    V2C = "vector_to_cube"


class parallel(iterators.range):
    """`for s in dl.parallel(n, bind_sub_block=True)`: iterations may go to the vector units of a core."""

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: int | None = None,
        loop_unroll_factor: int | None = None,
        bind_sub_block: bool = False,
    ) -> None:
        super().__init__(arg1, arg2, step, num_stages, loop_unroll_factor)
        if bind_sub_block:
            self.hints["bind_sub_block"] = True


def _event(function: str, flag: Any, event_id: int) -> tuple[str, int]:
    if flag not in (SyncFlag.C2V, SyncFlag.V2C):
        raise fail("X0138", f"dl.{function}: no flag {flag!r}", help="use dl.SyncFlag.C2V or dl.SyncFlag.V2C")
    _check_event(function, event_id)
    return flag, event_id


def _check_event(function: str, event_id: int) -> None:
    if not 0 <= event_id < EVENTS:
        raise fail(
            "X0138",
            f"dl.{function}: there is no event {event_id}",
            help=f"events are 0 to {EVENTS - 1}",
        )


@builtin
def set_cross_flag(context: Context, sync_flag_type: Any, event_id: int) -> None:
    """Let the other unit go on that waits for this flag."""
    context.notes.flags.add(_event("set_cross_flag", sync_flag_type, event_id))


@builtin
def wait_cross_flag(context: Context, sync_flag_type: Any, event_id: int) -> None:
    """Wait until the other unit has set this flag. X0163 where no earlier statement sets it."""
    event = _event("wait_cross_flag", sync_flag_type, event_id)
    if event not in context.notes.flags:
        raise fail(
            "X0163",
            "this waits for a flag that no earlier statement sets",
            label=f"the flag is {event[0]}, event {event[1]}",
            help="tasks run one after the other here: set the flag in a statement before this one",
        )


@builtin
def sync_block_all(context: Context, mode: str, event_id: int) -> None:
    """A barrier over all programs. X0163: programs may run one after the other, and would wait forever."""
    if mode not in ("all_cube", "all_vector", "all"):
        raise fail(
            "X0138", f"dl.sync_block_all: no mode {mode!r}", help="one of: 'all_cube', 'all_vector', 'all'"
        )
    _check_event("sync_block_all", event_id)
    raise fail(
        "X0163",
        "a barrier over all programs cannot be kept: they may run one after the other",
        help="end the kernel here and launch a second one for what follows",
    )
