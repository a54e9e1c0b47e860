"""Loads and stores: conversions, tails, strides, gathers, streaming; nothing outside the span is touched."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from tests.unit.cpu_c.test_vector_narrow import DTYPES
from tests.unit.cpu_c.vector_harness import NUMPY, Array, build, compiler
from xdsl_cpu_c.vector import LANES, MEMORY, prelude

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(compiler() is None, reason="no C compiler")]

MEMORY_DTYPES: dict[str, Any] = {**NUMPY, **DTYPES, "i1": np.dtype(np.uint8)}
BUFFER_FUNCTIONS = ("partial_load", "partial_store", "strided_load", "strided_store", "gather", "scatter")


def register(memory: str, lanes: int) -> str:
    name = MEMORY[memory].register.name
    return name if lanes == 1 else f"{name}x{lanes}"


ACCESS_TEXT = """
void do_load_{memory}_{lanes}(const {c} *p, {r} *out) {{
    store_{kept}_{vector}(out, load_{memory}_{vector}(p));
}}
void do_store_{memory}_{lanes}({c} *p, const {r} *in) {{
    store_{memory}_{vector}(p, load_{kept}_{vector}(in));
}}
void do_stream_{memory}_{lanes}({c} *p, const {r} *in) {{
    stream_{memory}_{vector}(p, load_{kept}_{vector}(in));
    stream_fence();
}}
"""


def access_drivers(memory: str, lanes: int) -> tuple[str, list[str]]:
    """C functions around load, store and stream, with the register values in a plain array."""
    vector, kept = register(memory, lanes), MEMORY[memory].register
    needs = [f"{verb}_{memory}_{vector}" for verb in ("load", "store", "stream")]
    needs += [f"load_{kept.name}_{vector}", f"store_{kept.name}_{vector}", "stream_fence"]
    text = ACCESS_TEXT.format(
        memory=memory, lanes=lanes, vector=vector, kept=kept.name, c=MEMORY[memory].c, r=kept.c
    )
    return text, needs


BUFFER_TEXT = """
void do_partial_load_{m}({c} *b, const {c} *p, int n, const {c} *fill, int lanes) {{
    partial_load_{m}(b, p, n, *fill, lanes);
}}
void do_partial_store_{m}({c} *p, const {c} *b, int n) {{
    partial_store_{m}(p, b, n);
}}
void do_strided_load_{m}({c} *b, const {c} *p, int64_t s, int n, const {c} *fill, int lanes) {{
    strided_load_{m}(b, p, s, n, *fill, lanes);
}}
void do_strided_store_{m}({c} *p, int64_t s, const {c} *b, int n) {{
    strided_store_{m}(p, s, b, n);
}}
void do_gather_{m}({c} *b, const {c} *p, const int64_t *o, const int32_t *k, const {c} *fill, int lanes) {{
    gather_{m}(b, p, o, k, *fill, lanes);
}}
void do_scatter_{m}({c} *p, const int64_t *o, const int32_t *k, const {c} *b, int lanes) {{
    scatter_{m}(p, o, k, b, lanes);
}}
"""


def buffer_drivers(memory: str) -> tuple[str, list[str]]:
    text = BUFFER_TEXT.format(m=memory, c=MEMORY[memory].c)
    return text, [f"{name}_{memory}" for name in BUFFER_FUNCTIONS]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    drivers = [access_drivers(memory, lanes) for memory in MEMORY for lanes in (1, *LANES)]
    drivers += [buffer_drivers(memory) for memory in MEMORY]
    source = prelude(need for _, needs in drivers for need in needs) + "".join(text for text, _ in drivers)
    return build(tmp_path_factory.mktemp("memory"), source)


def at(array: Array, element: int = 0) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data + element * array.itemsize)


def contents(memory: str, count: int) -> Array:
    """Distinct, non-zero values that the memory element holds exactly."""
    if memory == "i1":
        return (np.arange(count) % 3 == 0).astype(np.uint8)
    values = np.arange(1, count + 1) % 13 + 1
    return values.astype(np.float32).astype(MEMORY_DTYPES[memory])


def as_register(memory: str, values: Array, lanes: int) -> Array:
    if memory == "i1":
        return np.where(values != 0, 1 if lanes == 1 else -1, 0).astype(np.int32)
    return values.astype(NUMPY[MEMORY[memory].register.name])


@pytest.mark.parametrize("lanes", [1, *LANES])
@pytest.mark.parametrize("memory", MEMORY)
def test_load_and_store(library: ctypes.CDLL, memory: str, lanes: int) -> None:
    """Unaligned spans: one element past an aligned start."""
    data = contents(memory, lanes + 2)
    out = np.zeros(lanes, NUMPY[MEMORY[memory].register.name])
    getattr(library, f"do_load_{memory}_{lanes}")(at(data, 1), at(out))
    np.testing.assert_array_equal(out, as_register(memory, data[1 : lanes + 1], lanes))

    target = np.zeros(lanes + 2, MEMORY_DTYPES[memory])
    getattr(library, f"do_store_{memory}_{lanes}")(at(target, 1), at(out))
    assert target[1:-1].tobytes() == data[1 : lanes + 1].tobytes()
    assert target[[0, -1]].tobytes() == np.zeros(2, target.dtype).tobytes()


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("memory", MEMORY)
def test_stream(library: ctypes.CDLL, memory: str, lanes: int) -> None:
    """Streaming stores need 16-byte alignment and no more."""
    data = contents(memory, lanes)
    room = np.zeros(lanes * data.itemsize + 96, np.uint8)
    start = (16 - room.ctypes.data) % 32 + 32
    getattr(library, f"do_stream_{memory}_{lanes}")(at(room, start), at(as_register(memory, data, lanes)))
    end = start + data.nbytes
    assert room[start:end].tobytes() == data.tobytes()
    assert not room[:start].any()
    assert not room[end:].any()


def test_any_nonzero_byte_is_true(library: ctypes.CDLL) -> None:
    data = np.array([0, 1, 2, 255, 0, 0, 128, 1], np.uint8)
    out = np.zeros(8, np.int32)
    library.do_load_i1_8(at(data), at(out))
    np.testing.assert_array_equal(out, np.where(data, -1, 0))


@pytest.mark.parametrize("memory", MEMORY)
def test_tails_and_strides(library: ctypes.CDLL, memory: str) -> None:
    data, fill = contents(memory, 64), contents(memory, 4)[3:]
    zeros = np.zeros(64, data.dtype)
    for count in (0, 1, 5, 8):
        for stride in (1, 3, -2, 0):
            span = data[20 : 20 + stride * count : stride] if stride else np.repeat(data[20], count)
            buffer = zeros[:8].copy()
            if stride == 1:
                getattr(library, f"do_partial_load_{memory}")(at(buffer), at(data, 20), count, at(fill), 8)
            else:
                load = getattr(library, f"do_strided_load_{memory}")
                load(at(buffer), at(data, 20), ctypes.c_int64(stride), count, at(fill), 8)
            assert buffer.tobytes() == np.concatenate([span[:count], np.repeat(fill, 8 - count)]).tobytes()
            target, expected = zeros.copy(), zeros.copy()
            if stride == 1:
                getattr(library, f"do_partial_store_{memory}")(at(target, 20), at(data), count)
            else:
                getattr(library, f"do_strided_store_{memory}")(
                    at(target, 20), ctypes.c_int64(stride), at(data), count
                )
            for k in range(count):
                expected[20 + k * stride] = data[k]
            assert target.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", ["consecutive", "permuted", "masked", "all active", "none active"])
@pytest.mark.parametrize("memory", MEMORY)
def test_gather_and_scatter(library: ctypes.CDLL, memory: str, kind: str) -> None:
    """A masked-off lane's offset points far outside: touching it would crash."""
    data, fill, lanes = contents(memory, 64), contents(memory, 4)[3:], 16
    offset = (
        np.arange(lanes) + 5
        if kind in ("consecutive", "all active")
        else np.random.default_rng(1).permutation(64)[:lanes]
    )
    mask = np.ones(lanes, bool)
    if kind in ("masked", "none active"):
        mask = np.arange(lanes) % 4 == 1 if kind == "masked" else ~mask
        offset = np.where(mask, offset, 1 << 45)
    offset = offset.astype(np.int64)
    lanes_mask = np.where(mask, -1, 0).astype(np.int32)
    pointer = None if kind in ("consecutive", "permuted") else at(lanes_mask)

    buffer = np.zeros(lanes, data.dtype)
    getattr(library, f"do_gather_{memory}")(at(buffer), at(data), at(offset), pointer, at(fill), lanes)
    expected = np.array([data[o] if m else fill[0] for o, m in zip(offset, mask, strict=True)], data.dtype)
    assert buffer.tobytes() == expected.tobytes()

    target, reference = np.zeros(64, data.dtype), np.zeros(64, data.dtype)
    getattr(library, f"do_scatter_{memory}")(at(target), at(offset), pointer, at(data), lanes)
    reference[offset[mask]] = data[:lanes][mask]
    assert target.tobytes() == reference.tobytes()
