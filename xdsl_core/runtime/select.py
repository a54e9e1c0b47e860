"""Which backend kernels run on when none is named: xdsl.use, XDSL_BACKEND, or the best that is there."""

from __future__ import annotations

import os
from functools import cache
from types import TracebackType

from xdsl_core.backend import Unavailable, default_registry
from xdsl_core.diagnostics import BackendError, error
from xdsl_core.target import Target

# Tried in this order when nobody chose; the oracle is slow but needs nothing.
DEFAULT_ORDER = ("cpu_c", "reference")
ENVIRONMENT = "XDSL_BACKEND"


class Selection:
    """The target of the process; `target` is None until it is needed or chosen."""

    def __init__(self) -> None:
        self.target: Target | None = None

    def resolved(self) -> Target:
        """The chosen target, else that of XDSL_BACKEND, else the first available of DEFAULT_ORDER.

        BackendError X0511 if there is none.
        """
        if self.target is None:
            named = os.environ.get(ENVIRONMENT, "")
            self.target = Target.parse(named) if named else _first_available()
        return self.target


@cache
def selection() -> Selection:
    """The selection of the process."""
    return Selection()


class use:
    """Chooses the target of all kernels of the process that do not choose their own.

    As a statement it holds until the next `use`; as a context manager it holds inside the block, in all
    threads. `use(None)` goes back to XDSL_BACKEND or the default. BackendError X0601 to X0605 if there is no
    such target.
    """

    def __init__(self, target: str | Target | None) -> None:
        self._before = selection().target
        if target is not None:
            wanted = Target.parse(target) if isinstance(target, str) else target
            default_registry().resolve(wanted)
            target = wanted
        selection().target = target

    def __enter__(self) -> use:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        selection().target = self._before


def _first_available() -> Target:
    reasons = []
    for name in DEFAULT_ORDER:
        try:
            found = default_registry().get(name).availability()
        except BackendError as problem:
            reasons.append(problem.diagnostics[0].message)
            continue
        if not isinstance(found, Unavailable):
            return Target(name)
        reasons.append(f"{name}: {found.reason} ({found.fix})")
    nothing = error(
        "X0511",
        "no backend is available",
        note="\n".join(reasons),
        help=f'choose one with xdsl.use("name") or {ENVIRONMENT}; `xdslc doctor` says what is missing',
    )
    raise BackendError(nothing)
