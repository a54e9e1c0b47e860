"""The text that gpu_triton writes: golden files of whole kernels, and what must be so in any kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from examples import flash_attention, fused_softmax, matmul
from tests.unit.gpu_triton.pipelines import body_of, source_of, text_of
from xdsl_core.cli.signature import parse_signature
from xdsl_core.dtypes import bf16, f16, f32, i32
from xdsl_core.frontend.specs import Constant, PointerSpec, ScalarSpec
from xdsl_gpu_triton.codegen.names import Names
from xdsl_gpu_triton.codegen.text import SUM, Text, stored

EXAMPLES = (
    (matmul, "matmul_kernel"),
    (fused_softmax, "softmax_kernel"),
    (flash_attention, "attention_kernel"),
)


@pytest.mark.parametrize(("module", "name"), EXAMPLES, ids=[name for _, name in EXAMPLES])
def test_golden_source(module: Any, name: str, golden: Callable[[str, str], None]) -> None:
    text = text_of(getattr(module, name), parse_signature(module.SIGNATURES[name]))
    golden(f"gpu_triton/{name}.py.txt", text)


@pytest.mark.parametrize(("module", "name"), EXAMPLES, ids=[name for _, name in EXAMPLES])
def test_source_is_the_same_every_time_and_python(module: Any, name: str) -> None:
    specs = parse_signature(module.SIGNATURES[name])
    texts = {text_of(getattr(module, name), specs) for _ in range(2)}
    assert len(texts) == 1
    ast.parse(texts.pop())


@xdsl.jit
def update_kernel(x, out, n, A: tl.constexpr):
    i = tl.arange(0, A)
    place = x + i
    total = tl.zeros([A], tl.float32)
    for _ in range(n):
        total += tl.load(place)
        place += A
    tl.store(out + i, total)


def test_carried_values_are_updated_in_place() -> None:
    specs = {"x": PointerSpec(f32), "out": PointerSpec(f32), "n": ScalarSpec(i32), "A": Constant(8)}
    body = body_of(text_of(update_kernel, specs))
    assert body == [
        "i = tl.arange(0, 8)",
        "place = x + i",
        "total = tl.zeros((8,), dtype=tl.float32)",
        "for _ in range(0, n):",
        "    total += tl.load(place)",
        "    place += 8",
        "tl.store(out + i, total)",
    ]


@xdsl.jit
def trade_kernel(out, n):
    a = 1
    b = 2
    for _ in range(n):
        a, b = b, a
    tl.store(out, a)
    tl.store(out + 1, b)


def test_values_that_trade_places_do_so_at_once() -> None:
    body = body_of(text_of(trade_kernel, {"out": PointerSpec(i32), "n": ScalarSpec(i32)}))
    assert "    a, b = b, a" in body


@xdsl.jit
def hints_kernel(x, n):
    for k in tl.range(0, n, num_stages=4, flatten=True):
        tl.store(x + k, k, eviction_policy="evict_first", cache_modifier=".cg")


def test_hints_become_those_of_triton() -> None:
    body = body_of(text_of(hints_kernel, {"x": PointerSpec(i32), "n": ScalarSpec(i32)}))
    assert body == [
        "for k in tl.range(0, n, num_stages=4, flatten=True):",
        '    tl.store(x + k, k, cache_modifier=".cg", eviction_policy="evict_first")',
    ]


def test_hints_that_triton_does_not_have_leave_a_note() -> None:
    from xdsl_core.frontend.python.build import build_module
    from xdsl_core.ops import For

    module = build_module(hints_kernel, {"x": PointerSpec(i32), "n": ScalarSpec(i32)})
    loop = next(op for op in module.walk() if op.definition is For)
    loop.attributes["hints"] = {"multi_buffer": 2}
    text = source_of(module).text
    assert "Note: hint multi_buffer=2 of the loop in line" in text


@xdsl.jit
def halves_kernel(x, out, A: tl.constexpr):
    i = tl.arange(0, A)
    tl.store(out + i, tl.load(x + i) / 3)


def test_narrow_quotients_are_rounded_from_f32() -> None:
    specs = {"x": PointerSpec(f16), "out": PointerSpec(f16), "A": Constant(8)}
    assert "tl.div_rn(" in text_of(halves_kernel, specs)
    specs = {"x": PointerSpec(bf16), "out": PointerSpec(bf16), "A": Constant(8)}
    assert ".to(tl.bfloat16)" in text_of(halves_kernel, specs)


def test_numbers_of_lines_are_those_of_the_kernel() -> None:
    specs = {"x": PointerSpec(f32), "out": PointerSpec(f32), "n": ScalarSpec(i32), "A": Constant(8)}
    from xdsl_core.frontend.python.build import build_module

    source = source_of(build_module(update_kernel, specs))
    lines = source.text.splitlines()
    number = next(i for i, line in enumerate(lines) if "total += tl.load(place)" in line)
    file, line, _ = source.metadata["lines"][str(number + 1)]
    with open(file, encoding="utf-8") as kernel:
        assert "total += tl.load(place)" in kernel.read().splitlines()[line - 1]


def test_parameters_have_triton_types() -> None:
    @xdsl.jit
    def scalars_kernel(out, a: tl.int64, b: tl.float16, c):
        tl.store(out, a + b.to(tl.int64) + c)

    from xdsl_core import dtypes
    from xdsl_core.frontend.python.build import build_module

    specs = {
        "out": PointerSpec(dtypes.i64, True), "a": ScalarSpec(dtypes.i64), "b": ScalarSpec(f16),
        "c": ScalarSpec(i32, True),
    }  # fmt: skip
    source = source_of(build_module(scalars_kernel, specs))
    assert "def scalars_kernel(out, a: tl.int64, b: tl.float16, c):" in source.text
    assert source.metadata["parameters"] == [
        ["out", "*i64", True], ["a", "i64", False], ["b", "fp16", False], ["c", "i32", True],
    ]  # fmt: skip


def test_names_differ_and_are_no_words_of_python() -> None:
    names = Names({"multiply"})
    given = [names.fresh(wanted) for wanted in ("x", "x", "x_1", "for", "tl", "multiply", "1 a", "")]
    assert len(set(given)) == len(given)
    assert all(name.isidentifier() for name in given)
    assert given[0] == "x"
    assert not {"for", "tl", "multiply"} & set(given)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("x + 4", "x += 4"),
        ("x + (a + b)", "x += (a + b)"),
        ("x + a + b", "x = x + a + b"),
        ("x_2 + 4", "x = x_2 + 4"),
    ],
)
def test_updates_keep_the_order_of_sums(text: str, statement: str) -> None:
    assert stored("x", Text(text, SUM)) == statement


def test_float_literals_are_the_numbers_they_were() -> None:
    from xdsl_core import dtypes
    from xdsl_gpu_triton.codegen.literals import literal

    for value in (0.1, 1e-40, 3.4e38, -0.0, 1 / 3, 1e30, 5e-324):
        for dtype in (dtypes.f32, dtypes.f64):
            rounded = float(np.asarray(value).astype(dtype.numpy))
            assert dtype.numpy.type(eval(literal(rounded, dtype).text)) == dtype.numpy.type(rounded)
