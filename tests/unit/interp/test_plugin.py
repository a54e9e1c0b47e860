"""The backend `reference`, from a kernel's source to its results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core import dtypes
from xdsl_core.backend import Available, default_registry
from xdsl_core.diagnostics import ExecutionError
from xdsl_core.ops import opset


@xdsl.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v * 2, mask=i < n)


@xdsl.jit
def careless(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.max(v, axis=0))


def line_of(text: str, after: str = "") -> int:
    """The first line of this file that holds a text, below the line that holds another."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(lines) if after and after in line), 0)
    return next(number for number, line in enumerate(lines[start:], start + 1) if text in line)


def test_it_is_found_and_claims_everything() -> None:
    handle = default_registry().get("reference")
    assert isinstance(handle.availability(), Available)
    target = handle.target()
    assert str(target.target) == "reference:numpy"
    claims = handle.capabilities(target)
    for definition in opset():
        for dtype in dtypes.ALL:
            assert claims.supports(definition.name, (dtype.name,)) is None
    assert handle.pipeline(target, handle.options({})).names == ()


@pytest.mark.parametrize("check", [False, True])
def test_a_kernel_runs(check: bool) -> None:
    x = np.arange(100, dtype=np.float32)
    out = np.zeros(100, np.float32)
    scale.on("reference")[(4,)](x, out, 100, BLOCK=32, check=check)
    np.testing.assert_array_equal(out, 2 * x)


def test_errors_point_into_the_kernel() -> None:
    x, out = np.arange(100, dtype=np.float32), np.zeros(90, np.float32)
    with pytest.raises(ExecutionError) as caught:
        scale.on("reference")[(4,)](x, out, 100, BLOCK=32)
    text = str(caught.value)
    assert "X0401" in text
    assert "writes element 90 of out" in text
    assert "tl.store(out + i, v * 2, mask=i < n)" in text
    assert f"test_plugin.py:{line_of('tl.store(out + i')}" in text
    assert "in program (2, 0, 0)" in text


def test_checks_are_an_option() -> None:
    x, out = -np.ones(5, np.float32), np.zeros(1, np.float32)
    careless.on("reference")[(1,)](x, out, 5, BLOCK=8)
    with pytest.raises(ExecutionError) as caught:
        careless.on("reference")[(1,)](x, out, 5, BLOCK=8, check=True)
    text = str(caught.value)
    assert "X0403" in text
    load, store = line_of("tl.load", after="def careless"), line_of("tl.store(out, tl.max")
    assert f"test_plugin.py:{load}" in text.split("masked off in the load at")[1]
    assert f"test_plugin.py:{store}" in text
