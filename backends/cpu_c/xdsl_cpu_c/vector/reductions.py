"""Reductions of a vector to one scalar, and tests over masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl_cpu_c.vector.elements import ALL, ELEMENTS, INTEGERS, LANES, Element, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, function


@dataclass(frozen=True, slots=True)
class Row:
    """A reduction; `combine` joins two chunks l and r, {v} being their type."""

    name: str
    elements: tuple[Element, ...]
    combine: str


ROWS = (
    Row("hsum", ALL, "{l} + {r}"),
    Row("hprod", ALL, "{l} * {r}"),
    *(Row(f"h{name}", ALL, f"{{v}}_{name}({{l}}, {{r}})") for name in ("max", "min")),
    *(Row(f"h{name}_nan", tuple(e for e in ALL if e.kind == "f"), f"{{v}}_{name}_nan({{l}}, {{r}})") for name in ("max", "min")),
    *(Row(f"h{name}_nan", INTEGERS, f"{{v}}_{name}({{l}}, {{r}})") for name in ("max", "min")),
    Row("hand", INTEGERS, "{l} & {r}"),
    Row("hor", INTEGERS, "{l} | {r}"),
    Row("hxor", INTEGERS, "{l} ^ {r}"),
)


def _reduction(row: Row, vector: Vector) -> str:
    """Chunks are joined pairwise, then the halves of the last one."""
    chunk = vector.chunk
    parts = [f"x.{member}" for member in vector.members]
    lines = []
    while len(parts) > 1:
        pairs = [row.combine.format(v=chunk.name, l=l, r=r) for l, r in zip(parts[::2], parts[1::2])]
        names = [f"{name}{len(pairs)}" for name in "stuv"[: len(pairs)]]
        lines += [f"{chunk.name} {name} = {pair};" for name, pair in zip(names, pairs)]
        parts = names
    lines.append(f"{chunk.name} r = {parts[0]};")
    half = chunk.lanes // 2
    while half:
        numbers = ", ".join(str((k + half) % chunk.lanes) for k in range(chunk.lanes))
        swapped = f"__builtin_shufflevector(r, r, {numbers})"
        lines.append(f"r = {row.combine.format(v=chunk.name, l='r', r=swapped)};")
        half //= 2
    return function(vector.element.c, f"{vector.name}_{row.name}", [f"{vector.c} x"], "\n".join([*lines, "return r[0];"]))


# The smallest index among the lanes that hold the extreme value; where that is NaN, among the NaN lanes.
ARGUMENT = """
*value = F.h{extreme}(x);
F best = F.splat(*value);
M found = F.eq(x, best);{nan}
return M.hmin(M.select(found, index, M.splat(INT32_MAX)));
"""
ARGUMENT_NAN = "\nfound = M.or(found, M.and(F.isnan(x), F.isnan(best)));"


def _argument(extreme: str, vector: Vector) -> str:
    nan = ARGUMENT_NAN if vector.element.kind == "f" else ""
    body = body_for(vector, ARGUMENT.format(extreme=extreme, nan=nan))
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
