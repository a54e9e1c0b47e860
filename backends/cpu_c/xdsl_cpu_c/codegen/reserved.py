"""Identifiers that variables of a kernel must not have in C."""

from __future__ import annotations

import re

from xdsl_cpu_c.vector.prelude import catalogue

# Words of C, what the kernel's frame calls its own, and what other headers define.
_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile
while asm typeof main linux unix i386
body slots scratch grid program first_program last_program program_x program_y program_z
smaller larger lanes_left fail failure next_program
FILE NULL EOF BUFSIZ stdin stdout stderr printf putchar fflush flockfile funlockfile memset
"""
_RESERVED = frozenset(_WORDS.split())
# Types and limits of <stdint.h>; functions and types that are made as a kernel needs them.
_MADE = re.compile(
    r"""u?int\w*_t | size_t | \w+_(MAX|MIN|C) | _\w* | [fiu]\d+(x\d+)?(v\d+)?
    | (dot|pack|copy_rows|atomic|truncate|saturate)_\w*\d\w* | (DOT|VECTOR)_\w+""",
    re.VERBOSE,
)


def is_reserved(name: str) -> bool:
    """True if a variable of this name would hide something that generated C may use."""
    return name in _RESERVED or bool(_MADE.fullmatch(name)) or name in catalogue()
