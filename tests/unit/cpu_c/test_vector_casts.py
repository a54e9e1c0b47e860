"""Conversions between every two register elements, masks and bit patterns; vectors made from scalars."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.unit.cpu_c.vector_harness import NUMPY, Array, Functions, compiler
from xdsl_cpu_c.vector import ELEMENTS

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(compiler() is None, reason="no C compiler")]

PREFIXES = ("{}", "{}x8", "{}x16", "{}x32")
PAIRS = list(itertools.product(ELEMENTS, ELEMENTS))
EQUAL_WIDTH = [(a, b) for a, b in PAIRS if ELEMENTS[a].bits == ELEMENTS[b].bits]


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    names = []
    for prefix in PREFIXES:
        names += [f"cast_{prefix.format(a)}_{prefix.format(b)}" for a, b in PAIRS]
        names += [f"bitcast_{prefix.format(a)}_{prefix.format(b)}" for a, b in EQUAL_WIDTH]
        for element in ELEMENTS:
            name = prefix.format(element)
            names += [f"bool_{name}", f"cast_mask_{name}", f"{name}_splat", f"{name}_zero", f"{name}_iota"]
    names += [f"{element}{lanes}_lane" for element in ELEMENTS for lanes in ("x8", "x16", "x32")]
    names += [f"mask{lanes}_{name}" for lanes in ("x8", "x16", "x32") for name in ("splat", "lane")]
    return Functions(tmp_path_factory.mktemp("casts"), names)


def samples(source: str, target: str) -> Array:
    """Values of `source` whose conversion C defines; halves and numbers that round among them."""
    dtype, random = NUMPY[source], np.random.default_rng(11)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        special = [0, 1, limits.max, limits.min, limits.max - 1, limits.max // 2 + 1]
        body = random.integers(limits.min, limits.max, 506, dtype=dtype, endpoint=True)
        return np.concatenate([np.array(special, dtype), body])
    body = random.standard_normal(500) * 10.0 ** random.integers(-3, 25, 500)
    special = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 16777217.0, 33554435.0, 1.0, 127.9, -128.0]
    x = np.concatenate([special, body]).astype(dtype)
    if NUMPY[target].kind == "f":
        return np.concatenate([x[:-2], np.array([np.inf, np.nan], dtype)])
    # Narrow integers convert through i32, so values within i32 wrap; beyond that nothing is promised.
    limits = np.iinfo(NUMPY[target] if ELEMENTS[target].bits >= 32 else np.int32)
    inside = (x.astype(np.longdouble) > int(limits.min) - 1) & (x.astype(np.longdouble) < int(limits.max) + 1)
    return np.where(inside, x, dtype.type(3.75))


def converted(x: Array, target: str) -> Array:
    dtype = NUMPY[target]
    if x.dtype.kind == "f" and dtype.kind != "f":
        return np.array([int(v) & (1 << 64) - 1 for v in x], np.uint64).astype(dtype)
    return x.astype(dtype)


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cast(functions: Functions, source: str, target: str) -> None:
    x = samples(source, target)
    for prefix in PREFIXES:
        got = functions(f"cast_{prefix.format(source)}_{prefix.format(target)}", x)
        np.testing.assert_array_equal(got, converted(x, target))


@pytest.mark.parametrize(("source", "target"), EQUAL_WIDTH)
def test_bitcast(functions: Functions, source: str, target: str) -> None:
    x = samples(source, "f64")
    for prefix in PREFIXES:
        got = functions(f"bitcast_{prefix.format(source)}_{prefix.format(target)}", x)
        assert got.tobytes() == x.tobytes()


@pytest.mark.parametrize("source", [e.name for e in ELEMENTS.values() if e.kind == "f"])
def test_out_of_range_does_not_trap(functions: Functions, source: str) -> None:
    x = np.resize(np.array([np.nan, np.inf, -np.inf, 1e30, -1e30], NUMPY[source]), 32)
    for target in ELEMENTS:
        assert functions(f"cast_{source}x32_{target}x32", x).size == 32
        assert functions(f"cast_{source}_{target}", x).size == 32


@pytest.mark.parametrize("element", ELEMENTS)
def test_masks(functions: Functions, element: str) -> None:
    x = samples(element, "f64")
    x[::3] = 0
    mask = np.random.default_rng(2).integers(0, 2, x.size)
    for prefix in PREFIXES:
        name = prefix.format(element)
        true = 1 if prefix == "{}" else -1
        np.testing.assert_array_equal(functions(f"bool_{name}", x), np.where(x != 0, true, 0))
        np.testing.assert_array_equal(
            functions(f"cast_mask_{name}", mask * true), mask.astype(NUMPY[element])
        )


@pytest.mark.parametrize("element", ELEMENTS)
def test_creation(functions: Functions, element: str) -> None:
    dtype = NUMPY[element]
    for lanes, prefix in zip((1, 8, 16, 32), PREFIXES, strict=True):
        name = prefix.format(element)
        values = np.array([0, 1, 7, 100], dtype)
        np.testing.assert_array_equal(functions(f"{name}_splat", values), np.repeat(values, lanes))
        np.testing.assert_array_equal(functions(f"{name}_zero"), np.zeros(lanes, dtype))
        np.testing.assert_array_equal(functions(f"{name}_iota"), np.arange(lanes, dtype=dtype))
        if lanes > 1:
            vectors = np.tile(np.arange(lanes, dtype=dtype), lanes) + np.array(3, dtype)
            picked = functions(f"{name}_lane", vectors, np.arange(lanes))
            np.testing.assert_array_equal(picked, np.arange(lanes, dtype=dtype) + np.array(3, dtype))


@pytest.mark.parametrize("lanes", [8, 16, 32])
def test_mask_splat_and_lane(functions: Functions, lanes: int) -> None:
    got = functions(f"maskx{lanes}_splat", np.array([0, 1, 2]))
    np.testing.assert_array_equal(got, np.repeat([0, -1, -1], lanes))
    mask = np.tile(np.arange(lanes) % 3 == 0, lanes)
    got = functions(f"maskx{lanes}_lane", np.where(mask, -1, 0), np.arange(lanes))
    np.testing.assert_array_equal(got, (np.arange(lanes) % 3 == 0).astype(int))
