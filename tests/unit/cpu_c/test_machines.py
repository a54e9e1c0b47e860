"""Machines besides the host: their code is built here and, under an emulator, run."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xdsl_core.backend import default_registry
from xdsl_core.backend.toolchain import NoCompilerError
from xdsl_core.cli.main import main
from xdsl_core.diagnostics import BackendError
from xdsl_core.testing import compare, contraction_budget, half_ulp
from xdsl_cpu_c.machines import FOREIGN, Machine, compiler_for, host_machine, runs_here

pytestmark = pytest.mark.compiler

KERNELS = """
import xdsl_core as xdsl
import xdsl_core.language as tl

@xdsl.jit
def small_integers(a, b, c, SIZE: tl.constexpr = 32):
    lanes = tl.arange(0, SIZE)
    places = lanes[:, None] * SIZE + lanes[None, :]
    tl.store(c + places, tl.dot(tl.load(a + places), tl.load(b + places)))

@xdsl.jit
def functions(x, out, SIZE: tl.constexpr = 256):
    lanes = tl.arange(0, SIZE)
    values = tl.load(x + lanes)
    tl.store(out + lanes, tl.exp(values))
    tl.store(out + SIZE + lanes, tl.math.tanh(values))
    tl.store(out + 2 * SIZE + lanes, tl.sin(values))
    tl.store(out + 3 * SIZE + lanes, tl.rsqrt(values * values + 1))
"""
SOFTMAX = "out: *f32, x: *f32, out_stride: i32, x_stride: i32, columns: i32, BLOCK=128"
EXAMPLES = Path(__file__).parents[3] / "examples"
QEMU = shutil.which("qemu-aarch64")


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    return file


def build(place: object, machine: str, folder: Path, signature: str) -> Path:
    """The folder with the library of a kernel for a machine; skips where no compiler makes it."""
    try:
        compiler_for(FOREIGN[machine], folder)
    except NoCompilerError as missing:
        pytest.skip(str(missing))
    where = ["-b", f"cpu_c:{machine}", "-o", str(folder), "--name", "kernel"]
    with pytest.raises(SystemExit) as stopped:
        main(["build", str(place), "-s", signature, *where])
    assert not stopped.value.code
    return folder


def emulated(folder: Path, grid: tuple[int, int, int], arguments: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Runs the library's kernel on an emulated aarch64; the arrays as they are afterwards."""
    if QEMU is None:
        pytest.skip("qemu-aarch64 is not installed (Debian, Ubuntu: apt install qemu-user)")
    program = _program(json.loads((folder / "kernel.json").read_text()), grid, arguments)
    (folder / "program.c").write_text(program)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            value.tofile(folder / f"{name}.bin")
    compiler = compiler_for(FOREIGN["aarch64"], folder)
    link = [*compiler.command, "program.c", "libkernel.a", "-static", "-lm", "-pthread", "-o", "program"]
    subprocess.run(link, cwd=folder, check=True)
    done = subprocess.run([QEMU, "./program"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        name: np.fromfile(folder / f"{name}.bin", value.dtype).reshape(value.shape)
        for name, value in arguments.items()
        if isinstance(value, np.ndarray)
    }


def _program(abi: Mapping[str, Any], grid: tuple[int, int, int], arguments: Mapping[str, Any]) -> str:
    """A C program that reads every array from a file, calls the kernel, and writes it back."""
    lines, words, after = [], [str(extent) for extent in grid], []
    for parameter in abi["parameters"]:
        name, value = parameter["name"], arguments[parameter["name"]]
        words.append(name)
        if parameter["kind"] == "pointer":
            lines.append(f'void *{name} = transfer("{name}.bin", "rb", NULL, {value.nbytes});')
            after.append(f'transfer("{name}.bin", "wb", {name}, {value.nbytes});')
        else:
            lines.append(f"{parameter['c_type']} {name} = {value};")
    return f"""
#include "kernel.h"
#include <stdio.h>
#include <stdlib.h>
static void *transfer(const char *name, const char *mode, void *memory, size_t bytes)
{{
    FILE *file = fopen(name, mode);
    int reads = memory == NULL;
    memory = reads ? aligned_alloc(64, (bytes + 63) / 64 * 64) : memory;
    size_t done = reads ? fread(memory, 1, bytes, file) : fwrite(memory, 1, bytes, file);
    fclose(file);
    return done == bytes ? memory : NULL;
}}
int main(void)
{{
    {" ".join(lines)}
    int status = kernel({", ".join(words)});
    puts(kernel_message(status));
    {" ".join(after)}
    return status;
}}
"""


def matmul_arguments(a: np.ndarray, b: np.ndarray, dtype: Any) -> dict[str, Any]:
    (m, k), n = a.shape, b.shape[1]
    numbers = {"M": m, "N": n, "K": k, "stride_am": k, "stride_bk": n, "stride_cm": n}
    return {"a": a, "b": b, "c": np.zeros((m, n), dtype), **numbers}


def matmul_signature(dtype: str) -> str:
    strides = "stride_am: i32, stride_ak=1, stride_bk: i32, stride_bn=1, stride_cm: i32, stride_cn=1"
    blocks = "BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, GROUP=2"
    return f"a: *{dtype}, b: *{dtype}, c: *{dtype}, M: i32, N: i32, K: i32, {strides}, {blocks}"


@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("f16", np.float16)])
def test_arm_multiplies_matrices(tmp_path: Path, name: str, dtype: Any) -> None:
    folder = build(EXAMPLES / "matmul.py:matmul_kernel", "aarch64", tmp_path, matmul_signature(name))
    generator = np.random.default_rng(1)
    a = generator.standard_normal((70, 90)).astype(dtype)
    b = generator.standard_normal((90, 50)).astype(dtype)
    c = emulated(folder, (6, 1, 1), matmul_arguments(a, b, dtype))["c"]
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected = wide_a @ wide_b
    budget = contraction_budget(np.abs(wide_a) @ np.abs(wide_b), terms=90) + half_ulp(expected, dtype)
    assert compare(c, expected, budget, what=name).passed


def test_arm_sums_products_of_small_integers(tmp_path: Path, kernels: Path) -> None:
    generator = np.random.default_rng(2)
    a, b = (generator.integers(-128, 128, (32, 32), np.int8) for _ in range(2))
    folder = build(f"{kernels}:small_integers", "aarch64", tmp_path, "a: *i8, b: *i8, c: *i32")
    c = emulated(folder, (1, 1, 1), {"a": a, "b": b, "c": np.zeros((32, 32), np.int32)})["c"]
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_arm_computes_functions_within_their_budgets(tmp_path: Path, kernels: Path) -> None:
    x = np.linspace(-6, 6, 256, dtype=np.float32)
    folder = build(f"{kernels}:functions", "aarch64", tmp_path, "x: *f32, out: *f32")
    out = emulated(folder, (1, 1, 1), {"x": x, "out": np.zeros((4, 256), np.float32)})["out"]
    wide = x.astype(np.float64)
    expected = np.stack([np.exp(wide), np.tanh(wide), np.sin(wide), 1 / np.sqrt(wide * wide + 1)])
    # 4 ulp is the largest budget of these functions in f32; the last one rounds its operand before
    assert compare(out, expected, 9 * half_ulp(expected, np.float32), what="functions").passed


def test_arm_takes_rows_and_masks(tmp_path: Path) -> None:
    rows, columns = 5, 77
    x = np.random.default_rng(3).standard_normal((rows, columns)).astype(np.float32)
    folder = build(EXAMPLES / "fused_softmax.py:softmax_kernel", "aarch64", tmp_path, SOFTMAX)
    strides = {"out_stride": columns, "x_stride": columns, "columns": columns}
    out = emulated(folder, (rows, 1, 1), {"out": np.full_like(x, np.nan), "x": x, **strides})["out"]
    exponentials = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, exponentials / exponentials.sum(axis=1, keepdims=True), rtol=2e-6)


def test_avx512_multiplies_matrices_in_its_registers(tmp_path: Path) -> None:
    folder = build(EXAMPLES / "matmul.py:matmul_kernel", "x86_64_v4", tmp_path, matmul_signature("f32"))
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed (Debian, Ubuntu: apt install binutils)")
    command = ["objdump", "-d", str(folder / "libkernel.so")]
    assert "%zmm" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "with avx, avx2, fma, avx512f, avx512bw" in (folder / "kernel.h").read_text()


def test_code_for_another_machine_is_not_loaded_here(kernels: Path) -> None:
    foreign = next(name for name, machine in FOREIGN.items() if not runs_here(machine))
    handle, target = default_registry().resolve(f"cpu_c:{foreign}")
    with pytest.raises(BackendError, match="this machine cannot run code") as caught:
        handle.load(None, target)  # type: ignore[arg-type]
    assert caught.value.code == "X0614"


def test_a_machine_needs_every_instruction_set() -> None:
    host = host_machine()
    assert runs_here(host)
    assert not runs_here(dataclasses.replace(host, isa=(*host.isa, "avx1024")))
    assert not runs_here(dataclasses.replace(host, architecture="vax"))


def test_a_missing_cross_compiler_is_named_with_its_package(tmp_path: Path) -> None:
    with pytest.raises(NoCompilerError, match="apt install gcc-riscv64-linux-gnu"):
        compiler_for(Machine("board", "a board", "riscv64", (), 16), tmp_path)
