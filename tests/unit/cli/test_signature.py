"""Signatures: what they can say, and that each mistake is pointed at."""

from __future__ import annotations

import pytest

from xdsl_core import dtypes
from xdsl_core.cli.signature import check_names, parse_signature
from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.specs import Constant, PointerSpec, ScalarSpec


def test_arguments_and_constants() -> None:
    text = (
        "x: *f32, y : * bf16:16, n: i32, m: i64:16, scale: fp32, "
        "BLOCK=1024, NAME='a, b', FLAGS=(1, 2), OUT=None"
    )
    assert parse_signature(text) == {
        "x": PointerSpec(dtypes.f32),
        "y": PointerSpec(dtypes.bf16, divisible_by_16=True),
        "n": ScalarSpec(dtypes.i32),
        "m": ScalarSpec(dtypes.i64, divisible_by_16=True),
        "scale": ScalarSpec(dtypes.f32),
        "BLOCK": Constant(1024),
        "NAME": Constant("a, b"),
        "FLAGS": Constant((1, 2)),
        "OUT": Constant(None),
    }


def test_a_dtype_is_a_constant() -> None:
    (spec,) = parse_signature("OUT=tl.float16").values()
    assert isinstance(spec, Constant)
    assert str(spec.value) == "fp16"


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_nothing_is_a_signature(text: str) -> None:
    assert parse_signature(text) == {}


@pytest.mark.parametrize(
    ("text", "column", "label"),
    [
        ("x: *f32, n", 10, "cannot read 'n'"),
        ("x: *f33", 1, "no dtype 'f33'; near: f32"),
        ("n: i32, n: i64", 9, "n is given twice"),
        ("x: *f32:8", 1, "only :16"),
        ("BLOCK=x", 1, "x is no number"),
        ("BLOCK=[1]", 1, "[1] is no number"),
        ("x: *f32, : i32", 10, "cannot read"),
    ],
)
def test_a_mistake_is_pointed_at(text: str, column: int, label: str) -> None:
    with pytest.raises(CompilationError) as caught:
        parse_signature(text)
    assert caught.value.code == "X0805"
    rendered = str(caught.value)
    assert f"<signature>:1:{column}" in rendered
    assert label in rendered
    assert text in rendered


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(CompilationError) as caught:
        parse_signature("x: *f33, n, BLOCK=1")
    assert len(caught.value.diagnostics) == 2


def test_names_are_the_kernels() -> None:
    check_names("k", ("x", "n", "BLOCK"), ("BLOCK",), {"x": 1, "n": 2})
    with pytest.raises(CompilationError) as caught:
        check_names("k", ("x", "number", "BLOCK"), ("BLOCK",), {"x": 1, "numbr": 2})
    assert caught.value.code == "X0806"
    unknown, missing = map(str, caught.value.diagnostics[0].notes + caught.value.diagnostics[1].notes)
    assert "did you mean 'number'?" in unknown
    assert "as name=value" in missing
    assert "says nothing of number" in caught.value.diagnostics[1].message
