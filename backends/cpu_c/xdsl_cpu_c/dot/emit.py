"""C text of matrix products: the prelude, the micro-kernel of a tile, the functions that pack its operands.

A kernel's source holds the prelude once, then each function once (they are told apart by name), then its
body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xdsl_cpu_c.dot.blocking import AVX2, CONTRACTIONS, UNIT_BYTES, Blocking, Contraction
from xdsl_cpu_c.dot.shuffles import transpose_stages


@dataclass(frozen=True, slots=True)
class Source:
    """How an operand in memory becomes units: its C type and the C text of three loads from pointer `p`.

    `one` may read a second value along k only where `left` (values of k that remain) says that there is one.
    """

    memory_c: str
    accumulator: str
    one: str
    along: str
    across: str


_PAIR = "(int32_t)((uint32_t)(uint16_t)p[0] | (uint32_t)(uint16_t)(left > 1 ? p[k_stride] : 0) << 16)"

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "f32": Source("float", "f32", "*p", "*(const dot_f32_memory *)p", "*(const dot_f32_memory *)p"),
        "f64": Source("double", "f64", "*p", "*(const dot_f64_memory *)p", "*(const dot_f64_memory *)p"),
        "f16": Source(
            "uint16_t",
            "f32",
            "dot_f32_of_f16((dot_h16){*p})[0]",
            "dot_f32_of_f16(*(const dot_h16_memory *)p)",
            "dot_f32_of_f16(*(const dot_h16_memory *)p)",
        ),
        "bf16": Source(
            "uint16_t",
            "f32",
            "dot_f32_of_bf16((dot_h16){*p})[0]",
            "dot_f32_of_bf16(*(const dot_h16_memory *)p)",
            "dot_f32_of_bf16(*(const dot_h16_memory *)p)",
        ),
        "i8": Source(
            "int8_t",
            "i32",
            _PAIR,
            "(dot_i32)__builtin_convertvector(*(const dot_b16_memory *)p, dot_i16)",
            "(__builtin_convertvector(*(const dot_b8_memory *)p, dot_i32) & 0xffff)"
            " | __builtin_convertvector(*(const dot_b8_memory *)(p + k_stride), dot_i32) << 16",
        ),
    }
)

_PORTABLE_PAIRS = "((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16)"
_PORTABLE_F16 = "dot_f32_of_scaled(__builtin_convertvector(h, dot_u32))"
_MADD = "__builtin_ia32_pmaddwd"
# By vector size: (preprocessor condition, C expression), best first; compilers drop builtins now and then.
_MULTIPLY_PAIRS: Mapping[int, tuple[tuple[str, str], ...]] = {
    16: ((f"DOT_HAS({_MADD}128) && defined(__SSE2__)", f"(dot_i32){_MADD}128((dot_i16)a, (dot_i16)b)"),),
    32: ((f"DOT_HAS({_MADD}256) && defined(__AVX2__)", f"(dot_i32){_MADD}256((dot_i16)a, (dot_i16)b)"),),
    64: (
        (
            f"DOT_HAS({_MADD}512) && defined(__AVX512BW__) && defined(__clang__)",
            f"(dot_i32){_MADD}512((dot_i16)a, (dot_i16)b)",
        ),
        (
            f"DOT_HAS({_MADD}512_mask) && defined(__AVX512BW__)",
            f"(dot_i32){_MADD}512_mask((dot_i16)a, (dot_i16)b, a, 0xffff)",
        ),
    ),
}
_HALF = "__builtin_ia32_vcvtph2ps"
_NATIVE_F16 = "__builtin_convertvector((dot_n16)h, dot_f32)"
_F16: Mapping[int, tuple[tuple[str, str], ...]] = {
    16: (("defined(__aarch64__) && defined(__FLT16_MANT_DIG__)", _NATIVE_F16),),
    32: (
        (f"DOT_HAS({_HALF}256) && defined(__F16C__)", f"(dot_f32){_HALF}256((dot_s16)h)"),
        ("defined(__F16C__) && defined(__FLT16_MANT_DIG__)", _NATIVE_F16),
    ),
    64: (
        (
            f"DOT_HAS({_HALF}512_mask) && defined(__AVX512F__)",
            f"(dot_f32){_HALF}512_mask((dot_s16)h, (dot_f32){{0}}, 0xffff, 4)",
        ),
        ("defined(__AVX512F__) && defined(__FLT16_MANT_DIG__)", _NATIVE_F16),
    ),
}


@cache
def dot_templates() -> Mapping[str, str]:
    """The jinja2 sources of this package by file name."""
    files = sorted(Path(__file__).parent.glob("*.j2"))
    return MappingProxyType({file.name: file.read_text() for file in files})


def packed_length(k: int, n: int, accumulator: str, *, blocking: Blocking = AVX2) -> int:
    """Operand elements that the packed panels of a k x n rhs take."""
    contraction = CONTRACTIONS[accumulator]
    panel = blocking.panel(contraction)
    return -(-n // panel) * panel * contraction.round_up(k)


def dot_prelude(
    memories: Iterable[str], *, blocking: Blocking = AVX2, templates: Mapping[str, str] | None = None
) -> str:
    """Types and helpers of the functions; `memories` names the element types that are packed or copied."""
    size = blocking.vector_bytes
    lanes = size // 4
    sources = [_load_functions(memory, blocking, templates) for memory in sorted(set(memories))]
    head = _render(
        "prelude.c.j2",
        templates,
        types=[
            _vector_type("f32", "float", size // 4),
            _vector_type("f64", "double", size // 8),
            _vector_type("i32", "int32_t", size // 4),
            _vector_type("u32", "uint32_t", size // 4),
            _vector_type("i64", "int64_t", size // 8),
            _vector_type("i16", "int16_t", size // 2),
            _vector_type("h16", "uint16_t", lanes),
            _vector_type("s16", "int16_t", lanes),
            _vector_type("b16", "int8_t", 2 * lanes),
            _vector_type("b8", "int8_t", lanes),
        ],
        half_bytes=2 * lanes,
        multiply_pairs=_choices(_MULTIPLY_PAIRS[size], _PORTABLE_PAIRS),
        f16=_choices(_F16[size], _PORTABLE_F16),
    )
    return "\n".join([head, *sources])


def dot_function(
    m: int,
    n: int,
    k: int,
    *,
    accumulator: str,
    blocking: Blocking = AVX2,
    templates: Mapping[str, str] | None = None,
) -> tuple[str, str]:
    """Name and C text of the micro-kernel for tiles of up to m x n x k.

    `void NAME(acc *c, int64_t ldc, const operand *a, int64_t lda, const operand *bp, int m, int n, int k)`
    adds a[m,k] (row-major) times the packed b[k,n] to c[m,n]; m, n and k are the extents in use, at most
    the tile's. For "i32" operands are int16, and the value after an odd k is read: lda is at least k
    rounded up to even.
    """
    contraction = CONTRACTIONS[accumulator]
    heights = blocking.row_blocks(m)
    used = range(1, min(blocking.vectors, -(-n // blocking.lanes(contraction))) + 1)
    name = f"dot_{m}x{n}x{k}_{accumulator}"
    text = _render(
        "kernel.c.j2",
        templates,
        name=name,
        blocks=[_block(contraction, rows, vectors) for vectors in used for rows in heights],
        heights=heights,
        edge_rows=heights[0],
        widths=list(used),
        **_layout(contraction, blocking),
    )
    return name, text


def pack_function(
    memory: str, *, blocking: Blocking = AVX2, templates: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Name and C text of the function that packs a rhs from memory of an element type.

    `void NAME(operand *bp, const memory *b, int64_t row_stride, int64_t col_stride, int k, int n)`; strides
    count elements and may be anything; quick where one of them is 1. bp holds `packed_length` elements.
    """
    return _move_function("pack", memory, blocking, templates)


def copy_rows_function(
    memory: str, *, blocking: Blocking = AVX2, templates: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Name and C text of the function that copies a lhs of an element type into row-major operands.

    `void NAME(operand *a, int64_t lda, const memory *src, int64_t row_stride, int64_t col_stride, int m,
    int k)`.
    """
    return _move_function("copy_rows", memory, blocking, templates)


def _move_function(
    template: str, memory: str, blocking: Blocking, templates: Mapping[str, str] | None
) -> tuple[str, str]:
    source = SOURCES[memory]
    contraction = CONTRACTIONS[source.accumulator]
    name = f"{template}_{memory}_{contraction.operand}"
    values = {**_layout(contraction, blocking), **_load_names(memory)}
    return name, _render(f"{template}.c.j2", templates, name=name, memory=source.memory_c, **values)


def _load_functions(memory: str, blocking: Blocking, templates: Mapping[str, str] | None) -> str:
    source = SOURCES[memory]
    contraction = CONTRACTIONS[source.accumulator]
    return _render(
        "loads.c.j2",
        templates,
        memory=source.memory_c,
        source=source,
        stages=transpose_stages(blocking.lanes(contraction), UNIT_BYTES[source.accumulator]),
        mask={4: "dot_i32", 8: "dot_i64"}[UNIT_BYTES[source.accumulator]],
        **_load_names(memory),
        **_layout(contraction, blocking),
    )


def _load_names(memory: str) -> dict[str, str]:
    return {part: f"dot_{part}_{memory}" for part in ("one", "along", "across", "transpose")}


def _layout(contraction: Contraction, blocking: Blocking) -> dict[str, Any]:
    """What every template needs to know about types and sizes."""
    return {
        "accumulator": contraction.accumulator_c,
        "operand": contraction.operand_c,
        "unit": contraction.unit_c,
        "vector": contraction.vector,
        "depth": contraction.depth,
        "lanes": blocking.lanes(contraction),
        "vectors": blocking.vectors,
        "panel": blocking.panel(contraction),
        "row_group": blocking.row_group,
    }


def _block(contraction: Contraction, rows: int, vectors: int) -> dict[str, Any]:
    """A register block: its size and, for each row, the multiply-adds of one unit along k."""
    steps = [
        [contraction.multiply_add.format(c=f"s{row}_{v}", a="x", b=f"b{v}") for v in range(vectors)]
        for row in range(rows)
    ]
    return {"rows": rows, "vectors": vectors, "steps": steps}


def _vector_type(name: str, c: str, lanes: int) -> dict[str, Any]:
    size = {"float": 4, "double": 8, "int64_t": 8, "int32_t": 4, "uint32_t": 4, "int8_t": 1}.get(c, 2)
    return {"name": f"dot_{name}", "c": c, "lanes": lanes, "bytes": size * lanes, "alignment": size}


def _choices(builtins: tuple[tuple[str, str], ...], portable: str) -> list[dict[str, str]]:
    """Preprocessor branches: the builtins by condition, then the portable expression."""
    words = ("if", *("elif" for _ in builtins[1:]))
    rows = [f"{word} {condition}" for word, (condition, _) in zip(words, builtins, strict=True)]
    expressions = [*(expression for _, expression in builtins), portable]
    return [
        {"directive": directive, "expression": expression}
        for directive, expression in zip([*rows, "else"], expressions, strict=True)
    ]


def _render(template: str, templates: Mapping[str, str] | None, **values: Any) -> str:
    text: str = _compiled((templates or dot_templates())[template]).render(**values)
    return text


@cache
def _compiled(text: str) -> Any:
    """A template ready to render; compiling one takes longer than anything else here."""
    return _environment().from_string(text)


@cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
