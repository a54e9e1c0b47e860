"""Loads and stores: full vectors, tails, strides, gathers, streaming stores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl_cpu_c.vector.elements import LANES, MEMORY, NARROW_FLOATS, Memory, Vector
from xdsl_cpu_c.vector.emit import Definition, each_chunk, function

FULL = {
    "partial_load": (
        "{c} *",
        ["{c} *buffer", "const {c} *p", "int count", "{c} fill", "int lanes"],
        """
for (int k = 0; k < lanes; ++k)
    buffer[k] = k < count ? p[k] : fill;
return buffer;""",
    ),
    "partial_store": (
        "void",
        ["{c} *p", "const {c} *buffer", "int count"],
        """
for (int k = 0; k < count; ++k)
    p[k] = buffer[k];""",
    ),
    "strided_load": (
        "{c} *",
        ["{c} *buffer", "const {c} *p", "int64_t stride", "int count", "{c} fill", "int lanes"],
        """
for (int k = 0; k < lanes; ++k)
    buffer[k] = k < count ? p[k * stride] : fill;
return buffer;""",
    ),
    "strided_store": (
        "void",
        ["{c} *p", "int64_t stride", "const {c} *buffer", "int count"],
        """
for (int k = 0; k < count; ++k)
    p[k * stride] = buffer[k];""",
    ),
    "gather": (
        "{c} *",
        [
            "{c} *buffer",
            "const {c} *base",
            "const int64_t *offset",
            "const int32_t *mask",
            "{c} fill",
            "int lanes",
        ],
        """
if (lanes_are_consecutive(offset, mask, lanes))
    return (__builtin_memcpy(buffer, base + offset[0], lanes * sizeof *buffer), buffer);
for (int k = 0; k < lanes; ++k)
    buffer[k] = !mask || mask[k] ? base[offset[k]] : fill;
return buffer;""",
    ),
    "scatter": (
        "void",
        ["{c} *base", "const int64_t *offset", "const int32_t *mask", "const {c} *buffer", "int lanes"],
        """
if (lanes_are_consecutive(offset, mask, lanes)) {{
    __builtin_memcpy(base + offset[0], buffer, lanes * sizeof *buffer);
    return;
}}
for (int k = 0; k < lanes; ++k)
    if (!mask || mask[k])
        base[offset[k]] = buffer[k];""",
    ),
}

CONSECUTIVE = """
int64_t broken = 0;
for (int k = 0; k < lanes; ++k)
    broken |= (offset[k] - offset[0]) ^ k;
if (mask)
    for (int k = 0; k < lanes; ++k)
        broken |= ~mask[k];
return broken == 0;"""


def _buffer_function(name: str, memory: Memory) -> str:
    result, arguments, body = FULL[name]
    return function(
        result.format(c=memory.c),
        f"{name}_{memory.name}",
        [argument.format(c=memory.c) for argument in arguments],
        body.format(c=memory.c),
        cold=True,
    )


def _direct_load(vector: Vector) -> str:
    chunk = vector.chunk

    def member(name: str) -> str:
        return f"*(const {chunk.name}_memory *)(p + {vector.members.index(name) * chunk.lanes})"

    body = f"return {each_chunk(vector, member)};"
    return function(
        vector.c, f"load_{vector.element.name}_{vector.name}", [f"const {vector.element.c} *p"], body
    )


def _direct_store(vector: Vector) -> str:
    chunk = vector.chunk
    body = "\n".join(
        f"*({chunk.name}_memory *)(p + {k * chunk.lanes}) = x.{member};"
        for k, member in enumerate(vector.members)
    )
    name = f"store_{vector.element.name}_{vector.name}"
    return function("void", name, [f"{vector.element.c} *p", f"{vector.c} x"], body)


def _stream(vector: Vector) -> str:
    """Non-temporal store of 16-byte pieces: numpy's arrays are aligned to no more."""
    chunk, name = vector.chunk, f"stream_{vector.element.name}_{vector.name}"
    plain = f"store_{vector.element.name}_{vector.name}(p, x);"
    arguments = [f"{vector.element.c} *p", f"{vector.c} x"]
    if chunk.bytes < 16:
        return function("void", name, arguments, plain)
    lines = []
    for k, member in enumerate(vector.members):
        for half in range(chunk.bytes // 16):
            value = f"(f32v4)x.{member}"
            if chunk.bytes == 32:
                view = f"(f32v8)x.{member}"
                numbers = ", ".join(str(4 * half + j) for j in range(4))
                value = f"__builtin_shufflevector({view}, {view}, {numbers})"
            lines.append(f"__builtin_ia32_movntps((float *)p + {k * chunk.bytes // 4 + 4 * half}, {value});")
    body = "\n".join(
        ["#if defined(__SSE__) && __has_builtin(__builtin_ia32_movntps)", *lines, "#else", plain, "#endif"]
    )
    return function("void", name, arguments, body)


def _boolean(verb: str, vector: Vector) -> str:
    """Masks are bytes 0 or 1 in memory; any other byte counts as true."""
    name, v, lanes = f"{verb}_i1_{vector.name}", vector.name, vector.lanes
    if verb == "load":
        body = f"return bool_u8x{lanes}(load_u8_u8x{lanes}(p));"
        return function(vector.c, name, ["const uint8_t *p"], body)
    body = f"{verb}_u8_u8x{lanes}(p, cast_{v}_u8x{lanes}({v}_and(x, {v}_splat(1))));"
    return function("void", name, ["uint8_t *p", f"{vector.c} x"], body)


def _scalar(verb: str, memory: Memory) -> str:
    c, register, name = memory.c, memory.register, f"{verb}_{memory.name}_{memory.register.name}"
    narrow, boolean = memory.name in NARROW_FLOATS, memory.name == "i1"
    if verb == "load":
        value = f"from_bits_{memory.name}_{register.name}(*p)" if narrow else "*p != 0" if boolean else "*p"
        return function(register.c, name, [f"const {c} *p"], f"return {value};")
    value = f"bits_{memory.name}_{register.name}(x)" if narrow else "x != 0" if boolean else "x"
    return function("void", name, [f"{c} *p", f"{register.c} x"], f"*p = {value};")


def _vector_access(verb: str, memory: Memory, vector: Vector) -> str:
    if memory.name == "i1":
        return _boolean(verb, vector)
    return {"load": _direct_load, "store": _direct_store, "stream": _stream}[verb](vector)


def definitions() -> Iterator[Definition]:
    """Loads, stores and the functions over lane buffers."""
    arguments = ["const int64_t *offset", "const int32_t *mask", "int lanes"]
    yield Definition(
        "lanes_are_consecutive",
        partial(function, "int", "lanes_are_consecutive", arguments, CONSECUTIVE),
    )
    fence = "#if defined(__SSE2__) && __has_builtin(__builtin_ia32_sfence)\n__builtin_ia32_sfence();\n#endif"
    yield Definition("stream_fence", partial(function, "void", "stream_fence", ["void"], fence))
    for memory in MEMORY.values():
        for name in FULL:
            yield Definition(f"{name}_{memory.name}", partial(_buffer_function, name, memory))
        for verb in ("load", "store", "stream"):
            scalar = f"{verb}_{memory.name}_{memory.register.name}"
            yield Definition(scalar, partial(_scalar, verb, memory))
            for lanes in LANES if memory.name not in NARROW_FLOATS else ():
                vector = Vector(memory.register, lanes)
                yield Definition(
                    f"{verb}_{memory.name}_{vector.name}", partial(_vector_access, verb, memory, vector)
                )
