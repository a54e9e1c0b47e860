"""Kernels as libraries: built by `xdslc build`, compiled into C programs, run without Python."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from xdsl_core.backend.toolchain import NoCompilerError, find_compiler
from xdsl_core.cli.main import main

pytestmark = pytest.mark.compiler

try:
    COMPILER = find_compiler().command
except NoCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

KERNELS = """
import xdsl_core as xdsl
import xdsl_core.language as tl

@xdsl.jit
def add(x, y, out, n, BLOCK: tl.constexpr = 256):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = lanes < n
    tl.store(out + lanes, tl.load(x + lanes, mask=inside) + tl.load(y + lanes, mask=inside), mask=inside)

@xdsl.jit
def scalars(out, wide, narrow, byte, single, double, flag):
    tl.store(out, wide)
    tl.store(out + 1, narrow)
    tl.store(out + 2, byte)
    tl.store(out + 3, (single * 4).to(tl.int64))
    tl.store(out + 4, (double * 8).to(tl.int64))
    tl.store(out + 5, tl.where(flag, 7, 9))
    tl.store(out + 6, tl.num_programs(1) * 10 + tl.num_programs(2))

@xdsl.jit
def small(x, out, BLOCK: tl.constexpr = 16):
    lanes = tl.arange(0, BLOCK)
    values = tl.load(x + lanes)
    tl.device_assert(values < 100, "a value is too large")
    tl.store(out + lanes, values + 1)

@xdsl.jit
def shifted(x, n, BLOCK: tl.constexpr = 64):
    lanes = tl.arange(0, BLOCK)
    tl.store(x + lanes + 1, tl.load(x + lanes, mask=lanes < n), mask=lanes < n)

@xdsl.jit
def shift_into(x, out, BLOCK: tl.constexpr = 64):
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes) + tl.load(out + lanes))
"""

CHECK = """
#include <stdio.h>
#include <string.h>
#define CHECK(condition) \\
    do { if (!(condition)) { printf("line %d: %s\\n", __LINE__, #condition); return 1; } } while (0)
"""


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Builds the library of a kernel of KERNELS and returns the folder it lies in."""
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)

    def run(kernel: str, signature: str, *more: str) -> Path:
        place = f"{file}:{kernel}"
        with pytest.raises(SystemExit) as stopped:
            main(["build", place, "-s", signature, "-b", "cpu_c", "-o", str(tmp_path / "lib"), *more])
        assert not stopped.value.code
        return tmp_path / "lib"

    return run


def compiled(
    folder: Path, code: str, *libraries: str, strict: bool = True
) -> subprocess.CompletedProcess[str]:
    """A C program with the libraries, not yet run; `strict` says that it must compile without a warning."""
    (folder / "program.c").write_text(code)
    warnings = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-std=c11"]
    command = [*COMPILER, *warnings, "program.c", *libraries, "-lm", "-pthread", "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not strict or done.returncode == 0, done.stderr
    return done


def run(folder: Path, program: str = "./program", *words: str) -> str:
    """What a program prints; it must succeed, and find its libraries beside it."""
    done = subprocess.run(
        [program, *words], cwd=folder, capture_output=True, text=True, check=False,
        env={"LD_LIBRARY_PATH": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ADD = """
#include "add.h"
static float x[1000], y[1000], out[1001];
int main(void)
{
    for (int i = 0; i < 1000; i++) { x[i] = (float)i; y[i] = 0.5f; }
    out[1000] = -1;
    CHECK(add(4, 1, 1, x, y, out, 1000) == ADD_OK);
    for (int i = 0; i < 1000; i++) CHECK(out[i] == (float)i + 0.5f);
    CHECK(out[1000] == -1);
    CHECK(add(0, 1, 1, x, y, out, 1000) == ADD_OK);
    CHECK(add(-1, 1, 1, x, y, out, 1000) == ADD_BAD_GRID);
    CHECK(add(1, 1LL << 31, 1, x, y, out, 1000) == ADD_BAD_GRID);
    CHECK(add(4, 1, 1, (float *)((char *)x + 2), y, out, 1000) == ADD_MISALIGNED);
    CHECK(strcmp(add_message(ADD_OK), "all programs ran") == 0);
    CHECK(strstr(add_message(ADD_MISALIGNED), "aligned") != NULL && add_message(99) != NULL);
    add_set_threads(1);
    CHECK(add_overlapping(4, 1, 1, x, y, x, 1000) == ADD_OK);
    for (int i = 0; i < 1000; i++) CHECK(x[i] == out[i]);
    return 0;
}
"""


@pytest.mark.parametrize("library", ["libadd.a", "libadd.so"])
def test_a_program_in_c_calls_the_kernel(build: Callable[..., Path], library: str) -> None:
    folder = build("add", "x: *f32, y: *f32, out: *f32, n: i32")
    compiled(folder, CHECK + ADD, library)
    run(folder)


def test_the_shared_library_needs_no_python_and_exports_its_functions_alone(
    build: Callable[..., Path],
) -> None:
    folder = build("add", "x: *f32, y: *f32, out: *f32, n: i32")
    needed = subprocess.run(
        ["ldd", "libadd.so"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    assert "python" not in needed
    listing = subprocess.run(
        ["nm", "-D", "libadd.so"], cwd=folder, capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in listing.stdout.splitlines() if " T " in line}
    assert names == {"add", "add_overlapping", "add_message", "add_set_threads"}


def test_the_example_compiles_and_runs(build: Callable[..., Path]) -> None:
    folder = build("add", "x: *f32, y: *f32, out: *f32, n: i32")
    compiled(folder, (folder / "add_example.c").read_text(), "libadd.a")
    assert "out[7] = 14" in run(folder, "./program", "2", "1", "1", "300", "300")
    abi = json.loads((folder / "add.json").read_text())
    assert [parameter["c_type"] for parameter in abi["parameters"]] == [
        "const float *", "const float *", "float *", "int32_t",
    ]  # fmt: skip


def test_numbers_of_every_width_arrive(build: Callable[..., Path]) -> None:
    signature = "out: *i64, wide: i64, narrow: i32:16, byte: u8, single: f32, double: f64, flag: i1"
    folder = build("scalars", signature, "--name", "take_scalars")
    code = """
#include "take_scalars.h"
int main(void)
{
    int64_t out[7] = {0};
    CHECK(take_scalars(1, 2, 3, out, INT64_MIN, -32, (uint8_t)255, 0.75, 0.125, true) == 0);
    const int64_t right[7] = {INT64_MIN, -32, 255, 3, 1, 7, 23};
    for (int i = 0; i < 7; i++) CHECK(out[i] == right[i]);
    CHECK(take_scalars(1, 2, 3, out, 1, 15, (uint8_t)1, 0, 0, false) == TAKE_SCALARS_NOT_A_MULTIPLE);
    return 0;
}
"""
    compiled(folder, CHECK + code, "libtake_scalars.a")
    run(folder)


def test_a_number_that_is_too_wide_does_not_compile(build: Callable[..., Path]) -> None:
    folder = build("add", "x: *f32, y: *f32, out: *f32, n: i32")
    code = '#include "add.h"\nint main(void) { int64_t n = 1; return add(1, 1, 1, 0, 0, 0, n); }\n'
    wrong = compiled(folder, code, "libadd.a", strict=False)
    assert wrong.returncode != 0
    assert "n is int32_t" in wrong.stderr
    compiled(folder, "#define XDSL_ANY_WIDTH\n" + code, "libadd.a")


def test_a_failed_assertion_is_what_the_call_returns(build: Callable[..., Path]) -> None:
    folder = build("small", "x: *i32, out: *i32", "--option", "debug=True")
    code = """
#include "small.h"
int main(void)
{
    int32_t x[16] = {0}, out[16];
    CHECK(small(1, 1, 1, x, out) == SMALL_OK && out[15] == 1);
    x[3] = 100;
    int status = small(1, 1, 1, x, out);
    CHECK(status == 1 && strstr(small_message(status), "a value is too large") != NULL);
    CHECK(strstr(small_message(status), "kernels.py:25") != NULL);
    x[3] = 0;
    CHECK(small(1, 1, 1, x, out) == SMALL_OK);
    return 0;
}
"""
    compiled(folder, CHECK + code, "libsmall.a")
    run(folder)


def test_two_libraries_in_one_program_share_a_pool(build: Callable[..., Path]) -> None:
    build("add", "x: *f32, y: *f32, out: *f32, n: i32")
    folder = build("small", "x: *i32, out: *i32")
    code = '#include "small.h"\n' + ADD.replace(
        "return 0;", "int32_t a[16] = {0}, b[16]; CHECK(small(1, 1, 1, a, b) == 0 && b[0] == 1); return 0;"
    )
    compiled(folder, CHECK + code, "libadd.a", "libsmall.a")
    run(folder)


def test_half_precision_is_seen_as_bits(build: Callable[..., Path]) -> None:
    folder = build("add", "x: *f16, y: *f16, out: *bf16, n: i64", "--name", "add_half")
    code = """
#include "add_half.h"
int main(void)
{
    uint16_t x[2] = {0x3c00, 0x4000}, y[2] = {0x3c00, 0x3c00}, out[2] = {0};
    CHECK(add_half(1, 1, 1, x, y, out, 2) == 0);
    CHECK(out[0] == 0x4000 && out[1] == 0x4040);
    return 0;
}
"""
    compiled(folder, CHECK + code, "libadd_half.a")
    run(folder)
    assert "as bits" in (folder / "add_half.h").read_text()


@pytest.mark.parametrize("name", ["double", "2nd", "größe", "a-b"])
def test_a_name_that_c_does_not_take_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    with pytest.raises(SystemExit) as stopped:
        main(
            [
                "build",
                f"{file}:small",
                "-s",
                "x: *i32, out: *i32",
                "-b",
                "cpu_c",
                "-o",
                str(tmp_path),
                "--name",
                name,
            ]
        )
    assert stopped.value.code == 1
    assert "X0817" in capsys.readouterr().err


def test_a_backend_without_libraries_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "X0816" in refused(tmp_path, capsys, "-b", "reference")


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The error of a build that fails."""
    file = folder / "kernels.py"
    file.write_text(KERNELS)
    with pytest.raises(SystemExit) as stopped:
        main(["build", f"{file}:small", "-s", "x: *i32, out: *i32", "-o", str(folder), *options])
    assert stopped.value.code == 1
    return capsys.readouterr().err
