"""Kernels as operators of PyTorch: eager, with gradients, under torch.compile."""

from __future__ import annotations

from typing import Any

import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from xdsl_core.diagnostics import LaunchError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
xt = pytest.importorskip("xdsl_core.torch")


@xdsl.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + i, powers / tl.sum(powers, 0), mask=i < columns)


@xdsl.jit
def softmax_backward_kernel(y, grad, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    values = tl.load(y + row * columns + i, mask=inside, other=0.0)
    slopes = tl.load(grad + row * columns + i, mask=inside, other=0.0)
    tl.store(out + row * columns + i, values * (slopes - tl.sum(values * slopes, 0)), mask=inside)


@xdsl.jit
def add_kernel(x, n, amount, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + amount, mask=i < n)


@xt.custom_op("xdsl_test::softmax")
def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    block = xdsl.next_power_of_2(x.shape[1])
    softmax_kernel.on("reference")[(x.shape[0],)](x.contiguous(), out, x.shape[1], block)
    return out


@xt.custom_op("xdsl_test::softmax_backward")
def softmax_backward(y: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(y)
    block = xdsl.next_power_of_2(y.shape[1])
    softmax_backward_kernel.on("reference")[(y.shape[0],)](y, grad.contiguous(), out, y.shape[1], block)
    return out


@softmax.backward
def _(saved: Any, grad: torch.Tensor) -> torch.Tensor:
    return softmax_backward(saved.outputs[0], grad)


@xt.custom_op("xdsl_test::add_in_place", mutates_args=("x",))
def add_in_place(x: torch.Tensor, amount: float) -> None:
    add_kernel.on("reference")[(xdsl.cdiv(x.numel(), 8),)](x, x.numel(), amount, 8)


@xt.custom_op("xdsl_test::wrong_gradients")
def wrong_gradients(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.clone()


@wrong_gradients.backward
def _(saved: Any, grad: torch.Tensor) -> torch.Tensor:
    return grad


def test_an_operator_computes_what_its_kernels_do() -> None:
    x = torch.randn(3, 5)
    torch.testing.assert_close(softmax(x), torch.softmax(x, 1))
    torch.testing.assert_close(torch.ops.xdsl_test.softmax(x), torch.softmax(x, 1))


def test_gradients_are_those_of_the_backward_function() -> None:
    x = torch.randn(3, 5, requires_grad=True)
    weight = torch.randn(3, 5)
    (softmax(x) * weight).sum().backward()
    y = x.detach().clone().requires_grad_()
    (torch.softmax(y, 1) * weight).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_torch_finds_nothing_wrong_with_the_operators() -> None:
    x = torch.randn(3, 5, requires_grad=True)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(softmax.definition, (x,), test_utils=tests)
    torch.library.opcheck(add_in_place.definition, (torch.randn(5), 2.0), test_utils=tests)


def test_shapes_are_known_without_running_a_kernel() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        found = softmax(torch.empty(4, 6))
    assert found.shape == (4, 6)
    assert softmax(torch.empty(4, 6, device="meta")).shape == (4, 6)


@pytest.mark.slow
def test_compiled_models_call_the_operator() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return (softmax(torch.relu(x) * 2) * x).sum(1)

    x = torch.randn(3, 5, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    wanted = (torch.softmax(torch.relu(y) * 2, 1) * y).sum(1)
    found = torch.compile(model, backend="aot_eager", fullgraph=True)(x)
    torch.testing.assert_close(found, wanted)
    found.sum().backward()
    wanted.sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_an_argument_may_be_changed_in_place() -> None:
    x = torch.zeros(5)
    add_in_place(x, 2.5)
    assert x.tolist() == [2.5] * 5


def test_each_argument_needs_a_gradient_or_none() -> None:
    x = torch.randn(3, requires_grad=True)
    with pytest.raises(LaunchError, match="X0517"):
        wrong_gradients(x, x).sum().backward()
