"""Narrow floating-point formats: their encodings, and rounding of f32 registers to them.

Rounding is to nearest, ties to even; `NarrowFloat` says what overflow gives.  Subnormal numbers are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_cpu_c.vector.elements import CHUNK_MEMBERS, ELEMENTS, LANES, NARROW_FLOATS, NarrowFloat, Vector
from xdsl_cpu_c.vector.emit import Definition, body_for, builtin, chunkwise, each_chunk, function, variants

# clang converts vectors of _Float16 with the instructions of F16C; gcc would call a library lane by lane.
HALF_TYPE = "defined(__clang__) && (defined(__F16C__) || defined(__aarch64__))"
HALF_VECTOR = "typedef _Float16 half __attribute__((vector_size(16)));"


def _splat(value: int) -> str:
    return f"I.splat({value:#x})" if value > 9 else f"I.splat({value})"


def _power(exponent: int) -> str:
    return f"F.splat(0x1p{exponent:+d}f)"


def _code_of_nan(row: NarrowFloat) -> int:
    if row.top == "fnuz":
        return 1 << (row.bits - 1)
    return (
        (1 << (row.bits - 1)) - 1
        if row.top == "fn"
        else _code_of_infinity(row) | 1 << (row.mantissa_bits - 1)
    )


def _code_of_infinity(row: NarrowFloat) -> int:
    return ((1 << row.exponent_bits) - 1) << row.mantissa_bits


def _round_bits(row: NarrowFloat, name: str) -> str:
    """Statement that rounds integer lanes holding f32 bits and drops the bits the format lacks."""
    drop = 23 - row.mantissa_bits
    even = f"I.and(I.shr({name}, {_splat(drop)}), I.splat(1))"
    return f"{name} = I.shr(I.add(I.add({name}, {_splat((1 << (drop - 1)) - 1)}), {even}), {_splat(drop)});"


def encoding(row: NarrowFloat) -> str:
    """Body of the function from an f32 vector to integer lanes that hold the format's code.

    A normal number is rounded by adding just under half a unit to its bits; a subnormal one by adding a
    number whose last place is the format's smallest step.
    """
    nan = _splat(_code_of_nan(row))
    if row.exponent_bits == 8:
        return (
            f"I bits = bitcast_F_I(x);\n{_round_bits(row, 'bits')}\nreturn I.blend(F.isnan(x), {nan}, bits);"
        )
    infinity, sign = _splat(_code_of_infinity(row)), _splat(1 << (row.bits - 1))
    bounded = f"F.min_fast(F.splat({row.largest}f), F.abs(x))" if row.saturates else "F.abs(x)"
    lines = [
        f"F a = {bounded};",
        "I code = bitcast_F_I(a);",
        _round_bits(row, "code"),
        f"code = I.sub(code, {_splat((127 - row.bias) << row.mantissa_bits)});",
        f"F step = {_power(24 - row.bias - row.mantissa_bits)};",
        "I small = I.sub(bitcast_F_I(F.add(a, step)), bitcast_F_I(step));",
        f"code = I.blend(F.lt(a, {_power(1 - row.bias)}), small, code);",
    ]
    if not row.saturates:
        lines.append(f"code = I.min(code, {infinity});")
    elif row.top == "ieee":
        lines.append(f"code = I.blend(F.isinf(x), {infinity}, code);")
    lines.append(f"I sign = I.and(I.shr(bitcast_F_I(x), {_splat(32 - row.bits)}), {sign});")
    if row.top == "fnuz":
        lines.append("sign = I.blend(I.eq(code, I.zero()), I.zero(), sign);")
        lines.append(f"return I.blend(F.isnan(x), {nan}, I.or(code, sign));")
    else:
        lines.append(f"return I.or(I.blend(F.isnan(x), {nan}, code), sign);")
    return "\n".join(lines)


def decoding(row: NarrowFloat) -> str:
    """Body of the function from integer lanes that hold the format's code to an f32 vector; exact."""
    shift, sign = 23 - row.mantissa_bits, 1 << (row.bits - 1)
    if row.bias == 127:
        return f"return bitcast_I_F(I.shl(code, {_splat(shift)}));"
    magnitude = f"I.and(code, {_splat(sign - 1)})"
    rebias = (127 - row.bias) << 23
    smallest = _power(1 - row.bias - row.mantissa_bits)
    lines = [
        f"I magnitude = {magnitude};",
        f"I bits = I.add(I.shl(magnitude, {_splat(shift)}), {_splat(rebias)});",
        f"I small = bitcast_F_I(F.mul(cast_I_F(magnitude), {smallest}));",
        f"bits = I.blend(I.lt(magnitude, {_splat(1 << row.mantissa_bits)}), small, bits);",
    ]
    quiet = "I.splat(0x7fc00000)"
    if row.top == "ieee":
        top = f"I.or(bits, {_splat(0x7F800000)})"
        lines.append(f"bits = I.blend(I.ge(magnitude, {_splat(_code_of_infinity(row))}), {top}, bits);")
    elif row.top == "fn":
        lines.append(f"bits = I.blend(I.eq(magnitude, {_splat(sign - 1)}), {quiet}, bits);")
    else:
        lines.append(f"bits = I.blend(I.eq(code, {_splat(sign)}), {quiet}, bits);")
    lines.append(
        f"return bitcast_I_F(I.or(bits, I.shl(I.and(code, {_splat(sign)}), {_splat(32 - row.bits)})));"
    )
    return "\n".join(lines)


# f16 and bf16 convert 8 lanes at a time: (name, result, argument, hardware variants, portable text).
CHUNK_FUNCTIONS = (
    (
        "f32v8_from_f16",
        "f32v8",
        "u16v8 x",
        (
            (
                builtin("__builtin_ia32_vcvtph2ps256", "__F16C__"),
                "return __builtin_ia32_vcvtph2ps256((i16v8)x);",
            ),
            (HALF_TYPE, f"{HALF_VECTOR}\nreturn __builtin_convertvector((half)x, f32v8);"),
        ),
        "return f32x8_from_code_f16((i32x8){(i32v8)u16v8_widen(x)}).a;",
    ),
    (
        "f32v8_to_f16",
        "u16v8",
        "f32v8 x",
        (
            (
                builtin("__builtin_ia32_vcvtps2ph256", "__F16C__"),
                "return (u16v8)__builtin_ia32_vcvtps2ph256(x, 0);",
            ),
            (HALF_TYPE, f"{HALF_VECTOR}\nreturn (u16v8)__builtin_convertvector(x, half);"),
        ),
        "return __builtin_convertvector(f32x8_code_f16((f32x8){x}).a, u16v8);",
    ),
    ("f32v8_from_bf16", "f32v8", "u16v8 x", (), "return (f32v8)(u16v8_widen(x) << 16);"),
)


def _chunk_function(
    name: str, result: str, argument: str, cases: tuple[tuple[str, str], ...], portable: str
) -> str:
    return function(result, name, [argument], variants(cases, portable))


def _join(pieces: list[str], bits: Vector) -> str:
    """Return statement for 16-bit vectors from pieces of 8 lanes."""
    if len(pieces) > 1:
        order = ", ".join(map(str, range(16)))
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [f"__builtin_shufflevector({low}, {high}, {order})" for low, high in pairs]
    return f"return {each_chunk(bits, lambda m: pieces[CHUNK_MEMBERS.index(m)])};"


def _split(bits: Vector) -> list[str]:
    """The pieces of 8 lanes of a 16-bit vector."""
    if bits.lanes == 8:
        return ["x.a"]
    halves = ("0, 1, 2, 3, 4, 5, 6, 7", "8, 9, 10, 11, 12, 13, 14, 15")
    return [f"__builtin_shufflevector(x.{m}, x.{m}, {half})" for m in bits.members for half in halves]


def _code(row: NarrowFloat, vector: Vector) -> str:
    name = f"{vector.name}_code_{row.name}"
    return function(vector.signed.c, name, [f"{vector.c} x"], body_for(vector, encoding(row)))


def _from_code(row: NarrowFloat, vector: Vector) -> str:
    name = f"{vector.name}_from_code_{row.name}"
    return function(vector.c, name, [f"{vector.signed.c} code"], body_for(vector, decoding(row)))


def _bits(row: NarrowFloat, vector: Vector) -> str:
    bits, v = vector.of(row.storage.name), vector.name
    body = f"return cast_{vector.signed.name}_{bits.name}({v}_code_{row.name}(x));"
    if row.name == "f16":
        body = _join([f"f32v8_to_f16(x.{member})" for member in vector.members], bits)
    return function(bits.c, f"bits_{row.name}_{v}", [f"{vector.c} x"], body)


def _from_bits(row: NarrowFloat, vector: Vector) -> str:
    bits, v = vector.of(row.storage.name), vector.name
    body = f"return {v}_from_code_{row.name}(cast_{bits.name}_{vector.signed.name}(x));"
    if row.bits == 16:
        calls = [f"f32v8_from_{row.name}({piece})" for piece in _split(bits)]
        body = f"return {each_chunk(vector, lambda m: calls[CHUNK_MEMBERS.index(m)])};"
    return function(vector.c, f"from_bits_{row.name}_{v}", [f"{bits.c} x"], body)


def _round(row: NarrowFloat, vector: Vector) -> str:
    v = vector.name
    body = f"return {v}_from_code_{row.name}({v}_code_{row.name}(x));"
    if row.name == "f16":
        body = chunkwise(vector, "f32v8_from_f16(f32v8_to_f16(x))", 1)
    return function(vector.c, f"round_{row.name}_{v}", [f"{vector.c} x"], body)


def _load(row: NarrowFloat, vector: Vector) -> str:
    """Load through the encoding; 16-bit formats are converted piece by piece as they are loaded."""
    v, storage = vector.name, row.storage
    body = f"return from_bits_{row.name}_{v}(load_{storage.name}_{vector.of(storage.name).name}(p));"
    if row.bits == 16:
        numbers = {member: 8 * k for k, member in enumerate(vector.members)}
        piece = f"f32v8_from_{row.name}(*(const u16v8_memory *)(p + "
        body = f"return {each_chunk(vector, lambda m: f'{piece}{numbers[m]}))')};"
    return function(vector.c, f"load_{row.name}_{v}", [f"const {storage.c} *p"], body)


def _store(row: NarrowFloat, vector: Vector, verb: str) -> str:
    v, storage = vector.name, row.storage
    body = f"{verb}_{storage.name}_{vector.of(storage.name).name}(p, bits_{row.name}_{v}(x));"
    if row.name == "f16" and verb == "store":
        lines = [
            f"*(u16v8_memory *)(p + {8 * k}) = f32v8_to_f16(x.{m});" for k, m in enumerate(vector.members)
        ]
        body = "\n".join(lines)
    return function("void", f"{verb}_{row.name}_{v}", [f"{storage.c} *p", f"{vector.c} x"], body)


def _scalar(name: str, result: str, parameter: str, source: str) -> str:
    """Lane 0 of the 8-lane function, on a splat of the argument."""
    body = f"return {name}x8({source}x8_splat(x)).a[0];"
    return function(result, name, [f"{parameter} x"], body)


def definitions() -> Iterator[Definition]:
    """Encodings, rounding, loads and stores of every narrow format."""
    for entry in CHUNK_FUNCTIONS:
        yield Definition(entry[0], partial(_chunk_function, *entry))
    for row in NARROW_FLOATS.values():
        storage = row.storage
        for prefix, result, source in (
            ("bits", storage, "f32"),
            ("from_bits", ELEMENTS["f32"], storage.name),
            ("round", ELEMENTS["f32"], "f32"),
        ):
            name = f"{prefix}_{row.name}_f32"
            yield Definition(name, partial(_scalar, name, result.c, ELEMENTS[source].c, source))
        for lanes in LANES:
            vector = Vector(ELEMENTS["f32"], lanes)
            yield Definition(f"{vector.name}_code_{row.name}", partial(_code, row, vector))
            yield Definition(f"{vector.name}_from_code_{row.name}", partial(_from_code, row, vector))
            yield Definition(f"bits_{row.name}_{vector.name}", partial(_bits, row, vector))
            yield Definition(f"from_bits_{row.name}_{vector.name}", partial(_from_bits, row, vector))
            yield Definition(f"round_{row.name}_{vector.name}", partial(_round, row, vector))
            yield Definition(f"load_{row.name}_{vector.name}", partial(_load, row, vector))
            for verb in ("store", "stream"):
                yield Definition(f"{verb}_{row.name}_{vector.name}", partial(_store, row, vector, verb))
