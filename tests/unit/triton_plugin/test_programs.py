"""Unmodified programs of stock Triton on this package's backends, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
pytest.importorskip("torch")
pytest.importorskip("triton")

SCRIPT = """
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": b, "waves_per_eu": 2}, num_warps=4) for b in (64, 128)], key=["n"]
)
@triton.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def matmul(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    product = tl.dot(tl.load(a + m * K + k[None, :]), tl.load(b + k[:, None] * N + n))
    tl.store(c + m * N + n, product)


x = torch.rand(300)
out = torch.zeros_like(x)
grid = lambda meta: (triton.cdiv(300, meta["BLOCK"]),)
scale[grid](x=x, out=triton.reinterpret(out, tl.float32), n=300, factor=2.5)
torch.testing.assert_close(out, x * 2.5)

a, b = torch.rand(16, 32, dtype=torch.bfloat16), torch.rand(32, 16, dtype=torch.bfloat16)
c = torch.zeros(16, 16)
kernel = matmul[(1,)](a, b, c, 16, 16, 32)
torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-4, atol=1e-4)
assert "tt.dot" in kernel.asm["ttir"]
print("device", triton.runtime.driver.active.get_current_device())
"""


def run(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "triton"), **environment}
    return subprocess.run(
        [sys.executable, *arguments, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["cpu_c", "reference"])
def test_a_script_is_right_on_each_backend(tmp_path: Path, backend: str) -> None:
    done = run(tmp_path, "-m", "xdsl_core.cli.main", "run", "--triton", "-b", backend)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"device {backend}:")


@pytest.mark.slow
def test_nothing_is_active_unless_asked(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode != 0
    assert "0 active drivers" in done.stderr
