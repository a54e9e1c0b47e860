"""Operators of Liger-Kernel as PyPI has them, forward and backward, against torch's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton, pytest.mark.slow]
pytest.importorskip("torch")
pytest.importorskip("triton")
pytest.importorskip("liger_kernel", reason="pip install liger-kernel --no-deps")

SCRIPT = """
import torch
import torch.nn.functional as F
from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction
from liger_kernel.ops.geglu import LigerGELUMulFunction
from liger_kernel.ops.layer_norm import LigerLayerNormFunction
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from liger_kernel.ops.softmax import LigerSoftmaxFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction

torch.manual_seed(0)


def check(name, ours, theirs, *inputs):
    mine = [x.clone().requires_grad_() for x in inputs]
    other = [x.clone().requires_grad_() for x in inputs]
    got, expected = ours(*mine), theirs(*other)
    got = got[0] if isinstance(got, tuple) else got
    gradient = torch.rand_like(expected)
    got.backward(gradient.clone())  # some operators work in place
    expected.backward(gradient)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    for a, b in zip(mine, other):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-4)
    print("right:", name)


x, y, w, b = torch.randn(9, 48), torch.randn(9, 48), torch.rand(48), torch.rand(48)
targets = torch.randint(0, 48, (9,))
check("rms_norm", lambda x, w: LigerRMSNormFunction.apply(x, w, 1e-6),
      lambda x, w: F.rms_norm(x, (48,), w, 1e-6), x, w)
check("layer_norm", lambda *a: LigerLayerNormFunction.apply(*a, 1e-6),
      lambda x, w, b: F.layer_norm(x, (48,), w, b, 1e-6), x, w, b)
check("softmax", LigerSoftmaxFunction.apply, lambda x: F.softmax(x, -1), x)
check("swiglu", LigerSiLUMulFunction.apply, lambda x, y: F.silu(x) * y, x, y)
check("geglu", LigerGELUMulFunction.apply, lambda x, y: F.gelu(x, approximate="tanh") * y, x, y)
check("cross_entropy", lambda x: LigerCrossEntropyFunction.apply(x, targets, None),
      lambda x: F.cross_entropy(x, targets), x)
"""
OPERATORS = ("rms_norm", "layer_norm", "softmax", "swiglu", "geglu", "cross_entropy")


def test_six_operators_are_right_forward_and_backward(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "xdsl_core.cli.main", "run", "--triton", "-b", "cpu_c", str(script)],
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "triton")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"right: {name}" for name in OPERATORS]
