"""Random numbers: the words are those of Random123, the floats as numpy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl

LANES = 8
SEED = 0x1234_5678_9ABC_DEF0
BACKENDS = ("reference", "cpu_c", "dsa_sim:toy")

# kat_vectors of Random123, philox4x32 with 10 rounds: counter, key, words
KNOWN_WORDS = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
KEY_STEPS = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


@xdsl.jit
def words_kernel(counter: Any, seed: Any, out: Any, n_rounds: tl.constexpr, LANES: tl.constexpr) -> None:
    lane = tl.arange(0, LANES)
    c0 = tl.load(counter + lane)
    c1 = tl.load(counter + LANES + lane)
    c2 = tl.load(counter + 2 * LANES + lane)
    c3 = tl.load(counter + 3 * LANES + lane)
    r0, r1, r2, r3 = tl.philox(seed, c0, c1, c2, c3, n_rounds)
    tl.store(out + lane, r0)
    tl.store(out + LANES + lane, r1)
    tl.store(out + 2 * LANES + lane, r2)
    tl.store(out + 3 * LANES + lane, r3)


@xdsl.jit
def draws_kernel(offsets: Any, seed: Any, integers: Any, floats: Any, LANES: tl.constexpr) -> None:
    lane = tl.arange(0, LANES)
    offset = tl.load(offsets + lane)
    tl.store(integers + lane, tl.randint(seed, offset))
    tl.store(floats + lane, tl.rand(seed, offset))
    tl.store(floats + LANES + lane, tl.randn(seed, offset))
    _, _, _, u3 = tl.rand4x(seed, offset)
    tl.store(floats + 2 * LANES + lane, u3)
    _, _, _, n3 = tl.randn4x(seed, offset)
    tl.store(floats + 3 * LANES + lane, n3)


@xdsl.jit
def uniform_kernel(words: Any, out: Any, LANES: tl.constexpr) -> None:
    lane = tl.arange(0, LANES)
    tl.store(out + lane, tl.uint_to_uniform_float(tl.load(words + lane)))


def philox(counter: tuple[int, ...], key: tuple[int, ...], width: int, rounds: int = 10) -> tuple[int, ...]:
    """Philox in Python's integers."""
    mask = (1 << width) - 1
    a, b = MULTIPLIERS[width]
    c0, c1, c2, c3 = counter
    for _ in range(rounds):
        product_a, product_b = a * c0, b * c2
        c0, c1 = (product_b >> width) ^ c1 ^ key[0], product_b & mask
        c2, c3 = (product_a >> width) ^ c3 ^ key[1], product_a & mask
        key = tuple((word + step) & mask for word, step in zip(key, KEY_STEPS[width], strict=True))
    return c0, c1, c2, c3


def uniform(words: np.ndarray) -> np.ndarray:
    bits = words.view(np.int32)
    return np.where(bits < 0, ~bits, bits).astype(np.float32) * np.float32(4.6566127342e-10)


def normals(u1: np.ndarray, u2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    radius = np.sqrt(-2.0 * np.log(np.maximum(1.0e-7, u1.astype(np.float64))))
    angle = 2 * np.pi * u2.astype(np.float64)
    return radius * np.cos(angle), radius * np.sin(angle)


def words_on(backend: str, counter: tuple[int, ...], seed: int, width: int, rounds: int = 10) -> list[int]:
    dtype = np.dtype(f"uint{width}")
    counters = np.repeat(np.array(counter, dtype=dtype)[:, None], LANES, axis=1)
    out = np.zeros((4, LANES), dtype)
    with xdsl.use(backend):
        words_kernel[(1,)](counters, seed, out, rounds, LANES)
    assert (out == out[:, :1]).all()
    return [int(word) for word in out[:, 0]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_WORDS)
def test_known_words(
    backend: str, counter: tuple[int, ...], key: tuple[int, ...], words: tuple[int, ...]
) -> None:
    assert words_on(backend, counter, key[1] << 32 | key[0], 32) == list(words)
    assert philox(counter, key, 32) == words


@pytest.mark.parametrize("backend", ["reference", "cpu_c"])
@pytest.mark.parametrize(("width", "rounds"), [(64, 10), (64, 7), (32, 6)])
def test_width_and_rounds(backend: str, width: int, rounds: int) -> None:
    key = (SEED, 0) if width == 64 else (SEED & 0xFFFFFFFF, SEED >> 32)
    expected = philox((1, 2, 3, 4), key, width, rounds)
    assert words_on(backend, (1, 2, 3, 4), SEED, width, rounds) == list(expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_draws(backend: str, dtype: type[np.integer]) -> None:
    offsets = np.arange(LANES, dtype=dtype)
    if dtype is np.int64:
        offsets += 5 << 32
    integers = np.zeros(LANES, np.uint32)
    floats = np.zeros((4, LANES), np.float32)
    with xdsl.use(backend):
        draws_kernel[(1,)](offsets, SEED, integers, floats, LANES)
    key = (SEED & 0xFFFFFFFF, SEED >> 32)
    drawn = [philox((int(at) & 0xFFFFFFFF, int(at) >> 32, 0, 0), key, 32) for at in offsets]
    words = np.array(drawn, np.uint32).T.copy()
    u = [uniform(row) for row in words]
    np.testing.assert_array_equal(integers, words[0])
    np.testing.assert_array_equal(floats[0], u[0])
    np.testing.assert_array_equal(floats[2], u[3])
    np.testing.assert_allclose(floats[1], normals(u[0], u[1])[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(floats[3], normals(u[2], u[3])[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("backend", ["reference", "cpu_c"])
def test_uniform_stays_below_one(backend: str, width: int) -> None:
    top = 1 << width - 1
    words = np.array([0, 1, top - 1, top, top + 1, 2 * top - 1, 3, 4], np.dtype(f"uint{width}"))
    out = np.full(LANES, -1, np.float32)
    with xdsl.use(backend):
        uniform_kernel[(1,)](words, out, LANES)
    assert (out >= 0).all()
    assert (out < 1).all()
    assert out[2] == out[3] == out.max() > 0.999999
    assert out[0] == out[5] == 0
