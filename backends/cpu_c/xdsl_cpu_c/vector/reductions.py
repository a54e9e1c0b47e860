"""Reductions of a vector to one scalar, and tests over masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl_cpu_c.vector.elements import ALL, ELEMENTS, FLOATS, INTEGERS, LANES, Element, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, function


@dataclass(frozen=True, slots=True)
class Row:
    """A reduction; `combine` joins two chunks, {v} being their type."""

    name: str
    elements: tuple[Element, ...]
    combine: str


ROWS = (
    Row("hsum", ALL, "{low} + {high}"),
    Row("hprod", ALL, "{low} * {high}"),
    Row("hmax", ALL, "{v}_max({low}, {high})"),
    Row("hmin", ALL, "{v}_min({low}, {high})"),
    Row("hmax_nan", FLOATS, "{v}_max_nan({low}, {high})"),
    Row("hmin_nan", FLOATS, "{v}_min_nan({low}, {high})"),
    Row("hmax_nan", INTEGERS, "{v}_max({low}, {high})"),
    Row("hmin_nan", INTEGERS, "{v}_min({low}, {high})"),
    Row("hand", INTEGERS, "{low} & {high}"),
    Row("hor", INTEGERS, "{low} | {high}"),
    Row("hxor", INTEGERS, "{low} ^ {high}"),
)


def _reduction(row: Row, vector: Vector) -> str:
    """Chunks are joined pairwise, then the halves of the last one."""
    chunk = vector.chunk
    combine = partial(row.combine.format, v=chunk.name)
    parts = [f"x.{member}" for member in vector.members]
    lines = []
    while len(parts) > 1:
        pairs = [combine(low=low, high=high) for low, high in zip(parts[::2], parts[1::2], strict=True)]
        parts = [f"{name}{len(pairs)}" for name in "stuv"[: len(pairs)]]
        lines += [f"{chunk.name} {name} = {pair};" for name, pair in zip(parts, pairs, strict=True)]
    lines.append(f"{chunk.name} r = {parts[0]};")
    half = chunk.lanes // 2
    while half:
        numbers = ", ".join(str((k + half) % chunk.lanes) for k in range(chunk.lanes))
        lines.append(f"r = {combine(low='r', high=f'__builtin_shufflevector(r, r, {numbers})')};")
        half //= 2
    lines.append("return r[0];")
    return function(vector.element.c, f"{vector.name}_{row.name}", [f"{vector.c} x"], "\n".join(lines))


# The smallest index among the lanes that hold the extreme value; where that is NaN, among the NaN lanes.
ARGUMENT = """
*value = F.h{extreme}(x);
F best = F.splat(*value);
M found = F.eq(x, best);{nan}
int32_t first = M.hmin(M.select(found, index, M.splat(INT32_MAX)));{zero}
return first;
"""
ARGUMENT_NAN = "\nfound = M.or(found, M.and(F.isnan(x), F.isnan(best)));"
# Zeros of both signs are equal: the value is that of the lane that won.
ARGUMENT_ZERO = """
if (*value == 0)
    *value = F.hsum(F.select(M.and(found, M.eq(index, M.splat(first))), x, F.splat(-0.0)));"""


def _argument(extreme: str, vector: Vector) -> str:
    floats = vector.element.kind == "f"
    nan, zero = (ARGUMENT_NAN, ARGUMENT_ZERO) if floats else ("", "")
    body = body_for(vector, ARGUMENT.format(extreme=extreme, nan=nan, zero=zero))
    arguments = [f"{vector.c} x", f"{vector.mask.c} index", f"{vector.element.c} *value"]
    return function("int32_t", f"{vector.name}_harg{extreme}", arguments, body)


MASK_ROWS = (
    ("any", "bool_t", "return M.hor(x) != 0;"),
    ("all", "bool_t", "return M.hand(x) != 0;"),
    ("count", "int32_t", "return -M.hsum(x);"),
)


def _mask_test(name: str, result: str, body: str, lanes: int) -> str:
    vector = Vector(ELEMENTS["i32"], lanes)
    return function(result, f"maskx{lanes}_{name}", [f"{vector.c} x"], body_for(vector, body))


def definitions() -> Iterator[Definition]:
    """Reductions and mask tests, for every lane count."""
    for lanes in LANES:
        for row in ROWS:
            for element in row.elements:
                vector = Vector(element, lanes)
                yield Definition(f"{vector.name}_{row.name}", partial(_reduction, row, vector))
        for element in ALL:
            vector = Vector(element, lanes)
            for extreme in ("max", "min", "max_nan", "min_nan"):
                yield Definition(f"{vector.name}_harg{extreme}", partial(_argument, extreme, vector))
        for name, result, body in MASK_ROWS:
            yield Definition(f"maskx{lanes}_{name}", partial(_mask_test, name, result, body, lanes))
