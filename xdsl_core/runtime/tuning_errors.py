"""The diagnostics that autotune and heuristics share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xdsl_core.diagnostics import Diagnostic, error

if TYPE_CHECKING:
    from xdsl_core.runtime.launchable import Launchable


def unknown_names(where: str, names: Iterable[str], fn: Launchable) -> Diagnostic:
    """The diagnostic for names that are no parameters of the kernel."""
    wrong = list(names)
    near = difflib.get_close_matches(wrong[0], fn.arg_names, n=1)
    return error(
        "X0513",
        f"{where} names {', '.join(wrong)}, which {fn.name} does not have",
        note=f"parameters: {', '.join(fn.arg_names)}",
        help=f"did you mean {near[0]!r}?" if near else "use the names of the kernel's parameters",
    )
