"""The C text that a kernel's vector functions need: exactly those asked for and what they call."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from types import MappingProxyType

from xdsl_cpu_c.vector import (
    arithmetic,
    casts,
    chunks,
    creation,
    elementary,
    libm,
    memory,
    narrow,
    reductions,
    rounding,
    types,
)
from xdsl_cpu_c.vector.emit import Definition

FAMILIES = (
    types,
    creation,
    chunks,
    arithmetic,
    casts,
    rounding,
    memory,
    narrow,
    reductions,
    elementary,
    libm,
)

HEADER = """\
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the vector functions reinterpret lanes and expect a little-endian machine"
#endif
#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#pragma GCC diagnostic ignored "-Wpsabi"
#define VECTOR_INLINE static inline __attribute__((always_inline))
#define VECTOR_COLD static __attribute__((noinline, cold, unused))
"""

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b")


@cache
def catalogue() -> MappingProxyType[str, Definition]:
    """Every type and function of the library by name."""
    return MappingProxyType({d.name: d for family in FAMILIES for d in family.definitions()})


def names() -> tuple[str, ...]:
    """Names of all types and functions."""
    return tuple(catalogue())


def _unknown(name: str) -> KeyError:
    close = difflib.get_close_matches(name, catalogue(), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return KeyError(f"no vector function {name!r}{hint}")


def _visit(name: str, texts: dict[str, str]) -> None:
    """Add the text of `name` after the texts it mentions."""
    text = catalogue()[name].render()
    texts[name] = ""
    for word in dict.fromkeys(_IDENTIFIER.findall(text)):
        if word not in texts and word in catalogue():
            _visit(word, texts)
    del texts[name]
    texts[name] = text


def prelude(functions: Iterable[str]) -> str:
    """C text of the named types and functions and of those they use, each once, dependencies first.

    The same set of names gives the same text whatever its order.  Raises KeyError, with the nearest name, for
    a name the library does not have.
    """
    texts: dict[str, str] = {}
    for name in sorted(set(functions)):
        if name not in catalogue():
            raise _unknown(name)
        if name not in texts:
            _visit(name, texts)
    typedefs = [text for text in texts.values() if text.startswith("typedef")]
    definitions = [text for text in texts.values() if not text.startswith("typedef")]
    return "\n".join([HEADER, "".join(typedefs), *definitions])
