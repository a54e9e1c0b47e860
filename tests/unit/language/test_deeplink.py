"""DLCompiler's extensions: lambdas, tasks and flags, sub-blocks, hints, custom ops, the device library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
import xdsl_core.language.extra.deeplink as dl
from tests.unit.language.running import build, evaluate, function_from
from xdsl_core import dtypes, ops
from xdsl_core.diagnostics import CompilationError
from xdsl_core.frontend.python.build import build_module
from xdsl_core.frontend.python.source import JitSource
from xdsl_core.frontend.specs import PointerSpec
from xdsl_core.ir import parse_module, print_module

NAMES = {"dl": dl}


def launched(kernel: Any, *args: Any, n: int = 8) -> list[float]:
    out = np.zeros(n, np.float32)
    kernel.on("reference")[(1,)](out, *args)
    return out.tolist()


def wrong(body: str, *args: Any) -> str:
    text = "def kernel(x, n):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    with pytest.raises(CompilationError) as problem:
        build(function_from(text, **NAMES), np.zeros(8, np.float32), 5)
    return str(problem.value)


@xdsl.jit
def apply_twice(f, a):
    return f(f(a, 1), b=2)


@xdsl.jit
def lambdas(out, n):
    i = tl.arange(0, 8)
    scale = n * 2
    times = lambda a, b=3: a * scale + b  # noqa: E731
    scale = 0
    v = apply_twice(times, i) + times(1)
    for k in range(n):
        v += times(k)
    tl.store(out + i, v + tl.reduce(i, 0, lambda a, b: a + b) + scale)


def test_a_lambda_keeps_the_values_its_names_had() -> None:
    n, i = 2, np.arange(8)
    wanted = ((i * 4 + 1) * 4 + 2) + (4 + 3) + sum(k * 4 + 3 for k in range(n)) + i.sum()
    assert launched(lambdas, n) == wanted.tolist()


@pytest.mark.parametrize(
    ("call", "code"),
    [("f(n)", "X0112"), ("f(n, n, n)", "X0112"), ("f(n, c=1)", "X0112"), ("f(n, a=n)", "X0112")],
)
def test_a_lambda_takes_its_parameters(call: str, code: str) -> None:
    assert code in wrong(f"f = lambda a, b: a + b\n{call}")


@xdsl.jit
def tasks(out, n):
    i = tl.arange(0, 4)
    for s in dl.parallel(2, bind_sub_block=True):
        with dl.async_task(scope=dl.async_task.cube):
            v = i * 2 + s
            dl.set_cross_flag(dl.SyncFlag.C2V, 3)
        with dl.async_task(scope=dl.async_task.vector):
            dl.wait_cross_flag(dl.SyncFlag.C2V, 3)
            tl.store(out + s * 4 + i, v + n)


def test_tasks_run_where_they_stand() -> None:
    assert launched(tasks, 5) == [5, 7, 9, 11, 6, 8, 10, 12]


def test_a_loop_over_sub_blocks_says_so() -> None:
    module = build_module(tasks, {"out": PointerSpec(dtypes.f32)} | {"n": xdsl.Constant(1)})
    (loop,) = (op for op in module.walk() if op.definition is ops.For)
    assert dict(loop.attributes["hints"]) == {"bind_sub_block": True}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("dl.wait_cross_flag(dl.SyncFlag.V2C, 1)", "X0163"),
        ("dl.sync_block_all('all', 0)", "X0163"),
        ("dl.sync_block_all('some', 0)", "X0138"),
        ("dl.set_cross_flag(dl.SyncFlag.V2C, 16)", "X0138"),
        ("dl.set_cross_flag('sideways', 1)", "X0138"),
        ("with dl.async_task(scope='scalar'):\n    pass", "X0110"),
        ("with n:\n    pass", "X0104"),
        ("dl.compile_hint(n, 'dot_pad_only_m')", "did you mean 'dot_pad_only_k'"),
        ("dl.compile_hint(n, 'dot_pad_only_k', 3)", "X0162"),
        ("dl.compile_hint(n, 'multi_buffer', 3)", "X0162"),
        ("dl.multibuffer(n, 3)", "X0162"),
        ("dl.custom('acme.fancy', n)", "X0164"),
    ],
)
def test_mistakes_are_named(body: str, code: str) -> None:
    assert code in wrong(body)


@xdsl.jit
def hinted(out, n):
    i = tl.arange(0, 8)
    tile = dl.alloc((8,), 1.5, tl.float32, layout=dl.ND, scope=dl.UB)
    dl.compile_hint(tile, "dot_pad_only_k")
    dl.compile_hint(tile, "dot_pad_only_k", True)
    dl.multibuffer(tile, 2)
    tl.store(out + i, tile + n)


def test_hints_are_told_and_what_became_of_them() -> None:
    out = np.zeros(8, np.float32)
    done = hinted.on("reference")[(1,)](out, 2)
    assert out.tolist() == [3.5] * 8
    assert done is not None
    assert done.hints == {
        "layout=ND": False,
        "scope=UB": False,
        "dot_pad_only_k": False,
        "multi_buffer=2": False,
    }


def test_hints_are_part_of_the_ir() -> None:
    specs = {"out": PointerSpec(dtypes.f32), "n": xdsl.Constant(1)}
    text = print_module(build_module(hinted, specs))
    assert print_module(parse_module(text, ops.opset())) == text
    assert '"dot_pad_only_k"' in text


def test_an_op_of_a_backends_own_is_made_by_name() -> None:
    def kernel(x):
        i = tl.arange(0, 8)
        tl.store(x + i, dl.custom("acme.negate", tl.load(x + i)))
        tl.custom("acme.negate", 1.0)

    specs = {"x": PointerSpec(dtypes.f32)}
    module = build_module(JitSource(kernel), specs, operations={"acme.negate": ops.Neg})
    assert [str(op.result.type) for op in module.walk() if op.definition is ops.Neg] == ["tile<8xf32>", "f32"]
    with pytest.raises(CompilationError, match="did you mean 'acme"):
        build_module(JitSource(kernel), specs, operations={"acme.negat": ops.Neg})


FLOATS = np.array([-2.5, -0.5, 0.5, 1.5, 2.5, 0.75, -1.25, 4.0], np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("dl.libdevice.reciprocal(x)", lambda x: 1 / x),
        ("dl.libdevice.log1p(tl.abs(x))", lambda x: np.log1p(np.abs(x))),
        ("dl.libdevice.relu(x)", lambda x: np.maximum(x, 0)),
        ("dl.libdevice.isinf(x / 0)", lambda x: np.ones(8, bool)),
        ("dl.libdevice.isnan(x * 0 / 0)", lambda x: np.ones(8, bool)),
        ("dl.libdevice.tan(x)", np.tan),
        ("dl.libdevice.atan(x)", np.arctan),
        ("dl.libdevice.tanh(x)", np.tanh),
        ("dl.libdevice.ilogb(x)", lambda x: np.floor(np.log2(np.abs(x)))),
        ("dl.libdevice.ldexp(x, x * 2)", lambda x: x * np.exp2(x * 2)),
        ("dl.libdevice.pow(tl.abs(x), x)", lambda x: np.abs(x) ** x),
        ("dl.libdevice.pow(tl.abs(x), 1.5)", lambda x: np.abs(x) ** 1.5),
        ("dl.libdevice.ldexp(x, 2)", lambda x: x * 4),
        ("dl.libdevice.atan2(x, x * x)", lambda x: np.arctan2(x, x * x)),
        ("dl.libdevice.rint(x)", np.rint),
        ("dl.libdevice.isfinited(x * 0 / 0)", lambda x: np.zeros(8, bool)),
        ("dl.get_element(x, (3,)) + x * 0", lambda x: x * 0 + x[3]),
        ("dl.libdevice.round(x)", lambda x: np.trunc(x + np.copysign(0.5, x))),
        ("dl.flip(x)", lambda x: x[::-1]),
    ],
)
def test_the_device_library(expression: str, wanted: Any, dtype: Any) -> None:
    x = FLOATS.astype(dtype)
    expected = wanted(FLOATS.astype(np.float64))
    found = evaluate(expression, x, **NAMES)
    assert found.dtype == (bool if expected.dtype == bool else dtype)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-3 if dtype is np.float16 else 1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_integer_powers_wrap(dtype: Any) -> None:
    x, y = np.array([2, -3, 5, 0], dtype), np.array([5, 3, 9, 0], dtype)
    found = evaluate("dl.libdevice.pow(x, y)", x, y, **NAMES)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x**y)
