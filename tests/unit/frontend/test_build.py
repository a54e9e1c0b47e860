"""Modules: parameters, names, places, and errors that no text of a kernel reaches."""

from __future__ import annotations

import numpy as np
import pytest

import xdsl_core.language as tl
from tests.unit.language.running import build
from xdsl_core import dtypes
from xdsl_core.diagnostics import CompilationError, render
from xdsl_core.frontend.python.build import build_module
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.frontend.specs import Constant, PointerSpec, ScalarSpec
from xdsl_core.ir import Module


def _outer(x):
    return _jit_inner(x) + 1.0


def _inner(x):
    doubled = x * 2.0
    return doubled  # noqa: RET504 (its name is tested)


_jit_inner = JitSource(_inner)
jit_outer = JitSource(_outer)


def names(module: Module) -> list[str]:
    return [value.name for op in module.walk() for value in op.results if value.name]


def test_parameters_are_the_arguments_that_are_no_constants() -> None:
    def kernel(x, n, flag, scale, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), scale, mask=tl.arange(0, BLOCK) < n)

    module = build_module(
        JitSource(kernel),
        {
            "x": PointerSpec(dtypes.f32, divisible_by_16=True),
            "n": ScalarSpec(dtypes.i64, divisible_by_16=True),
            "flag": Constant(None),
            "scale": ScalarSpec(dtypes.f32),
            "BLOCK": Constant(8),
        },
    )
    (function,) = module.functions.values()
    assert function.name == "kernel"
    assert [(value.name, str(value.type)) for value in function.parameters] == [
        ("x", "ptr<f32>"),
        ("n", "i64"),
        ("scale", "f32"),
    ]
    assert function.parameter_attributes == [{"divisible_by": 16}, {"divisible_by": 16}, {}]
    assert function.block.ops[-1].name == "control.return"


def test_defaults_fill_arguments_that_are_left_out() -> None:
    def kernel(x, BLOCK: tl.constexpr = 4, offset=tl.constexpr(2)):  # noqa: B008
        tl.store(x + tl.arange(0, BLOCK), offset)

    module = build(kernel, np.zeros(4, np.float32))
    assert [str(op.attributes["end"]) for op in module.walk() if op.name == "tile.arange"] == ["4"]


def test_arguments_that_do_not_fit() -> None:
    def kernel(x, n):
        tl.store(x, n)

    source = JitSource(kernel)
    for arguments, text in (
        ({"x": PointerSpec(dtypes.f32)}, "no argument for n"),
        ({"x": Constant(1), "n": Constant(1), "m": Constant(1)}, "no parameter m"),
    ):
        with pytest.raises(CompilationError) as caught:
            build_module(source, arguments)
        assert caught.value.code == "X0147"
        assert text in str(caught.value)


def test_values_are_named_after_variables() -> None:
    def kernel(x):
        offsets = tl.arange(0, 8)
        values = tl.load(x + offsets)
        same = values
        first, second = values + 1.0, values * 2.0
        tl.store(x + offsets, same + jit_outer(first) + second)

    assert [name for name in names(build(kernel, np.zeros(8, np.float32))) if name] == [
        "offsets",
        "values",
        "first",
        "second",
        "doubled",
    ]


def test_places_of_helpers_carry_the_chain_of_calls() -> None:
    def kernel(x):
        tl.store(x, jit_outer(tl.load(x)))

    module = build(kernel, np.zeros(1, np.float32))
    (product,) = [op for op in module.walk() if op.name == "tile.mul"]
    assert product.location.function == "_inner"
    assert [caller.function for caller in product.location.callers] == ["_outer", "kernel"]
    assert all(not caller.callers for caller in product.location.callers)


def test_functions_of_the_language_stand_where_they_are_called() -> None:
    def kernel(x):
        tl.store(x, tl.sigmoid(tl.load(x)))

    module = build(kernel, np.zeros(1, np.float32))
    assert {op.location.function for op in module.walk()} == {"kernel"}


def test_mistakes_in_helpers_show_how_they_were_reached() -> None:
    def broken(x):
        return x + missing  # noqa: F821

    helper = JitSource(broken)

    def kernel(x):
        tl.store(x, helper(tl.load(x)))

    with pytest.raises(CompilationError) as caught:
        build(kernel, np.zeros(1, np.float32))
    text = str(caught.value)
    assert "return x + missing" in text
    assert f"called from {__file__}:" in text
    assert "in kernel" in text


def test_mistakes_are_reported_once_and_at_most_ten_of_them() -> None:
    def wrong(x):
        return x + missing  # noqa: F821

    helper = JitSource(wrong)

    def repeated(x):
        for _ in tl.static_range(5):
            helper(tl.load(x))
        tl.store(x, helper(tl.load(x)))

    with pytest.raises(CompilationError) as caught:
        build(repeated, np.zeros(1, np.float32))
    assert len(caught.value.diagnostics) == 1

    def many(x):
        a, b, c, d = u0, u1, u2, u3  # noqa: F821
        e = u1  # noqa: F821
        f = u2  # noqa: F821
        g = u3  # noqa: F821
        h = u4  # noqa: F821
        i = u5  # noqa: F821
        j = u6  # noqa: F821
        k = u7  # noqa: F821
        m = u8  # noqa: F821
        n = u9  # noqa: F821
        o = u10  # noqa: F821
        p = u11  # noqa: F821
        tl.store(x, a + b + c + d + e + f + g + h + i + j + k + m + n + o + p)

    with pytest.raises(CompilationError) as caught:
        build(many, np.zeros(1, np.float32))
    assert [problem.code for problem in caught.value.diagnostics] == ["X0103"] * 10


def test_assertions_are_compiled_in_for_debugging() -> None:
    def kernel(x, n):
        assert n > 0, "n is positive"
        tl.device_assert(tl.load(x) > 0, f"x is {x.dtype.element_ty}", mask=n > 1)

    array = np.ones(1, np.float32)
    assert not [op for op in build(kernel, array, 3).walk() if op.name == "debug.assert"]
    checks = [op for op in build(kernel, array, 3, debug=True).walk() if op.name == "debug.assert"]
    assert [op.attribute("message") for op in checks] == ["n is positive", "x is fp32"]
    assert [len(op.operands) for op in checks] == [1, 2]


def test_a_failure_of_the_compiler_names_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(context, x: Operand):  # noqa: F821
        raise KeyError("a mistake of ours")

    failing = tl.builtin(fails)

    def kernel(x):
        failing(x)

    monkeypatch.delenv("XDSL_DEBUG", raising=False)
    with pytest.raises(CompilationError) as caught:
        build(kernel, np.zeros(1, np.float32))
    (problem,) = caught.value.diagnostics
    assert problem.code == "X0199"
    assert "failing(x)" in render(problem)
    monkeypatch.setenv("XDSL_DEBUG", "1")
    with pytest.raises(KeyError, match="a mistake of ours"):
        build(kernel, np.zeros(1, np.float32))


def test_jit_functions_and_dtypes_as_arguments() -> None:
    def kernel(x, function, element):
        tl.store(x, function(tl.load(x).to(element)))

    module = build(kernel, np.zeros(1, np.float32), _jit_inner, tl.float16)
    assert [str(op.result.type) for op in module.walk() if op.name == "tile.mul"] == ["f16"]


def test_numpy_numbers_are_compile_time_numbers() -> None:
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 0.0)

    source = JitSource(kernel)
    module = build_module(source, {"x": PointerSpec(dtypes.f32), "BLOCK": Constant(np.int64(4))})
    assert [op.attributes["end"] for op in module.walk() if op.name == "tile.arange"] == [4]
