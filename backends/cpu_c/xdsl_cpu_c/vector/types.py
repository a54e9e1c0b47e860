"""Vector types: chunks (GNU vector extension) and structs of chunks.

A struct of 32-byte vectors stays in registers where one 128-byte vector type is spilled by gcc.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_cpu_c.vector.elements import ALL, LANES, Chunk, Element, Vector
from xdsl_cpu_c.vector.emit import Definition


def chunks_of(element: Element) -> tuple[Chunk, ...]:
    """Chunk types of an element: those of its vectors, and the halves that conversions need."""
    full = 256 // element.bits
    sizes = {lanes for lanes in (full, full // 2, full // 4) if lanes * element.bits >= 64 and lanes >= 2}
    return tuple(Chunk(element, lanes) for lanes in sorted(sizes))


def _chunk(chunk: Chunk) -> str:
    return f"typedef {chunk.element.c} {chunk.name} __attribute__((vector_size({chunk.bytes})));\n"


def _unaligned(chunk: Chunk) -> str:
    return f"typedef {chunk.name} {chunk.name}_memory __attribute__((aligned(1), may_alias));\n"


def _vector(vector: Vector) -> str:
    return f"typedef struct {{ {vector.chunk.name} {', '.join(vector.members)}; }} {vector.name};\n"


def definitions() -> Iterator[Definition]:
    """The vector and chunk types."""
    for element in ALL:
        for chunk in chunks_of(element):
            yield Definition(chunk.name, partial(_chunk, chunk))
            yield Definition(f"{chunk.name}_memory", partial(_unaligned, chunk))
        for lanes in LANES:
            vector = Vector(element, lanes)
            yield Definition(vector.name, partial(_vector, vector))
