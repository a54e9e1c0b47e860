"""Hints for compilers: which there are, and what value each takes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from xdsl_core.language.context import Context, fail

# A hint's name, the values it takes (none: it is given or not), and what it says.
HINTS: Mapping[str, tuple[tuple[Any, ...], str]] = MappingProxyType(
    {
        "multi_buffer": ((2,), "keep that many copies of the tile"),
        "dot_pad_only_k": ((), "the tile is padded along the contracted axis only"),
        "mayDiscretememaccess": ((), "neighbouring lanes need not be neighbours in memory"),
        "layout": (("ND", "NZ"), "how the tile's elements lie"),
        "scope": (("fragment", "UB", "L1", "L0A", "L0B", "L0C"), "the memory that the tile lies in"),
    }
)


def give_hint(context: Context, name: str, value: Any = None) -> None:
    """Note a hint for the function being built. X0162 for names and values that are not in HINTS."""
    if name not in HINTS:
        near = difflib.get_close_matches(name, HINTS, n=1)
        raise fail(
            "X0162",
            f"there is no compile hint {name!r}",
            help=f"did you mean {near[0]!r}?" if near else f"the hints are {', '.join(HINTS)}",
        )
    values, _ = HINTS[name]
    given = value if values else (None if value is None or value is True else value)
    if given not in (values or (None,)):
        wanted = " or ".join(map(repr, values)) if values else "no value"
        raise fail("X0162", f"the hint {name!r} takes {wanted}", label=f"it is {value!r}", help="correct it")
    text = name if given is None else f"{name}={given}"
    if text not in context.notes.hints:
        context.notes.hints.append(text)
