"""Vectors from scalars, and scalars from lanes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_cpu_c.vector.elements import ALL, ELEMENTS, LANES, Vector
from xdsl_cpu_c.vector.emit import Definition, each_chunk, function


def _splat(vector: Vector) -> str:
    chunk = vector.chunk
    body = (
        f"{chunk.name} c = {{{', '.join(['x'] * chunk.lanes)}}};\nreturn {each_chunk(vector, lambda _: 'c')};"
    )
    return function(vector.c, f"{vector.name}_splat", [f"{vector.element.c} x"], body)


def _zero(vector: Vector) -> str:
    return function(vector.c, f"{vector.name}_zero", ["void"], f"return {vector.name}_splat(0);")


def _iota(vector: Vector) -> str:
    count = vector.chunk.lanes

    def numbers(member: str) -> str:
        start = vector.members.index(member) * count
        return f"{{{', '.join(str(start + k) for k in range(count))}}}"

    return function(vector.c, f"{vector.name}_iota", ["void"], f"return {each_chunk(vector, numbers)};")


def _lane(vector: Vector) -> str:
    element = vector.element
    body = (
        f"{element.c} lanes[{vector.lanes}];\nstore_{element.name}_{vector.name}(lanes, x);\nreturn lanes[k];"
    )
    return function(element.c, f"{vector.name}_lane", [f"{vector.c} x", "int k"], body)


def _mask_splat(lanes: int) -> str:
    mask = Vector(ELEMENTS["i32"], lanes)
    return function(mask.c, f"maskx{lanes}_splat", ["bool_t x"], f"return {mask.name}_splat(-(x != 0));")


def _mask_lane(lanes: int) -> str:
    mask = Vector(ELEMENTS["i32"], lanes)
    return function(
        "bool_t", f"maskx{lanes}_lane", [f"{mask.c} x", "int k"], f"return -{mask.name}_lane(x, k);"
    )


def _scalar(name: str, parameter: str, body: str) -> Iterator[Definition]:
    for element in ALL:
        text = partial(
            function, element.c, f"{element.name}_{name}", [parameter.format(c=element.c)], f"return {body};"
        )
        yield Definition(f"{element.name}_{name}", text)


def definitions() -> Iterator[Definition]:
    """Splats, iota, zero and lane access."""
    yield Definition("bool_t", lambda: "typedef int32_t bool_t;\n")
    for name, parameter, body in (("splat", "{c} x", "x"), ("zero", "void", "0"), ("iota", "void", "0")):
        yield from _scalar(name, parameter, body)
    for lanes in LANES:
        yield Definition(f"maskx{lanes}_splat", partial(_mask_splat, lanes))
        yield Definition(f"maskx{lanes}_lane", partial(_mask_lane, lanes))
        for element in ALL:
            vector = Vector(element, lanes)
            for name, render in (("splat", _splat), ("zero", _zero), ("iota", _iota), ("lane", _lane)):
                yield Definition(f"{vector.name}_{name}", partial(render, vector))
