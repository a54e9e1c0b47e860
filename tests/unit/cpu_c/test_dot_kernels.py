"""Micro-kernels and packing against numpy: ragged extents, any strides, every element type and blocking."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xdsl_core.backend.host import describe_host
from xdsl_core.backend.toolchain import Compiler, compile_shared, find_compiler
from xdsl_cpu_c.dot import (
    AVX2,
    BASELINE,
    CONTRACTIONS,
    NEON,
    SOURCES,
    Blocking,
    blocking_for,
    copy_rows_function,
    dot_function,
    dot_prelude,
    pack_function,
    packed_length,
)
from xdsl_cpu_c.dot.shuffles import transpose_stages

pytestmark = pytest.mark.compiler

Array = np.ndarray[Any, Any]

TILE = (40, 72, 50)
DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
}
BLOCKINGS = {
    "host": blocking_for(describe_host().vector_isa),
    "avx2": AVX2,
    "neon": NEON,
    "baseline": BASELINE,
    "small": Blocking(vector_bytes=32, rows=3, vectors=1),
}
EXTENTS = [1, 2, 3, 5, 6, 7, 8, 9, 12, 15, 16, 17, 23, 24, 31, 33, 40]


def library_text(blocking: Blocking) -> str:
    functions = [dot_function(*TILE, accumulator=name, blocking=blocking) for name in CONTRACTIONS]
    functions += [pack_function(name, blocking=blocking) for name in SOURCES]
    functions += [copy_rows_function(name, blocking=blocking) for name in SOURCES]
    exports = [f"void (*const export_{name})() = (void (*)()){name};\n" for name, _ in functions]
    return "\n".join([dot_prelude(SOURCES, blocking=blocking), *(text for _, text in functions), *exports])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dot")


@pytest.fixture(scope="module")
def compiler(folder: Path) -> Compiler:
    return find_compiler(cache_dir=folder)


class Kernels:
    """The functions of one blocking, called with numpy arrays."""

    def __init__(self, library: ctypes.CDLL, blocking: Blocking) -> None:
        self.library, self.blocking = library, blocking

    def function(self, name: str) -> Any:
        address = ctypes.c_void_p.in_dll(self.library, f"export_{name}").value
        return ctypes.CFUNCTYPE(None)(address or 0)

    def pack(self, memory: str, b: Array) -> Array:
        accumulator = SOURCES[memory].accumulator
        operand = CONTRACTIONS[accumulator].operand
        size = packed_length(*b.shape, accumulator, blocking=self.blocking)
        packed = np.full(size + 8, 77, DTYPES[operand])
        self.move(f"pack_{memory}_{operand}", packed, b)
        assert (packed[size:] == 77).all()
        return packed[:size]

    def copy_rows(self, memory: str, a: Array, lda: int) -> Array:
        operand = CONTRACTIONS[SOURCES[memory].accumulator].operand
        rows = np.full((a.shape[0], lda), 77, DTYPES[operand])
        self.move(f"copy_rows_{memory}_{operand}", rows, a, ctypes.c_int64(lda))
        return rows

    def move(self, name: str, out: Array, source: Array, *options: Any) -> None:
        row, column = (ctypes.c_int64(stride // source.itemsize) for stride in source.strides)
        self.function(name)(pointer(out), *options, pointer(source), row, column, *source.shape)

    def dot(self, accumulator: str, c: Array, a: Array, packed: Array, k: int) -> None:
        m, n = c.shape
        name = "dot_{}x{}x{}_{}".format(*TILE, accumulator)
        ldc, lda = (ctypes.c_int64(array.strides[0] // array.itemsize) for array in (c, a))
        self.function(name)(pointer(c), ldc, pointer(a), lda, pointer(packed), m, n, k)


def pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.__array_interface__["data"][0])


@pytest.fixture(scope="module", params=BLOCKINGS)
def kernels(request: pytest.FixtureRequest, folder: Path, compiler: Compiler) -> Kernels:
    blocking = BLOCKINGS[request.param]
    output = folder / f"{request.param}.so"
    compile_shared(library_text(blocking), output, compiler=compiler, extra=("-Wno-psabi",))
    return Kernels(ctypes.CDLL(str(output)), blocking)


def random(shape: tuple[int, int], memory: str, seed: int = 0) -> Array:
    generator = np.random.default_rng([seed, *shape])
    if memory == "i8":
        return generator.integers(-128, 128, shape).astype(np.int8)
    return generator.standard_normal(shape).astype(DTYPES[memory])


def views(array: Array) -> dict[str, Array]:
    """The same values laid out in memory in different ways."""
    spaced = np.zeros((array.shape[0] * 2, array.shape[1] * 3), array.dtype)
    spaced[::2, ::3] = array
    return {
        "rows": np.ascontiguousarray(array),
        "columns": np.asfortranarray(array),
        "spaced": spaced[::2, ::3],
        "backwards": np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1],
    }


def check_product(kernels: Kernels, memory: str, m: int, n: int, k: int) -> None:
    """One tile from memory to accumulators, within the budget of a contraction; nothing else is touched."""
    accumulator = SOURCES[memory].accumulator
    a, b = random((m, k), memory, 1), random((k, n), memory, 2)
    start = random((m, n), "i8", 3).astype(DTYPES[accumulator])
    whole = np.full((m + 1, n + 3), 55, DTYPES[accumulator])
    c = whole[:m, :n]
    c[...] = start
    lda = CONTRACTIONS[accumulator].round_up(k) + 2
    kernels.dot(accumulator, c, kernels.copy_rows(memory, a, lda), kernels.pack(memory, b), k)
    assert (whole[m:] == 55).all()
    assert (whole[:, n:] == 55).all()
    if accumulator == "i32":
        np.testing.assert_array_equal(c, start + a.astype(np.int32) @ b.astype(np.int32))
        return
    wide_a, wide_b = a.astype(np.longdouble), b.astype(np.longdouble)
    unit = np.finfo(DTYPES[accumulator]).eps / 2
    budget = 4 * np.sqrt(k + 1) * unit * (abs(wide_a) @ abs(wide_b) + abs(start.astype(np.longdouble)))
    assert (abs(c - (start + wide_a @ wide_b)) <= budget).all()


@pytest.mark.parametrize("memory", SOURCES)
@pytest.mark.parametrize(
    ("m", "n"), [*zip(EXTENTS, reversed(EXTENTS), strict=True), (40, 72), (1, 1), (8, 64)]
)
def test_product_of_ragged_tiles(kernels: Kernels, memory: str, m: int, n: int) -> None:
    for k in (1, 2, 7, 16, 33, 50):
        check_product(kernels, memory, m, n, k)


@pytest.mark.parametrize("memory", SOURCES)
def test_nothing_to_do(kernels: Kernels, memory: str) -> None:
    accumulator = SOURCES[memory].accumulator
    c = np.ones((3, 5), DTYPES[accumulator])
    empty = np.zeros((4, 8), DTYPES[CONTRACTIONS[accumulator].operand])
    kernels.dot(accumulator, c, empty, empty, 0)
    kernels.dot(accumulator, c[:0], empty, empty, 3)
    kernels.dot(accumulator, c[:, :0], empty, empty, 3)
    assert (c == 1).all()


def panels(b: Array, kernels: Kernels, memory: str) -> Array:
    """Packed form of b by definition."""
    contraction = CONTRACTIONS[SOURCES[memory].accumulator]
    panel, depth = kernels.blocking.panel(contraction), contraction.depth
    k, n = contraction.round_up(b.shape[0]), -(-b.shape[1] // panel) * panel
    full = np.zeros((k, n), DTYPES[contraction.operand])
    full[: b.shape[0], : b.shape[1]] = b.astype(full.dtype)
    return full.reshape(k // depth, depth, n // panel, panel).transpose(2, 0, 3, 1).ravel()


@pytest.mark.parametrize("memory", SOURCES)
@pytest.mark.parametrize("layout", ["rows", "columns", "spaced", "backwards"])
def test_packing(kernels: Kernels, memory: str, layout: str) -> None:
    for k, n in [(1, 1), (8, 16), (16, 8), (17, 33), (50, 72), (31, 20), (33, 1), (1, 33)]:
        b = views(random((k, n), memory))[layout]
        np.testing.assert_array_equal(kernels.pack(memory, b), panels(b, kernels, memory))


@pytest.mark.parametrize("memory", SOURCES)
@pytest.mark.parametrize("layout", ["rows", "columns", "spaced", "backwards"])
def test_copying_rows(kernels: Kernels, memory: str, layout: str) -> None:
    contraction = CONTRACTIONS[SOURCES[memory].accumulator]
    for m, k in [(1, 1), (8, 16), (17, 33), (40, 50), (9, 31), (33, 1), (1, 33)]:
        a = views(random((m, k), memory))[layout]
        used = contraction.round_up(k)
        expected = np.full((m, used + 3), 77, DTYPES[contraction.operand])
        expected[:, :used] = 0
        expected[:, :k] = a.astype(expected.dtype)
        np.testing.assert_array_equal(kernels.copy_rows(memory, a, used + 3), expected)


@pytest.mark.parametrize("memory", ["f16", "bf16"])
def test_every_value_of_a_narrow_float(kernels: Kernels, memory: str) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(DTYPES[memory]).reshape(1024, 64)
    got = kernels.copy_rows(memory, values, 64)
    np.testing.assert_array_equal(got, values.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(values.astype(np.float32)))


def test_nan_and_infinity_reach_the_product(kernels: Kernels) -> None:
    a, b = np.ones((7, 9), np.float32), np.ones((9, 20), np.float32)
    a[2, 3], a[4, 4], b[1, 19] = np.nan, np.inf, -np.inf
    c = np.zeros((7, 20), np.float32)
    kernels.dot("f32", c, a, kernels.pack("f32", b), 9)
    expected = np.full((7, 20), 9, np.float32)
    expected[:, 19] = -np.inf
    expected[4] = np.inf
    expected[2] = expected[4, 19] = np.nan
    np.testing.assert_array_equal(c, expected)


def test_int32_wraps_around(kernels: Kernels) -> None:
    k = 50
    a, b = np.full((3, k), -128, np.int8), np.full((k, 5), -128, np.int8)
    c = np.full((3, 5), np.iinfo(np.int32).max, np.int32)
    kernels.dot("i32", c, kernels.copy_rows("i8", a, k), kernels.pack("i8", b), k)
    assert (c == np.iinfo(np.int32).min - 1 + 128 * 128 * k).all()


@pytest.mark.parametrize(("lanes", "size"), [(4, 4), (8, 4), (16, 4), (2, 8), (4, 8), (8, 8)])
def test_transpose_stages(lanes: int, size: int) -> None:
    rows = np.arange(lanes * lanes).reshape(lanes, lanes)
    expected = rows.T.copy()
    for stage in transpose_stages(lanes, size):
        before = rows.copy()
        for shuffle in stage:
            rows[shuffle.to] = np.concatenate([before[shuffle.a], before[shuffle.b]])[list(shuffle.indices)]
    np.testing.assert_array_equal(rows, expected)


def test_blocking_follows_the_instruction_set() -> None:
    assert blocking_for(("sse2", "avx2", "fma")) == AVX2
    assert blocking_for(("neon",)) == NEON
    assert blocking_for(()) == BASELINE
    assert {name: AVX2.panel(row) for name, row in CONTRACTIONS.items()} == {"f32": 16, "f64": 8, "i32": 16}


def test_template_can_be_replaced() -> None:
    name, text = dot_function(8, 8, 8, accumulator="f32", templates={"kernel.c.j2": "/* {{ name }} */"})
    assert text == f"/* {name} */"
