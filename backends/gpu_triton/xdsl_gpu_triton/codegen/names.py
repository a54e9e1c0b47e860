"""Names of variables: those of the kernel where they can be had, each used once in a function."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

_TAKEN = frozenset({"triton", "tl", "libdevice", "constexpr", *keyword.kwlist, *dir(builtins)})
_NUMBERED = re.compile(r"_\d+$")


class Names:
    """Hands out identifiers that differ from each other, from Python's words and from `taken`."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(_TAKEN) | set(taken)

    def fresh(self, wanted: str) -> str:
        """`wanted` if it is free, else with a number."""
        base = wanted if wanted.isidentifier() else re.sub(r"\W", "_", wanted).strip("_") or "value"
        if not base.isidentifier():
            base = f"v{base}"
        name, number, stem = base, 0, _NUMBERED.sub("", base)
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name
