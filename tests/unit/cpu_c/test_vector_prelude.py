"""The text of the prelude: only what is asked for, the same each time, quick to compile, errors that help."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.unit.cpu_c.vector_harness import FLAGS, compiler
from xdsl_cpu_c.vector import c_type, names, prelude

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler")


def defined(text: str) -> list[str]:
    return re.findall(r"^VECTOR_(?:INLINE|COLD) .*?(\w+)\(", text, re.MULTILINE)


def test_holds_only_what_is_used() -> None:
    text = prelude(["f32x32_exp"])
    functions = defined(text)
    assert functions.count("f32x32_exp") == 1
    assert len(functions) == len(set(functions))
    for name in set(functions) - {"f32x32_exp"}:
        assert len(re.findall(rf"\b{name}\(", text)) > 1, f"{name} is defined and never called"
    assert not re.search(r"f64|i16|x16|x8_", text)


def test_order_of_the_request_does_not_matter() -> None:
    wanted = ["f32x32_exp", "i32x8_add", "store_bf16_f32x16", "f64_tanh", "cast_i8x32_f64x32"]
    assert prelude(wanted) == prelude(reversed(wanted)) == prelude(wanted * 2)


def test_every_definition_comes_before_its_use() -> None:
    seen: set[str] = set()
    everything = set(names())
    text = prelude(names())
    for piece in re.split(r"\n(?=VECTOR_)|(?<=;)\n(?=typedef)", text):
        words = set(re.findall(r"\w+", piece)) & everything
        own = {*defined(piece), *re.findall(r"typedef .*?(\w+)(?: __attribute__.*)?;$", piece, re.MULTILINE)}
        assert words <= seen | own, piece
        seen |= own


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("f32x32_ex", "f32x32_exp"), ("f32x32_mxa", "f32x32_max"), ("cast_f32x32_i32x23", "cast_f32x32_i32x32")],
)
def test_unknown_name(wrong: str, hint: str) -> None:
    with pytest.raises(KeyError, match=f"{wrong}.*did you mean '{hint}'"):
        prelude([wrong])


def test_c_type() -> None:
    assert c_type("f32", 32) == "f32x32"
    assert c_type("f32", 1) == "float"
    assert c_type("u8", 1) == "uint8_t"
    with pytest.raises(KeyError, match="lanes"):
        c_type("f32", 4)
    with pytest.raises(KeyError, match="f16"):
        c_type("f16", 8)


@needs_compiler
@pytest.mark.compiler
@pytest.mark.parametrize("march", ["-march=native", "-march=x86-64", ""])
def test_everything_compiles_without_warnings(tmp_path: Path, march: str) -> None:
    """Without AVX the portable fallbacks are compiled instead of the builtins."""
    source = tmp_path / "all.c"
    source.write_text(prelude(names()))
    command = compiler()
    assert command
    probe = subprocess.run(
        [command, march or "-O2", "-xc", "-E", "/dev/null"], capture_output=True, check=False
    )
    if probe.returncode:
        pytest.skip(f"{command} does not know {march}")
    flags = [flag for flag in FLAGS if flag not in ("-march=native", "-mprefer-vector-width=256")]
    strict = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-missing-field-initializers"]
    march_flags = [march] if march else []
    subprocess.run([command, *flags, *march_flags, *strict, source, "-o", tmp_path / "all.so"], check=True)


@needs_compiler
@pytest.mark.compiler
def test_exp_compiles_quickly(tmp_path: Path) -> None:
    source = tmp_path / "exp.c"
    source.write_text(
        prelude(["f32x32_exp", "load_f32_f32x32", "store_f32_f32x32"])
        + "void body(float *o, const float *x, long n) {\n"
        "    for (long i = 0; i < n; i += 32)\n"
        "        store_f32_f32x32(o + i, f32x32_exp(load_f32_f32x32(x + i)));\n"
        "}\n"
    )
    command = compiler()
    assert command
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([command, *FLAGS, source, "-o", tmp_path / "exp.so"], check=True)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 1.0, seconds  # about 0.1 s on an idle machine; immintrin.h alone would cost 0.6 s
