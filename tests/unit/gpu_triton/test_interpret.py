"""Ops and control flow in Triton's interpreter, compared with the reference interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from tests.unit.gpu_triton.pipelines import TARGETS, is_first_of_kind, source_of
from xdsl_conformance.op_cases import mismatch_of
from xdsl_core.backend import Artifact
from xdsl_core.diagnostics import CompilationError, ExecutionError
from xdsl_core.interp import run
from xdsl_core.opdef import OpDef, Sample
from xdsl_core.ops import CORE
from xdsl_core.ops.harness import case_of, is_runnable
from xdsl_core.runtime.pointers import numpy_pointer
from xdsl_core.target.legality import check
from xdsl_gpu_triton.build import SOURCE
from xdsl_gpu_triton.claims import capabilities
from xdsl_gpu_triton.execute import InterpretedKernel
from xdsl_gpu_triton.options import TritonOptions

pytestmark = pytest.mark.triton

TARGET = "gpu_triton:interpret"
PARTS = 4
Chosen = tuple[OpDef, int, Sample]


def chosen(*, every: bool) -> Iterator[Chosen]:
    for definition in CORE:
        if is_runnable(definition):
            for number, sample in enumerate(definition.samples):
                if every or is_first_of_kind(definition, number):
                    yield definition, number, sample


def wrong(cases: list[Chosen]) -> list[str]:
    """What goes wrong, a line a sample; samples that are not claimed or cannot be padded are left out."""
    claims, found = capabilities(TARGETS["interpret"]), []
    for definition, number, sample in cases:
        case = case_of(definition, sample, seed=number)
        if check(case.module, claims, backend="gpu_triton"):
            continue
        try:
            source = source_of(case.module, "interpret")
        except CompilationError as problem:
            if problem.code != "X0732":
                raise
            continue
        kernel = InterpretedKernel(Artifact({SOURCE: source.text.encode()}, source.metadata))
        expected, got = case.fresh_arguments(), case.fresh_arguments()
        run(case.module, (1,), list(expected.values()))
        arguments = tuple(numpy_pointer(array, name) for name, array in got.items())
        kernel.run((1, 1, 1), arguments, TritonOptions())
        text = mismatch_of(definition, sample, case, got, expected)
        if text:
            found.append(f"{definition.name} {number} {dict(sample.types)}: {text}")
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_ops(part: int, capsys: Any) -> None:
    assert not wrong(list(chosen(every=False))[part::PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_every_sample(part: int, capsys: Any) -> None:
    assert not wrong(list(chosen(every=True))[part::16])


@xdsl.jit
def swap_kernel(out, n, A: tl.constexpr):
    a = tl.full([A], 1.0, tl.float32)
    b = tl.arange(0, A).to(tl.float32)
    for _ in range(n):
        a, b = b, a + b
    i = tl.arange(0, A)
    tl.store(out + i, a)
    tl.store(out + A + i, b)


@xdsl.jit
def branches_kernel(out, n, A: tl.constexpr):
    i = tl.arange(0, A)
    total = tl.zeros([A], tl.int32)
    for k in range(n):
        if k % 3 == 0:
            total += i
        else:
            if k % 3 == 1:
                total = total * 2
    steps = n * 10
    while steps > 7:
        total += 1
        steps = steps // 2
    tl.store(out + i, total + steps)


def reference_and_interpret(kernel: Any, make: Any, *args: Any, **meta: Any) -> tuple[Any, Any]:
    results = []
    for backend in ("reference", TARGET):
        out = make()
        kernel.on(backend)[(1,)](out, *args, **meta)
        results.append(out)
    return results[0], results[1]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_values_that_trade_places(n: int) -> None:
    expected, got = reference_and_interpret(swap_kernel, lambda: np.zeros(8, np.float32), n, A=4)
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_branches_and_loops(n: int) -> None:
    expected, got = reference_and_interpret(branches_kernel, lambda: np.zeros(4, np.int32), n, A=4)
    assert got.tolist() == expected.tolist()


@xdsl.jit
def copy_kernel(x, out, n, A: tl.constexpr):
    i = tl.arange(0, A)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def test_views_and_shared_memory_are_copied_back() -> None:
    both = np.arange(12, dtype=np.float32)
    copy_kernel.on(TARGET)[(1,)](both[2:6], both[7:], 3, A=4)
    assert both.tolist() == [0, 1, 2, 3, 4, 5, 6, 2, 3, 4, 10, 11]


@xdsl.jit
def wild_kernel(x, out, A: tl.constexpr):
    i = tl.arange(0, A)
    tl.store(out + i, tl.load(x + (i.to(tl.int64) + 2**44)))


@xdsl.jit
def endless_kernel(x, out, A: tl.constexpr):
    total = tl.load(x)
    while total < 1:
        total = tl.load(x)
    tl.store(out, total)


def test_a_crash_is_an_error_and_the_next_launch_runs() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    with pytest.raises(ExecutionError, match="outside its arguments") as caught:
        wild_kernel.on(TARGET)[(1,)](x, out, A=4)
    assert caught.value.code == "X0736"
    copy_kernel.on(TARGET)[(1,)](x, out, 4, A=4)
    assert out.tolist() == x.tolist()


def test_a_kernel_that_does_not_end_is_stopped() -> None:
    x, out = np.zeros(4, np.float32), np.zeros(4, np.float32)
    copy_kernel.on(TARGET)[(1,)](x, out, 4, A=4)
    with pytest.raises(ExecutionError, match="did not end within") as caught:
        endless_kernel.on(TARGET)[(1,)](x, out, A=4, timeout_seconds=0.5)
    assert caught.value.code == "X0736"


def test_bfloat16_arithmetic_is_refused_with_the_reason() -> None:
    import ml_dtypes

    x = np.ones(4, ml_dtypes.bfloat16)

    @xdsl.jit
    def double_kernel(x, A: tl.constexpr):
        i = tl.arange(0, A)
        tl.store(x + i, tl.load(x + i) + tl.load(x + i))

    with pytest.raises(CompilationError, match="X0610") as caught:
        double_kernel.on(TARGET)[(1,)](x, A=4)
    assert "on the bits" in caught.value.diagnostics[0].label
    assert "tl.float32" not in str(caught.value)
