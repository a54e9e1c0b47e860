"""Scripts written for stock Triton and a GPU, run as they are in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

SCRIPT = """
import torch
import triton
import triton.language as tl
from triton.runtime import driver
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64, "waves_per_eu": 2}, num_warps=w, maxnreg=64) for w in (4, 8)],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a + b, mask=i < n)


@triton.jit
def copy(source, target, B: tl.constexpr):
    target.store([0, 0], source.load([0, 0]))


def run(x, y):
    out = torch.empty_like(x)
    assert x.is_cuda and out.is_cuda
    add[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel())
    return out


torch.manual_seed(0)
x = torch.rand(1000, device="cuda")
y = torch.rand(1000, device=DEVICE).to("cuda:0").cuda()
triton.testing.assert_close(run(x, y), x + y)

square = torch.rand(8, 8, device=torch.device("cuda", 0))
out = torch.zeros_like(square)
source, target = TensorDescriptor.from_tensor(square, [8, 8]), TensorDescriptor.from_tensor(out, [8, 8])
done = copy.warmup(source, target, 8, grid=(1,))
done._init_handles()
properties = driver.active.utils.get_device_properties(DEVICE.index)
assert properties["max_shared_mem"] // done.metadata.shared > 0 and done.n_regs > 0
copy[(1,)](source, target, 8, num_warps=8)
assert torch.equal(square, out) and "memory.load" in done.asm["ttir"]
assert torch.cuda.is_available() and torch.cuda.get_device_capability() == (8, 0)
torch.cuda.synchronize()
assert driver.active.get_current_target().backend == "cuda"
assert triton.testing.do_bench(lambda: run(x, y), warmup=1, rep=1) > 0
assert triton.next_power_of_2(5) == 8 and triton.cdiv(5, 2) == 3


@triton.testing.perf_report(
    triton.testing.Benchmark(["n"], [8, 16], "kind", ["a", "b"], ["A", "B"], "times", {}, ylabel="ms")
)
def bench(n, kind):
    return n * (1.0 if kind == "a" else 2.0)


bench.run(print_data=True)
try:
    import triton.backends.nvidia
except ImportError as problem:
    print(problem)
try:
    copy[(1,)](x, x, 8)
except triton.compiler.errors.CompilationError as problem:
    assert str(problem).startswith("at "), problem
try:
    triton.compile_for_moon
except AttributeError as problem:
    print(problem)
print("right")
"""


def launched(tmp_path: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "xdsl_core.cli.main", "run", "--as-triton", *options, str(script)]
    environment = {**os.environ, "XDSL_CACHE_DIR": str(tmp_path / "cache")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)


def test_a_script_for_a_gpu_runs_unmodified(tmp_path: Path) -> None:
    done = launched(tmp_path, SCRIPT, "--backend", "reference")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("right\n")
    assert [line.split() for line in done.stdout.splitlines()[:3]] == [
        ["times:"],
        ["n", "A", "(ms)", "B", "(ms)"],
        ["8", "8.000000", "16.000000"],
    ]
    assert "X0831" in done.stdout
    assert "X0832" in done.stdout


@pytest.mark.slow
def test_perf_reports_can_be_left_out_and_the_device_be_named(tmp_path: Path) -> None:
    text = SCRIPT.replace('backend == "cuda"', 'backend == "cpu"')
    done = launched(tmp_path, text, "--backend", "reference", "--no-benchmarks", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "(left out: times)" in done.stdout


TEST_FILE = """
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@pytest.mark.parametrize("n", [5, 8])
def test_double(n):
    x = torch.ones(8, device="cuda")
    double[(1,)](x, n, 8)
    assert x.tolist() == [2.0] * n + [1.0] * (8 - n)
"""


@pytest.mark.slow
def test_test_files_run_with_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_double.py").write_text(TEST_FILE, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "xdsl_core.triton_compat.pytest",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "XDSL_BACKEND": "reference", "XDSL_CACHE_DIR": str(tmp_path / "cache")},
        check=False,
        timeout=120,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_stock_triton_that_is_there_already_is_an_error(tmp_path: Path) -> None:
    text = "import sys, types\nsys.modules['triton'] = types.ModuleType('triton')\n" + (
        "from xdsl_core.triton_compat import activate\nactivate()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60
    )
    assert "X0830" in done.stderr
