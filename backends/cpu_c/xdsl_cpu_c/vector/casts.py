"""Conversions between register elements, masks and bit patterns.

Values convert as in C: integers wrap, floats truncate towards zero, integers round to the nearest float.
A float outside the integer's range gives an unspecified value and never traps.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_cpu_c.vector.chunks import WIDENING
from xdsl_cpu_c.vector.elements import ALL, ELEMENTS, LANES, Chunk, Element, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, each_chunk, function


def _lane_numbers(start: int, count: int, step: int = 1) -> str:
    return ", ".join(str(start + step * k) for k in range(count))


def _via(source: Element, target: Element) -> str | None:
    """The element between two whose direct conversion the machine has no instruction for, or None."""
    narrow, wide = sorted((source.bits, target.bits))
    if (source.kind == "f") != (target.kind == "f"):
        return "i32" if narrow < 32 else None
    if source.kind == "f" or wide <= 2 * narrow:
        return None
    middle = source.bits // 2 if source.bits > target.bits else target.bits // 2
    return f"{source.kind}{middle}"


def _same_width(source: Vector, target: Vector) -> str:
    chunk = target.chunk.name
    if source.element.kind != "f" and target.element.kind != "f":
        return f"return {each_chunk(target, lambda m: f'({chunk})x.{m}')};"
    return f"return {each_chunk(target, lambda m: f'__builtin_convertvector(x.{m}, {chunk})')};"


def _widen(source: Vector, target: Vector) -> str:
    """Each target chunk converts a piece of a source chunk."""
    lanes = target.chunk.lanes
    pieces = source.chunk.lanes // lanes
    chunk = target.chunk.name
    half = Chunk(source.element, lanes)
    integer = source.element.kind != "f" and target.element.kind != "f"

    def piece(member: str) -> str:
        k = target.members.index(member)
        part = f"x.{source.members[k // pieces]}"
        if pieces > 1:
            numbers = _lane_numbers(k % pieces * lanes, lanes)
            part = f"\n        __builtin_shufflevector({part}, {part}, {numbers})"
        if integer:
            return f"({chunk}){half.name}_widen({part})"
        if (half.name, chunk) in WIDENING:
            return f"{half.name}_to_{chunk}({part})"
        return f"__builtin_convertvector({part}, {chunk})"

    return f"return {each_chunk(target, piece)};"


def _narrow(source: Vector, target: Vector) -> str:
    """Each target chunk joins two converted source chunks, or converts the only one."""
    half = Chunk(target.element, source.chunk.lanes)
    integer = source.element.kind != "f" and target.element.kind != "f"
    pairs = len(source.members) > len(target.members)

    def joined(member: str) -> str:
        k = target.members.index(member)
        if not pairs:
            one = f"x.{source.members[k]}"
            if not integer:
                return f"__builtin_convertvector({one}, {half.name})"
            view = source.chunk.of(target.element).name
            numbers = _lane_numbers(0, half.lanes, 2)
            return f"\n        __builtin_shufflevector(({view}){one}, ({view}){one}, {numbers})"
        low, high = (f"x.{source.members[2 * k + j]}" for j in (0, 1))
        if integer:
            view = source.chunk.of(target.element).name
            numbers = _lane_numbers(0, 2 * half.lanes, 2)
            return f"\n        __builtin_shufflevector(({view}){low}, ({view}){high}, {numbers})"
        low, high = (f"__builtin_convertvector({one}, {half.name})" for one in (low, high))
        return f"\n        __builtin_shufflevector({low}, {high}, {_lane_numbers(0, 2 * half.lanes)})"

    return f"return {each_chunk(target, joined)};"


def _u32_to_f64(source: Vector, target: Vector) -> str:
    """2^52 + x has x in its low bits; the machine converts signed integers only."""
    wide = source.of("u64")
    number = each_chunk(target, lambda m: f"(f64v4)(bits.{m} | UINT64_C(0x4330000000000000)) - 0x1p+52")
    return f"{wide.name} bits = cast_{source.name}_{wide.name}(x);\nreturn {number};"


def _f64_to_u32(source: Vector, target: Vector) -> str:
    wide = source.of("i64")
    bits = each_chunk(wide, lambda m: f"(i64v4)(f64v4_trunc(x.{m}) + 0x1.8p+52)")
    return f"{wide.name} bits = {bits};\nreturn cast_{wide.name}_{target.name}(bits);"


SPECIAL = {("u32", "f64"): _u32_to_f64, ("f64", "u32"): _f64_to_u32}


def _cast(source: Vector, target: Vector) -> str:
    name = f"cast_{source.name}_{target.name}"
    via = _via(source.element, target.element)
    if (source.element.name, target.element.name) in SPECIAL:
        body = SPECIAL[source.element.name, target.element.name](source, target)
    elif via is not None:
        middle = source.of(via).name
        body = f"return cast_{middle}_{target.name}(cast_{source.name}_{middle}(x));"
    elif source.element.bits == target.element.bits:
        body = _same_width(source, target)
    elif source.element.bits < target.element.bits:
        body = _widen(source, target)
    else:
        body = _narrow(source, target)
    return function(target.c, name, [f"{source.c} x"], body)


def _scalar_cast(source: Element, target: Element) -> str:
    via = _via(source, target) if source.kind == "f" else None
    expression = f"({target.c})({ELEMENTS[via].c})x" if via else f"({target.c})x"
    return function(target.c, f"cast_{source.name}_{target.name}", [f"{source.c} x"], f"return {expression};")


def _bitcast(source: Vector, target: Vector) -> str:
    name = f"bitcast_{source.name}_{target.name}"
    chunk = target.chunk.name
    body = f"return {each_chunk(target, lambda m: f'({chunk})x.{m}')};"
    return function(target.c, name, [f"{source.c} x"], body)


def _scalar_bitcast(source: Element, target: Element) -> str:
    body = f"{target.c} r;\n__builtin_memcpy(&r, &x, sizeof r);\nreturn r;"
    return function(target.c, f"bitcast_{source.name}_{target.name}", [f"{source.c} x"], body)


def _bool(vector: Vector) -> str:
    body = "return x != 0;" if vector.lanes == 1 else body_for(vector, "return F.ne(x, F.zero());")
    result = "bool_t" if vector.lanes == 1 else vector.mask.c
    return function(result, f"bool_{vector.name}", [f"{vector.c} x"], body)


def _cast_mask(vector: Vector) -> str:
    """0 or 1 in the element's type from a mask."""
    if vector.lanes == 1:
        return function(
            vector.c, f"cast_mask_{vector.name}", ["bool_t mask"], f"return ({vector.c})(mask != 0);"
        )
    ones = "M.and(mask, M.splat(1))"
    body = f"return {ones};" if vector.element.name == "i32" else f"return cast_M_F({ones});"
    return function(vector.c, f"cast_mask_{vector.name}", [f"{vector.mask.c} mask"], body_for(vector, body))


def _identity(prefix: str, vector: Vector) -> str:
    return function(vector.c, f"{prefix}_{vector.name}_{vector.name}", [f"{vector.c} x"], "return x;")


def _conversions(source: Vector, target: Vector) -> Iterator[Definition]:
    scalar = source.lanes == 1
    if source.element == target.element:
        yield Definition(f"cast_{source.name}_{source.name}", partial(_identity, "cast", source))
        yield Definition(f"bitcast_{source.name}_{source.name}", partial(_identity, "bitcast", source))
        return
    cast = partial(_scalar_cast, source.element, target.element) if scalar else partial(_cast, source, target)
    yield Definition(f"cast_{source.name}_{target.name}", cast)
    if source.element.bits == target.element.bits:
        bits = (
            partial(_scalar_bitcast, source.element, target.element)
            if scalar
            else partial(_bitcast, source, target)
        )
        yield Definition(f"bitcast_{source.name}_{target.name}", bits)


def definitions() -> Iterator[Definition]:
    """Conversions between every two elements, for every lane count."""
    for lanes in (1, *LANES):
        for source in ALL:
            vector = Vector(source, lanes)
            yield Definition(f"bool_{vector.name}", partial(_bool, vector))
            yield Definition(f"cast_mask_{vector.name}", partial(_cast_mask, vector))
            for target in ALL:
                yield from _conversions(vector, Vector(target, lanes))
