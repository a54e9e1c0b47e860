"""What can go wrong between a kernel and its machine code has a code, and no tool's raw words are shown."""

from __future__ import annotations

import dataclasses
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xdsl_core as xdsl
import xdsl_core.language as tl
from tests.unit.cpu_c.kernels import Workshop
from xdsl_core import ops
from xdsl_core.analysis.index_analysis import REMAPS
from xdsl_core.backend.toolchain import Compiler, find_compiler
from xdsl_core.diagnostics import BackendError, CompilationError, LaunchError
from xdsl_core.diagnostics.catalogue import explain
from xdsl_core.diagnostics.codes import codegen
from xdsl_core.dtypes import ALL
from xdsl_core.ir import Trait
from xdsl_core.opdef import OpDef
from xdsl_cpu_c import execute
from xdsl_cpu_c.build import compile_text
from xdsl_cpu_c.codegen import buffer_ops, kernel, lanewise, nest, op_tables, scalars
from xdsl_cpu_c.codegen.blocks import _CONTROL
from xdsl_cpu_c.describe import capabilities
from xdsl_cpu_c.vector import names

pytestmark = pytest.mark.compiler
ROOT = Path(__file__).resolve().parents[3]


@xdsl.jit
def increase(x, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x + lanes, tl.load(x + lanes) + n)


@xdsl.jit
def fill(x, SIDE: tl.constexpr):
    rows = tl.zeros((SIDE, SIDE), tl.float32)
    for _ in range(3):
        rows = tl.cumsum(rows, 0)
    tl.store(x, tl.sum(tl.sum(rows, 1), 0))


def refusing(folder: Path) -> Compiler:
    """A C compiler that accepts nothing and complains about it at length."""
    script = folder / "refusing-cc"
    script.write_text(
        "#!/bin/sh\necho 'x.c: In function body:' >&2\necho 'x.c:3: error: no such luck' >&2\nexit 1\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return dataclasses.replace(find_compiler(cache_dir=folder), command=(str(script),), version="cc 0.1")


def test_refused_text_is_our_defect(tmp_path: Path) -> None:
    with pytest.raises(CompilationError) as caught:
        compile_text("int x;", tmp_path / "kernel.so", refusing(tmp_path))
    assert caught.value.code == "X0701"
    text = str(caught.value)
    assert "cc 0.1: x.c:3: error: no such luck" in text
    assert "In function" not in text
    assert "defect of cpu_c" in text


def test_refused_runtime_library_too(tmp_path: Path) -> None:
    with pytest.raises(BackendError) as caught:
        execute.runtime(tmp_path / "cache", refusing(tmp_path))
    assert caught.value.code == "X0701"
    assert "the runtime library of cpu_c" in str(caught.value)


def test_argument_that_the_launcher_refuses() -> None:
    odd = np.zeros(65, np.uint8)[1:].view(np.float32)
    with pytest.raises(LaunchError, match="argument 'x' of increase is not aligned") as caught:
        increase.on("cpu_c")[(1,)](odd, 1, BLOCK=16)
    assert caught.value.code == "X0702"


def test_tiles_beyond_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "SCRATCH_LIMIT", 6 << 20)
    with pytest.raises(CompilationError, match=r"need \d+ MiB of memory a thread") as caught:
        fill.on("cpu_c")[(1,)](np.zeros(1, np.float32), SIDE=1024)
    assert caught.value.code == "X0703"
    assert re.search(r"the largest: rows\w* 4 MiB", str(caught.value))


@pytest.mark.parametrize("count", [0, -2])
def test_number_of_threads(count: int) -> None:
    with pytest.raises(BackendError, match=f"num_threads is {count}") as caught:
        increase.on("cpu_c")[(1,)](np.zeros(16, np.float32), 1, BLOCK=16, num_threads=count)
    assert caught.value.code == "X0704"


def test_number_of_threads_reaches_the_launcher() -> None:
    x = np.zeros(16, np.float32)
    compiled = increase.on("cpu_c")[(1,)](x, 1, BLOCK=16, num_threads=3)
    assert compiled.executable.payload.launcher.threads == 3
    compiled = increase.on("cpu_c")[(1,)](x, 1, BLOCK=16)
    assert compiled.executable.payload.launcher.threads == 0


def test_number_of_threads_in_the_environment(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_NUM_THREADS", "all")
    with pytest.raises(BackendError, match="XDSL_NUM_THREADS is 'all'") as caught:
        execute.runtime(workshop.folder, workshop.compiler)
    assert caught.value.code == "X0704"


def test_folder_that_is_a_file(workshop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    with pytest.raises(BackendError, match="cannot be loaded") as caught:
        execute.runtime(tmp_path / "cache", workshop.compiler)
    assert caught.value.code == "X0705"
    assert "XDSL_CACHE_DIR" in str(caught.value)


@pytest.mark.parametrize("code", [code for code in codegen.CODES if code < "X0710"])
def test_code_is_explained_and_tested(code: str) -> None:
    entry = explain(code)
    assert "Fix:" in entry.explanation
    assert len(entry.explanation.split()) > 30
    assert f'"{code}"' in Path(__file__).read_text(encoding="utf-8")


# Tables: an op that the backend claims and cannot write would end in a KeyError.

STRUCTURE = {ops.Yield, ops.Condition, ops.Return}


def is_written(definition: OpDef) -> bool:
    """True if a table of the code generator has the op."""
    tables = (
        op_tables.LANEWISE,
        op_tables.REDUCTIONS,
        lanewise._SPECIAL,
        nest._RULES,
        scalars._RULES,
        buffer_ops._RULES,
        _CONTROL,
        REMAPS,
        STRUCTURE,
    )
    return any(definition in table for table in tables)


@pytest.mark.parametrize("definition", list(ops.CORE), ids=lambda definition: definition.name)
def test_every_claimed_op_can_be_written(definition: OpDef) -> None:
    claimed = capabilities().supports(definition.name) is None
    assert claimed
    assert is_written(definition)


@pytest.mark.parametrize(
    "definition",
    [d for d in ops.CORE if Trait.ELEMENTWISE in d.traits],
    ids=lambda definition: definition.name,
)
def test_every_lanewise_op_works_on_scalars_and_vectors(definition: OpDef) -> None:
    assert definition in op_tables.LANEWISE or definition in lanewise._SPECIAL


@pytest.mark.parametrize("definition", list(op_tables.LANEWISE), ids=lambda definition: definition.name)
def test_library_has_the_function_for_every_element(definition: OpDef) -> None:
    known, row = set(names()), op_tables.LANEWISE[definition]
    elements = set.intersection(*(set(facet.pattern.dtypes) for facet in definition.operands.values()))
    for dtype in elements:
        register = op_tables.register_of(dtype)
        wanted = [f"{register}x{lanes}_{row.function}" for lanes in (8, 16, 32)]
        scalar = f"{register}_{row.function}"
        assert set(wanted) <= known
        assert row.infix or dtype.is_bool or scalar in known


def test_every_dtype_has_memory_and_registers() -> None:
    known = set(names())
    for dtype in ALL:
        register = op_tables.register_of(dtype)
        assert dtype.name in op_tables.C_TYPES
        for verb in ("load", "store"):
            wanted = {f"{verb}_{dtype.name}_{register}{lanes}" for lanes in ("", "x8", "x16", "x32")}
            assert wanted <= known


# Names and texts of a kernel that mean something in C.

WORDS = """
smaller larger lanes_left fail failure body program program_x scratch slots grid linux unix NULL stdout printf
int64_t uint8_t float double signed i32 f32x32 f32v8 f32x32_add load_f32_f32x32 store_f32_f32x32 INT32_MAX
partial_load_f32 bool_t maskx32_splat typeof asm inline restrict _Bool _Complex main EOF first_program
dot_16x16x16_f32 pack_f32_f32 atomic_add_f32 last_program __builtin_memcpy VECTOR_INLINE sizeof count i j k
register größe x_1 x_row end left
"""


def test_any_name_may_be_a_variable(generated: Callable[[str], str], workshop: Workshop) -> None:
    """As a parameter, a scalar, a tile and an induction variable."""
    kernel = """
def kernel(NAME, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    NAME_scalar = n + 1
    values = tl.load(NAME + lanes, mask=lanes < n, other=0.0)
    pointer = NAME
    NAME = values + tl.sum(values, 0)
    for NAME_step in range(0, n, 5):
        NAME += NAME_step
    tl.device_print("x", NAME)
    tl.store(pointer + lanes, NAME, mask=lanes < NAME_scalar)
"""
    workshop.build([generated(kernel.replace("NAME", word)) for word in WORDS.split()])


def test_comments_cannot_swallow_code(generated: Callable[[str], str]) -> None:
    """A line of the kernel that ends in a backslash would carry its comment on to the next line of C."""
    text = """
def kernel(x, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.load(x + lanes) \\
        + n
    tl.store(x + lanes, \\
        total * 2)
"""
    found = generated(text)
    assert "//" in found
    assert not re.search(r"//.*\\$", found, re.MULTILINE)


def test_prefix_of_a_print_is_text(workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    program = """
import numpy, xdsl_core as xdsl, xdsl_core.language as tl
@xdsl.jit
def kernel(x, n):
    tl.device_print('100%s "\\\\d" \\a\\x01é', n)
kernel.on("cpu_c")[(1,)](numpy.zeros(1, "f4"), 3)
"""
    file = workshop.folder / "prints.py"
    file.write_text(program, encoding="utf-8")
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == '(0, 0, 0) 100%s "\\d" \x07\x01é 3\n'
