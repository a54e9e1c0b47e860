"""A float from a number with more bits, rounded to odd or toward zero instead of to the nearest.

Rounding to odd takes the neighbour whose last bit is 1; rounding that again to fewer bits is as good as
rounding once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
rounding to odd", 2008). To an f32 both start from the nearest one and step back where it lies further from
zero; an f64 toward zero comes from the 53 highest bits alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_cpu_c.vector.elements import ELEMENTS, LANES, Vector
from xdsl_cpu_c.vector.emit import Definition, each_chunk, function

SCALAR = """
float near = (float)x;
int32_t bits = bitcast_f32_i32(near) - (__builtin_fabs(near) > __builtin_fabs(x));
{last}return bitcast_i32_f32(bits);"""
SCALAR_LAST = {"odd": "bits |= near != x;\n", "truncate": ""}

VECTOR = """
{f32} near = cast_{f64}_{f32}(x);
{f64} back = cast_{f32}_{f64}(near);
{mask} bits = {mask}_add(bitcast_{f32}_{mask}(near), {f64}_gt({f64}_abs(back), {f64}_abs(x)));
{last}return bitcast_{mask}_{f32}(bits);"""
VECTOR_LAST = {
    "odd": "bits = {mask}_or(bits, {mask}_and({f64}_ne(back, x), {mask}_splat(1)));\n",
    "truncate": "",
}

# From 2^53 on it counts only whether any of the 12 lowest bits is set: one bit does, and a double holds x.
FITTED = "x ^ ((x ^ ((x & ~4095) | ((((x & 4095) + 4095) >> 1) & 2048))) & -((({top} >> 53) + 2047) >> 11))"
TOP = {"i64": "(x ^ (x >> 63))", "u64": "x"}

SOURCES = ("f64", "i32", "u32", "i64", "u64")

HIGHEST_BITS = """
const uint64_t size = {size};
const int extra = size >> 53 ? 11 - __builtin_clzll(size) : 0;
const double whole = (double)(size >> extra << extra);
return {signed};"""
SIGNED = {"i64": ("x < 0 ? -(uint64_t)x : (uint64_t)x", "x < 0 ? -whole : whole"), "u64": ("x", "whole")}


def _from_f64(verb: str, vector: Vector) -> str:
    if vector.lanes == 1:
        return SCALAR.format(last=SCALAR_LAST[verb])
    names = {"f32": vector.of("f32").name, "f64": vector.name, "mask": vector.mask.name}
    return VECTOR.format(last=VECTOR_LAST[verb].format(**names), **names)


def _fitted(vector: Vector) -> str:
    """The integers, with no more significant bits than a double has."""
    top = TOP.get(vector.element.name)
    if top is None:
        return "x"
    expression = FITTED.format(top=top)
    if vector.lanes == 1:
        return expression
    return each_chunk(vector, lambda member: expression.replace("x", f"x.{member}"))


def _from_integer(verb: str, vector: Vector) -> str:
    f32, f64 = vector.of("f32").name, vector.of("f64").name
    return f"return {verb}_{f64}_{f32}(cast_{vector.name}_{f64}({_fitted(vector)}));"


def _rounding(verb: str, vector: Vector) -> str:
    body = (_from_f64 if vector.element.kind == "f" else _from_integer)(verb, vector)
    target = vector.of("f32")
    return function(target.c, f"{verb}_{vector.name}_{target.name}", [f"{vector.c} x"], body)


def _highest_bits(vector: Vector) -> str:
    """truncate_SOURCE_f64 of a 64-bit integer; vectors lane by lane."""
    element, target = vector.element, vector.of("f64")
    name = f"truncate_{vector.name}_{target.name}"
    if vector.lanes == 1:
        size, signed = SIGNED[element.name]
        return function(target.c, name, [f"{vector.c} x"], HIGHEST_BITS.format(size=size, signed=signed))
    body = f"""\
{element.c} xs[{vector.lanes}];
double ys[{vector.lanes}];
store_{element.name}_{vector.name}(xs, x);
for (int k = 0; k < {vector.lanes}; ++k)
    ys[k] = truncate_{element.name}_f64(xs[k]);
return load_f64_{target.name}(ys);"""
    return function(target.c, name, [f"{vector.c} x"], body)


def definitions() -> Iterator[Definition]:
    """odd_SOURCE_f32, truncate_SOURCE_f32 and truncate_SOURCE_f64, for every lane count."""
    for lanes in (1, *LANES):
        for source in SOURCES:
            vector = Vector(ELEMENTS[source], lanes)
            for verb in SCALAR_LAST:
                name = f"{verb}_{vector.name}_{vector.of('f32').name}"
                yield Definition(name, partial(_rounding, verb, vector))
            if source in SIGNED:
                name = f"truncate_{vector.name}_{vector.of('f64').name}"
                yield Definition(name, partial(_highest_bits, vector))
