"""Chunk functions: operations on one machine register that need a builtin, with a portable fallback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from xdsl_cpu_c.vector.elements import ALL, ELEMENTS, FLOATS, INTEGERS, Chunk
from xdsl_cpu_c.vector.emit import OPERANDS, Definition, builtin, function, lane_loop, parameters, variants
from xdsl_cpu_c.vector.types import chunks_of


@dataclass(frozen=True, slots=True)
class FloatRow:
    """An operation on a floating-point chunk.

    `x86` is the stem of gcc's builtin, `requires` its instruction set, `arguments` what it is called with;
    `portable` is clang's builtin; `lane` is the C of a single lane.
    """

    name: str
    arity: int
    x86: str
    requires: str
    arguments: str
    portable: str
    lane: str


# max_fast and min_fast are the machine's instructions: y when either is NaN or when both are zeros.
FLOAT_ROWS = (
    FloatRow("fma", 3, "vfmadd", "__FMA__", "x, y, z", "fma", "__builtin_fma{s}(x[k], y[k], z[k])"),
    FloatRow("sqrt", 1, "sqrt", "__AVX__", "x", "sqrt", "__builtin_sqrt{s}(x[k])"),
    FloatRow("floor", 1, "round", "__AVX__", "x, 1", "floor", "__builtin_floor{s}(x[k])"),
    FloatRow("ceil", 1, "round", "__AVX__", "x, 2", "ceil", "__builtin_ceil{s}(x[k])"),
    FloatRow("trunc", 1, "round", "__AVX__", "x, 3", "trunc", "__builtin_trunc{s}(x[k])"),
    FloatRow("round", 1, "round", "__AVX__", "x, 0", "rint", "__builtin_rint{s}(x[k])"),
    FloatRow("max_fast", 2, "max", "__AVX__", "x, y", "", "x[k] > y[k] ? x[k] : y[k]"),
    FloatRow("min_fast", 2, "min", "__AVX__", "x, y", "", "x[k] < y[k] ? x[k] : y[k]"),
)

# One NaN loses in max and min and wins in max_nan and min_nan; the last line orders -0 below +0.
FLOAT_EXTREMES = {
    "max": """
{v} r = {v}_blend((y != y), x, {v}_max_fast(x, y));
return ({v})(({i})r & (({i})x | ({i})(x != y)));""",
    "min": """
{v} r = {v}_blend((y != y), x, {v}_min_fast(x, y));
return ({v})(({i})r | (({i})x & ({i})(x == y)));""",
    "max_nan": """
{v} r = {v}_blend((x != x), x, {v}_max_fast(x, y));
return ({v})(({i})r & (({i})x | ({i})(x != y)));""",
    "min_nan": """
{v} r = {v}_blend((x != x), x, {v}_min_fast(x, y));
return ({v})(({i})r | (({i})x & ({i})(x == y)));""",
}

# Suffix of the builtins over 16- and 32-byte integer vectors; 64-bit lanes have none before AVX-512.
INTEGER_SUFFIX = {
    "i8": "sb",
    "i16": "sw",
    "i32": "sd",
    "u8": "ub",
    "u16": "uw",
    "u32": "ud",
}


# Conversions to wider floats that gcc would split into two halves.
WIDENING = MappingProxyType({("i32v4", "f64v4"): "cvtdq2pd256", ("f32v4", "f64v4"): "cvtps2pd256"})


def signed_chunk(chunk: Chunk) -> Chunk:
    """The chunk type that a comparison of two `chunk`s yields."""
    return chunk.of(ELEMENTS[f"i{chunk.element.bits}"])


def _float(row: FloatRow, chunk: Chunk) -> str:
    name = f"__builtin_ia32_{row.x86}{'ps' if chunk.element.bits == 32 else 'pd'}256"
    cases = [(builtin(name, row.requires), f"return {name}({row.arguments});")]
    if row.portable:
        portable = f"__builtin_elementwise_{row.portable}"
        cases.append(
            (f"__has_builtin({portable})", f"return {portable}({', '.join(OPERANDS[: row.arity])});")
        )
    body = variants(cases, lane_loop(chunk, row.lane.format(s=chunk.element.suffix)))
    return function(chunk.name, f"{chunk.name}_{row.name}", parameters(chunk.name, row.arity), body)


def _float_extreme(name: str, chunk: Chunk) -> str:
    body = FLOAT_EXTREMES[name].format(v=chunk.name, i=signed_chunk(chunk).name)
    return function(chunk.name, f"{chunk.name}_{name}", parameters(chunk.name, 2), body)


def _blend(chunk: Chunk) -> str:
    v, i = chunk.name, signed_chunk(chunk).name
    cases = []
    if chunk.bytes == 32:
        floating = {"f32": ("blendvps", "__AVX__", v), "f64": ("blendvpd", "__AVX__", v)}
        stem, requires, argument = floating.get(chunk.element.name, ("pblendvb", "__AVX2__", "charv32"))
        name = f"__builtin_ia32_{stem}256"
        call = f"return ({v}){name}(({argument})y, ({argument})x, ({argument})mask);"
        cases.append((builtin(name, requires), call))
    body = variants(cases, f"return ({v})((mask & ({i})x) | (~mask & ({i})y));")
    return function(v, f"{v}_blend", [f"{i} mask", f"{v} x", f"{v} y"], body)


def _integer_extreme(name: str, chunk: Chunk) -> str:
    v, cases = chunk.name, []
    suffix = INTEGER_SUFFIX.get(chunk.element.name)
    if suffix and chunk.bytes >= 16:
        x86 = f"__builtin_ia32_p{name}{suffix}{chunk.bytes * 8}"
        argument = signed_chunk(chunk).name if chunk.element.bits > 8 else f"charv{chunk.lanes}"
        requires = "__AVX2__" if chunk.bytes == 32 else "__SSE4_1__"
        cases.append((builtin(x86, requires), f"return ({v}){x86}(({argument})x, ({argument})y);"))
    cases.append(
        (f"__has_builtin(__builtin_elementwise_{name})", f"return __builtin_elementwise_{name}(x, y);")
    )
    condition = "x > y" if name == "max" else "x < y"
    body = variants(cases, f"return {v}_blend({condition}, x, y);")
    return function(v, f"{v}_{name}", parameters(v, 2), body)


def _multiply_high(name: str, chunk: Chunk) -> str:
    element = chunk.element
    unsigned = name == "umulhi"
    wide = (
        ("uint64_t" if unsigned else "int64_t")
        if element.bits == 32
        else ("unsigned " if unsigned else "") + "__int128"
    )
    narrow = ("u" if unsigned else "") + f"int{element.bits}_t"
    lane = f"({element.c})((({wide})({narrow})x[k] * ({wide})({narrow})y[k]) >> {element.bits})"
    cases = []
    if element.bits == 32:
        x86 = f"__builtin_ia32_{'pmuludq' if unsigned else 'pmuldq'}256"
        body = f"""\
u64v4 even = (u64v4){x86}((i32v8)x, (i32v8)y);
u64v4 odd = (u64v4){x86}((i32v8)((u64v4)x >> 32), (i32v8)((u64v4)y >> 32));
return ({chunk.name})((even >> 32) | (odd & ~(uint64_t)UINT32_MAX));"""
        cases.append((builtin(x86, "__AVX2__"), body))
    body = variants(cases, lane_loop(chunk, lane))
    return function(chunk.name, f"{chunk.name}_{name}", parameters(chunk.name, 2), body)


def _widen(chunk: Chunk) -> str:
    """Integers of twice the width; gcc splits the generic conversion into two halves."""
    element = chunk.element
    wide = Chunk(ELEMENTS[f"{element.kind}{element.bits * 2}"], chunk.lanes)
    cases = []
    if chunk.bytes == 16:
        letters = {8: "bw", 16: "wd", 32: "dq"}[element.bits]
        x86 = f"__builtin_ia32_pmov{'sx' if element.kind == 'i' else 'zx'}{letters}256"
        argument = "charv16" if element.bits == 8 else signed_chunk(chunk).name
        cases.append((builtin(x86, "__AVX2__"), f"return ({wide.name}){x86}(({argument})x);"))
    body = variants(cases, f"return __builtin_convertvector(x, {wide.name});")
    return function(wide.name, f"{chunk.name}_widen", parameters(chunk.name, 1), body)


def _to_double(source: str, target: str) -> str:
    x86 = f"__builtin_ia32_{WIDENING[source, target]}"
    cases = [(builtin(x86, "__AVX__"), f"return {x86}(x);")]
    body = variants(cases, f"return __builtin_convertvector(x, {target});")
    return function(target, f"{source}_to_{target}", [f"{source} x"], body)


def _char_type(lanes: int) -> str:
    return f"typedef char charv{lanes} __attribute__((vector_size({lanes})));\n"


def _float_definitions(chunk: Chunk) -> Iterator[Definition]:
    for row in FLOAT_ROWS:
        yield Definition(f"{chunk.name}_{row.name}", partial(_float, row, chunk))
    for name in FLOAT_EXTREMES:
        yield Definition(f"{chunk.name}_{name}", partial(_float_extreme, name, chunk))


def _integer_definitions(chunk: Chunk) -> Iterator[Definition]:
    for name in ("max", "min"):
        yield Definition(f"{chunk.name}_{name}", partial(_integer_extreme, name, chunk))
    if chunk.element.bits < 64 and chunk.bytes < 32:
        yield Definition(f"{chunk.name}_widen", partial(_widen, chunk))
    if chunk.element.bits >= 32 and chunk.bytes == 32:
        for name in ("mulhi", "umulhi"):
            yield Definition(f"{chunk.name}_{name}", partial(_multiply_high, name, chunk))


def definitions() -> Iterator[Definition]:
    """The chunk functions."""
    for lanes in (16, 32):
        yield Definition(f"charv{lanes}", partial(_char_type, lanes))
    for source, target in WIDENING:
        yield Definition(f"{source}_to_{target}", partial(_to_double, source, target))
    for element in ALL:
        for chunk in chunks_of(element):
            yield Definition(f"{chunk.name}_blend", partial(_blend, chunk))
    for element in FLOATS:
        yield from _float_definitions(chunks_of(element)[-1])
    for element in INTEGERS:
        for chunk in chunks_of(element):
            yield from _integer_definitions(chunk)
