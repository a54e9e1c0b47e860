"""Arithmetic, bit operations, comparisons and selection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from xdsl_cpu_c.vector.chunks import signed_chunk
from xdsl_cpu_c.vector.elements import ALL, FLOATS, INTEGERS, LANES, SIGNED, UNSIGNED, Element, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, chunkwise, function, parameters


@dataclass(frozen=True, slots=True)
class Row:
    """An operation on vectors of one element type.

    `chunk` is its C expression over chunks x, y, z; `scalar` over C scalars (empty: as `chunk`).  {v} is the
    chunk type, {i} the signed chunk type of equal width; {si}, {su} are the scalar integers of equal width,
    {wi}, {wu} those of double width; {s} is the suffix of libm's names; {sign} and {inf} are bit patterns;
    {shift} is the largest shift count.
    """

    name: str
    arity: int
    elements: tuple[Element, ...]
    chunk: str
    scalar: str = ""


WIDE = tuple(e for e in INTEGERS if e.bits >= 32)

# Integers wrap: kernels are compiled with -fwrapv, and `return` undoes C's promotions.
ROWS = (
    Row("add", 2, ALL, "x + y"),
    Row("sub", 2, ALL, "x - y"),
    Row("mul", 2, ALL, "x * y"),
    Row("div", 2, FLOATS, "x / y"),
    Row("neg", 1, ALL, "-x"),
    Row("abs", 1, FLOATS, "({v})(({i})x & ~{sign})", "__builtin_fabs{s}(x)"),
    Row("abs", 1, SIGNED, "{v}_max(x, -x)", "x < 0 ? -x : x"),
    Row("abs", 1, UNSIGNED, "x"),
    Row(
        "copysign", 2, FLOATS, "({v})((({i})x & ~{sign}) | (({i})y & {sign}))", "__builtin_copysign{s}(x, y)"
    ),
    Row("fma", 3, FLOATS, "{v}_fma(x, y, z)", "__builtin_fma{s}(x, y, z)"),
    Row("fma", 3, INTEGERS, "x * y + z"),
    Row("sqrt", 1, FLOATS, "{v}_sqrt(x)", "__builtin_sqrt{s}(x)"),
    Row("rsqrt", 1, FLOATS, "1.0{s} / {v}_sqrt(x)", "1.0{s} / __builtin_sqrt{s}(x)"),
    Row("floor", 1, FLOATS, "{v}_floor(x)", "__builtin_floor{s}(x)"),
    Row("ceil", 1, FLOATS, "{v}_ceil(x)", "__builtin_ceil{s}(x)"),
    Row("trunc", 1, FLOATS, "{v}_trunc(x)", "__builtin_trunc{s}(x)"),
    Row("round", 1, FLOATS, "{v}_round(x)", "__builtin_rint{s}(x)"),
    Row("max", 2, FLOATS, "{v}_max(x, y)", "x > y || y != y || (x == y && !__builtin_signbit(x)) ? x : y"),
    Row("min", 2, FLOATS, "{v}_min(x, y)", "x < y || y != y || (x == y && __builtin_signbit(x)) ? x : y"),
    Row(
        "max_nan",
        2,
        FLOATS,
        "{v}_max_nan(x, y)",
        "x > y || x != x || (x == y && !__builtin_signbit(x)) ? x : y",
    ),
    Row(
        "min_nan",
        2,
        FLOATS,
        "{v}_min_nan(x, y)",
        "x < y || x != x || (x == y && __builtin_signbit(x)) ? x : y",
    ),
    Row("max_fast", 2, FLOATS, "{v}_max_fast(x, y)", "x > y ? x : y"),
    Row("min_fast", 2, FLOATS, "{v}_min_fast(x, y)", "x < y ? x : y"),
    *(Row(name, 2, INTEGERS, "{v}_max(x, y)", "x > y ? x : y") for name in ("max", "max_nan", "max_fast")),
    *(Row(name, 2, INTEGERS, "{v}_min(x, y)", "x < y ? x : y") for name in ("min", "min_nan", "min_fast")),
    Row("and", 2, INTEGERS, "x & y"),
    Row("or", 2, INTEGERS, "x | y"),
    Row("xor", 2, INTEGERS, "x ^ y"),
    Row("not", 1, INTEGERS, "~x"),
    Row("shl", 2, INTEGERS, "x << y", "x << (y & {shift})"),
    Row("shr", 2, INTEGERS, "x >> y", "x >> (y & {shift})"),
    Row("mulhi", 2, WIDE, "{v}_mulhi(x, y)", "(({wi})({si})x * ({si})y) >> ({shift} + 1)"),
    Row("umulhi", 2, WIDE, "{v}_umulhi(x, y)", "(({wu})({su})x * ({su})y) >> ({shift} + 1)"),
)

# Lane widths at which gcc works lane by lane, and the width to compute at instead.
WIDER = {(name, bits): 32 for name in ("shl", "shr") for bits in (8, 16)} | {("mul", 8): 16}

# Operations that yield a mask; `chunk` yields the signed integer chunk of equal width.
PREDICATES = (
    Row("eq", 2, ALL, "x == y"),
    Row("ne", 2, ALL, "x != y"),
    Row("lt", 2, ALL, "x < y"),
    Row("le", 2, ALL, "x <= y"),
    Row("gt", 2, ALL, "x > y"),
    Row("ge", 2, ALL, "x >= y"),
    Row("isnan", 1, FLOATS, "x != x"),
    Row("isinf", 1, FLOATS, "(({i})x & ~{sign}) == {inf}", "__builtin_isinf(x) != 0"),
    Row("isfinite", 1, FLOATS, "(({i})x & ~{sign}) < {inf}", "__builtin_isfinite(x) != 0"),
)

# Integer division must not trap: x / 0 is 0, and the wrap-around of -INT_MIN is its own quotient.
DIVISIONS = (
    Row("div", 2, SIGNED, "", "y == 0 ? 0 : y == -1 ? -x : x / y"),
    Row("div", 2, UNSIGNED, "", "y == 0 ? 0 : x / y"),
    Row("rem", 2, SIGNED, "", "y == 0 || y == -1 ? 0 : x % y"),
    Row("rem", 2, UNSIGNED, "", "y == 0 ? 0 : x % y"),
    Row("rem", 2, FLOATS, "", "__builtin_fmod{s}(x, y)"),
)

INFINITY_BITS = {"f32": "INT32_C(0x7f800000)", "f64": "INT64_C(0x7ff0000000000000)"}


def names_for(element: Element) -> dict[str, str]:
    """Placeholders of a row's scalar expression."""
    bits = element.bits
    return {
        "si": f"int{bits}_t",
        "su": f"uint{bits}_t",
        "wi": "__int128" if bits == 64 else f"int{2 * bits}_t",
        "wu": "unsigned __int128" if bits == 64 else f"uint{2 * bits}_t",
        "s": element.suffix,
        "sign": f"INT{bits}_MIN",
        "inf": INFINITY_BITS.get(element.name, ""),
        "shift": str(bits - 1),
    }


def chunk_expression(row: Row, vector: Vector) -> str:
    """C of the operation on one chunk."""
    chunk = vector.chunk
    return row.chunk.format(v=chunk.name, i=signed_chunk(chunk).name, **names_for(vector.element))


def scalar_expression(row: Row, element: Element) -> str:
    """C of the operation on scalars."""
    return (row.scalar or row.chunk).format(**names_for(element))


def _elementwise(row: Row, vector: Vector) -> str:
    name = f"{vector.name}_{row.name}"
    body = chunkwise(vector, chunk_expression(row, vector), row.arity)
    return function(vector.c, name, parameters(vector.c, row.arity), body)


def scalar_function(row: Row, element: Element, result: str) -> str:
    """C function of the operation on scalars."""
    body = f"return {scalar_expression(row, element)};"
    return function(result, f"{element.name}_{row.name}", parameters(element.c, row.arity), body)


def lanewise(name: str, vector: Vector, arity: int) -> str:
    """A vector function that calls the scalar function of the same name for every lane."""
    element, lanes, v = vector.element, vector.lanes, vector.name
    operands = "xyz"[:arity]
    arrays = ", ".join(f"{operand}s[{lanes}]" for operand in operands)
    stores = "\n".join(f"store_{element.name}_{v}({operand}s, {operand});" for operand in operands)
    call = ", ".join(f"{operand}s[k]" for operand in operands)
    body = f"""\
{element.c} {arrays};
{stores}
for (int k = 0; k < {lanes}; ++k)
    xs[k] = {element.name}_{name}({call});
return load_{element.name}_{v}(xs);"""
    return function(vector.c, f"{v}_{name}", parameters(vector.c, arity), body)


def _predicate_bits(row: Row, vector: Vector, name: str) -> str:
    signed = vector.signed
    integer = signed.chunk.name
    member = f"({integer})({chunk_expression(row, vector)})"
    body = chunkwise(Vector(vector.element, vector.lanes), member, row.arity).replace(vector.c, signed.c, 1)
    return function(signed.c, name, parameters(vector.c, row.arity), body)


def _predicate_narrowed(row: Row, vector: Vector) -> str:
    operands = ", ".join("xy"[: row.arity])
    body = body_for(vector, f"return cast_I_M(F.{row.name}_bits({operands}));")
    return function(vector.mask.c, f"{vector.name}_{row.name}", parameters(vector.c, row.arity), body)


def _blend(vector: Vector, name: str) -> str:
    body = chunkwise(vector, f"{vector.chunk.name}_blend(x, y, z)", 3).replace("(x.", "(mask.")
    body = body.replace(", y.", ", x.").replace(", z.", ", y.")
    return function(vector.c, name, [f"{vector.signed.c} mask", f"{vector.c} x", f"{vector.c} y"], body)


def _select(vector: Vector) -> str:
    body = body_for(vector, "return F.blend(cast_M_I(mask), x, y);")
    return function(
        vector.c, f"{vector.name}_select", [f"{vector.mask.c} mask", f"{vector.c} x", f"{vector.c} y"], body
    )


def _scalar_select(element: Element) -> str:
    arguments = ["bool_t mask", f"{element.c} x", f"{element.c} y"]
    return function(element.c, f"{element.name}_select", arguments, "return mask ? x : y;")


def _through(row: Row, vector: Vector) -> str:
    """The operation on wider lanes, where the machine has none of this width."""
    v, wide = vector.name, vector.of(f"{vector.element.kind}{WIDER[row.name, vector.element.bits]}").name
    operands = ", ".join(f"cast_{v}_{wide}({operand})" for operand in "xy"[: row.arity])
    body = f"return cast_{wide}_{v}({wide}_{row.name}({operands}));"
    return function(vector.c, f"{v}_{row.name}", parameters(vector.c, row.arity), body)


# A quotient in a float of twice the integer's precision truncates to the exact one.
QUOTIENT = "I skip = F.eq_bits(y, F.zero());\nF q = F.blend(skip, F.zero(), {quotient});"
DIVISION_RESULT = {
    ("div", "i"): "return F.blend(F.eq_bits(y, F.splat(-1)), F.neg(x), q);",
    ("div", "u"): "return q;",
    ("rem", "i"): "return F.blend(skip, F.zero(), F.sub(x, F.mul(q, y)));",
    ("rem", "u"): "return F.blend(skip, F.zero(), F.sub(x, F.mul(q, y)));",
}
QUOTIENT_FLOAT = {8: "f32", 16: "f32", 32: "f64"}


def _division(row: Row, vector: Vector) -> str:
    element, v = vector.element, vector.name
    wide = vector.of(QUOTIENT_FLOAT[element.bits]).name
    quotient = f"cast_{wide}_{v}({wide}_div(cast_{v}_{wide}(x), cast_{v}_{wide}(y)))"
    text = QUOTIENT.format(quotient=quotient) + "\n" + DIVISION_RESULT[row.name, element.kind]
    return function(vector.c, f"{v}_{row.name}", parameters(vector.c, 2), body_for(vector, text))


def _vectors(element: Element) -> Iterator[Vector]:
    return (Vector(element, lanes) for lanes in LANES)


def _predicates() -> Iterator[Definition]:
    for row in PREDICATES:
        for element in row.elements:
            yield Definition(f"{element.name}_{row.name}", partial(scalar_function, row, element, "bool_t"))
            for vector in _vectors(element):
                bits = f"{vector.name}_{row.name}_bits"
                yield Definition(bits, partial(_predicate_bits, row, vector, bits))
                name = f"{vector.name}_{row.name}"
                same = partial(_predicate_bits, row, vector, name)
                yield Definition(
                    name, same if element.bits == 32 else partial(_predicate_narrowed, row, vector)
                )


def _selections() -> Iterator[Definition]:
    for element in ALL:
        yield Definition(f"{element.name}_select", partial(_scalar_select, element))
        for vector in _vectors(element):
            name = f"{vector.name}_select"
            yield Definition(f"{vector.name}_blend", partial(_blend, vector, f"{vector.name}_blend"))
            same = partial(_blend, vector, name)
            yield Definition(name, same if element.bits == 32 else partial(_select, vector))


def _render(row: Row, vector: Vector) -> partial[str]:
    if not row.chunk and (row.name, vector.element.kind) in DIVISION_RESULT and vector.element.bits <= 32:
        return partial(_division, row, vector)
    if not row.chunk:
        return partial(lanewise, row.name, vector, row.arity)
    if (row.name, vector.element.bits) in WIDER:
        return partial(_through, row, vector)
    return partial(_elementwise, row, vector)


def definitions() -> Iterator[Definition]:
    """The operations of this module for every element and lane count."""
    for row in (*ROWS, *DIVISIONS):
        for element in row.elements:
            yield Definition(f"{element.name}_{row.name}", partial(scalar_function, row, element, element.c))
            for vector in _vectors(element):
                yield Definition(f"{vector.name}_{row.name}", _render(row, vector))
    yield from _predicates()
    yield from _selections()
