"""Reductions of vectors to scalars, argmax and argmin, and tests over masks."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.cpu_c.vector_harness import NUMPY, Array, Functions, build, compiler
from xdsl_cpu_c.vector import ELEMENTS, prelude
from xdsl_cpu_c.vector.reductions import ROWS

pytestmark = [pytest.mark.compiler, pytest.mark.skipif(compiler() is None, reason="no C compiler")]

LANES = (8, 16, 32)
TABLE = [(row.name, element.name) for row in ROWS for element in row.elements]
EXPECTED: dict[str, Callable[..., Any]] = {
    "hsum": np.add,
    "hprod": np.multiply,
    "hmax": np.fmax,
    "hmin": np.fmin,
    "hmax_nan": np.maximum,
    "hmin_nan": np.minimum,
    "hand": np.bitwise_and,
    "hor": np.bitwise_or,
    "hxor": np.bitwise_xor,
}


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    names = [f"{element}x{lanes}_{name}" for name, element in TABLE for lanes in LANES]
    names += [f"maskx{lanes}_{name}" for lanes in LANES for name in ("any", "all", "count")]
    return Functions(tmp_path_factory.mktemp("reductions"), names)


def samples(element: str) -> Array:
    dtype, random = NUMPY[element], np.random.default_rng(9)
    if dtype.kind == "f":
        # small powers of two and small integers: sums and products are exact in any order
        x = (random.integers(1, 5, 64 * 32) * 2.0 ** random.integers(-2, 1, 64 * 32)).astype(dtype)
        x *= random.choice(np.array([-1, 1], dtype), x.size)
        return x
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, 64 * 32, dtype=dtype, endpoint=True)


@pytest.mark.parametrize(("name", "element"), TABLE)
def test_reduction(functions: Functions, name: str, element: str) -> None:
    x = samples(element)
    if name == "hprod" and x.dtype.kind == "f":
        x = np.where(np.abs(x) > 1, np.sign(x) * 2, np.sign(x) * np.array(0.5, x.dtype)).astype(x.dtype)
    if "max" in name or "min" in name:
        x = x.copy()
        if x.dtype.kind == "f":
            x[::17], x[:32], x[32] = np.nan, np.nan, -0.0
    for lanes in LANES:
        rows = x.reshape(-1, lanes).T
        with np.errstate(over="ignore"):
            expected = reduce(EXPECTED[name], list(rows))
        np.testing.assert_array_equal(functions(f"{element}x{lanes}_{name}", x), expected.astype(x.dtype))


@pytest.mark.parametrize("lanes", LANES)
def test_mask_tests(functions: Functions, lanes: int) -> None:
    mask = np.random.default_rng(1).integers(0, 2, (64, lanes))
    mask[0], mask[1], mask[2], mask[2, -1] = 0, 1, 0, 1
    flat = -mask.ravel()
    np.testing.assert_array_equal(functions(f"maskx{lanes}_any", flat), mask.any(1))
    np.testing.assert_array_equal(functions(f"maskx{lanes}_all", flat), mask.all(1))
    np.testing.assert_array_equal(functions(f"maskx{lanes}_count", flat), mask.sum(1))


def argument_driver(element: str, lanes: int, name: str) -> tuple[str, list[str]]:
    vector, c = f"{element}x{lanes}", ELEMENTS[element].c
    needs = [f"{vector}_{name}", f"load_{element}_{vector}", f"load_i32_i32x{lanes}"]
    text = f"""
int32_t drive_{vector}_{name}(const {c} *x, const int32_t *index, {c} *value) {{
    return {vector}_{name}(load_{element}_{vector}(x), load_i32_i32x{lanes}(index), value);
}}
"""
    return text, needs


def test_argmax_and_argmin(tmp_path: Path) -> None:
    """The smallest index wins a tie whatever its lane; NaN is skipped, or found first by the _nan forms."""
    names = ("hargmax", "hargmin", "hargmax_nan", "hargmin_nan")
    cases = [(element, lanes, name) for element in ELEMENTS for lanes in LANES for name in names]
    drivers = [argument_driver(*case) for case in cases]
    library = build(
        tmp_path, prelude(n for _, needs in drivers for n in needs) + "".join(t for t, _ in drivers)
    )
    random = np.random.default_rng(6)
    for element, lanes, name in cases:
        call = getattr(library, f"drive_{element}x{lanes}_{name}")
        x = random.integers(0, 5, lanes).astype(NUMPY[element])
        contents = [x]
        if x.dtype.kind == "f":
            holes = x.copy()
            holes[[1, 4]] = np.nan
            contents += [holes, np.full_like(x, np.nan)]
        for values in contents:
            index = random.permutation(lanes).astype(np.int32)
            value = np.zeros(1, x.dtype)
            got = call(*(a.ctypes.data_as(__import__("ctypes").c_void_p) for a in (values, index, value)))
            choose = EXPECTED[name.replace("arg", "")]
            best = reduce(choose, values)
            lanes_found = np.isnan(values) if best != best else values == best
            assert got == index[lanes_found].min(), (element, lanes, name)
            np.testing.assert_array_equal(value[0], best)
