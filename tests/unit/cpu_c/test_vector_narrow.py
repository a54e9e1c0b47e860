"""Encodings of narrow floats: every code decodes, every f32 rounds, against ml_dtypes and numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.cpu_c.vector_harness import Array, Functions, compiler
from xdsl_cpu_c.vector import NARROW_FLOATS

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(compiler() is None, reason="no C compiler")]

LANES = ("", "x8", "x16", "x32")
DTYPES: dict[str, Any] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "f8e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8e4m3b11fnuz": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
}


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    names = [
        f"{verb}_{kind}_f32{n}" for verb in ("bits", "from_bits", "round") for kind in DTYPES for n in LANES
    ]
    names += [f"f32{n}_{verb}_f16" for verb in ("code", "from_code") for n in LANES[1:]]
    return Functions(tmp_path_factory.mktemp("narrow"), names)


def codes(kind: str) -> Array:
    storage = DTYPES[kind].itemsize
    return np.arange(1 << 8 * storage, dtype=f"u{storage}")


def numbers(kind: str) -> Array:
    """Values of the format, ties and their f32 neighbours, overflow, special values, random bits."""
    with np.errstate(all="ignore"):
        exact = codes(kind).view(DTYPES[kind]).astype(np.float32)
        exact = np.unique(exact[np.isfinite(exact)])
        ties = (exact[1:].astype(np.float64) + exact[:-1]) / 2
        ties = ties.astype(np.float32)
        near = np.concatenate(
            [np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))]
        )
        top = np.float32(NARROW_FLOATS[kind].largest) * np.array(
            [1.001, 1.03, 1.06, 1.07, 1.2, 1.9, 4], np.float32
        )
        special = np.array(
            [0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, -1e-45, 1e-40, 65519, 65520], np.float32
        )
        random = np.random.default_rng(4).integers(0, 1 << 32, 20_000, dtype=np.uint32).view(np.float32)
    x = np.concatenate([exact, ties, near, top, -top, special, random])
    return np.resize(x, -(-x.size // 32) * 32)


def rounded(kind: str, x: Array) -> Array:
    """The narrow values, with the saturation that NarrowFloat documents."""
    row, dtype = NARROW_FLOATS[kind], DTYPES[kind]
    with np.errstate(all="ignore"):
        if row.saturates:
            keeps_infinity = row.top == "ieee"
            clipped = np.clip(x, np.float32(-row.largest), np.float32(row.largest))
            x = np.where(np.isinf(x) & keeps_infinity, x, clipped)
        return x.astype(dtype)


@pytest.mark.parametrize("kind", DTYPES)
def test_decode(functions: Functions, kind: str) -> None:
    code = codes(kind)
    expected = code.view(DTYPES[kind]).astype(np.float32)
    for lanes in LANES:
        got = functions(f"from_bits_{kind}_f32{lanes}", code)
        np.testing.assert_array_equal(got, expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("kind", DTYPES)
def test_encode(functions: Functions, kind: str) -> None:
    x = numbers(kind)
    expected = rounded(kind, x)
    number = ~np.isnan(x)
    for lanes in LANES:
        got = functions(f"bits_{kind}_f32{lanes}", x)
        np.testing.assert_array_equal(got[number], expected.view(got.dtype)[number])
        assert np.isnan(got.view(DTYPES[kind]).astype(np.float32)[~number]).all()


@pytest.mark.parametrize("kind", DTYPES)
def test_round(functions: Functions, kind: str) -> None:
    x = numbers(kind)
    expected = rounded(kind, x).astype(np.float32)
    number = ~np.isnan(x)
    for lanes in LANES:
        got = functions(f"round_{kind}_f32{lanes}", x)
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("lanes", LANES[1:])
def test_f16_without_f16c(functions: Functions, lanes: str) -> None:
    """The portable f16 conversion is compiled on machines without F16C; here it is called by name."""
    code = codes("f16")
    expected = code.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(functions(f"f32{lanes}_from_code_f16", code), expected)
    x = numbers("f16")
    got = functions(f"f32{lanes}_code_f16", x).astype(np.uint16)
    number = ~np.isnan(x)
    np.testing.assert_array_equal(got[number], rounded("f16", x).view(np.uint16)[number])
